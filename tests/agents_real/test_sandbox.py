"""The real CLIs in the outer sandbox, with a login in a home, through tmux, against a scripted model."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.core.failures import FailureKind
from nightcrew.core.model.report import AuthorReport, ReviewReport
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from nightcrew.ports.agent import Agent, AgentJob
from nightcrew.ports.runtime import SessionSpec
from nightcrew.runtimes.tmux import TmuxRuntime
from nightcrew.sandbox import (
    Kind,
    Network,
    SandboxSpec,
    Unusable,
    Usable,
    VendorView,
    build_argv,
    ensure_home_view,
    ensure_vendor_view,
    ensure_worktree_view,
    find_program_view,
    find_sandbox,
)
from tests.agents_real.model_server import REPORT, ModelServer, Move, Run, Say, Turn, Use, serving
from tests.agents_real.script import DONE, VERDICT
from tests.agents_real.stage import Stage, staged

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]

_LOGIN = {"accessToken": "sk-ant-oat01-fake", "refreshToken": "sk-ant-ort01-fake", "expiresAt": 4102444800000,
          "scopes": ["user:inference"], "subscriptionType": "max"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cli:
    """One CLI: its login in a home, and its adapter against a scripted model."""

    make: Callable[[ModelServer], Agent]
    env: Callable[[ModelServer], Mapping[str, str]]
    login: str
    content: Mapping[str, object]


def make_codex(model: ModelServer) -> Agent:
    provider = {"base_url": f"{model.base('run', 'do')}/v1", "wire_api": "responses", "requires_openai_auth": True,
                "request_max_retries": 1, "stream_max_retries": 1}  # fmt: skip
    return CodexAgent(AgentSettings(name="codex", adapter="codex", options={"provider": provider}))


CLIS = {
    "claude": Cli(
        lambda model: ClaudeAgent(AgentSettings(name="claude", adapter="claude", options={"max_retries": 1})),
        lambda model: {"ANTHROPIC_BASE_URL": model.base("run", "do")},
        ".claude/.credentials.json", {"claudeAiOauth": _LOGIN},
    ),
    "codex": Cli(make_codex, lambda model: {}, ".codex/auth.json", {"OPENAI_API_KEY": "sk-fake"}),
}  # fmt: skip


class ConfinedRuntime(TmuxRuntime):
    """Starts each session in a sandbox, as the engine does."""

    stage: Stage
    agent: Agent
    sandbox: Usable
    network = Network.OPEN

    async def start_session(self, spec: SessionSpec) -> None:
        stage, common = self.stage, self.stage.root / "repository.git"
        own, borrowed = common / "worktrees" / stage.tree.name, stage.root / "first" / ".git" / "objects"
        view = ensure_worktree_view(common=common, own=own, borrowed=borrowed)
        job = AgentJob(Role.AUTHOR, "", spec.folder, stage.tree, spec.folder / "report.json", "", "", spec.env)
        home = ensure_home_view(stage.home, self.agent.needs(job).home)
        program = find_program_view(spec.argv[0], search=spec.env["PATH"])
        way = VendorView()
        if self.network is Network.VENDOR:
            way = ensure_vendor_view(spec.folder.parent / f"{spec.folder.name} beside", self.agent.needs(job).hosts)
        sandbox = SandboxSpec(
            workspace=stage.tree,
            folder=spec.folder,
            home=stage.home,
            binds=(*view.binds, *home.binds, *program.binds, *way.binds),
            private=(*view.private, *home.private),
            links=(*program.links, *way.links),
            network=self.network,
        )
        # A temporary folder of this machine's is not there, one in the run folder is.
        env = {
            name: value for name, value in spec.env.items() if name != "TMPDIR" or value.startswith(str(spec.folder))
        }
        argv = (*way.outside, *build_argv(sandbox, (*way.inside, *spec.argv), self.sandbox))
        await super().start_session(replace(spec, argv=argv, env=env))


async def confine(stage: Stage, name: str, model: ModelServer) -> Cli:
    found = await find_sandbox(Kind.BWRAP)
    if isinstance(found, Unusable):
        pytest.skip(f"{found.reason} ({found.hint})")
    runtime = ConfinedRuntime(stage.root / "nightcrew")
    runtime.stage, runtime.agent, runtime.sandbox = stage, CLIS[name].make(model), found
    stage.runtime = runtime
    login = stage.home / CLIS[name].login
    login.parent.mkdir()
    login.write_text(json.dumps(CLIS[name].content))
    return CLIS[name]


def work(turn: Turn) -> Move:
    """One commit and report for each time that the prompt asks."""
    asked = REPORT.findall(turn.prompt)
    if turn.answers >= len(asked):
        return Say("Done.")
    report = f"printf %s '{json.dumps(DONE)}' > '{asked[-1]}'"
    return Run(f"echo {len(asked)} > hello.txt && git add -A && git commit -qm r{len(asked)} && {report}")


@pytest.mark.parametrize("name", CLIS)
async def test_an_author_with_a_login_works_and_goes_on(tmp_path, name):
    async with serving(do=work) as model, staged(tmp_path) as stage:
        cli = await confine(stage, name, model)
        first = await stage.play(cli.make(model), env=cli.env(model))
        assert isinstance(first.reading.report, AuthorReport), first.output
        assert await stage.git("log", "-1", "--format=%s") == "r1"
        assert await stage.git("status", "--porcelain") == ""
        again = await stage.play(cli.make(model), env=cli.env(model), resume=first.reading.session)
        assert isinstance(again.reading.report, AuthorReport), again.output
        assert again.reading.session == first.reading.session
        assert await stage.git("log", "-1", "--format=%s") == "r2"


@pytest.mark.parametrize("name", CLIS)
async def test_a_reviewer_works(tmp_path, name):
    def review(turn: Turn) -> Move:
        if "StructuredOutput" in turn.tools:
            return Say("That is all.") if turn.answers else Use("StructuredOutput", VERDICT)
        return Say(json.dumps(VERDICT)) if turn.answers else Run("git log --oneline")

    async with serving(do=review) as model, staged(tmp_path) as stage:
        cli = await confine(stage, name, model)
        played = await stage.play(cli.make(model), role=Role.REVIEWER, env=cli.env(model))
        assert isinstance(played.reading.report, ReviewReport), played.output


@pytest.mark.parametrize("name", CLIS)
async def test_nothing_that_the_person_runs_next_is_changed(tmp_path, name):
    def trespass(turn: Turn) -> Move:
        if turn.answers:
            return Say("Done.")
        targets = (
            "settings.json",
            "config.toml",
            "hooks/x",
            "skills/x",
            "rules/x",
            "shell-snapshots/x",
            "tmp/x",
            "../x",
        )
        evil = "; ".join(f"echo EVIL > ~/{folder}/{target}" for folder in (".claude", ".codex") for target in targets)
        return Run(
            f"{evil}; git config core.hooksPath /tmp; echo EVIL > {tmp_path}/first/x; cat {tmp_path}/first/.git/HEAD"
        )

    async with serving(do=trespass) as model, staged(tmp_path) as stage:
        cli = await confine(stage, name, model)
        before = (tmp_path / "repository.git" / "config").read_bytes()
        played = await stage.play(cli.make(model), env=cli.env(model))
        assert played.reading.failure is not None
        left = [path for path in (*stage.home.rglob("*"), *(tmp_path / "first").rglob("*")) if path.is_file()]
        assert [path for path in left if path.read_bytes() == b"EVIL\n"] == []
        assert (tmp_path / "repository.git" / "config").read_bytes() == before
        assert b"refs/heads/main" not in played.output.stdout


@pytest.mark.parametrize("name", CLIS)
async def test_an_author_works_with_nothing_but_the_model_in_reach(tmp_path, name):
    async with serving(do=work) as model, staged(tmp_path) as stage:
        cli = await confine(stage, name, model)
        assert isinstance(stage.runtime, ConfinedRuntime)
        stage.runtime.network = Network.VENDOR
        played = await stage.play(cli.make(model), env=cli.env(model))
        assert isinstance(played.reading.report, AuthorReport), played.output
        assert await stage.git("log", "-1", "--format=%s") == "r1"


async def test_without_a_network_the_model_is_not_reached(tmp_path):
    async with serving(do=work) as model, staged(tmp_path) as stage:
        cli = await confine(stage, "claude", model)
        assert isinstance(stage.runtime, ConfinedRuntime)
        stage.runtime.network = Network.NONE
        played = await stage.play(cli.make(model), env=cli.env(model))
        assert played.reading.failure is not None
        assert played.reading.failure.kind is FailureKind.NETWORK
        assert model.turns == {}
