"""The description of the API: whole, and the same as the page about it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nightcrew.api.app import PREFIX, create_app
from tests.fakes.service import FakeService

_PAGE = Path(__file__).parents[3] / "docs" / "api.md"
_DESCRIPTION = create_app(FakeService()).openapi()


def _routes() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in _DESCRIPTION["paths"].items():
        for method, route in methods.items():
            yield f"{method.upper()} {path}", route


def _shown(answer: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = next(iter(answer["content"].values()))["schema"]
    return shown


def test_every_route_says_what_it_answers():
    for name, route in _routes():
        shown = _shown(route["responses"]["200"])
        assert "$ref" in shown or shown.get("description"), name
        assert route["description"], name


def test_every_route_says_how_it_fails():
    for name, route in _routes():
        for code in ("403", "422", "500", "503"):
            assert _shown(route["responses"][code])["$ref"].endswith("/ErrorBody"), (name, code)
        if "{" in name:
            assert "404" in route["responses"], name


def test_the_page_lists_the_routes_that_there_are():
    listed = re.findall(r"^\| `((?:GET|POST|PUT|DELETE) [^`]+)` \|", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(f"{line.split()[0]} {PREFIX}{line.split()[1]}" for line in listed) == sorted(
        name for name, _ in _routes()
    )


def test_the_page_explains_every_error_code():
    from nightcrew.api import error

    page = _PAGE.read_text(encoding="utf-8")
    codes = {code for _, _, code in error._TABLE} | set(error._HTTP_CODES.values()) | {"bug"}
    assert all(f"`{code}`" in page for code in codes), codes
