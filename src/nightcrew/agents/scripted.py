"""Agents that play from a script and call no model: for the demo, and for trying a configuration out.

The program behind them is `scripted_player.py`. It really edits, really runs tests, and really reports; only what it
writes was decided beforehand, in a playbook.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from nightcrew.agents.stream import find_text, parse_stream
from nightcrew.core.errors import ConfigError, Problem
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.model.settings import AgentSettings
from nightcrew.core.report import ReportError, parse_report
from nightcrew.ports.agent import AgentCommand, AgentJob, Enforcement, Limit, Needs, Reading, RunOutput
from nightcrew.ports.runtime import ShowRule

PLAYER = Path(__file__).with_name("scripted_player.py")
SHOW = (ShowRule({"type": "session"}, ""), ShowRule({"type": "say"}, "text"), ShowRule({"type": "run"}, "text", "$ "))


class ScriptedAgent:
    """An agent that plays from `options.playbook`, a JSON file. It remembers nothing, so that its sessions can always
    be gone on with, unless `options.resume` is false."""

    def __init__(self, settings: AgentSettings) -> None:
        playbook = settings.options.get("playbook")
        if not isinstance(playbook, str) or not playbook:
            where = f"agents.{settings.name}.options.playbook"
            raise ConfigError([Problem(where, "a scripted agent needs a playbook", "give the path of its JSON file")])
        self._name = settings.name
        self._playbook = playbook
        self._can_resume = settings.options.get("resume", True) is not False

    @property
    def name(self) -> str:
        return self._name

    @property
    def program(self) -> str:
        return sys.executable

    @property
    def settings_paths(self) -> tuple[str, ...]:
        return ()

    def command(self, job: AgentJob) -> AgentCommand:
        words = {
            "agent": self._name,
            "role": job.role.value,
            "playbook": self._playbook,
            "report": str(job.report),
            "run": str(job.folder.parent),
        }
        words |= {"session": job.session, "resume": job.resume}
        return AgentCommand(
            argv=(sys.executable, "-I", "-S", str(PLAYER), json.dumps(words)),
            files={"prompt.md": job.prompt},
            stdin="prompt.md",
            show=SHOW,
        )

    def needs(self, job: AgentJob) -> Needs:
        del job
        # A Python that lies in the person's home is not seen otherwise.
        prefixes = dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix))
        own = tuple(Path(prefix) for prefix in prefixes if prefix not in ("/usr", "/usr/local"))
        return Needs(read=(PLAYER, Path(self._playbook), *own))

    def read(self, output: RunOutput) -> Reading:
        session = _session(output.stdout)
        return replace(self._read(output), session=session, spoke=bool(session) and output.stdout.count(b"\n") > 1)

    def _read(self, output: RunOutput) -> Reading:
        if output.timed_out:
            return Reading(None, Failure(FailureKind.TIMEOUT, "its deadline passed"))
        if output.exit_code != 0:
            said = output.stderr.decode("utf-8", "replace").strip().splitlines()
            return Reading(None, Failure(FailureKind.CRASH, said[-1] if said else f"exit code {output.exit_code}"))
        if output.report is None:
            return Reading(None, Failure(FailureKind.BAD_OUTPUT, "it left no report"))
        parsed = parse_report(output.role, output.report)
        if isinstance(parsed, ReportError):
            return Reading(None, Failure(FailureKind.BAD_OUTPUT, parsed.detail))
        return Reading(parsed, None)

    @property
    def can_resume(self) -> bool:
        return self._can_resume

    def is_at_work(self, output: bytes) -> bool:
        del output
        return False

    def limits(self) -> tuple[Limit, ...]:
        means = "it does what its playbook says"
        return (Limit("everything", Enforcement.ADVICE, means),)

    def homes(self) -> tuple[str, ...]:
        return ("nothing outside the workspace and the run folder",)


def _session(stdout: bytes) -> str:
    """What its first line says of itself."""
    first = parse_stream(stdout.partition(b"\n")[0]).objects
    return find_text(first[0], "id") if first and first[0].get("type") == "session" else ""
