"""Gemini CLI: its command line and its stream.

Facts measured on version 0.61.0. It has no OS sandbox without a container, and knows no rule between asking for a tool
and allowing every tool: authors run with everything allowed, reviewers and routers without the tools that change
anything, so that they answer in their last message. Without a person it starts only in a folder that it is told to
trust, and then runs what the repository's own settings name (measured: a tool discovery command, for a reviewer too),
which nothing but a settings file of root could forbid. So it is not started in a workspace that has such settings.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from nightcrew.agents.ending import Ending, judge
from nightcrew.agents.home import guard, host_of
from nightcrew.agents.limit import ADVICE, ENFORCED, NONE, render_limits
from nightcrew.agents.option import Options
from nightcrew.agents.pattern import Pattern
from nightcrew.agents.stream import (
    Line,
    find_count,
    find_moment,
    find_text,
    find_value,
    has_open,
    parse_document,
    parse_object,
    parse_stream,
)
from nightcrew.agents.vendor import PACIFIC, VENDOR_PATTERNS
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
    Pattern(r"^YOLO mode|^Warning: |^\[STARTUP\]|^Approval mode overridden", None, "recorded gemini/ok-json-yolo"),
    Pattern(
        r"not running in a trusted directory", FailureKind.PERMISSION, "recorded gemini/untrusted", scope=Scope.AGENT
    ),
    Pattern(
        r"must specify the GEMINI_API_KEY|set an Auth method|Invalid auth method",
        FailureKind.AUTH,
        "recorded gemini/no-auth",
    ),
    Pattern(r"exceeds the maximum number of tokens", FailureKind.CONTEXT_TOO_LONG, "V085"),
    Pattern(r"PerMinute", FailureKind.RATE_LIMIT, "quota ids of the Gemini API"),
    Pattern(r"exceeded your current quota", FailureKind.USAGE_WINDOW, "V083; recorded gemini/httpquota", PACIFIC),
    Pattern(r"Reached max session turns", FailureKind.TRUNCATED, "0.61.0"),
    *VENDOR_PATTERNS,
)

_APPROVAL = ("yolo", "auto_edit", "default")
_REFUSED = ("not in workspace", "denied by policy", "execution denied")
_RETRY = re.compile(r"^Attempt \d+ failed")

SHOW: tuple[ShowRule, ...] = (
    ShowRule({"type": "message", "role": "assistant"}, "content"),
    ShowRule({"type": "message"}, ""),
    ShowRule({"type": "tool_use", "tool_name": "run_shell_command"}, "parameters.command", "$ "),
    ShowRule({"type": "tool_use", "tool_name": "write_file"}, "parameters.file_path", "write "),
    ShowRule({"type": "tool_use", "tool_name": "replace"}, "parameters.file_path", "edit "),
    ShowRule({"type": "tool_use"}, "tool_name", "tool "),
    ShowRule({"type": "tool_result"}, "output", "  "),
    ShowRule({"type": "error"}, "message", "error: "),
    ShowRule({"type": "result"}, "status", "ended: "),
    ShowRule({"type": "init"}, ""),
)


# Never run in a sandbox. The login and the sessions are in the folder; the rest of it the CLI obeys when the person
# runs it next.
_GUARDED_JSON = ("settings.json", "trustedFolders.json")
_GUARDED = ("GEMINI.md", ".env", "commands/", "extensions/", "hooks/", "policies/", "skills/", "agents/")
_HOME = (
    HomePath(".gemini/", Access.WRITE),
    *guard(".gemini", _GUARDED_JSON, content="{}\n"),
    *guard(".gemini", _GUARDED),
)
_HOSTS = (
    "generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com",
    "accounts.google.com",
)  # fmt: skip


class GeminiAgent:
    """The `gemini` CLI. Options: `approval` (of authors: yolo, auto_edit, default), `sandbox` (its container sandbox),
    `mcp_servers` (names of the person's MCP servers that it may start)."""

    def __init__(self, settings: AgentSettings) -> None:
        options = Options(settings)
        self._approval = options.text("approval", "yolo", among=_APPROVAL)
        self._sandbox = options.flag("sandbox", False)
        self._mcp_servers = options.words("mcp_servers")
        options.close()
        self._name = settings.name
        self._program = settings.command or ("gemini",)

    @property
    def name(self) -> str:
        return self._name

    @property
    def program(self) -> str:
        return self._program[0]

    def login_command(self) -> str:
        return self.program

    @property
    def settings_paths(self) -> tuple[str, ...]:
        return (".gemini",)

    def command(self, job: AgentJob) -> AgentCommand:
        if not job.repository_settings and (found := _find_settings(job.workspace)):
            why = f"the repository has {found}, whose commands {self.program} would run"
            raise Invalid(f"agent {self._name} is not started: {why} (setting agent_settings allows it)")
        argv = [*self._program, "--output-format", "stream-json"]
        argv += ["--model", job.model] if job.model else []
        argv += ["--approval-mode", self._approval if job.role is Role.AUTHOR else "default"]
        argv += ["--resume", job.resume] if job.resume else ["--session-id", job.session]
        argv += ["--include-directories", str(job.folder)] if job.role is Role.AUTHOR else []
        for name in self._mcp_servers or ("none",):
            argv += ["--allowed-mcp-server-names", name]
        argv += ["--sandbox"] if self._sandbox else []
        env = {
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "NO_BROWSER": "1",
            "TMPDIR": str(job.folder),
            **job.env,
        }
        return AgentCommand(tuple(argv), env, {"prompt.md": job.prompt}, "prompt.md", SHOW)

    def needs(self, job: AgentJob) -> Needs:
        api = job.env.get("GOOGLE_GEMINI_BASE_URL", "")
        return Needs(_HOME, hosts=(host_of(api),) if api else _HOSTS, nested="option sandbox" if self._sandbox else "")

    def read(self, output: RunOutput) -> Reading:
        return judge(output, parse_ending(output), PATTERNS)

    @property
    def can_resume(self) -> bool:
        return True

    def is_at_work(self, output: bytes) -> bool:
        lines = parse_stream(output).objects
        return has_open(
            lines, began=lambda line: _tool(line, "tool_use"), ended=lambda line: _tool(line, "tool_result")
        )

    def limits(self) -> tuple[Limit, ...]:
        tools = "its file tools keep to it, shell commands do not"
        fence = (ENFORCED, "its container sandbox") if self._sandbox else (ADVICE, f"{tools} (option sandbox)")
        return render_limits({
            "write_outside": fence,
            "read_outside": fence,
            "network": (NONE, "shell commands may"),
            "git_push": (ADVICE, "no forge token in the environment"),
            "report": (ENFORCED, "--include-directories; reviewers answer in their last message"),
            "read_only": (ENFORCED, "approval mode default: tools that change something are not offered"),
            "model": (ADVICE, "--model, but it may go on with a weaker one when that is used up"),
            "budget": (NONE, "it has no such limit"),
            "hooks": (ENFORCED, "it is not started where .gemini has settings (setting agent_settings)"),
        })  # fmt: skip

    def login_sign(self) -> LoginSign:
        """0.61.0 has no command for it."""
        return LoginSign(files=(".gemini/oauth_creds.json",))

    def read_login(self, exit_code: int, output: str) -> bool | None:  # noqa: ARG002 - nothing is asked
        return None

    def homes(self) -> tuple[str, ...]:
        return (
            "reads the login in ~/.gemini/oauth_creds.json, or GEMINI_API_KEY of its env, and refreshes it there",
            "reads ~/.gemini/settings.json and GEMINI.md files, and the .gemini folder of the repository",
            "writes sessions to ~/.gemini/tmp/<workspace>/chats/",
        )


# Read by a review service of the same name, not by the CLI.
_HARMLESS = {"config.yaml", "styleguide.md"}


def _find_settings(workspace: Path) -> str:
    """A file or folder of the repository that this CLI would obey; empty if there is none."""
    folder = workspace / ".gemini"
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return next((f".gemini/{name}" for name in names if name not in _HARMLESS), "")


def parse_ending(output: RunOutput) -> Ending:
    """What its stream says, or the single document of its `json` format; a failure may stand on standard error."""
    stream = parse_stream(output.stdout)
    if not stream.objects:
        stream = parse_document(output.stdout)
    trouble = parse_document(output.stderr)
    result = next((line for line in reversed(stream.objects) if line.get("type") == "result"), None)
    document = next((line for line in stream.objects if "response" in line and "type" not in line), {})
    messages = [line for line in stream.objects if line.get("type") == "message" and line.get("role") == "assistant"]
    ends = [line for line in stream.objects if line.get("type") in ("result", None)]
    failed = [line for line in (*ends, *trouble.objects) if isinstance(line.get("error"), Mapping)]
    success = result is not None and find_text(result, "status") == "success"
    finished = not failed and (success or bool(document))
    errors = [_message(line) for line in failed]
    if result is not None and not success and not errors:
        errors = [f"it ended as {find_text(result, 'status') or 'nothing'}"]
    stats = result if result is not None else document
    return Ending(
        finished=finished,
        text=find_text(document, "response") or _last_text(stream.objects),
        errors=tuple(errors),
        status=next((status for line in failed if (status := _status(line))), None),
        denials=tuple(_denials(stream.objects)),
        retries=tuple(line for line in trouble.plain if _RETRY.match(line)),
        spoke=bool(messages or find_text(document, "response")),
        printed=bool(stream.objects or stream.plain),
        channel=stream.plain if output.exit_code != 0 else (),
        usage=_usage(stats),
        session=next((session for line in stream.objects if (session := find_text(line, "session_id"))), ""),
        said_at=next((at for line in failed if (at := find_moment(line, "timestamp"))), None),
    )


def _last_text(lines: Iterable[Line]) -> str:
    """The pieces of the last message: what the assistant said since it last used a tool."""
    pieces: list[str] = []
    for line in lines:
        if line.get("type") in ("tool_use", "tool_result"):
            pieces.clear()
        elif line.get("type") == "message" and line.get("role") == "assistant":
            pieces.append(find_text(line, "content"))
    return "".join(pieces)


def _tool(line: Line, kind: str) -> list[str]:
    """The id of the tool that a line of that kind is about."""
    found = find_text(line, "tool_id") if line.get("type") == kind else ""
    return [found] if found else []


def _denials(lines: Iterable[Line]) -> Iterable[str]:
    """Tools that it refused; an error of a tool is otherwise the agent's own affair."""
    tools = {
        find_text(line, "tool_id"): find_text(line, "tool_name") for line in lines if line.get("type") == "tool_use"
    }
    for line in lines:
        error = find_text(line, "error.message") if line.get("type") == "tool_result" else ""
        if any(words in error for words in _REFUSED):
            yield f"{tools.get(find_text(line, 'tool_id')) or 'a tool'} ({error[:120]})"


def _message(line: Line) -> str:
    """The words of an error; they may be the server's JSON answer as a text."""
    message = " ".join(find_text(line, "error.message").split())
    inner = parse_object(message)
    if inner is None:
        return message or "it failed without a word"
    details = [find_text(inner, f"error.details[].{name}") for name in ("violations[].quotaId", "retryDelay")]
    quota, delay = (", ".join(text.split()) for text in details)
    words = f"{find_text(inner, 'error.status')}: {find_text(inner, 'error.message')}"
    return words + (f" quotaId {quota}" if quota else "") + (f" retryDelay {delay}" if delay else "")


def _status(line: Line) -> int | None:
    code = find_count(line, "error.code")
    return code if code and code >= 400 else None


def _usage(line: Line) -> Usage:
    """Tokens by model; those of thinking count as output."""
    models = find_value(line, "stats.models")
    if not isinstance(models, Mapping):
        return Usage(find_count(line, "stats.input_tokens"), find_count(line, "stats.output_tokens"))
    used = written = 0
    for one in models.values():
        used += find_count(one, "tokens.prompt") or find_count(one, "input_tokens") or 0
        written += find_count(one, "tokens.candidates") or find_count(one, "output_tokens") or 0
        written += find_count(one, "tokens.thoughts") or 0
    return Usage(used, written, None, tuple(str(name) for name in models))
