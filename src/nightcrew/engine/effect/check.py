"""Engine checks: the project's own commands, run in a clean checkout of the merge result, posted as commit statuses
`nightcrew/<name>` on the head. Their output is kept as the check's log."""

from pathlib import Path

from nightcrew.core.actions import ActionOutcome, Done, Refused, RunChecks
from nightcrew.core.model.settings import CheckCommand
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.checking import OWN_PREFIX, base_mark
from nightcrew.engine.effect.brief import check_log_path
from nightcrew.engine.effect.confine import confine_checks
from nightcrew.engine.effect.means import Means, subject
from nightcrew.ports.scm import NewStatus
from nightcrew.ports.workspace import Confinement, MergeConflict
from nightcrew.process import NotFound, TimedOut, run_process


async def run_checks(means: Means, action: RunChecks) -> ActionOutcome:
    """Run those asked for, one after the other, and post each answer."""
    key = action.task
    pull = await means.forge(key).scm.fetch_pull(key.project, action.pull)
    if pull.head_sha != action.head_sha or not pull.is_open:
        return Refused("the head has moved, or the pull request is not open any more")
    commands = [check for check in means.project(key).checks if check.name in action.names]
    mark = base_mark(action.base_sha)
    for check in commands:
        await _post(means, action, check, "pending", "Nightcrew runs it on the merge result")
    workspace, checkout_key = means.ports.workspace, f"check-{key.number}-{action.head_sha[:12]}-{action.base_sha[:12]}"
    checkout = await workspace.ensure_merge_checkout(
        key.project, checkout_key, base=action.base_sha, head=action.head_sha
    )
    if isinstance(checkout, MergeConflict):
        for check in commands:
            await _post(means, action, check, "failure", f"it conflicts with {pull.base_ref} {mark}")
        return Done()
    try:
        confinement = await confine_checks(means, key, checkout)
        for check in commands:
            state, words = await _run(means, action, check, checkout=checkout, confinement=confinement)
            await _post(means, action, check, state, f"{one_line(words, 100)} {mark}")
    finally:
        await workspace.remove_checkout(key.project, checkout_key)
    return Done()


async def _run(
    means: Means, action: RunChecks, check: CheckCommand, *, checkout: Path, confinement: Confinement
) -> tuple[str, str]:
    log = check_log_path(means, action.task.project, action.head_sha, check.name)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    env = {**(confinement.env or means.ports.base_env()), "CI": "true"}
    try:
        done = await run_process(confinement.wrap(check.argv), cwd=checkout, env=env, timeout_s=check.timeout_s)
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


async def _post(means: Means, action: RunChecks, check: CheckCommand, state: str, words: str) -> None:
    scm = means.forge(action.task).scm
    status = NewStatus(OWN_PREFIX + check.name, state, one_line(words, 140))
    await means.journal.effect(
        "status.post",
        subject(action.task),
        lambda: scm.post_status(action.task.project, action.head_sha, status),
        detail=f"{status.context} {state}",
    )
