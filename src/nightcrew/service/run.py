"""Running the service: lock, recovery, API and loop under one root, and an orderly end."""

import asyncio
import importlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import structlog

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.load import Configuration
from nightcrew.core.errors import ConfigError, Missing, Unavailable
from nightcrew.engine.inquirer import Inquirer
from nightcrew.engine.journal import Boundary
from nightcrew.engine.prune import watch_retention
from nightcrew.engine.recover import recover
from nightcrew.engine.supervise import supervise
from nightcrew.service.adapter import load_agents
from nightcrew.service.chat import ChatPart
from nightcrew.service.clock import SystemClock
from nightcrew.service.compose import Composed, composed, home_of
from nightcrew.service.connection import resolve_tokens, used_forges
from nightcrew.service.dry import tell_dry_run
from nightcrew.service.guard import watch_file
from nightcrew.service.load import load
from nightcrew.service.lock import held
from nightcrew.service.log import bridge_logging, configure_log, follow_events
from nightcrew.service.log_file import LogFile
from nightcrew.service.metrics import MetricsPart
from nightcrew.service.notify import Notifier, Signs
from nightcrew.service.repeat import Repeats
from nightcrew.service.standby import Standby
from nightcrew.service.tool import require_tools
from nightcrew.service.wakeful import Wakeful

STOP_WITHIN_S = 3.0
"""How long actions under way may take to end after a signal."""

LOOK_FIRST_S = 2.0
"""How long all that runs beside the loop waits for the first look to be over."""

LEAVE_WITHIN_S = 4.8
"""After this the process leaves, whatever still hangs: rows are whole, and the next start looks what is."""


def run_service(home: Path, *, dry_run: bool = False, drain: bool = False, is_background: bool = False) -> int:
    """`nightcrew serve`: run until a signal says stop; with `drain`, only until no run lives any more. Agents outlive
    it. In the `background` only what is wrong is also said on standard error, and what a person has to put right
    before the start is waited for."""
    if is_background and not dry_run:
        if not home.is_dir():
            raise Missing(f"{home} is not there; begin with: nightcrew init")
        return _run_in_background(home_of(home), drain=drain)
    configuration = asyncio.run(get_configuration(Home(home)))
    place = home_of(home)
    if dry_run:
        configure_log(sys.stderr, is_background=True)  # what it prints is the answer
        return asyncio.run(tell_dry_run(place, configuration, write=sys.stdout.write))
    with held(place.lock):
        configure_log(sys.stderr, file=LogFile(place.log))
        bridge_logging(Repeats(SystemClock().monotonic))
        asyncio.run(serve(place, configuration, drain=drain))
    return 0


def _run_in_background(home: Home, *, drain: bool) -> int:
    with held(home.lock):
        configure_log(sys.stderr, file=LogFile(home.log), is_background=True)
        bridge_logging(Repeats(SystemClock().monotonic))
        standby = Standby(home.config, Notifier(load_environment(), pid=os.getpid()))
        while True:
            configuration = asyncio.run(standby.wait(partial(get_configuration, home)))
            if configuration is None:
                return 0
            try:
                asyncio.run(serve(home, configuration, drain=drain))
            except ConfigError as error:
                standby.say(error)  # found before anything was opened
            else:
                return 0


async def get_configuration(home: Home) -> Configuration:
    """The configuration. Missing or ConfigError for what a person has to put right (tools, adapters, tokens), before
    any folder is made."""
    require_tools()
    configuration = load(home)
    settings = configuration.apply()
    load_agents(settings)
    await resolve_tokens(home, used_forges(settings))
    return configuration


async def serve(
    home: Home,
    configuration: Configuration,
    *,
    boundary: Boundary | None = None,
    on_ready: Callable[[Composed], None] | None = None,
    drain: bool = False,
) -> None:
    """Compose, recover, and run until SIGTERM or SIGINT, or until it is drained."""
    log = structlog.get_logger("service")
    async with composed(home, configuration, boundary=boundary) as service:
        for words in await recover(service.ports):
            log.info("recovered", what=words)
        log.info("serving", home=str(home.root), projects=len(service.settings.projects))
        if drain:
            service.loop.drain()
        await _run_until_stopped(service, home, on_ready)
        log.info("stopped")


async def _run_until_stopped(service: Composed, home: Home, on_ready: Callable[[Composed], None] | None) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, service.loop.stop)
    signs = Signs(
        Notifier(load_environment(), pid=os.getpid()), service.loop.beat, monotonic=service.ports.clock.monotonic
    )
    loop.add_signal_handler(signal.SIGHUP, _hang_up(service, signs, on_terminal=sys.stderr.isatty()))
    log = structlog.get_logger("service")

    def report(name: str, error: BaseException) -> None:
        log.error("part failed, and is started again", part=name, error=str(error))

    repeats = Repeats(service.ports.clock.monotonic)
    is_lost = asyncio.Event()

    def lose_store() -> None:
        log.error("the database was deleted or replaced under the service, which ends", path=str(home.database))
        is_lost.set()
        service.loop.stop()

    async with asyncio.TaskGroup() as group:
        beside = [
            group.create_task(watch_file(home.database, lost=lose_store), name="guard"),
            group.create_task(
                supervise("log", lambda: follow_events(service.means.bus, repeats), report=report), name="log"
            ),
            group.create_task(_say_looked(service), name="looked"),
            *(
                group.create_task(supervise(name, partial(_after_first_look, service, start), report=report), name=name)
                for name, start in _parts(service, home).items()
            ),
        ]
        if on_ready is not None:
            on_ready(service)
        engine = group.create_task(service.loop.run(), name="engine")
        beside.append(group.create_task(signs.run(service.loop.reloader.ask), name="signs"))
        await service.loop.stopped()
        signs.end()
        loop.call_later(LEAVE_WITHIN_S, _leave)
        await asyncio.wait({engine}, timeout=STOP_WITHIN_S)
        for task in (engine, *beside):
            task.cancel()
    if is_lost.is_set():
        raise Unavailable(f"{home.database} was deleted or replaced while the service ran; start it again")


async def _say_looked(service: Composed) -> None:
    await service.loop.ticked()
    structlog.get_logger("service").info("looked", what="the first look is over")


async def _after_first_look(service: Composed, start: Callable[[], Awaitable[None]]) -> None:
    """What runs beside the loop is heavy to load: the first look comes first, if it does not take too long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOK_FIRST_S):
            await service.loop.ticked()
    await start()


async def _serve_api(service: Composed, home: Home) -> None:
    api = await asyncio.to_thread(importlib.import_module, "nightcrew.api.socket")
    await asyncio.to_thread(importlib.import_module, "nightcrew.engine.facade")
    await api.serve_api(service.facade, home.socket)


def _parts(service: Composed, home: Home) -> dict[str, Callable[[], Awaitable[None]]]:
    """What runs beside the loop, each by itself: one that fails is started again, and harms no other."""
    loop = service.loop

    def is_at_work() -> bool:
        world = loop.state.world
        at_work = world is not None and any(view.live for project in world.projects.values() for view in project.tasks)
        return at_work and loop.means.settings.upkeep.prevent_sleep

    return {
        "api": lambda: _serve_api(service, home),
        "notices": lambda: service.notices.run(service.ports.store, service.ports.clock, service.means.bus),
        **{chat.name: partial(_run_chat, service, chat) for chat in service.chats},
        "webhook": service.webhook.run,
        "metrics": lambda: MetricsPart(loop, service.facade).run(),
        "traces": service.tracing.run,
        "awake": Wakeful(is_at_work).run,
        "questions": Inquirer(loop, service.facade, structlog.get_logger("question").warning).run,
        "retention": partial(watch_retention, lambda: loop.means),
    }


async def _run_chat(service: Composed, chat: ChatPart) -> None:
    await chat.run(service.facade, service.ports.clock, service.ports.store)


def _hang_up(service: Composed, signs: Signs, *, on_terminal: bool) -> Callable[[], None]:
    """SIGHUP has the configuration read. Where it is the terminal that has gone away, it means what it always meant."""

    def handle() -> None:
        if on_terminal and not sys.stderr.isatty():
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), sys.stderr.fileno())  # the log must not fail while it stops
            service.loop.stop()
        else:
            signs.ask_reload()

    return handle


def _leave() -> None:
    log = structlog.get_logger("service")
    for task in asyncio.all_tasks():
        log.error("did not end in time", part=task.get_name(), where=str(task.get_coro()))
    os._exit(0)
