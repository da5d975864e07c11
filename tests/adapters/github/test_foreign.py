"""Logs behind commit statuses: asked for on the forge and on named hosts alone, without credentials, within bounds."""

import pytest

from nightcrew.core.model.pull import Check, CheckState
from nightcrew.forges.github.foreign import BYTES_AT_MOST, is_allowed
from tests.adapters.github.stage import BASE, Reply, Script, forge_over

HOSTS = ("ci.test", "other.test:8443")


def status(url: str) -> Check:
    return Check("jenkins", CheckState.FAILURE, "status", summary="red", url=url)


def text(raw: bytes, kind: str = "text/plain; charset=utf-8") -> Reply:
    return Reply(200, headers={"content-type": kind}, raw=raw)


@pytest.mark.parametrize(
    ("url", "is_so"),
    [
        (f"{BASE}/log/1", True),
        ("https://ci.test/job/1/consoleText", True),
        ("https://CI.test:443/log", True),
        ("https://other.test:8443/log", True),
        ("http://other.test:8443/log", True),
        ("https://other.test/log", False),
        ("http://ci.test/log", False),
        ("https://ci.test:8443/log", False),
        ("https://ci.test.evil.test/log", False),
        ("https://evil.test/ci.test", False),
        ("https://ci.test@evil.test/log", False),
        ("https://user:pass@ci.test/log", False),
        ("http://169.254.169.254/latest/meta-data", False),
        ("http://127.0.0.1:8080/", False),
        ("http://[::1]/", False),
        ("file:///etc/passwd", False),
        ("gopher://ci.test/", False),
        ("https://ci.test:99999/", False),
        ("//ci.test/log", False),
        ("", False),
    ],
)
def test_where_a_log_may_be_read(url, is_so):
    assert is_allowed(url, base_url=BASE, hosts=HOSTS) is is_so


def test_the_pages_of_a_forge_are_on_the_forge():
    assert is_allowed("https://github.test/o/r", base_url="https://api.github.test", hosts=())
    assert not is_allowed("https://gist.github.test/o/r", base_url="https://api.github.test", hosts=())


async def log_of(script: Script, url: str, hosts: tuple[str, ...] = HOSTS) -> str:
    async with forge_over(script) as forge:
        log: str = await forge.fetch_check_log("o/r", status(url), hosts=hosts)
    return log


async def test_a_log_is_read_without_credentials():
    script = Script()
    script.on("GET", "/consoleText", text(b"FAILED test_a.py::test_x"))
    assert await log_of(script, "https://ci.test/consoleText") == "FAILED test_a.py::test_x"
    (asked,) = script.asked
    assert "authorization" not in asked.headers
    assert "x-github-api-version" not in asked.headers


async def test_what_is_not_allowed_is_not_asked_for():
    script = Script()
    script.on("GET", "/secret", text(b"inside"))
    assert await log_of(script, "http://10.0.0.1/secret") == "red"
    assert await log_of(script, "https://ci.test/secret", hosts=()) == "red"
    assert script.asked == []


async def test_a_redirect_leads_nowhere_that_is_not_allowed():
    script = Script()
    script.on("GET", "/log", Reply(302, headers={"location": "http://169.254.169.254/token"}))
    script.on("GET", "/token", text(b"inside"))
    assert await log_of(script, "https://ci.test/log") == "red"
    assert [asked.path for asked in script.asked] == ["/log"]
    script.on("GET", "/log", Reply(302, headers={"location": "/there"}))
    script.on("GET", "/there", text(b"moved"))
    assert await log_of(script, "https://ci.test/log") == "moved"
    script.on("GET", "/log", Reply(302, headers={"location": "/log"}))
    before = len(script.asked)
    assert await log_of(script, "https://ci.test/log") == "red"
    assert len(script.asked) - before == 4


@pytest.mark.parametrize(
    "reply",
    [
        Reply(404, {"message": "Not Found"}),
        Reply(500),
        text(b"PK", "application/zip"),
        text(b"<html><body>Sign in</body></html>", "text/html"),
        text(b"x" * (21 * BYTES_AT_MOST)),
    ],
    ids=["not there", "trouble", "no text", "a page without a log", "too much"],
)
async def test_where_there_is_no_log_the_status_speaks(reply):
    script = Script()
    script.on("GET", "/log", reply)
    assert await log_of(script, "https://ci.test/log") == "red"


async def test_of_a_page_the_log_is_taken_and_of_a_long_one_its_end():
    script = Script()
    page = b"<html><script>x()</script><pre>E  <b>assert</b> 1 &lt; 0</pre></html>"
    script.on("GET", "/console", text(page, "text/html"))
    assert await log_of(script, "https://ci.test/console") == "E  assert 1 < 0"
    script.on("GET", "/long", text(b"start " + b"x" * 1_500_000 + b" the end"))
    log = await log_of(script, "https://ci.test/long")
    assert len(log) == 200_000
    assert log.endswith("the end")
