"""What is rendered has the shape that OpenAPI promises, with everything filled in and with everything left out."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.api import render, run_body, run_render, schema
from nightcrew.api.plain import render_plain
from nightcrew.api.status_render import render_status
from nightcrew.api.status_schema import StatusBody
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import Sha
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.quota import Pace, Purse, TokenStanding
from nightcrew.core.model.report import (
    AuthorReport,
    Decision,
    Finding,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
    Usage,
)
from nightcrew.core.model.rerun import Flake
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role, RunOutcome, RunState
from nightcrew.core.model.task import Block
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.reason import Wait
from nightcrew.ports.service import (
    AgentStatus,
    Answer,
    LogPiece,
    ProjectStatus,
    RunDetail,
    ServiceStatus,
    TaskDetail,
    TaskSummary,
    WebhookStatus,
)
from tests.fakes.service import HEAD, NOW, a_route, a_run, a_task

_BARE = a_task()
_FULL = replace(
    a_task(status=Status.BLOCKED),
    route=a_route(),
    block=Block("question", "which one?", answerable=True, at=NOW),
    branch="nightcrew/42-fix",
    pull=7,
    tried=("codex",),
    approved_sha=HEAD,
    merge_sha=Sha("cd" * 20),
)
_OUTCOME = RunOutcome(
    AuthorReport(ReportedOutcome.DONE, "did it"),
    None,
    Usage(10, 20, 0.5, ("m",)),
    head_sha=HEAD,
    has_commits=True,
)
_ENDED = replace(a_run(_BARE.key), state=RunState.ENDED, ended_at=NOW, outcome=_OUTCOME)
_FAILED = replace(
    _ENDED, outcome=RunOutcome(None, Failure(FailureKind.RATE_LIMIT, "slow down", NOW + timedelta(hours=1)))
)
_EVENT = Event("status.changed", "why", NOW, task=_BARE.key, run=_ENDED.id, data={"x": (1, None), "at": NOW}, id=3)
_VERDICT = Verdict(
    _ENDED.id, _BARE.key, Decision.APPROVE, HEAD, "main", "codex", "", "good", (Finding("a.py", 3, "x"),), NOW
)
_DETAIL = TaskDetail(
    TaskSummary(_FULL, Wait("slots", "no slot", "it starts", NOW), "It waits.", open_run=_ENDED),
    (_ENDED, _FAILED),
    (_VERDICT,),
    (_EVENT,),
)
_ODD = UnknownFailure("claude", 7, "odd", NOW, NOW, _ENDED.id)
_NOTICES = (
    Notice("a/b", "blocked", Priority.ACTION, "w", NOW, _BARE.key, id=1),
    Notice("a/b", "all_complete", Priority.INFO, "w", NOW, id=2),
)
_TOKEN = TokenStanding("github", "a file", Pace.SLOW, (Purse("core", 5000, 900, NOW),), 3, "few are left", NOW)
_STATUS = ServiceStatus(
    version="1",
    running=True,
    paused=False,
    started_at=NOW,
    last_tick_at=None,
    next_tick_at=None,
    ticks=0,
    projects=(ProjectStatus("a/b", "github", "main", paused=False, tasks={"new": 1}),),
    agents=(
        AgentStatus("claude", "claude", None, 0, 2, (Cooldown("claude", None, FailureKind.CREDITS, NOW, 1, "w"),)),
    ),
)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (schema.TaskBody, render.render_task(TaskSummary(_BARE, None, "It is new."))),
        (schema.TaskDetailBody, render.render_task_detail(_DETAIL)),
        (run_body.RunBody, run_render.render_run(a_run(_BARE.key, role=Role.ROUTER, state=RunState.STARTING))),
        (run_body.RunDetailBody, run_render.render_run_detail(RunDetail(_FAILED, "prompt", "/folder"))),
        (schema.EventBody, render.render_event(_EVENT)),
        (schema.EventBody, render.render_event(Event("bus.gap", "", NOW))),
        (StatusBody, render_status(_STATUS)),
        (StatusBody, render_status(replace(_STATUS, webhook=WebhookStatus("http://x", 1, 2, NOW)))),
        (StatusBody, render_status(replace(_STATUS, tokens=(_TOKEN,)))),
        (schema.CooldownsBody, render.render_cooldowns(_STATUS.agents[0].cooldowns)),
        (schema.UnknownFailuresBody, render.render_unknown_failures([_ODD])),
        (schema.FlakesBody, render.render_flakes([Flake("a/b", "ci", "test_x", 2, NOW, NOW)])),
        (schema.NoticesBody, render.render_notices(_NOTICES)),
        (schema.ProjectsBody, render.render_projects(_STATUS)),
        (run_body.LogBody, run_render.render_log(LogPiece("x", 1, ended=True))),
        (run_body.OutputBody, {"run": "r", **run_render.render_log(LogPiece("x", 1, ended=True))}),
        (schema.AnswerBody, render.render_answer(Answer(True, "done", {"sha": HEAD, "at": NOW, "set": {1}}))),
    ],
)
def test_what_is_rendered_has_the_promised_shape_and_is_plain_json(body, value):
    read = body.model_validate(value, strict=True)
    assert json.loads(json.dumps(value)) == read.model_dump()


@pytest.mark.parametrize(
    ("report", "answer", "summary"),
    [
        (AuthorReport(ReportedOutcome.NEEDS_INPUT, "s", question="which?"), "needs_input", "which?"),
        (ReviewReport(Decision.REQUEST_CHANGES, "no"), "request_changes", "no"),
        (RouterReport(Complexity.SIMPLE, why="small"), "simple", "small"),
        (None, None, ""),
    ],
)
def test_a_report_is_shown_by_its_own_word(report, answer, summary):
    outcome = run_render.render_run(replace(_ENDED, outcome=RunOutcome(report, None)))["outcome"]
    assert isinstance(outcome, dict)
    assert (outcome["answer"], outcome["summary"]) == (answer, summary)


def test_values_of_any_kind_become_json():
    assert render_plain({1: b"x", "p": Status.NEW}) == {"1": "b'x'", "p": "Status.NEW"}
