"""Secrets on their way through the engine: nothing leaves, nothing is kept. And through the service's log."""

import asyncio
import io
import json
from pathlib import Path

import pytest
import structlog

from nightcrew.core.errors import Denied
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.delegation import Delegation
from nightcrew.core.model.report import (
    AssistantReport,
    AuthorReport,
    Decision,
    Finding,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
    ThreadAnswer,
)
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.neutral import one_line
from nightcrew.engine.effect import leak
from nightcrew.engine.journal import Subject
from nightcrew.secret import MASK, Hit, Vault
from nightcrew.service.log import configure_log, mask_log
from tests.adapters.secret.made import draw, tokens
from tests.engine.part import AGENTS, PROJECT, approves, done, fails, failure_of, outcome_of, says, wants_changes
from tests.engine.stage import Stage

KNOWN = "vendor-" + draw(30, seed=2)
TOKEN = tokens()["github oauth"]


def guarded(folder: Path, *, scan_allow: tuple[str, ...] = (), agents: tuple[str, ...] = AGENTS, **other) -> Stage:
    """A stage with the real masking and scanning. Its diffs have no hunks, so what is added is scanned as a text."""
    vault = Vault([KNOWN])

    def scan(diff: str) -> tuple[Hit, ...]:
        lines = [line for line in diff.splitlines() if line.startswith("+")]
        return vault.scan(f"+++ b/work.txt\n@@ -0,0 +1,{len(lines)} @@\n" + "\n".join(lines))

    async def mask_folder(path: Path) -> tuple[str, ...]:
        return vault.mask_folder(path)

    projects = (ProjectSettings(PROJECT, scan_allow=scan_allow),)
    guards = {"mask": vault.mask, "mask_folder": mask_folder, "scan": scan, **other}
    return Stage(folder, agents=agents, projects=projects, guards=guards)


def kept_words(stage: Stage) -> str:
    """All that was written down for ever."""
    return "".join(f"{event.why} {dict(event.data)}" for event in stage.store.events)


def is_pushed(stage: Stage, key: TaskKey) -> bool:
    return stage.task(key).branch in stage.forge.projects[PROJECT].branches


@pytest.mark.parametrize("secret", [TOKEN, KNOWN])
async def test_work_with_a_secret_is_not_pushed_and_says_where(tmp_path, secret):
    stage = guarded(tmp_path)
    stage.edit = lambda _run: {"settings.py": f"a = 1\nkey = '{secret}'\n"}
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.BLOCKED
    block = stage.block(key)
    assert (block.code, block.answerable) == ("secret_found", False)
    assert "work.txt:" in block.words
    assert "nothing was pushed" in stage.comments(key)[0]
    assert not is_pushed(stage, key)
    assert stage.pulls() == []
    assert secret not in repr(vars(stage.forge)) + "".join(stage.comments(key)) + kept_words(stage)


async def test_a_secret_that_a_later_commit_takes_away_is_found(tmp_path):
    stage = guarded(tmp_path, agents=("ann", "bob", "cyd"))
    stage.order("ann", fails(FailureKind.CRASH))
    edits = iter([{"key.txt": f"{TOKEN}\n"}, {"key.txt": "none\n"}])
    stage.edit = lambda _run: next(edits)
    key = stage.file()
    await stage.settle()
    assert len(stage.runs(key, Role.AUTHOR)) == 2
    assert stage.block(key).code == "secret_found"
    assert not is_pushed(stage, key)


async def test_clean_work_goes_through_in_two_rounds(tmp_path):
    stage = guarded(tmp_path)
    stage.order("bob", wants_changes(), role=Role.REVIEWER)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert [event for event in stage.store.events if event.kind == "verdict.posted"][1:]


async def test_each_commit_is_searched_once(tmp_path):
    seen: list[str] = []

    def scan(diff: str) -> tuple[Hit, ...]:
        seen.append(diff)
        return ()

    stage = guarded(tmp_path, scan=scan)
    rounds = iter(range(9))
    stage.edit = lambda run: {f"round-{next(rounds)}.txt": run.agent}
    stage.order("bob", wants_changes(), role=Role.REVIEWER)
    stage.file()
    await stage.settle()
    assert [("round-0" in diff, "round-1" in diff) for diff in seen] == [(True, False), (False, True)]


async def test_what_is_too_large_to_search_is_not_pushed(tmp_path):
    stage = guarded(tmp_path)
    stage.edit = lambda _run: {"large.txt": "line of text\n" * (leak.DIFF_LIMIT // 12)}
    key = stage.file()
    await stage.settle()
    assert stage.block(key).code == "scan_impossible"
    assert "too large" in stage.comments(key)[0]
    assert not is_pushed(stage, key)


async def test_what_agents_say_is_masked_where_it_is_kept_and_posted(tmp_path):
    stage = guarded(tmp_path)
    words = f"it printed {TOKEN} and {KNOWN}"
    stage.order("ann", done(summary=words, why=words, tested=words, learned=words))
    stage.order("bob", wants_changes(words, Finding("a.txt", None, words)), approves(summary=words), role=Role.REVIEWER)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    report = outcome_of(stage.runs(key, Role.AUTHOR)[0]).report
    assert f"it printed {MASK} and {MASK}" in repr(report)
    everything = repr([stage.pull(key), *stage.runs(key)]) + kept_words(stage) + repr(stage.store.verdicts)
    everything += "".join(stage.comments(key)) + repr(stage.forge.projects)
    assert MASK in everything
    assert TOKEN not in everything
    assert KNOWN not in everything


async def test_a_question_is_masked(tmp_path):
    stage = guarded(tmp_path)
    stage.order("ann", says(ReportedOutcome.NEEDS_INPUT, question=f"is {TOKEN} right?"))
    key = stage.file()
    await stage.settle()
    assert f"is {MASK} right?" in stage.comments(key)[0]


@pytest.mark.case("V050")
@pytest.mark.case("V121")
async def test_a_vendors_address_stays_out_of_public(tmp_path):
    stage = guarded(tmp_path)
    address = "https://login.vendor.example/device/" + draw(20, seed=3)
    stage.order("ann", fails(FailureKind.AUTH, f"Please visit: {address}?x=1"))
    key = stage.file()
    await stage.settle(play=True)
    assert failure_of(stage.runs(key, Role.AUTHOR)[0]).detail == "Please visit: https://login.vendor.example"
    assert address not in repr(stage.forge.projects) + kept_words(stage)


@pytest.mark.case("C217")
@pytest.mark.case("C218")
async def test_the_folder_of_a_run_is_masked_once_it_was_read(tmp_path):
    stage = guarded(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    run: Run = stage.runs(key)[0]
    folder = tmp_path / run.folder
    (folder / "stdout.log").write_text(f"KEY={KNOWN}\n")
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert (folder / "stdout.log").read_text().startswith(f"KEY={MASK}\n")
    assert "stdout.log" in stage.events("run.masked", key)[0]
    assert {path.stat().st_mode & 0o77 for path in folder.rglob("*")} == {0}


async def test_a_folder_that_cannot_be_masked_is_said_and_loses_nothing(tmp_path):
    async def full(_folder: Path) -> tuple[str, ...]:
        await asyncio.sleep(0)
        raise OSError(28, "No space left on device")

    stage = guarded(tmp_path, mask_folder=full)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert "No space left" in stage.events("run.not_masked", key)[0]


def test_the_log_masks_every_value():
    stream = io.StringIO()
    try:
        configure_log(stream)
        structlog.get_logger("early").info("before", error=f"bad {TOKEN}")
        mask_log(Vault([KNOWN]).mask)
        structlog.get_logger("late").info(f"said {KNOWN}", error=ValueError(KNOWN), data={"a": [KNOWN]}, count=3)
    finally:
        structlog.reset_defaults()
        mask_log(Vault().mask)
    assert TOKEN not in stream.getvalue()
    assert KNOWN not in stream.getvalue()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert lines[0]["error"] == f"bad {MASK}"
    assert (lines[1]["event"], lines[1]["count"], lines[1]["data"]) == (f"said {MASK}", 3, {"a": [MASK]})


def test_hits_are_one_line_each():
    assert one_line(str(Hit("a\nb\x1b[31m.py", 3, "AWS key"))) == "a b[31m.py:3 (AWS key)"


def test_reviews_keep_their_decision():
    report = leak.mask_report(lambda text: text.upper(), approves(summary="ok").report)
    assert report is not None
    assert getattr(report, "decision", None) is Decision.APPROVE
    assert getattr(report, "summary", "") == "OK"


async def test_what_only_looks_like_a_secret_may_stand_where_the_owner_says(tmp_path):
    stage = guarded(tmp_path, scan_allow=("*.txt",))
    stage.edit = lambda _run: {"sample.txt": f"{TOKEN}\n"}
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_a_known_secret_may_stand_nowhere(tmp_path):
    stage = guarded(tmp_path, scan_allow=("**", "*"))
    stage.edit = lambda _run: {"sample.txt": f"{KNOWN}\n"}
    key = stage.file()
    await stage.settle()
    assert stage.block(key).code == "secret_found"
    assert not is_pushed(stage, key)


async def test_the_journal_keeps_no_secret(tmp_path):
    stage = guarded(tmp_path)

    async def make():
        raise Denied(f"refused {KNOWN}")

    with pytest.raises(Denied):
        await stage.means.journal.effect("test.effect", Subject(), make, detail=f"with {TOKEN}")
    assert stage.store.effects
    assert not any(secret in repr(stage.store.effects) for secret in (KNOWN, TOKEN))


async def test_output_is_shown_without_secrets_while_the_run_goes_on(tmp_path):
    stage = guarded(tmp_path)
    key = stage.file()
    await stage.until(lambda: bool(stage.runs(key, Role.AUTHOR)) and stage.runs(key, Role.AUTHOR)[-1].is_open)
    run = stage.runs(key, Role.AUTHOR)[-1]
    folder = stage.home / run.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stdout.log").write_text(f"key {KNOWN} and {TOKEN}\n")
    (folder / "agent").mkdir(exist_ok=True)
    (folder / "agent" / "report.json").write_text(f"{TOKEN}")
    for raw in (False, True):
        piece = await stage.facade.read_log(run.id, raw=raw)
        assert "key " in piece.text
        assert KNOWN not in piece.text
        assert TOKEN not in piece.text
    assert TOKEN not in (await stage.facade.get_run(run.id)).report


def test_every_text_of_a_report_is_masked():
    one = Delegation("s", "s", agent="s", labels=("s",))
    author = AuthorReport(ReportedOutcome.DONE, *("s",) * 5, (ThreadAnswer(1, "s"),), (one,))
    review = ReviewReport(Decision.APPROVE, "s", (Finding("s", 1, "s"),))
    router = RouterReport(Complexity.SIMPLE, "s", "s", ("s",))
    for report in (author, review, router, AssistantReport("s", ("s",))):
        assert "'s'" not in str(leak.mask_report(lambda text: text.replace("s", "*"), report))
