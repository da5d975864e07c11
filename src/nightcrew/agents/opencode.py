"""opencode: its command line (`opencode run --format json`) and its stream.

Facts measured on version 1.18.33. It has no OS sandbox: its permissions bind its own tools, and shell commands of an
author are free. What would ask a person is answered with no by itself, so every permission is set. It leaves a large
library in its temporary folder at each start, which is therefore the run folder.
"""

import json
import re
from collections.abc import Mapping

from nightcrew.agents.ending import Ending, judge
from nightcrew.agents.home import guard, spare
from nightcrew.agents.limit import ADVICE, ENFORCED, NONE, render_limits
from nightcrew.agents.option import Options
from nightcrew.agents.pattern import Pattern
from nightcrew.agents.stream import (
    Line,
    find_count,
    find_moment,
    find_number,
    find_text,
    parse_object,
    parse_stream,
    strip_terminal,
)
from nightcrew.agents.vendor import VENDOR_PATTERNS
from nightcrew.core.errors import Invalid
from nightcrew.core.failures import FailureKind, Scope
from nightcrew.core.model.report import Usage
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from nightcrew.ports.agent import (
    Access,
    AgentCommand,
    AgentJob,
    HomePath,
    Limit,
    LoginSign,
    Needs,
    Reading,
    RunOutput,
)
from nightcrew.ports.runtime import ShowRule

PATTERNS: tuple[Pattern, ...] = (
    Pattern(r"permission requested: .*auto-rejecting", FailureKind.PERMISSION, "recorded opencode/ask-in-run"),
    Pattern(r"Session not found|Resource not found", FailureKind.CRASH, "1.18.33", scope=Scope.NOBODY),
    *VENDOR_PATTERNS,
)

_CONFIG = "OPENCODE_CONFIG_CONTENT"

_ENVIRONMENT = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
}

_REFUSED = ("rejected permission", "prevents you from using")
_LOOKING = tuple(f"git {verb}*" for verb in ("diff", "log", "show", "status", "blame", "ls-files"))

SHOW: tuple[ShowRule, ...] = (
    ShowRule({"type": "text"}, "part.text"),
    ShowRule({"type": "tool_use", "part.state.status": "error"}, "part.state.error", "refused: "),
    ShowRule({"type": "tool_use", "part.tool": "bash"}, "part.state.input.command", "$ "),
    ShowRule({"type": "tool_use", "part.tool": "edit"}, "part.state.input.filePath", "edit "),
    ShowRule({"type": "tool_use", "part.tool": "write"}, "part.state.input.filePath", "write "),
    ShowRule({"type": "tool_use"}, "part.tool", "tool "),
    ShowRule({"type": "error"}, "error.data.message", "failed: "),
    ShowRule({"type": "step_start"}, ""),
    ShowRule({"type": "step_finish"}, ""),
)


# Never run in a sandbox. The login, the sessions and the log are in the first; programs that it fetched and runs are in
# its `bin`, so that is guarded. Its packages are fetched anew in each run: those of the person would run outside.
_HOME = (
    HomePath(".local/share/opencode/", Access.WRITE),
    *guard(".local/share/opencode", ("bin/",)),
    HomePath(".config/opencode/", Access.READ),
    *spare(".cache", ("opencode/",)),
    *spare(".local/state", ("opencode/",)),
)


class OpencodeAgent:
    """The `opencode` CLI. A model is named `provider/model`. Options: `config` (a table as in its config file, for
    providers), `permission` (permissions to add or change)."""

    def __init__(self, settings: AgentSettings) -> None:
        options = Options(settings)
        self._config = options.table("config")
        self._permission = options.table("permission")
        try:
            json.dumps([self._config, self._permission])
        except (TypeError, ValueError):
            options.complain("config", "cannot be written as JSON")
        options.close()
        self._name = settings.name
        self._program = settings.command or ("opencode",)

    @property
    def name(self) -> str:
        return self._name

    @property
    def program(self) -> str:
        return self._program[0]

    def login_command(self) -> str:
        return f"{self.program} auth login"

    @property
    def settings_paths(self) -> tuple[str, ...]:
        return (".opencode", "opencode.json", "opencode.jsonc")

    def command(self, job: AgentJob) -> AgentCommand:
        argv = [*self._program, "run", "--format", "json"]
        argv += ["--model", job.model] if job.model else []
        argv += ["--session", job.resume] if job.resume else []
        env = {**_ENVIRONMENT, "TMPDIR": str(job.folder), **job.env, _CONFIG: self._content(job)}
        if not job.repository_settings:
            env["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
        return AgentCommand(tuple(argv), env, {"prompt.md": job.prompt}, "prompt.md", SHOW)

    def needs(self, job: AgentJob) -> Needs:
        del job
        return Needs(_HOME)

    def models_command(self) -> AgentCommand:
        env = {**_ENVIRONMENT, "OPENCODE_DISABLE_PROJECT_CONFIG": "1", _CONFIG: json.dumps(dict(self._config))}
        return AgentCommand((*self._program, "models"), env)

    def read(self, output: RunOutput) -> Reading:
        return judge(output, parse_ending(output), PATTERNS)

    @property
    def can_resume(self) -> bool:
        return True

    def is_at_work(self, output: bytes) -> bool:
        """A tool is printed only when it has ended."""
        del output
        return False

    def limits(self) -> tuple[Limit, ...]:
        return render_limits({
            "write_outside": (ADVICE, "its file tools are refused other folders; shell commands are not"),
            "read_outside": (ADVICE, "its file tools are refused other folders; shell commands are not"),
            "network": (NONE, "shell commands may"),
            "git_push": (ADVICE, "a permission against `git push`, and no forge token in the environment"),
            "report": (ENFORCED, "a permission for the folder; reviewers answer in their last message"),
            "read_only": (ENFORCED, "no edits, and only reading git commands"),
            "model": (ENFORCED, "--model"),
            "budget": (NONE, "it has no such limit"),
            "hooks": (ENFORCED, "OPENCODE_DISABLE_PROJECT_CONFIG (setting agent_settings)"),
        })  # fmt: skip

    def login_sign(self) -> LoginSign:
        """`auth list` was tried with 1.18.33. Its free models need no login, so that none is no fault."""
        return LoginSign((*self._program, "auth", "list"))

    def read_login(self, exit_code: int, output: str) -> bool | None:
        counts = re.findall(r"(\d+) (?:credential|environment variable)s?", strip_terminal(output))
        return True if exit_code == 0 and any(int(count) for count in counts) else None

    def homes(self) -> tuple[str, ...]:
        return (
            "reads the login in ~/.local/share/opencode/auth.json, or keys of its env",
            "reads ~/.config/opencode/ (and installs its plugin package there at the first start)",
            "writes sessions to ~/.local/share/opencode/, caches to ~/.cache/opencode/",
        )

    def _content(self, job: AgentJob) -> str:
        given = job.env.get(_CONFIG, "")
        base = parse_object(given) if given else {}
        if base is None:
            raise Invalid(f"{_CONFIG} of agent {self._name} is not a JSON object")
        content = {**base, **self._config, "autoupdate": False, "share": "disabled"}
        content["permission"] = {**_permission(job), **self._permission}
        return json.dumps(content, ensure_ascii=False)


_LOOKERS = (Role.REVIEWER, Role.ASSISTANT)


def _permission(job: AgentJob) -> Mapping[str, object]:
    """Every permission that could ask; of several rules for one tool the last that fits is used."""
    if job.role is Role.AUTHOR:
        return {
            "edit": "allow",
            "bash": {"*": "allow", "git push*": "deny", "gh *": "deny"},
            "external_directory": {"*": "deny", f"{job.folder}/*": "allow"},
            "webfetch": "allow",
            "doom_loop": "deny",
            "question": "deny",
        }
    # Any of them can write a file: `--output`, which git also takes shortened.
    looking = {**dict.fromkeys(_LOOKING, "allow"), "git *--ou*": "deny"} if job.role in _LOOKERS else {}
    return {
        "edit": "deny",
        "bash": {"*": "deny", **looking},
        "external_directory": "deny",
        "webfetch": "deny",
        "task": "deny",
        "doom_loop": "deny",
        "question": "deny",
    }


def parse_ending(output: RunOutput) -> Ending:
    """What the stream says: the last step must have stopped by itself."""
    stream = parse_stream(output.stdout)
    steps = [line for line in stream.objects if line.get("type") == "step_finish"]
    last = steps[-1] if steps else {}
    reason = find_text(last, "part.reason")
    failures = [line for line in stream.objects if line.get("type") == "error"]
    # Thinking alone, with no word of an answer, under a reason that it does not know: the answer was cut.
    mute = not find_count(last, "part.tokens.output") and bool(find_count(last, "part.tokens.reasoning"))
    texts = [line for line in stream.objects if line.get("type") == "text"]
    return Ending(
        finished=reason == "stop" and not failures,
        text=find_text(texts[-1], "part.text") if texts else "",
        errors=tuple(_describe(line) for line in failures),
        status=find_count(failures[0], "error.data.statusCode") if failures else None,
        denials=tuple(_denials(stream.objects)),
        truncated=reason == "length" or (reason not in ("stop", "tool-calls", "") and mute),
        spoke=bool(texts or steps),
        printed=bool(stream.objects or stream.plain),
        channel=stream.plain if output.exit_code != 0 else (),
        usage=_usage(steps),
        session=next((session for line in stream.objects if (session := find_text(line, "sessionID"))), ""),
        waits=tuple(
            f"{name}: {value}"
            for name in ("retry-after", "retry-after-ms")
            if failures and (value := find_text(failures[0], f"error.data.responseHeaders.{name}"))
        ),
        said_at=find_moment(failures[0], "timestamp") if failures else None,
    )


def _describe(line: Line) -> str:
    """One line of all that an error says, since its particular words stand in the server's own answer."""
    body = " ".join(find_text(line, "error.data.responseBody").split())[:2_000]
    return f"{find_text(line, 'error.data.message') or find_text(line, 'error.name')} {body}".strip()


def _denials(lines: tuple[Line, ...]) -> list[str]:
    refused = []
    for line in lines:
        error = find_text(line, "part.state.error") if line.get("type") == "tool_use" else ""
        if any(words in error for words in _REFUSED):
            about = find_text(line, "part.state.input.command") or find_text(line, "part.state.input.filePath")
            refused.append(f"{find_text(line, 'part.tool')} ({about[:80]})")
    return refused


def _usage(steps: list[Line]) -> Usage:
    if not steps:
        return Usage()
    count = {name: sum(find_count(step, f"part.tokens.{name}") or 0 for step in steps)
             for name in ("input", "cache.read", "cache.write", "output", "reasoning")}  # fmt: skip
    cost = sum(find_number(step, "part.cost") or 0.0 for step in steps)
    return Usage(
        count["input"] + count["cache.read"] + count["cache.write"], count["output"] + count["reasoning"], cost
    )
