"""The real Codex, through tmux, against a scripted model."""

import hashlib
import json

import pytest

from nightcrew.agents.codex import CodexAgent
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.model.report import (
    AssistantReport,
    AuthorReport,
    Decision,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
)
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from tests.agents_real.model_server import ModelServer, Move, Run, Say, Turn, serving
from tests.agents_real.said import seen_in, turn
from tests.agents_real.script import FAILURES, REPLY, ROUTE, VERDICT, author, silent_author, talker, trespasser
from tests.agents_real.stage import staged

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]

ENV = {"MOCK_API_KEY": "sk-fake"}


def make_agent(model: ModelServer, mode: str, run: str = "run", **options: object) -> CodexAgent:
    provider = {
        "base_url": f"{model.base(run, mode)}/v1",
        "env_key": "MOCK_API_KEY",
        "wire_api": "responses",
        "request_max_retries": 1,
        "stream_max_retries": 1,
    }
    return CodexAgent(AgentSettings(name="codex", adapter="codex", options={"provider": provider, **options}))


async def test_an_author_edits_commits_and_reports(tmp_path):
    async with serving(author=author) as model, staged(tmp_path) as stage:
        before = await stage.git("rev-parse", "HEAD")
        played = await stage.play(make_agent(model, "author"), env=ENV)
        assert played.reading.failure is None, played.output
        report = played.reading.report
        assert isinstance(report, AuthorReport)
        assert report.outcome is ReportedOutcome.DONE
        assert await stage.git("rev-parse", "HEAD^") == before
        assert await stage.git("status", "--porcelain") == ""
        usage = played.reading.usage
        assert (usage.input_tokens, usage.output_tokens) == (3000, 84)
        assert played.reading.session
        assert model.models["run"] == {"mock-model"}


async def test_without_the_git_folders_it_edits_but_does_not_commit(tmp_path):
    async with serving(silent=silent_author) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(model, "silent", commit=False), env=ENV)
        assert played.output.exit_code == 0
        assert played.reading.failure is not None
        assert played.reading.failure.kind is K.BAD_OUTPUT
        assert await stage.git("log", "-1", "--format=%s") == "init"
        assert await stage.git("status", "--porcelain") == "?? hello.txt"


async def test_a_session_is_resumed(tmp_path):
    async with serving(author=author, more=author) as model, staged(tmp_path) as stage:
        first = await stage.play(make_agent(model, "author"), env=ENV, task="The first task.")
        again = await stage.play(make_agent(model, "more", "two"), env=ENV, task="More.", resume=first.reading.session)
        assert again.reading.session == first.reading.session
        assert "The first task." in model.turns["two"][0].prompt


async def test_a_message_is_heard_in_the_session(tmp_path):
    async with serving(author=author, more=author) as model, staged(tmp_path) as stage:
        first = await stage.play(make_agent(model, "author"), env=ENV, task="The first task.")
        agent = make_agent(model, "more", "two")
        again = await stage.play(agent, env=ENV, task=turn(), resume=first.reading.session)
        heard = model.turns["two"][0].prompt
        assert "The first task." in heard
        assert "message 01SAID)" in heard
        assert "Use a lock." in heard
        assert again.reading.spoke
        assert seen_in(agent, again) == first.reading.session


async def test_a_reviewer_answers_by_the_schema_and_writes_nothing(tmp_path):
    def script(turn: Turn) -> Move:
        return Say(json.dumps(VERDICT)) if turn.answers else Run(f"git log --oneline; touch evil {turn.report}")

    async with serving(review=script) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(model, "review"), role=Role.REVIEWER, env=ENV)
        report = played.reading.report
        assert isinstance(report, ReviewReport), played.output
        assert report.decision is Decision.REQUEST_CHANGES
        assert await stage.git("status", "--porcelain") == ""
        assert played.output.report is None


async def test_a_router_answers(tmp_path):
    async with serving(route=lambda turn: Say(json.dumps(ROUTE))) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(model, "route"), role=Role.ROUTER, env=ENV)
        assert isinstance(played.reading.report, RouterReport), played.output


async def test_an_assistant_answers_and_writes_nothing(tmp_path):
    def script(turn: Turn) -> Move:
        return Say(json.dumps(REPLY)) if turn.answers else Run(f"touch evil {turn.report}")

    async with serving(ask=script) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(model, "ask"), role=Role.ASSISTANT, task="Why?", env=ENV)
        assert played.reading.report == AssistantReport("It waits.", ("/retry acme/widget#4",)), played.output
        assert await stage.git("status", "--porcelain") == ""
        assert played.output.report is None


async def test_prose_is_no_verdict(tmp_path):
    async with serving(talk=talker) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(model, "talk"), role=Role.REVIEWER, env=ENV)
        assert played.reading.report is None
        assert played.reading.failure is not None
        assert played.reading.failure.kind is K.BAD_OUTPUT


@pytest.mark.parametrize(("mode", "kind"), [("s401", K.AUTH), ("s429", K.RATE_LIMIT), ("s529", K.OVERLOADED)])
async def test_a_failure_of_the_server_has_its_kind(tmp_path, mode, kind):
    async with serving(**FAILURES) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(model, mode), env=ENV)
        assert played.reading.report is None
        assert played.reading.failure is not None
        assert played.reading.failure.kind is kind


async def test_its_sandbox_keeps_an_author_in(tmp_path):
    outside, config = tmp_path / "outside.txt", tmp_path / "repository.git" / "hooks" / "evil"
    async with serving(out=trespasser(str(outside), str(config))) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(model, "out"), env=ENV)
        assert not outside.exists()
        assert not config.exists()
        assert played.output.exit_code == 0


async def test_config_of_the_repository_is_not_used(tmp_path):
    async with serving(author=author) as model, staged(tmp_path) as stage:
        (stage.tree / ".codex").mkdir()
        touch = f'"touch"\nargs = ["{tmp_path}/evil"]\n'
        config = f'notify = ["touch", "{tmp_path}/evil"]\n[mcp_servers.evil]\ncommand = {touch}'
        (stage.tree / ".codex" / "config.toml").write_text(config)
        hook = {"hooks": [{"type": "command", "command": f"touch {tmp_path}/evil"}]}
        (stage.tree / ".codex" / "hooks.json").write_text(
            json.dumps({"hooks": {"SessionStart": [hook], "Stop": [hook]}})
        )
        played = await stage.play(make_agent(model, "author"), env=ENV)
        assert played.reading.failure is None, played.output
        assert not (tmp_path / "evil").exists()


async def test_a_prompt_of_200_kilobytes_arrives_whole(tmp_path):
    task = "Größe: " + "0123456789abcdef " * 12_500
    async with serving(author=author) as model, staged(tmp_path) as stage:
        played = await stage.play(make_agent(model, "author"), env=ENV, task=task)
        prompt = (played.folder / "prompt.md").read_text("utf-8")
        assert len(prompt) > 200_000
        digests = {hashlib.sha256(text.encode()).hexdigest() for text in (prompt, prompt.strip())}
        assert digests & model.digests["run"]
