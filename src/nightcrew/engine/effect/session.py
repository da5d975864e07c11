"""The session of a run that is about to start: its command in its sandbox, and its environment."""

from dataclasses import dataclass

from nightcrew.core.model.run import Run
from nightcrew.core.model.settings import CommitSettings
from nightcrew.engine.effect.brief import Brief
from nightcrew.engine.effect.confine import Reach, confine_agent
from nightcrew.engine.effect.means import Means
from nightcrew.ports.runtime import SessionSpec


@dataclass(frozen=True, slots=True)
class Prepared:
    """What to start, and which sandbox is around it."""

    spec: SessionSpec
    sandbox: str


async def prepare_session(means: Means, run: Run, brief: Brief, *, reach: Reach | None = None) -> Prepared:
    """The session of a brief. Its environment is made of what is named here and nothing else: no token of a forge, no
    key of a service is in it. `reach` is for a run of no task. Invalid if its sandbox cannot be had."""
    job, command = brief.job, brief.command
    commit = means.project(run.task).commit if reach is None else CommitSettings()
    identity = git_identity(run.agent, commit.email)
    env = {**means.ports.base_env(), **identity, **job.env, **command.env}
    confined = await confine_agent(means, run, job, command=command, env=env, reach=reach)
    spec = SessionSpec(
        name=run.session,
        argv=confined.argv,
        cwd=job.workspace,
        env=confined.env,
        folder=means.folder(run),
        deadline_s=run.deadline_s,
        stdin=job.folder / command.stdin if command.stdin else None,
        show=command.show,
    )
    return Prepared(spec, confined.words)


def git_identity(agent: str, email: str) -> dict[str, str]:
    """Commits that an agent makes by itself carry its name, and git asks nobody for a password."""
    address = email.replace("{agent}", agent)
    return {
        "GIT_AUTHOR_NAME": agent,
        "GIT_AUTHOR_EMAIL": address,
        "GIT_COMMITTER_NAME": agent,
        "GIT_COMMITTER_EMAIL": address,
        "GIT_TERMINAL_PROMPT": "0",
    }
