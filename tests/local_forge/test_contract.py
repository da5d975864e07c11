"""The judge itself, and that the forge offers the operations that Nightcrew needs of GitHub's description."""

import json
import re

import pytest

from nightcrew.forges.local.app import create_app
from tests.local_forge.world import World
from tests.openapi import DESCRIPTION, load_contract

# Operations of the description that the forge does not offer: nothing in Nightcrew asks for them.
NOT_OFFERED = re.compile(r"^(projects|apps|activity)/|get-content|^repos/merge$|re-run-job-for")


def test_every_operation_is_offered_or_named_as_not_offered(world: World):
    routes = create_app(world.forge).routes
    missing = []
    for path, methods in json.loads(DESCRIPTION.read_text())["paths"].items():
        for method, detail in methods.items():
            sample = re.sub(r"\{(\w+)\}", lambda m: "7" if m[1].endswith(("_id", "number")) else "x", path)
            scope = {"type": "http", "path": sample, "method": method.upper(), "root_path": ""}
            first = next(r for r in routes if r.matches(scope)[0].value == 2)
            if getattr(first, "path", "") == "/{rest:path}":
                missing.append(detail["operationId"])
    assert [name for name in missing if not NOT_OFFERED.search(name)] == []


@pytest.mark.parametrize(
    ("method", "path", "operation"),
    [
        ("GET", "/repos/o/r/issues/1", "issues/get"),
        ("GET", "/repositories/7/issues", "issues/list-for-repo"),
        ("DELETE", "/repos/o/r/issues/1/labels/a/b", "issues/remove-label"),
        ("GET", "/repos/o/r/commits/feature/x/status", "repos/get-combined-status-for-ref"),
        ("GET", "/repos/o/r/branches/a/b/protection", "repos/get-branch-protection"),
        ("GET", "/repos/o/r/compare/main...a/b", "repos/compare-commits-with-basehead"),
    ],
)
def test_judge_knows_which_operation_is_meant(method: str, path: str, operation: str):
    found = load_contract().find(method, path)
    assert found is not None
    assert found.id == operation


def test_judge_refuses_what_the_description_does_not_allow():
    contract = load_contract()
    label = {"id": 1, "node_id": "x", "url": "http://h/x", "name": "n", "description": None}
    label |= {"color": "ffffff", "default": True}

    def create(answer: object, asked: object = None) -> str | None:
        body = asked or {"name": "n"}
        return contract.validate("POST", "/repos/o/r/labels", request_body=body, status=201, response_body=answer)

    assert create(label) == "issues/create-label"
    for broken in ({**label, "color": None}, {k: v for k, v in label.items() if k != "name"}):
        with pytest.raises(AssertionError, match="issues/create-label"):
            create(broken)
    with pytest.raises(AssertionError, match="request issues/create-label"):
        create(label, {"color": "1"})
    with pytest.raises(AssertionError, match="not described"):
        contract.validate("GET", "/repos/o/r/labels", query={"odd": "1"}, status=200, response_body=[])
    with pytest.raises(AssertionError, match="status 202 is not described"):
        contract.validate("GET", "/repos/o/r/labels", status=202, response_body=[])
    assert contract.validate("GET", "/no/such", status=200) is None
