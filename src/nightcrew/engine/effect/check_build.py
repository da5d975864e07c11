"""Engine checks of a build of the merge queue: on exactly its commit, posted there."""

from nightcrew.core.actions import ActionOutcome, CheckBuild, Done, Refused
from nightcrew.core.errors import Missing
from nightcrew.core.ids import RunId
from nightcrew.engine.effect.check import Ground, run_commands
from nightcrew.engine.effect.confine import confine_checks
from nightcrew.engine.effect.means import Means


async def check_build(means: Means, action: CheckBuild) -> ActionOutcome:
    """Run those asked for in a clean checkout of the build, and post each answer."""
    build = action.build
    if not any(one.id == build.id and one.ended_at is None for one in await means.ports.store.load_builds()):
        return Refused("the build has ended")
    key, checkout_key = build.tasks[0], RunId(f"build-{build.id}-{build.sha[:12]}")
    commands = [check for check in means.project(key).checks if check.name in action.names]
    workspace = means.ports.workspace
    ground = Ground(key, build.sha, build.base_sha)
    await ground.announce(means, commands)
    try:
        checkout = await workspace.ensure_review_checkout(build.project, checkout_key, build.sha)
        await run_commands(
            means, ground, commands, checkout=checkout, around=await confine_checks(means, key, checkout)
        )
    except Missing as error:
        return Refused(str(error))
    finally:
        await workspace.remove_checkout(build.project, checkout_key)
    return Done()
