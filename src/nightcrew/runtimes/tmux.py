"""Sessions in tmux. One session holds one pane, in which the shim runs one agent.

A session is ours if it carries this installation's id in its own option `@nightcrew`; nothing else is touched. Nothing
is ever typed into a pane, and no answer of tmux is taken for "none" unless it says so.
"""

import asyncio
import hashlib
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Conflict, Invalid, PortError, Unavailable
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.run import Probe
from nightcrew.ports.runtime import Progress, SessionResult, Sessions, SessionSpec
from nightcrew.runtimes import run_folder
from nightcrew.runtimes.process_table import Process, end_processes, find_descendants, load_processes
from nightcrew.runtimes.tmux_server import TmuxServer

SHIM = Path(__file__).with_name("shim.py")
WIDTH, HEIGHT = 220, 50
"""A pane's size from the start: some programs break when a narrow one grows."""
RETRY_AFTER_S = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Waits before each try to start a session: a server that is just going down refuses, or takes the session with it."""
SHIM_GRACE_S = 9.0
"""The shim gives its agent 5 s to end, and what that leaves behind 1 s."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")


@dataclass(frozen=True, slots=True)
class _Session:
    """A session of ours: tmux's id, and the pid of its shim while its pane lives."""

    id: str
    shim: int | None


class TmuxRuntime:
    """The runtime port over a tmux server of Nightcrew's own.

    `home` is Nightcrew's home; `installation` tells installations apart, and is made from the home's path if empty.
    """

    def __init__(self, home: Path, *, installation: str = "", program: str = "tmux") -> None:
        self.server = TmuxServer(home, program=program)
        self.installation = installation or hashlib.sha256(os.fsencode(home.absolute())).hexdigest()[:16]
        _check_name(self.installation)
        self._replacing = asyncio.Lock()

    async def start_session(self, spec: SessionSpec) -> None:
        """As the port says. Two starters of one name are told apart by tmux, and two shims in one run folder by a lock,
        so that one agent runs even if the server was not seen. A session that died without a result is replaced."""
        _check_name(spec.name)
        if not spec.argv or any("\0" in word for word in (*spec.argv, *spec.env.keys(), *spec.env.values())):
            raise Invalid(f"session {spec.name}: its command is empty or holds a NUL character")
        complaint = ""
        for pause_s in RETRY_AFTER_S:
            await asyncio.sleep(pause_s)
            if run_folder.look(spec.folder).has_result:
                return
            complaint = await self._try_to_start(spec)
            if not complaint:
                return
        raise Unavailable(f"session {spec.name} could not be started: {complaint}")

    async def list_sessions(self) -> Observed[Sessions]:
        """As the port says; one tmux process, unless the server's socket has to be brought back."""
        try:
            found = await self._load()
        except PortError as error:
            return Unknown(str(error))
        probes = {name: Probe.DEAD if session.shim is None else Probe.ALIVE for name, session in found.items()}
        return Known(Sessions(probes))

    async def stop_session(self, name: str) -> None:
        """As the port says. Also ends what an agent left whose session or shim is already gone."""
        _check_name(name)
        session = (await self._load()).get(name)
        shim = session.shim if session is not None else None
        await self._end_agent(name, shim)
        if session is not None:
            await self.server.command("kill-session", "-t", session.id)
            left = (await self._load()).get(name)
            if left is not None and left.id == session.id:
                raise Unavailable(f"session {name} is still there after it was killed")

    def look(self, folder: Path) -> Progress:
        """As the port says."""
        return run_folder.look(folder)

    def load_result(self, folder: Path) -> SessionResult | None:
        """As the port says."""
        return run_folder.load_result(folder)

    def attach_argv(self, name: str) -> Sequence[str]:
        """As the port says. Reading only: keys do nothing but scroll and detach, so nobody stops an agent by a slip."""
        _check_name(name)
        return (*self.server.argv, "attach-session", "-f", "read-only", "-t", f"={name}")

    async def _try_to_start(self, spec: SessionSpec) -> str:
        """One try; empty if the session is there, else why it is worth another."""
        if not self.server.answers() and await self.server.revive():
            return await self._settle_existing(spec)
        spec_file = run_folder.write_spec(spec, installation=self.installation)
        marks = (f"NIGHTCREW_SESSION={spec.name}", f"NIGHTCREW_INSTALLATION={self.installation}")
        size = ("-x", str(WIDTH), "-y", str(HEIGHT))
        target = ("-t", f"={spec.name}:")
        answer = await self.server.command(
            *("new-session", "-d", "-P", "-F", "#{pid}", "-s", spec.name, *size, "-c", "/"),
            *("-e", marks[0], "-e", marks[1], "--", sys.executable, "-I", "-S", str(SHIM), str(spec_file)),
            *(";", "set-option", *target, "@nightcrew", self.installation),
            *(";", "set-option", "-F", *target, "@nightcrew_pane", "#{pane_id}"),
        )
        if not answer.failed:
            await self.server.record(int(answer.lines[0]))
            return "" if spec.name in await self._load() else "it was gone right after its start"
        spec_file.unlink(missing_ok=True)
        if "duplicate session" in answer.complaint:
            return await self._settle_existing(spec)
        if answer.has_no_server:
            return answer.complaint
        raise Unavailable(f"session {spec.name} could not be started: {answer.complaint}")

    async def _settle_existing(self, spec: SessionSpec) -> str:
        """A session that was there before: empty if it lives or has its result; a dead one is cleaned away first."""
        async with self._replacing:
            session = (await self._load(foreign=spec.name)).get(spec.name)
            if session is not None and (session.shim is not None or run_folder.look(spec.folder).has_result):
                return ""
            if session is not None:
                await self.stop_session(spec.name)
        return "a dead session of that name was in the way"

    async def _load(self, *, foreign: str = "") -> dict[str, _Session]:
        """Our sessions by name. Unavailable if they cannot be seen; Conflict if one named `foreign` is not ours."""
        if not self.server.has_socket() and not await self.server.revive():
            return {}  # as tmux itself would say, with no process
        answer = await self.server.command("list-panes", "-a", "-F", self._format)
        if answer.has_no_server and await self.server.revive():
            answer = await self.server.command("list-panes", "-a", "-F", self._format)
        if answer.has_no_server or answer.has_no_session:
            return {}
        if answer.failed:
            raise Unavailable(f"tmux cannot list its sessions: {answer.complaint}")
        found: dict[str, _Session] = {}
        for line in answer.lines:
            pid, session, dead, shim, is_own, is_first, name = _parse_pane(line)
            if is_own:
                before = found.get(name)
                lives = is_first and not dead
                found[name] = _Session(session, shim if lives else before.shim if before is not None else None)
            elif name == foreign:
                raise Conflict(
                    f"a session named {name} is on Nightcrew's tmux server but was not made by it: rename it"
                )
            await self.server.record(pid)
        return found

    @property
    def _format(self) -> str:
        # Names come last and nothing else in it is free text; tmux itself compares the options.
        own, first = f"#{{==:#{{@nightcrew}},{self.installation}}}", "#{==:#{@nightcrew_pane},#{pane_id}}"
        return f"#{{pid}} #{{session_id}} #{{pane_dead}} #{{pane_pid}} {own} {first} #{{session_name}}"

    async def _end_agent(self, name: str, shim: int | None) -> None:
        """End the shim, by which the agent ends, and then whatever else carries the session's mark or came from it."""
        marks = (f"NIGHTCREW_SESSION={name}", f"NIGHTCREW_INSTALLATION={self.installation}")
        processes = await load_processes(with_marks=True)
        shims = [p for p in processes.values() if p.pid == shim or (p.is_marked(marks) and str(SHIM) in p.arguments)]
        kin = {pid: processes[pid].started for pid in find_descendants(processes, [p.pid for p in shims])}
        keys = {(p.pid, p.started) for p in shims}

        async def find_shims() -> list[Process]:
            now = await load_processes()
            return [p for p in now.values() if (p.pid, p.started) in keys]

        async def find_kin() -> list[Process]:
            now = await load_processes(with_marks=True)
            roots = {p.pid for p in now.values() if kin.get(p.pid) == p.started or p.is_marked(marks)}
            below = find_descendants(now, roots) | roots
            kin.update({pid: now[pid].started for pid in below})
            return [now[pid] for pid in below]

        if shims:
            await end_processes(find_shims, grace_s=SHIM_GRACE_S)
        if not await end_processes(find_kin, grace_s=1.0):
            left = ", ".join(str(process.pid) for process in await find_kin())
            raise Unavailable(f"processes of session {name} cannot be ended: {left}")


def _parse_pane(line: str) -> tuple[int, str, bool, int, bool, bool, str]:
    try:
        server, session, dead, pane, own, first, name = line.split(" ", 6)
        return int(server), session, dead == "1", int(pane or 0), own == "1", first == "1", name
    except ValueError as error:
        raise Unavailable(f"tmux lists a pane in an unknown form: {line[:200]!r}") from error


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Invalid(f"{name!r} is not a name for a session: letters, digits, - and _ only, at most 200")
