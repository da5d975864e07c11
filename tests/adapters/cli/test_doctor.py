"""`nightcrew doctor` where a service runs: what the engine keeps is asked of it, and mended by it alone."""

import json

from tests.adapters.cli.command import Shell, shell
from tests.fakes.service import FakeService


async def told(person: Shell, *words: str) -> dict[str, dict[str, str]]:
    """What is found; the home here has no configuration, which is an error of its own."""
    done = await person.run("doctor", "--json", *words)
    assert (done.returncode, done.stderr) == (1, b""), done
    return {one["what"]: one for one in json.loads(done.text)["findings"]}


async def test_the_running_service_is_asked_though_the_configuration_is_broken(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        found = await told(person)
        assert "begin with: nightcrew init" in found["config"]["words"]
        assert found["sessions"]["level"] == "ok"
        labels = found["labels of acme/widget"]
        assert (labels["level"], labels["hint"]) == ("warning", "nightcrew doctor --fix")
        mended = (await told(person, "--fix"))["labels of acme/widget"]
        assert (mended["level"], mended["done"]) == ("mended", "created: status:new")


async def test_each_finding_is_a_line_for_a_person(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        done = await person.run("doctor")
    lines = done.text.splitlines()
    assert "ok       sessions: nothing is wrong" in lines
    assert "warning  labels of acme/widget: not there: status:new \u2192 nightcrew doctor --fix" in lines
