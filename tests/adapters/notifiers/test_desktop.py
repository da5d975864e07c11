"""The desktop, through a program that keeps its arguments."""

import json
from datetime import UTC, datetime

import pytest

from nightcrew.core.errors import Unavailable
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.policy.telling import render_notice
from nightcrew.notifiers.desktop import DesktopNotifier, find_desktop

NOTICE = Notice(
    "acme/widget", "blocked", Priority.URGENT, '"; do shell script "x" -- <b>&', datetime(2026, 3, 3, tzinfo=UTC)
)
_PROGRAM = """#!/usr/bin/env python3
import json, pathlib, sys
pathlib.Path(__file__).with_name("args.json").write_text(json.dumps(sys.argv[1:]))
sys.exit({code})
"""


def program(folder, name: str, code: int = 0) -> str:
    path = folder / name
    path.write_text(_PROGRAM.replace("{code}", str(code)), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


async def test_notify_send_gets_words_as_arguments_and_no_markup(tmp_path):
    path = program(tmp_path, "notify-send")
    await DesktopNotifier(path, environ={}).tell(render_notice(NOTICE), (NOTICE,))
    args = json.loads((tmp_path / "args.json").read_text(encoding="utf-8"))
    assert args[:3] == ["--app-name=Nightcrew", "--urgency=critical", "--"]
    assert args[4].endswith("&lt;b&gt;&amp;")


async def test_osascript_gets_words_as_arguments_of_its_script(tmp_path):
    path = program(tmp_path, "osascript")
    await DesktopNotifier(path, environ={}).tell(render_notice(NOTICE), (NOTICE,))
    args = json.loads((tmp_path / "args.json").read_text(encoding="utf-8"))
    assert args[args.index("--") + 2] == NOTICE.words
    assert not any(NOTICE.words in part for part in args[: args.index("--")])


async def test_a_desktop_that_does_not_take_it_is_unavailable(tmp_path):
    with pytest.raises(Unavailable):
        await DesktopNotifier(program(tmp_path, "notify-send", 1), environ={}).tell(render_notice(NOTICE), (NOTICE,))
    with pytest.raises(Unavailable):
        await DesktopNotifier(str(tmp_path / "gone"), environ={}).tell(render_notice(NOTICE), (NOTICE,))


def test_there_is_no_desktop_without_a_seat_or_a_program(tmp_path):
    program(tmp_path, "notify-send")
    seat = {"PATH": str(tmp_path), "DISPLAY": ":0"}
    assert find_desktop(seat, is_macos=False) == str(tmp_path / "notify-send")
    assert find_desktop({"PATH": str(tmp_path)}, is_macos=False) is None
    assert find_desktop({"PATH": "", "DISPLAY": ":0"}, is_macos=False) is None
