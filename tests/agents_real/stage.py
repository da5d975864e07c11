"""A stage for one real CLI: a repository with a linked worktree, a home of its own, and a tmux of its own. A run is
started as the engine starts one: files into the run folder, a session, its result, its report."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.model.run import Role
from nightcrew.core.report_form import render_report_instructions
from nightcrew.ports.agent import Agent, AgentJob, Reading, RunOutput
from nightcrew.ports.runtime import SessionSpec
from nightcrew.process import clean_environment, run_process
from nightcrew.runtimes.tmux import TmuxRuntime
from tests.agents_real.install import FOLDER
from tests.waiting import eventually

DEADLINE_S = 90.0
SESSIONS = "11111111-2222-4333-8444-{:012d}"


@dataclass(frozen=True, slots=True)
class Played:
    """A run that has ended: what the adapter reads of it, and what it left."""

    reading: Reading
    output: RunOutput
    folder: Path


@dataclass(slots=True)
class Stage:
    """Everything of one test lies under `root`."""

    root: Path
    runtime: TmuxRuntime
    runs: int = 0

    @property
    def tree(self) -> Path:
        return self.root / "work" / "task-1"

    @property
    def home(self) -> Path:
        return self.root / "home"

    async def git(self, *words: str) -> str:
        done = await run_process(["git", "-C", str(self.tree), *words], timeout_s=30)
        assert done.ok, done.complaint
        return done.text.strip()

    async def play(
        self,
        agent: Agent,
        *,
        role: Role = Role.AUTHOR,
        task: str = "Write hello.txt.",
        env: Mapping[str, str] | None = None,
        model: str = "mock-model",
        resume: str = "",
        deadline_s: float = DEADLINE_S,
    ) -> Played:
        """Run an agent to its end."""
        self.runs += 1
        folder = self.root / "runs" / f"run {self.runs}"
        folder.mkdir(parents=True)
        report = folder / "report.json"
        prompt = f"{task}\n\n{render_report_instructions(role, str(report))}"
        job = AgentJob(role, prompt, folder, self.tree, report, model, SESSIONS.format(self.runs), env or {}, resume)
        command = agent.command(job)
        for name, content in command.files.items():
            (folder / name).write_text(content, encoding="utf-8")
        await self.runtime.start_session(
            SessionSpec(
                name=f"nc-real-{self.runs}",
                argv=command.argv,
                cwd=self.tree,
                env=clean_environment(extra={**self._environment(), **command.env}),
                folder=folder,
                deadline_s=deadline_s,
                stdin=folder / command.stdin if command.stdin else None,
                show=command.show,
            )
        )
        result = await eventually(
            lambda: self.runtime.load_result(folder), within_s=deadline_s + 20, every_s=0.1, what="the end of the run"
        )
        assert result is not None
        output = RunOutput(
            role=role,
            stdout=(folder / "stdout.log").read_bytes(),
            stderr=(folder / "stderr.log").read_bytes(),
            exit_code=result.exit_code,
            timed_out=result.timed_out,
            report=report.read_text("utf-8", "replace") if report.is_file() else None,
            error=result.error,
        )
        return Played(agent.read(output), output, folder)

    def _environment(self) -> dict[str, str]:
        # Codex may not have its home below the temporary folder; pytest's own lies there, ours is the run folder.
        return {"HOME": str(self.home), "TERM": "xterm-256color", "PATH": f"{FOLDER}/node_modules/.bin:{_path()}"}


def _path() -> str:
    return clean_environment()["PATH"]


@contextlib.asynccontextmanager
async def staged(root: Path) -> AsyncIterator[Stage]:
    """A stage for a test body; its tmux server ends with it."""
    stage = Stage(root, TmuxRuntime(root / "nightcrew"))
    stage.home.mkdir()
    bare, first = root / "repository.git", root / "first"
    who = ("-c", "user.name=n", "-c", "user.email=n@example.invalid")
    for argv in (
        ["git", "init", "-q", "-b", "main", str(first)],
        ["git", "-C", str(first), *who, "commit", "-q", "--allow-empty", "-m", "init"],
        ["git", "clone", "-q", "--bare", str(first), str(bare)],
        ["git", "-C", str(bare), "config", "user.name", "Agent"],
        ["git", "-C", str(bare), "config", "user.email", "agent@example.invalid"],
        ["git", "-C", str(bare), "worktree", "add", "-q", "-b", "nightcrew/1-hello", str(stage.tree), "main"],
    ):
        done = await run_process(argv, timeout_s=30)
        assert done.ok, done.complaint
    try:
        yield stage
    finally:
        await stage.runtime.server.command("kill-server")
