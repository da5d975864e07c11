"""The form of memory in the API."""

from nightcrew.api.body import Body, Moment


class MemoryBody(Body):
    run: str
    task: str
    agent: str
    at: Moment
    title: str
    text: str


class MemoriesBody(Body):
    memories: list[MemoryBody]
