"""The shape of what is asked about a merge that is to be taken back. The others are in `schema`."""

from pydantic import Field

from nightcrew.api.body import Body


class RevertBody(Body):
    text: str = Field(min_length=1, max_length=300, description="a task or a pull request, as owner/repo#42")
