"""A stage for the whole: a forge on loopback that outlives the service, a repository, people, scripted agents, and the
service as a process that can be killed and started again. All of it is gone afterwards, whatever happened."""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from nightcrew.config.home import Home
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.serving import serve
from nightcrew.runtimes.process_table import load_processes
from nightcrew.runtimes.tmux_server import TmuxServer
from nightcrew.service.clock import SystemClock
from tests.waiting import eventually
from tests.whole.outside import PROJECT, TOKENS, Json, Outside
from tests.whole.program import Said, command

AGENTS = ("owl", "fox", "lynx")
FILES = {"README.md": "# Demo\n", "answer.txt": "unknown\n"}
RUNNER = Path(__file__).with_name("runner.py")
ROOT = Path(__file__).parents[2]
INTERVAL_S = 0.3
WITHIN_S = 40.0


def attempt(files: Mapping[str, str], summary: str = "Wrote it.", **more: Any) -> Json:
    """One attempt of an author."""
    return {"files": dict(files), "summary": summary, **more}


def says(decision: str, summary: str = "Looked at it.", **more: Any) -> Json:
    """One answer of a reviewer."""
    return {"decision": decision, "summary": summary, **more}


APPROVE = says("approve", "It is right.")


class Stage(Outside):
    """Everything set up. The service does not run yet."""

    def __init__(self, folder: Path, forge: LocalForge, bare: Path, url: str) -> None:
        super().__init__(folder, bare, url)
        self.home = Home(folder / "h")
        self.forge = forge
        self.service: subprocess.Popen[bytes] | None = None
        self.log = folder / "service.log"
        self.variables: dict[str, str] = {}
        self._issues: dict[str, Json] = {}
        self._questions: dict[str, Json] = {}

    # What the agents will do

    def play(
        self, title: str, attempts: Sequence[Json], reviews: Sequence[Json] = (APPROVE,), *, route: Json | None = None
    ) -> None:
        """The part of the playbook for the issue of that title: what the n-th author and the n-th reviewer do, and what
        a router says."""
        part = {"in_order": True, "attempts": list(attempts), "review": {"in_order": list(reviews)}}
        self._issues[title] = {**part, "route": route or {}}
        self._write_book()

    def reply(self, words: str, answer: str, **more: Any) -> None:
        """What an agent answers to a question in which the words stand."""
        self._questions[words] = {"answer": answer, **more}
        self._write_book()

    def _write_book(self) -> None:
        book = {"pause_s": 0, "starts": str(self.folder / "starts.log"), "issues": self._issues}
        book["questions"] = self._questions
        draft = self.playbook.with_suffix(".tmp")
        draft.write_text(json.dumps(book), encoding="utf-8")
        draft.replace(self.playbook)

    @property
    def playbook(self) -> Path:
        return self.folder / "playbook.json"

    def gate(self, name: str) -> str:
        """The path of a gate, for an attempt or a review."""
        return str(self.folder / f"gate-{name}")

    def open_gate(self, name: str) -> None:
        Path(self.gate(name)).touch()

    def starts(self, role: str = "") -> list[Json]:
        """Every start of an agent's program so far."""
        path = self.folder / "starts.log"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        found: list[Json] = [json.loads(line) for line in lines]
        return [start for start in found if not role or start["role"] == role]

    async def started(self, role: str, count: int = 1) -> Json:
        """The `count`-th start of an agent in that role, once it is there."""
        await eventually(lambda: len(self.starts(role)) >= count, within_s=WITHIN_S, what=f"start {count} of {role}")
        return self.starts(role)[count - 1]

    # The service

    def configure(self, *, top: Mapping[str, Any] | None = None, **project: Any) -> None:
        """Write config.yml (JSON is YAML). `project` and `top` go over what is written otherwise."""
        options = {"playbook": str(self.playbook)}
        config: Json = {
            "interval": INTERVAL_S,
            # Scripted agents note their starts outside, and wait at gates there. See test_sandbox.py for the other.
            "sandbox": "none",
            "forges": {
                "stage": {"kind": "github", "base_url": self.url, "token": "file:token", "write_interval": 0},
            },
            "projects": [
                {
                    "slug": PROJECT,
                    "forge": "stage",
                    "checks": [{"name": "answer", "command": ["test", "-f", "answer.txt"]}],
                    "max_runs": 4,
                    **project,
                }
            ],
            "agents": {name: {"adapter": "scripted", "options": options} for name in AGENTS},
            **(top or {}),
        }
        _write_private(self.home.config, json.dumps(config))
        _write_private(self.home.root / "token", TOKENS["octo"] + "\n")

    def start(self, *, die_at: Sequence[tuple[str, str, int]] = ()) -> None:
        """Start the service, noting its effects. It kills itself at each moment of `die_at` once, also when it is
        started again: phase, kind, and which occurrence in the life of that process."""
        if die_at:
            self._order.write_text(json.dumps([list(moment) for moment in die_at]), encoding="utf-8")
        self._launch([str(RUNNER), str(self.home.root), str(self._order)])

    @property
    def _order(self) -> Path:
        return self.folder / "die"

    @property
    def moments_left(self) -> list[tuple[str, str, int]]:
        """Those of `die_at` that have not come yet."""
        if not self._order.is_file():
            return []
        return [(phase, kind, nth) for phase, kind, nth in json.loads(self._order.read_text(encoding="utf-8"))]

    def serve(self, *options: str) -> None:
        """Start it as a person does."""
        self._launch(["-m", "nightcrew.cli.main", "--home", str(self.home.root), "serve", *options])

    def _launch(self, words: Sequence[str]) -> None:
        assert self.service is None or self.service.poll() is not None, "it runs already"
        with self.log.open("ab") as log:
            argv = [sys.executable, *words]
            self.service = subprocess.Popen(
                argv, env=self.environment(), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "PYTHONPATH") if name in os.environ}
        return {**kept, "HOME": str(self.folder / "person"), **self.variables, **more}

    @property
    def pid(self) -> int:
        assert self.service is not None
        return self.service.pid

    async def ended(self, within_s: float = WITHIN_S) -> int:
        """Its exit code, once it has ended by itself."""
        service = self.service
        assert service is not None
        await eventually(lambda: service.poll() is not None, within_s=within_s, what="the service to end")
        return int(service.returncode)

    async def kill(self) -> None:
        """kill -9."""
        os.kill(self.pid, signal.SIGKILL)
        assert await self.ended() == -signal.SIGKILL

    async def stop(self, within_s: float = 20.0) -> int:
        """SIGTERM; its exit code."""
        os.kill(self.pid, signal.SIGTERM)
        return await self.ended(within_s)

    async def answering(self) -> None:
        """Wait until the service answers on its socket."""
        await eventually(self._answers, within_s=WITHIN_S, every_s=0.05, what="the service to answer")

    async def _answers(self) -> Any:
        assert self.service is not None
        assert self.service.poll() is None, f"the service ended with {self.service.returncode}"
        try:
            await self.api("GET", "/status")
        except httpx.TransportError:
            return False
        return True

    async def api(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request to the service's own API."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.home.socket))
        async with httpx.AsyncClient(transport=transport, base_url="http://nightcrew/api/v1", timeout=30) as client:
            return await client.request(method, path, **more)

    async def cli(self, *words: str, home: Path | None = None, **environment: str) -> Said:
        """A command as a person gives it."""
        argv = [sys.executable, "-m", "nightcrew.cli.main", "--home", str(home or self.home.root), *words]
        return await command(argv, env=self.environment(**environment), cwd=self.folder)

    def tail(self, lines: int = 60) -> str:
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.is_file() else ""
        return "\n".join(text.splitlines()[-lines:])

    def effects(self) -> list[str]:
        """Each effect so far as `phase kind`."""
        path = self.folder / "effects.log"
        return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []

    # What is stored

    def rows(self, sql: str, *values: object) -> list[Json]:
        """Rows of the database, which must not be changed here."""
        if not self.home.database.is_file():
            return []
        base = sqlite3.connect(f"file:{self.home.database}?mode=ro", uri=True, timeout=5)
        try:
            base.row_factory = sqlite3.Row
            return [dict(row) for row in base.execute(sql, values)]
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []  # it is being made
            raise
        finally:
            base.close()

    def task(self, number: int) -> Json | None:
        found = self.rows("SELECT * FROM tasks WHERE number = ?", number)
        return found[0] if found else None

    def runs(self, role: str = "") -> list[Json]:
        """All runs in order, `outcome` read."""
        rows = self.rows("SELECT * FROM runs ORDER BY created_at, id")
        for row in rows:
            row["outcome"] = json.loads(row["outcome"]) if row["outcome"] else None
        return [row for row in rows if not role or row["role"] == role]

    def events(self, kind: str = "") -> list[Json]:
        return [row for row in self.rows("SELECT * FROM events ORDER BY id") if not kind or row["kind"] == kind]

    async def until(self, number: int, status: str, within_s: float = WITHIN_S) -> Json:
        """The task once it has that status, its labels are settled, and its issue has been told."""
        seen: list[str] = []

        def there() -> Any:
            assert self.service is not None
            assert self.service.poll() is None, f"the service ended with {self.service.returncode}"
            task = self.task(number)
            if task is not None and (not seen or seen[-1] != task["status"]):
                seen.append(task["status"])
            settled = task is not None and task["moving_to"] is None and f"`{status}`" in task["told"]
            if task is None or task["status"] != status or not settled:
                return None
            return task if status not in ("done", "blocked") or self._is_let_go(number) else None

        try:
            found: Json = await eventually(there, within_s=within_s, every_s=0.05, what=f"#{number} to be {status}")
        except AssertionError as error:
            raise AssertionError(f"#{number} is not {status}, but went through {seen}\n{self.tail()}") from error
        return found

    def _is_let_go(self, number: int) -> bool:
        """Whether its claim was given up, and that is written down."""
        claim = f"refs/nightcrew/claims/{number}"
        return not self.git("for-each-ref", claim) and not self.rows(
            "SELECT * FROM effects WHERE state = 'intent' AND kind = 'claim.release'"
        )

    # What runs

    @property
    def tmux_socket(self) -> Path:
        return TmuxServer(self.home.root).socket

    def tmux(self, *words: str) -> Said:
        argv = ["tmux", "-S", str(self.tmux_socket), *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env=self.environment(), timeout=20)
        return Said(done.returncode, done.stdout, done.stderr)

    def sessions(self) -> list[str]:
        return self.tmux("list-sessions", "-F", "#{session_name}").out.split()

    def workspaces(self) -> list[Path]:
        """Worktrees and checkouts that are still there, at any depth."""
        return [path.parent for path in self.home.workspaces.rglob(".git")]

    async def left(self) -> dict[int, str]:
        """Processes whose command line or environment names this stage, by pid."""
        mark, own = str(self.folder), os.getpid()
        found = await load_processes(with_marks=True)
        return {
            pid: process.arguments.replace("\0", " ")
            for pid, process in found.items()
            if pid != own and (mark in process.arguments or mark in process.variables)
        }

    async def clear(self) -> None:
        """End whatever this stage started."""
        if self.service is not None:
            if self.service.poll() is None:
                self.service.kill()
            self.service.wait()
        self.tmux("kill-server")
        self.playbook.unlink(missing_ok=True)
        for pid in await self.left():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        await eventually(self._is_clear, what="all processes of the stage to end")

    async def _is_clear(self) -> Any:
        return not await self.left()


@asynccontextmanager
async def staged(**project: Any) -> AsyncIterator[Stage]:
    """A stage; `project` are settings of the project."""
    # Not tmp_path, whose name is too long for the sockets that are to lie in the home.
    folder = Path(tempfile.mkdtemp(prefix="ncw-", dir="/tmp")).resolve()
    forge = LocalForge(folder / "forge", clock=SystemClock().now)
    try:
        for login, token in TOKENS.items():
            forge.ensure_user(login, token=token)
        bare = await forge.create_repository(PROJECT, files=FILES)
        forge.set_permission(PROJECT, "bob", "write")
        async with _served(forge) as url, AsyncExitStack() as stack:
            stage = Stage(folder, forge, bare, url)
            for client in (stage.octo, stage.bob, stage.eve):
                await stack.enter_async_context(client)
            stack.push_async_callback(stage.clear)
            (folder / "person").mkdir()
            stage.home.root.mkdir(mode=0o700)
            stage.configure(**project)
            try:
                yield stage
            except BaseException:
                sys.stderr.write(f"--- the service's log ---\n{stage.tail()}\n")
                raise
    finally:
        forge.close()
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def _served(forge: LocalForge) -> AsyncIterator[str]:
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve(forge, on_ready=address.set_result))
        try:
            yield await address
        finally:
            serving.cancel()


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
