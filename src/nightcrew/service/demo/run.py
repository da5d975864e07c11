"""Running the demo: forge, service, issues, watching, and the proof at the end."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nightcrew.api.socket import serve_api
from nightcrew.config.home import Home
from nightcrew.config.load import Configuration, parse_configuration
from nightcrew.core.errors import Invalid, Missing, PortError
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.engine.recover import recover
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.serving import serve as serve_forge
from nightcrew.process import clean_environment, run_process
from nightcrew.runtimes.tmux import TmuxRuntime
from nightcrew.service.adapter import adapter_names
from nightcrew.service.clock import SystemClock
from nightcrew.service.compose import Composed, composed, home_of
from nightcrew.service.demo.playbook import ISSUES, playbook
from nightcrew.service.demo.sample import ACCEPTANCE, FILES, SUITE
from nightcrew.service.demo.show import Ticker, find_view, render_table, result_rows
from nightcrew.service.init import KNOWN_AGENTS
from nightcrew.service.local import OWNER, owner_token
from nightcrew.service.log import configure_log
from nightcrew.service.log_file import LogFile
from nightcrew.service.throwaway import remove_home
from nightcrew.service.tool import require_tools

PROJECT = f"{OWNER}/textkit"
SCRIPTED = ("owl", "fox", "lynx")
TIME_LIMIT_S = 600.0
CLEAR_WITHIN_S = 30.0
ENDED = 128 + signal.SIGTERM


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """`agents`: real CLIs instead of scripted ones. `reviewer` is `real` or `approve`. `home` empty: a throw-away
    one."""

    agents: Sequence[str] = ()
    keep: bool = False
    as_json: bool = False
    reviewer: str = "real"
    pause_s: float = 0.25
    home: Path | None = None


@dataclass(slots=True)
class Outcome:
    """What came of it."""

    rows: list[tuple[str, ...]] = field(default_factory=list)
    failed_before: bool = False
    passes_now: bool = False
    words: str = ""

    @property
    def ok(self) -> bool:
        return self.failed_before and self.passes_now and not self.words


def run_demo(*, agents: Sequence[str] = (), keep: bool = False, as_json: bool = False) -> int:
    """`nightcrew demo`. Exit code 0 only if every issue is merged and the acceptance tests pass on the result."""
    require_tools()
    _check_agents(agents)
    reviewer = "approve" if os.environ.get("NIGHTCREW_DEMO_REVIEWER") == "approve" else "real"  # noqa: TID251 - a switch of the demo alone
    try:
        return asyncio.run(play(DemoOptions(agents, keep, as_json, reviewer)))
    except asyncio.CancelledError:
        return ENDED  # by SIGTERM, with everything cleared away


def _end_on_sigterm() -> None:
    """SIGTERM ends the demo as Ctrl-C does, so that its home goes with it. Once: a second one must not cut that off."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    asked: list[bool] = []

    def end() -> None:
        if task is not None and not asked:
            asked.append(True)
            task.cancel()

    loop.add_signal_handler(signal.SIGTERM, end)


def _check_agents(agents: Sequence[str]) -> None:
    """Real agents have to be known, installed, and two at least: nobody reviews their own work."""
    unknown = [name for name in agents if name not in KNOWN_AGENTS]
    if unknown:
        raise Invalid(f"no agent {', '.join(unknown)} for the demo; there are: {', '.join(KNOWN_AGENTS)}")
    missing = [name for name in agents if shutil.which(name) is None]
    if missing:
        raise Missing(f"{' and '.join(missing)} cannot be found on PATH; install it, or name other agents")
    if len(set(agents)) == 1:
        raise Invalid("the demo needs two agents at least, since nobody reviews their own work")


async def play(options: DemoOptions) -> int:
    """The demo with these options."""
    _end_on_sigterm()
    folder = options.home or Path(tempfile.mkdtemp(prefix="nightcrew-demo-"))
    say = (lambda _text: None) if options.as_json else _say
    home = home_of(folder)
    configure_log(sys.stderr, file=LogFile(home.log), is_background=True)  # what is wrong, and all of it in the home
    try:
        async with _stage(home, options, say) as stage:
            outcome = await _watch(stage, options, say)
            _tell(outcome, options, stage.home)
            if options.keep:
                await _stay(stage.home)
        return 0 if outcome.ok else 1
    finally:
        await _end_sessions(folder)
        if options.home is None:
            remove_home(Home(folder))


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything set up and running."""

    home: Home
    service: Composed
    repository: Path
    keys: tuple[TaskKey, ...]
    began_at: datetime


@asynccontextmanager
async def _stage(home: Home, options: DemoOptions, say: Any) -> AsyncIterator[Stage]:
    clock = SystemClock()
    forge = LocalForge(home.forge, clock=clock.now)
    token = owner_token(home.forge)
    forge.ensure_user(OWNER, token=token)
    repository = await forge.create_repository(PROJECT, files=FILES)
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve_forge(forge, on_ready=address.set_result), name="forge")
        url = await address
        text = json.dumps(_config(home, options, url))
        (home.root / "config.yml").write_text(text, encoding="utf-8")
        (home.root / "config.yml").chmod(0o600)
        say(_welcome(options, home, url))
        async with composed(home, _configuration(home, text)) as service:
            await recover(service.ports)
            api = group.create_task(serve_api(service.facade, home.socket), name="api")
            engine = group.create_task(service.loop.run(), name="engine")
            began_at = clock.now()
            keys = await _file_issues(service)
            yield Stage(home, service, repository, keys, began_at)
            service.loop.stop()
            await engine
            api.cancel()
        serving.cancel()
    forge.close()


def _config(home: Home, options: DemoOptions, url: str) -> dict[str, Any]:
    return {
        "interval": 1,
        "forges": {
            "demo": {"kind": "github", "base_url": url, "token": f"file:{home.forge / 'token'}", "write_interval": 0}
        },
        "projects": [
            {
                "slug": PROJECT,
                "forge": "demo",
                "merge": {"mode": "auto"},
                "checks": [{"name": "tests", "command": _command(SUITE)}],
                # A Python that lies in the person's home is not seen in a sandbox otherwise.
                "sandbox_read": sorted({sys.prefix, sys.base_prefix} - {"/usr", "/usr/local"}),
                "max_runs": 4,
            }
        ],
        "agents": _agents(home, options),
        "limits": {"max_runs": 4},
    }


def _command(suite: Sequence[str]) -> list[str]:
    """With the Python that runs this, since the first on the PATH may be none that works."""
    return [sys.executable if word == "python3" else word for word in suite]


def _agents(home: Home, options: DemoOptions) -> dict[str, Any]:
    if options.agents:
        return {name: {"adapter": name} for name in options.agents}
    book = home.root / "playbook.json"
    content = playbook(FILES["README.md"], pause_s=options.pause_s, reviewer=options.reviewer)
    book.write_text(json.dumps(content), encoding="utf-8")
    return {name: {"adapter": "scripted", "options": {"playbook": str(book)}} for name in SCRIPTED}


def _configuration(home: Home, text: str) -> Configuration:
    # JSON is YAML; variables meant for the user's own Nightcrew are not the demo's.
    return parse_configuration(text, str(home.config), environ={}, adapters=adapter_names())


def _welcome(options: DemoOptions, home: Home, url: str) -> str:
    who = (
        f"The agents are real: {', '.join(options.agents)}. They call their models, with your logins.\n"
        if options.agents
        else f"The agents ({', '.join(SCRIPTED)}) are scripted and call no model: each plays from a playbook, really "
        "edits,\nand really runs the tests when it reviews.\n"
    )
    return f"Nightcrew demo. Home: {home.root}. Local forge: {url}\n{who}\n"


async def _file_issues(service: Composed) -> tuple[TaskKey, ...]:
    keys = []
    for issue in ISSUES:
        answer = await service.facade.add_task(PROJECT, title=issue.title, body=issue.body, labels=issue.labels)
        keys.append(TaskKey(PROJECT, int(str(answer.data["task"]).rpartition("#")[2])))
    return tuple(keys)


async def _watch(stage: Stage, options: DemoOptions, say: Any) -> Outcome:
    """Follow until every issue is done or waits for a person, then prove the result."""
    outcome = Outcome(failed_before=not await _passes(stage, ACCEPTANCE))
    limit_s = TIME_LIMIT_S if not options.agents else 10 * TIME_LIMIT_S
    store, times = stage.service.ports.store, dict[int, float]()
    ticker = Ticker(say, stage.began_at)
    ended: set[TaskKey] = set()
    try:
        async with asyncio.timeout(limit_s):
            async for event in stage.service.means.bus.follow(after=0):
                if event.task is None or event.kind not in ("status.changed", "task.adopted"):
                    continue
                task = await stage.service.means.task(event.task)
                view = find_view(stage.service.loop.state.world, task)
                ticker.show(
                    event, view, task, await store.load_runs(task=task.key), await store.load_verdicts(task=task.key)
                )
                target = event.data.get("target")
                if target in (Status.DONE.value, Status.BLOCKED.value):
                    ended.add(event.task)
                    times[event.task.number] = (event.at - stage.began_at).total_seconds()
                if ended == set(stage.keys):
                    break
    except TimeoutError:
        outcome.words = f"not every issue was finished within {limit_s:g} s"
    tasks = await store.load_tasks(include_done=True)
    outcome.rows = result_rows(tasks, await store.load_runs(), await store.load_verdicts(), times)
    unfinished = [str(task.key) for task in tasks if task.status is not Status.DONE or task.merge_sha is None]
    if unfinished and not outcome.words:
        outcome.words = f"not merged: {', '.join(unfinished)}"
    outcome.passes_now = await _passes(stage, SUITE) and await _passes(stage, ACCEPTANCE)
    return outcome


async def _passes(stage: Stage, suite: Sequence[str]) -> bool:
    """Whether a test suite passes on a fresh clone of the default branch."""
    with tempfile.TemporaryDirectory(prefix="nightcrew-proof-") as folder:
        clone = Path(folder) / "clone"
        env = clean_environment(extra={"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"})
        done = await run_process(["git", "clone", "-q", str(stage.repository), str(clone)], env=env, timeout_s=60)
        if not done.ok:
            return False
        return (await run_process(_command(suite), cwd=clone, env=env, timeout_s=120)).ok


def _tell(outcome: Outcome, options: DemoOptions, home: Home) -> None:
    if options.as_json:
        head, *rows = outcome.rows
        keys = [name.lower().replace(" ", "_") for name in head]
        answer: Mapping[str, object] = {
            "ok": outcome.ok,
            "scripted": not options.agents,
            "tasks": [dict(zip(keys, row, strict=True)) for row in rows],
            "acceptance_failed_before": outcome.failed_before,
            "acceptance_passes_now": outcome.passes_now,
            "problem": outcome.words,
        }
        _say(json.dumps(answer, indent=2) + "\n")
        return
    _say("\n" + render_table(outcome.rows))
    before = "failed" if outcome.failed_before else "passed (that is wrong)"
    now = "pass" if outcome.passes_now else "FAIL"
    _say(f"\nThe acceptance tests {before} before, and now they {now} on a fresh clone of the default branch.\n")
    if outcome.words:
        _say(f"The demo did not succeed: {outcome.words}\n")
    if options.keep:
        _say(
            f"\nIt keeps running. In another terminal:\n  nightcrew --home {home.root} task list --all\n"
            f"  nightcrew --home {home.root} task show 4\nStop it with Ctrl-C; its home is removed then.\n"
        )


async def _stay(home: Home) -> None:
    del home
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


async def _end_sessions(folder: Path) -> None:
    """The home's sessions go with it, and the tmux server with the last of them; nothing starts others any more."""
    runtime = TmuxRuntime(folder)
    with suppress(PortError, TimeoutError):
        async with asyncio.timeout(CLEAR_WITHIN_S):
            sessions = await runtime.list_sessions()
            for name in sessions.value.by_name if isinstance(sessions, Known) else ():
                await runtime.stop_session(name)


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
