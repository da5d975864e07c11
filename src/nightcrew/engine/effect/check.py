"""Engine checks: the project's own commands, run in a clean checkout of the merge result, posted as commit statuses
`nightcrew/<name>` on the head. Their output is kept as the check's log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.actions import ActionOutcome, Done, Refused, RunChecks
from nightcrew.core.errors import Missing
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.model.settings import CheckCommand
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.checking import OWN_PREFIX, base_mark
from nightcrew.engine.effect.brief import check_log_path
from nightcrew.engine.effect.confine import confine_checks
from nightcrew.engine.effect.means import Means, subject
from nightcrew.ports.scm import NewStatus
from nightcrew.ports.workspace import Confinement, MergeConflict
from nightcrew.process import NotFound, TimedOut, run_process


@dataclass(frozen=True, slots=True)
class Ground:
    """What checks run on and answer for: a SHA that holds the base at `base_sha`, for a task."""

    task: TaskKey
    sha: Sha
    base_sha: Sha

    async def announce(self, means: Means, commands: Sequence[CheckCommand]) -> None:
        """Say of each that it runs."""
        for check in commands:
            await self.post(means, check, "pending", "Nightcrew runs it on the merge result")

    async def answer(self, means: Means, check: CheckCommand, state: str, words: str) -> None:
        """Post what came of it, with the base that it holds for."""
        await self.post(means, check, state, f"{one_line(words, 100)} {base_mark(self.base_sha)}")

    async def post(self, means: Means, check: CheckCommand, state: str, words: str) -> None:
        scm = means.forge(self.task).scm
        status = NewStatus(OWN_PREFIX + check.name, state, one_line(words, 140))
        await means.journal.effect(
            "status.post",
            subject(self.task),
            lambda: scm.post_status(self.task.project, self.sha, status),
            detail=f"{status.context} {state}",
        )


async def run_checks(means: Means, action: RunChecks) -> ActionOutcome:
    """Run those asked for, one after the other, and post each answer."""
    key, ground = action.task, Ground(action.task, action.head_sha, action.base_sha)
    pull = await means.forge(key).scm.fetch_pull(key.project, action.pull)
    if pull.head_sha != action.head_sha or not pull.is_open:
        return Refused("the head has moved, or the pull request is not open any more")
    commands = [check for check in means.project(key).checks if check.name in action.names]
    await ground.announce(means, commands)
    workspace, checkout_key = means.ports.workspace, f"check-{key.number}-{action.head_sha[:12]}-{action.base_sha[:12]}"
    checkout = await _merged(means, action, checkout_key)
    if isinstance(checkout, MergeConflict):
        for check in commands:
            await ground.answer(means, check, "failure", f"it conflicts with {pull.base_ref}")
        return Done()
    try:
        around = await confine_checks(means, key, checkout)
        await run_commands(means, ground, commands, checkout=checkout, around=around)
    finally:
        await workspace.remove_checkout(key.project, checkout_key)
    return Done()


async def _merged(means: Means, action: RunChecks, checkout_key: str) -> Path | MergeConflict:
    """The merge result. A base that moved since the repository was fetched is fetched, and not waited for."""
    workspace, project = means.ports.workspace, action.task.project
    try:
        return await workspace.ensure_merge_checkout(project, checkout_key, base=action.base_sha, head=action.head_sha)
    except Missing:
        await workspace.fetch(project, await means.forge(action.task).scm.fetch_remote(project))
    return await workspace.ensure_merge_checkout(project, checkout_key, base=action.base_sha, head=action.head_sha)


async def run_commands(
    means: Means, ground: Ground, commands: Sequence[CheckCommand], *, checkout: Path, around: Confinement
) -> None:
    """Run them one after the other, keep what they print as their log, and post each answer."""
    for check in commands:
        log = check_log_path(means, ground.task.project, ground.sha, check.name)
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        env = {**(around.env or means.ports.base_env()), "CI": "true"}
        state, words = await _run(check, log, env, checkout=checkout, around=around)
        await ground.answer(means, check, state, words)


async def _run(
    check: CheckCommand, log: Path, env: Mapping[str, str], *, checkout: Path, around: Confinement
) -> tuple[str, str]:
    try:
        done = await run_process(around.wrap(check.argv), cwd=checkout, env=env, timeout_s=check.timeout_s)
    except TimedOut as error:
        _keep(log, error.output)
        return "failure", f"it did not end within {check.timeout_s:g} s"
    except NotFound as error:
        _keep(log, str(error).encode())
        return "error", str(error)
    _keep(log, done.stdout + done.stderr)
    return ("success", "passed") if done.ok else ("failure", f"exit code {done.returncode}")


def _keep(log: Path, content: bytes) -> None:
    log.touch(mode=0o600)
    log.write_bytes(content)
