"""A message to an agent, as a turn of a real CLI's own session."""

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.core.model.saying import Saying
from nightcrew.core.prompt_resume import Resumed, render_resumed
from nightcrew.core.prompt_said import render_said
from nightcrew.engine.view.run import find_answer
from nightcrew.ports.agent import Agent
from tests.agents_real.stage import Played
from tests.core.build import NOW, a_run

SAYING = Saying("01SAID", TaskKey("acme/widget", 7), "olga", "Use a lock.", NOW)


def turn() -> str:
    """The part of the prompt that is about it."""
    return f"{render_resumed(Resumed.FOR_MESSAGE)}\n\n{render_said([SAYING], is_fresh=False)}"


def seen_in(agent: Agent, played: Played) -> str:
    """The session in which the engine sees it answered, by what the CLI printed."""
    run: Run = a_run(Role.AUTHOR, state=RunState.RUNNING, outcome=None, agent_session="unknown")
    return find_answer(run, agent, played.folder)
