"""What a branch demands: two sources joined, and never a no that was not said."""

import pytest

from nightcrew.core.errors import Denied
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Required
from tests.adapters.github.stage import Reply, Script, forge_over

RULES, BRANCH = "/repos/o/r/rules/branches/main", "/repos/o/r/branches/main"
PROTECTION = f"{BRANCH}/protection"
CHECKS = [{"context": "ci"}, {"context": "lint"}]
RULESET = [
    {"type": "required_status_checks", "parameters": {"required_status_checks": CHECKS}},
    {"type": "pull_request", "parameters": {"required_approving_review_count": 1}},
    {"type": "merge_queue", "parameters": {}},
    {"type": "deletion"},
]  # fmt: skip
CLASSIC = {
    "required_status_checks": {"contexts": ["ci", "old"], "checks": [{"context": "old"}, {"context": "new"}]},
    "required_pull_request_reviews": {"required_approving_review_count": 2},
}
UPGRADE = Reply(403, {"message": "Upgrade to GitHub Pro or make this repository public to enable this feature."})


def stage(rules: Reply, branch: Reply, protection: Reply) -> Script:
    script = Script()
    script.on("GET", RULES, rules)
    script.on("GET", BRANCH, branch)
    script.on("GET", PROTECTION, protection)
    return script


async def required(script: Script) -> Required:
    async with forge_over(script) as forge:
        return await forge.fetch_required("o/r", "main")


async def test_both_sources_are_joined_and_the_stricter_wins():
    script = stage(Reply(200, RULESET), Reply(200, {"protected": True}), Reply(200, CLASSIC))
    assert await required(script) == Required(("ci", "lint", "old", "new"), approvals=2, merge_queue=True)


async def test_an_unprotected_branch_demands_nothing_and_the_protection_is_not_asked_for():
    script = stage(Reply(200, []), Reply(200, {"protected": False}), Reply(404, {"message": "Branch not protected"}))
    assert await required(script) == Required()
    assert script.count("GET", "/protection") == 0


async def test_a_branch_protected_by_rulesets_alone():
    script = stage(
        Reply(200, RULESET), Reply(200, {"protected": True}), Reply(404, {"message": "Branch not protected"})
    )
    assert await required(script) == Required(("ci", "lint"), approvals=1, merge_queue=True)


@pytest.mark.parametrize("branch", [{"protected": True}, {"protected": None}, {}])
@pytest.mark.parametrize("status", [403, 404])
async def test_protection_that_cannot_be_read_is_not_taken_for_none(branch, status):
    refusal = Reply(status, {"message": "Not Found" if status == 404 else "Resource not accessible by integration"})
    script = stage(Reply(200, []), Reply(200, branch), refusal)
    with pytest.raises(Denied, match="cannot be read") as caught:
        await required(script)
    assert caught.value.needed == "administration=read"


async def test_a_plan_without_protection_has_none():
    script = stage(UPGRADE, Reply(200, {"protected": True}), UPGRADE)
    assert await required(script) == Required()


async def test_rulesets_that_cannot_be_read_are_not_taken_for_none():
    script = stage(Reply(403, {"message": "Resource not accessible"}), Reply(200, {"protected": False}), Reply(404))
    with pytest.raises(Denied):
        await required(script)


async def test_ways_of_merging_and_signatures_of_both_sources():
    linear = {"required_linear_history": {"enabled": True}, "required_signatures": {"enabled": True}}
    rules = [
        {"type": "pull_request", "parameters": {"allowed_merge_methods": ["merge", "squash"]}},
        {"type": "required_signatures"},
    ]
    both = await required(stage(Reply(200, rules), Reply(200, {"protected": True}), Reply(200, linear)))
    assert both == Required(signatures=True, methods=frozenset({MergeMethod.SQUASH}))
    one = await required(stage(Reply(200, []), Reply(200, {"protected": True}), Reply(200, linear)))
    assert one == Required(signatures=True, methods=frozenset({MergeMethod.SQUASH, MergeMethod.REBASE}))
    rules = [{"type": "pull_request", "parameters": {"allowed_merge_methods": ["octopus"]}}]
    odd = await required(stage(Reply(200, rules), Reply(200, {"protected": False}), Reply(404)))
    assert odd == Required(), "words that are not known rule nothing out"
