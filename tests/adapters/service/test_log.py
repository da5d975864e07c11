"""The service's log: a file of JSON lines that is put aside when large, bounded however often the same is said."""

import io
import json
import logging
from pathlib import Path

import pytest
import structlog

from nightcrew.core.ids import RunId, parse_task_key
from nightcrew.engine.journal import Said
from nightcrew.secret import Vault
from nightcrew.service.log import ProblemLog, bridge_logging, configure_log, mask_log, say_effect
from nightcrew.service.log_file import LogFile
from nightcrew.service.repeat import REMEMBERED, Repeats
from tests.engine.part import FakeClock


@pytest.fixture(autouse=True)
def _log_as_before():
    yield
    structlog.reset_defaults()
    mask_log(lambda text: text)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_files_are_put_aside_and_the_oldest_goes(tmp_path):
    path = tmp_path / "log.jsonl"
    file = LogFile(path, largest_bytes=40, kept=2)
    for number in range(12):
        file.write(f"line {number:02} " + "x" * 11)
    names = sorted(one.name for one in tmp_path.iterdir())
    assert names == ["log.jsonl.1", "log.jsonl.2"]
    assert path.with_name("log.jsonl.1").read_text(encoding="utf-8").startswith("line 10")
    file.write("more")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_written_harms_nobody(tmp_path):
    LogFile(tmp_path / "gone" / "log.jsonl").write("lost")
    LogFile(tmp_path).write("lost")
    file = LogFile(tmp_path / "log.jsonl")
    file.write("one")
    (tmp_path / "log.jsonl").unlink()
    file.write("\ud800 two")
    assert (tmp_path / "log.jsonl").read_text(encoding="utf-8") == "\\ud800 two\n"


@pytest.mark.parametrize("is_background", [False, True])
def test_everything_is_in_the_file_and_in_the_background_only_what_is_wrong_elsewhere(tmp_path, is_background):
    stream, path = io.StringIO(), tmp_path / "log.jsonl"
    configure_log(stream, file=LogFile(path), is_background=is_background)
    structlog.get_logger("x").info("calm", task="a/b#1")
    structlog.get_logger("x").error("wild", run="R")
    assert [line["event"] for line in lines(path)] == ["calm", "wild"]
    shown = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert shown == (["wild"] if is_background else ["calm", "wild"])


def test_an_effect_is_one_line_with_its_task_its_run_and_why_and_without_secrets(tmp_path):
    path = tmp_path / "log.jsonl"
    configure_log(io.StringIO(), file=LogFile(path))
    mask_log(Vault(["s3cr3t-token-of-ours"]).mask)
    key, run = parse_task_key("a/b#1"), RunId("R1")
    say_effect(Said("pull.merge", key, run, "done", "at s3cr3t-token-of-ours", "it is\napproved", 0.12345))
    (line,) = lines(path)
    assert "s3cr3t" not in json.dumps(line)
    assert (line["event"], line["task"], line["run"], line["why"]) == ("pull.merge", "a/b#1", "R1", "it is approved")
    assert (line["state"], line["took_s"], line["level"]) == ("done", 0.123, "info")


def test_what_libraries_log_is_in_it_without_secrets_and_not_again_and_again(tmp_path):
    path, clock = tmp_path / "log.jsonl", FakeClock()
    configure_log(io.StringIO(), file=LogFile(path))
    mask_log(Vault(["s3cr3t-token-of-ours"]).mask)
    before = list(logging.getLogger().handlers)
    bridge_logging(Repeats(clock.monotonic))
    (bridge,) = set(logging.getLogger().handlers) - set(before)
    try:
        for attempt in range(50):
            logging.getLogger("some.library").warning("export %s failed with s3cr3t-token-of-ours", attempt)
        logging.getLogger("some.library").info("calm")
        try:
            raise ValueError("s3cr3t-token-of-ours")
        except ValueError:
            logging.getLogger("api").exception("it failed")
    finally:
        logging.getLogger().removeHandler(bridge)
    said = lines(path)
    assert [(line["library"], line["level"]) for line in said] == [("some.library", "warning"), ("api", "error")]
    assert "Traceback" in str(said[1]["what"])
    assert "s3cr3t" not in json.dumps(said)


@pytest.mark.case("C229")
def test_what_is_the_same_every_tick_is_said_once_and_then_rarely(tmp_path):
    path, clock = tmp_path / "log.jsonl", FakeClock()
    configure_log(io.StringIO(), file=LogFile(path))
    problems = ProblemLog(clock.monotonic)
    for tick in range(1_000):
        problems.tell([f"a/b: the pool is stale since {tick} s"])
        clock.advance(45)
    said = [(line["event"], line["level"]) for line in lines(path)]
    assert said == [("problem", "warning"), ("problems stay", "warning"), ("problems stay", "warning")]
    problems.tell([])
    assert lines(path)[-1]["event"] == "problem is gone"


@pytest.mark.case("C229")
def test_repeats_are_counted_and_forgotten(tmp_path):
    clock = FakeClock()
    repeats = Repeats(clock.monotonic, again_after_s=100)
    said = []
    for _ in range(25):
        said.append(repeats.weigh("same"))
        clock.advance(10)
    assert [count for count in said if count] == [1, 10, 10]
    assert repeats.weigh("other") == 1
    for number in range(REMEMBERED):
        repeats.weigh(number)
    assert repeats.weigh("other") == 1, "what was forgotten is new again"
