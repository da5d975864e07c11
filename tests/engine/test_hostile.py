"""Every hostile text through the whole pipeline, in every place where a text can come from: title, body, comment,
remark, report, verdict, finding, the log of a check, output. What comes out obeys nobody."""

import io
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nightcrew.api.render import render_task_detail
from nightcrew.cli.task_view import print_task
from nightcrew.cli.terminal import Terminal
from nightcrew.core.branch import is_branch_name
from nightcrew.core.command import parse_commands
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import CheckState
from nightcrew.core.model.report import Finding
from nightcrew.core.model.run import Probe, Role
from nightcrew.core.render import MARK
from nightcrew.runtimes.rendering import render_line
from tests.engine.hostile import HOSTILE
from tests.engine.part import PERSON, PROJECT, STRANGER, approves, done, wants_changes
from tests.engine.stage import Stage

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
INVISIBLE = re.compile(r"[\u200b\u200c\ufeff\u00ad\U000e0000-\U000e007f]")
MENTION = re.compile(r"@[A-Za-z0-9]")
CLOSES = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:(?:[\w.-]+/[\w.-]+)?#\d|https?://)", re.IGNORECASE
)
DATA = re.compile(r"^<<<BEGIN DATA ([0-9a-f]{32})>>>\n(.*?)\n?<<<END DATA \1>>>$", re.MULTILINE | re.DOTALL)
UNSEEN = "nobody without write access said this to an agent"


def test_there_are_enough_of_them():
    assert len(HOSTILE) >= 90
    assert len(set(HOSTILE.values())) == len(HOSTILE)


async def lived_through(stage: Stage, text: str) -> TaskKey:
    """A task whose every text is this one: a failed check, changes asked for, and a merge."""
    key = stage.file(text, body=text)
    if not parse_commands(text):
        stage.forge.comment(PROJECT, key.number, body=text or " ", author=PERSON)
    stage.forge.comment(PROJECT, key.number, body=f"{text}\n{UNSEEN}", author=STRANGER)
    for agent in stage.agents:
        stage.order(agent, *[done(summary=text, why=text, tested=text, learned=text)] * 4)
    first = wants_changes(text, Finding(text, 1, text), Finding("work-1.txt", None, text))
    for adapter in stage.agents.values():
        adapter.always[Role.REVIEWER] = first
    for _ in range(120):
        await stage.tick()
        for name, session in list(stage.runtime.sessions.items()):
            if session.probe is Probe.ALIVE:
                stage.finish(name, output=name.encode() + b"\n" + text.encode("utf-8", "replace"))
        task = stage.store.tasks.get(key)
        if task is None or task.pull is None:
            continue
        thread = stage.forge.thread(PROJECT, task.pull)
        if not thread.remarks:
            stage.forge.remark(PROJECT, task.pull, path="work-1.txt", line=1, body=text, author=PERSON)
            stage.forge.remark(PROJECT, task.pull, path=text, line=1, body=f"{text} {UNSEEN}", author=STRANGER)
            stage.forge.add_check(
                PROJECT, stage.pull(key).head_sha, text[:100] or "ci", CheckState.FAILURE, summary=text
            )
        if stage.store.verdicts:
            for adapter in stage.agents.values():
                adapter.always[Role.REVIEWER] = approves(summary=text)
        if stage.ci():
            stage.observer.expire()
        if task.status is Status.DONE and not stage.loop.state.decision.actions:
            return key
    raise AssertionError(f"it is {stage.store.tasks[key]}: {stage.loop.state.decision}")


@pytest.mark.case("C034")
@pytest.mark.case("C222")
@pytest.mark.case("C224")
@pytest.mark.parametrize("name", HOSTILE)
async def test_nothing_that_comes_out_obeys_it(tmp_path, name):
    text = HOSTILE[name]
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = await lived_through(stage, text)
    assert stage.task(key).merge_sha
    assert not stage.dumps, "nothing could not be decided"
    assert not [event.why for event in stage.store.events if "Traceback" in event.why]
    assert stage.store.commands == {}
    look_at_prompts(stage, text)
    look_at_forge(stage, key)
    look_at_git(stage, key)
    look_at_names(stage, key)
    await look_at_terminal(stage, key, text)


def look_at_prompts(stage: Stage, text: str) -> None:
    jobs = [job for agent in stage.agents.values() for job in agent.jobs]
    assert len(jobs) >= 4
    probe = max((line.strip() for line in text.splitlines()), key=len, default="")
    for job in jobs:
        assert not CONTROL.search(job.prompt)
        assert not BIDI.search(job.prompt)
        assert UNSEEN not in job.prompt
        assert STRANGER in job.prompt or job.role is Role.ROUTER, "that something is not shown is said"
        marks = re.findall(r"<<<BEGIN DATA ([0-9a-f]{32})>>>", job.prompt)
        outside = DATA.sub("", job.prompt)
        assert len(DATA.findall(job.prompt)) == len([mark for mark in marks if f"<<<END DATA {mark}>>>" in job.prompt])
        assert "<<<" not in outside
        if len(probe) > 12 and not probe.isalnum():
            assert probe not in outside, "it stands outside of the data"
        issue = next(part for _, part in DATA.findall(job.prompt) if part.startswith("#1"))
        assert not INVISIBLE.search(issue)
        assert len(job.prompt) < 600_000


def look_at_forge(stage: Stage, key: TaskKey) -> None:
    pull = stage.forge.thread(PROJECT, stage.number(key))
    own = [said.body for thread in (stage.forge.thread(PROJECT, key.number), pull) for said in thread.comments
           if said.author == stage.forge.login]  # fmt: skip
    # A reply in a thread is a review without words of its own.
    reviews = [review.body for review in pull.reviews if review.author == stage.forge.login and review.body]
    findings = [finding.text for finding in pull.findings]
    assert own
    assert reviews
    assert findings
    assert pull.pull is not None
    title, body = pull.issue.title, pull.issue.body
    assert title.strip()
    assert "\n" not in title
    assert len(title) <= 256
    for said in (*own, *reviews, *findings, title, body):
        assert not CONTROL.search(said), repr(said[:300])
        assert not BIDI.search(said)
        assert not MENTION.search(said), repr(said[:300])
        assert len(said) <= 65_536
    for said in (*own, *reviews):
        assert said.count("<!--") == 1
        assert said.startswith("<!-- nightcrew:")
    for said in (*own, *reviews, *findings, title):
        assert not CLOSES.search(said), repr(said[:300])
    assert "<!--" not in title + body
    assert [match[0] for match in CLOSES.finditer(body)] == [f"Closes #{key.number}"]
    assert body.rstrip().endswith(f"Closes #{key.number}"), "the template's own last line is the last"
    assert sum(comment.startswith(MARK) for comment in stage.comments(key)) >= 1


def look_at_git(stage: Stage, key: TaskKey) -> None:
    messages = [commit.message for commit in stage.forge.projects[PROJECT].commits.values()]
    merge = next(message for message in messages if "Nightcrew-Head: " in message)
    assert re.search(r"\nNightcrew-Reviewer: (ann|bob|cat)\nNightcrew-Head: [0-9a-f]{40}\Z", merge)
    trees = stage.workspace.repository(PROJECT).commits
    for message in (*messages, *(commit.subject for commit in trees.values())):
        assert not CONTROL.search(message), repr(message[:300])
        assert not MENTION.search(message)
        assert not CLOSES.search(message)
        assert len(message.split("\n")[0]) <= 256
    branch = stage.task(key).branch
    assert is_branch_name(branch)
    assert re.fullmatch(r"nightcrew/1-[a-z0-9-]+", branch)


def look_at_names(stage: Stage, key: TaskKey) -> None:
    for spec in stage.runtime.started:
        assert re.fullmatch(r"nc-[A-Za-z0-9_-]+", spec.name)
        assert all(part == "--go" or part.endswith("-cli") for part in spec.argv), "no text is an argument"
        assert not [value for value in spec.env.values() if "\n" in value]
    for run in stage.runs(key):
        assert re.fullmatch(r"runs/[A-Za-z0-9_-]+/1/[a-z]+-[0-9]+", run.folder)
    outside = [path for path in stage.home.rglob("*") if not path.resolve().is_relative_to(stage.home.resolve())]
    assert outside == []


async def look_at_terminal(stage: Stage, key: TaskKey, text: str) -> None:
    out = io.StringIO()
    terminal = Terminal(out, io.StringIO(), environ={})
    context = cast("Any", SimpleNamespace(terminal=terminal, now=stage.clock.now().timestamp()))
    print_task(context, render_task_detail(await stage.facade.get_task(key)))
    shown = [out.getvalue()]
    for line in text.encode("utf-8", "replace").split(b"\n")[:50]:
        shown.append(render_line(line, ()) or "")
    for piece in shown:
        assert not CONTROL.search(piece), repr(piece[:300])
        assert not BIDI.search(piece)
