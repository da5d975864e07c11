"""Labels: created where missing, moved one at a time, and who put them on."""

from typing import Any

import pytest

from nightcrew.core.errors import Invalid, Missing
from nightcrew.ports.tracker import LabelSpec
from tests.adapters.github.stage import Reply, Script, forge_over

LABELS = "/repos/o/r/labels"
ON_ISSUE = "/repos/o/r/issues/1/labels"
SPECS = {"status:new": LabelSpec("ededed", "asked for"), "status:done": LabelSpec("#00ff00", "merged")}


def flaw(code: str) -> Reply:
    return Reply(
        422, {"message": "Validation Failed", "errors": [{"resource": "Label", "code": code, "field": "name"}]}
    )


@pytest.mark.case("C014")
@pytest.mark.case("C015")
async def test_missing_labels_are_created_and_others_left_whatever_their_case():
    script = Script()
    script.on("GET", LABELS, Reply(200, [{"name": "STATUS:New", "color": "ff0000"}]))
    script.on("POST", LABELS, Reply(201, {}))
    async with forge_over(script) as forge:
        await forge.ensure_labels("o/r", SPECS)
    assert [one.body for one in script.asked if one.method == "POST"] == [
        {"name": "status:done", "color": "00ff00", "description": "merged"}
    ]


@pytest.mark.case("C015")
async def test_only_already_exists_passes_for_created():
    script = Script()
    script.on("GET", LABELS, Reply(200, []))
    script.on("POST", LABELS, flaw("already_exists"))
    async with forge_over(script) as forge:
        await forge.ensure_labels("o/r", SPECS)
        script.on("POST", LABELS, flaw("invalid"))
        with pytest.raises(Invalid, match="status:new") as caught:
            await forge.ensure_labels("o/r", SPECS)
    assert caught.value.codes == ("invalid",)


@pytest.mark.case("C012")
async def test_a_label_too_many_says_so():
    script = Script()
    script.on("POST", ON_ISSUE, flaw("invalid"))
    async with forge_over(script) as forge:
        with pytest.raises(Invalid, match="at most 100"):
            await forge.add_label("o/r", 1, "status:new")
    assert script.count("POST") == 1


async def test_one_label_is_taken_off_by_its_name():
    script = Script()
    script.on("DELETE", f"{ON_ISSUE}/status:in progress/100%?", Reply(200, []))
    async with forge_over(script) as forge:
        await forge.remove_label("o/r", 1, "status:in progress/100%?")
    assert script.count("DELETE") == 1


async def test_an_absent_label_is_fine_and_an_absent_issue_is_not():
    script = Script()
    script.on("DELETE", f"{ON_ISSUE}/x", Reply(404, {"message": "Label does not exist"}))
    async with forge_over(script) as forge:
        await forge.remove_label("o/r", 1, "x")
        script.on("DELETE", f"{ON_ISSUE}/x", Reply(404, {"message": "Not Found"}))
        with pytest.raises(Missing):
            await forge.remove_label("o/r", 1, "x")


async def test_the_last_one_who_put_it_on_is_told():
    def event(number: int, actor: str | None, name: str, kind: str = "labeled") -> dict[str, Any]:
        return {"id": number, "event": kind, "actor": actor and {"login": actor}, "label": {"name": name}}

    script = Script()
    timeline = [
        event(1, "ada", "nightcrew"),
        event(2, "bob", "Nightcrew"),
        event(3, "eve", "nightcrew", "unlabeled"),
        event(4, "eve", "other"),
        event(5, None, "orphan"),
        {"event": "committed", "sha": "x"},
    ]
    script.on("GET", "/repos/o/r/issues/1/timeline", Reply(200, timeline))
    async with forge_over(script) as forge:
        assert await forge.find_label_actor("o/r", 1, "nightcrew") == "bob"
        assert await forge.find_label_actor("o/r", 1, "orphan") == "ghost"
        assert await forge.find_label_actor("o/r", 1, "never") is None
