"""Claude Code: its command line and its stream. Also drives any vendor that speaks the same API (Kimi, MiniMax, GLM):
settings with another name, `env: {ANTHROPIC_BASE_URL: …, ANTHROPIC_AUTH_TOKEN: …}` and models; no code.

Facts measured on version 2.1.197. The settings of the repository are not loaded, so its hooks do not run; the person's
own are, with their login. What the CLI may do without asking is passed as rules, since its switch to skip permissions
is refused to root; whatever is not allowed is refused, as nobody is there to ask.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nightcrew.agents.ending import Ending, judge
from nightcrew.agents.home import guard, host_of, spare
from nightcrew.agents.limit import ADVICE, ENFORCED, NONE, render_limits
from nightcrew.agents.option import Options
from nightcrew.agents.pattern import Pattern
from nightcrew.agents.stream import (
    Line,
    Stream,
    find_count,
    find_moment,
    find_number,
    find_text,
    find_value,
    has_open,
    parse_stream,
)
from nightcrew.agents.vendor import VENDOR_PATTERNS
from nightcrew.core.failures import FailureKind, Scope
from nightcrew.core.model.report import Usage
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from nightcrew.core.report_form import report_schema
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
    Pattern(r"cannot be launched inside another Claude Code session", FailureKind.CRASH, "V034", scope=Scope.NOBODY),
    Pattern(r"Input must be provided either through stdin", FailureKind.CRASH, "V035", scope=Scope.NOBODY),
    Pattern(r"cannot be used with root|unknown option", FailureKind.CRASH,
            "recorded claude/root-skip-perms, bad-flag", scope=Scope.AGENT),
    Pattern(r"is already in use|No conversation found", FailureKind.CRASH,
            "recorded claude/session-id-reused, resume-unknown", scope=Scope.NOBODY),
    Pattern(r"exceeded the \d+ output token maximum", FailureKind.TRUNCATED, "2.1.197"),
    *VENDOR_PATTERNS,
)  # fmt: skip

# The class that the CLI gives to a failed answer; `server_error` and `unknown` say nothing.
_CLASSES = {
    "authentication_failed": FailureKind.AUTH,
    "billing_error": FailureKind.CREDITS,
    "rate_limit": FailureKind.RATE_LIMIT,
    "overloaded": FailureKind.OVERLOADED,
}

_SUBTYPES = {
    "error_max_turns": FailureKind.TRUNCATED,
    "error_max_budget_usd": FailureKind.TRUNCATED,
    "error_max_structured_output_retries": FailureKind.BAD_OUTPUT,
}

_ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}

# Tools that would take the work elsewhere or out of the run's time, and what is the engine's to do.
_NEVER = ("EnterWorktree", "CronCreate", "ScheduleWakeup", "Bash(git push:*)", "Bash(gh:*)")

_LOOKING = tuple(f"Bash(git {verb}:*)" for verb in ("diff", "log", "show", "status", "blame", "ls-files"))
# Any of them can write a file: `--output`, which git also takes shortened.
_NOT_LOOKING = ("Bash(git *--ou*)",)

_SANDBOX = {
    "enabled": True,
    "failIfUnavailable": True,
    "autoAllowBashIfSandboxed": True,
    "allowUnsandboxedCommands": False,
}

SHOW: tuple[ShowRule, ...] = (
    ShowRule({"type": "system", "subtype": "api_retry"}, "error", "retrying: "),
    ShowRule({"type": "system"}, ""),
    ShowRule({"type": "assistant", "message.content[].name": "Bash"}, "message.content[].input.command", "$ "),
    ShowRule({"type": "assistant", "message.content[].name": "Edit"}, "message.content[].input.file_path", "edit "),
    ShowRule({"type": "assistant", "message.content[].name": "Write"}, "message.content[].input.file_path", "write "),
    ShowRule({"type": "assistant", "message.content[].name": "Read"}, "message.content[].input.file_path", "read "),
    ShowRule({"type": "assistant", "message.content[].type": "tool_use"}, "message.content[].name", "tool "),
    ShowRule({"type": "assistant", "message.content[].type": "text"}, "message.content[].text"),
    ShowRule({"type": "user"}, "message.content[].content", "  "),
    ShowRule({"type": "result", "is_error": True}, "result", "failed: "),
    ShowRule({"type": "result"}, "result", "ended: "),
)


_TOP = "CLAUDE_CONFIG_DIR"
_API = "https://api.anthropic.com"
_LOGIN_HOSTS = ("platform.claude.com", "console.anthropic.com")

# Measured in a sandbox (docs/sandbox.md). What the CLI obeys when the person runs it next is guarded; what a CLI of the
# person runs or takes for its own while this one works is spare.
_GUARDED_JSON = ("settings.json", "settings.local.json")
_GUARDED = (
    "CLAUDE.md", "agents/", "commands/", "hooks/", "output-styles/", "plugins/", "rules/", "skills/",
)  # fmt: skip
_SPARE = ("backups/", "projects/", "session-env/", "sessions/", "shell-snapshots/")
_OWN_SETTINGS = ["--setting-sources", "user", "--strict-mcp-config"]


class ClaudeAgent:
    """The `claude` CLI in print mode. Options: `allow`, `deny` (permission rules to add), `sandbox` (its own OS
    sandbox: Linux needs bwrap and socat; no network, and `git add -A` does not work in it), `skip_permissions`,
    `structured` (all but authors answer by its schema tool as well), `max_turns`, `max_budget_usd`,
    `max_retries`."""

    def __init__(self, settings: AgentSettings) -> None:
        options = Options(settings)
        self._allow = options.words("allow")
        self._deny = options.words("deny")
        self._sandbox = options.flag("sandbox", False)
        self._skip_permissions = options.flag("skip_permissions", False)
        self._structured = options.flag("structured", True)
        self._max_turns = options.number("max_turns", None)
        self._max_budget_usd = options.number("max_budget_usd", None)
        self._max_retries = options.number("max_retries", 4)
        options.close()
        self._name = settings.name
        self._program = settings.command or ("claude",)

    @property
    def name(self) -> str:
        return self._name

    @property
    def program(self) -> str:
        return self._program[0]

    def login_command(self) -> str:
        return f"{self.program} /login"

    @property
    def settings_paths(self) -> tuple[str, ...]:
        return (".claude", ".mcp.json")

    def command(self, job: AgentJob) -> AgentCommand:
        argv = [*self._program, "-p", "--output-format", "stream-json", "--verbose"]
        argv += ["--resume", job.resume] if job.resume else ["--session-id", job.session]
        argv += ["--model", job.model] if job.model else []
        # Without the first the repository's settings and hooks are loaded, without the second its servers are started.
        argv += ["--setting-sources", "user,project"] if job.repository_settings else _OWN_SETTINGS
        argv += ["--add-dir", str(job.folder), "--permission-mode", self._mode(job.role)]
        argv += ["--settings", json.dumps(self._settings(job), ensure_ascii=False, sort_keys=True)]
        if job.role is Role.ROUTER:
            argv += ["--tools", ""]
        if job.role is not Role.AUTHOR and self._structured:
            argv += ["--json-schema", json.dumps(report_schema(job.role))]
        if self._skip_permissions and job.role is Role.AUTHOR:
            argv.append("--dangerously-skip-permissions")
        if self._max_turns is not None:
            argv += ["--max-turns", f"{self._max_turns:.0f}"]
        if self._max_budget_usd is not None:
            argv += ["--max-budget-usd", f"{self._max_budget_usd:g}"]
        env = {**_ENVIRONMENT, "CLAUDE_CODE_MAX_RETRIES": f"{self._max_retries or 0:.0f}", **job.env}
        return AgentCommand(tuple(argv), env, {"prompt.md": job.prompt}, "prompt.md", SHOW)

    def needs(self, job: AgentJob) -> Needs:
        top = job.env.get(_TOP, ".claude")
        # The CLI keeps the sessions of a folder under its path, with - for what is no letter or digit.
        sessions = re.sub(r"[^A-Za-z0-9]", "-", str(job.workspace))
        home = (
            HomePath(f"{top}/", Access.WRITE),
            *guard(top, _GUARDED_JSON, content="{}\n"),
            *guard(top, _GUARDED),
            *spare(top, _SPARE),
            HomePath(f"{top}/projects/{sessions}/", Access.WRITE),
        )
        api = job.env.get("ANTHROPIC_BASE_URL", "")
        hosts = (host_of(api),) if api else (host_of(_API), *_LOGIN_HOSTS)
        return Needs(home, hosts=hosts, nested="option sandbox" if self._sandbox else "")

    def read(self, output: RunOutput) -> Reading:
        return judge(output, parse_ending(output), PATTERNS)

    @property
    def can_resume(self) -> bool:
        return True

    def is_at_work(self, output: bytes) -> bool:
        """Each call of a tool is printed when it begins, and its answer when it ends."""
        lines = parse_stream(output).objects
        return has_open(lines, began=lambda line: _ids(line, "id"), ended=lambda line: _ids(line, "tool_use_id"))

    def limits(self) -> tuple[Limit, ...]:
        fenced, shell = self._sandbox and not self._skip_permissions, "its file tools keep to it, shell commands do not"
        return render_limits({
            "write_outside": (ENFORCED, "its sandbox") if fenced else (ADVICE, f"{shell} (option sandbox)"),
            "read_outside": (ADVICE, shell),
            "network": (ENFORCED, "its sandbox") if fenced else (NONE, "shell commands may (option sandbox)"),
            "git_push": (ADVICE, "a deny rule for `git push`, and no forge token in the environment"),
            "report": (ENFORCED, "--add-dir"),
            "read_only": (ENFORCED, "only reading git commands and edits in the run folder are allowed"),
            "model": (ENFORCED, "--model"),
            "budget": (ENFORCED, "--max-budget-usd") if self._max_budget_usd else (NONE, "option max_budget_usd"),
            "hooks": (ENFORCED, "--setting-sources user, --strict-mcp-config (setting agent_settings)"),
        })  # fmt: skip

    def login_sign(self) -> LoginSign:
        """`auth status` was tried with 2.1.40 and 2.1.197. On macOS a login is in the key store, and in no file."""
        command = (*self._program, "auth", "status")
        return LoginSign(command, (2, 1, 40), (".claude/.credentials.json",))

    def read_login(self, exit_code: int, output: str) -> bool | None:  # noqa: ARG002 - it prints what is so
        try:
            said = json.loads(output[output.index("{") : output.rindex("}") + 1]).get("loggedIn")
        except (ValueError, AttributeError):
            return None
        return said if isinstance(said, bool) else None

    def homes(self) -> tuple[str, ...]:
        return (
            "reads and refreshes the login in ~/.claude/.credentials.json (or the system's key store), ~/.claude.json",
            "reads ~/.claude/settings.json and ~/.claude/CLAUDE.md; not those of the repository",
            "writes each session to ~/.claude/projects/<workspace>/<session>.jsonl, and its totals to ~/.claude.json",
        )

    def _mode(self, role: Role) -> str:
        return "acceptEdits" if role is Role.AUTHOR else "dontAsk"

    def _settings(self, job: AgentJob) -> Mapping[str, object]:
        allow = ("Bash",) if job.role is Role.AUTHOR else (f"Edit(/{job.folder}/**)", *_LOOKING)
        if job.role is Role.ROUTER:
            allow = ()
        deny = _NEVER if job.role is Role.AUTHOR else (*_NEVER, *_NOT_LOOKING)
        settings: dict[str, object] = {
            "permissions": {"allow": [*allow, *self._allow], "deny": [*deny, *self._deny]},
        }
        if self._sandbox:
            settings["sandbox"] = {**_SANDBOX, "filesystem": {"allowWrite": [f"/{job.folder}"]}}
        return settings


def parse_ending(output: RunOutput) -> Ending:
    """What the stream says; the same for its single-line `json` format."""
    stream = parse_stream(output.stdout)
    result = next((line for line in reversed(stream.objects) if line.get("type") == "result"), None)
    answers = [line for line in stream.objects if line.get("type") == "assistant"]
    ending: dict[str, Any] = {
        "retries": tuple(_retries(stream)),
        "spoke": any(find_text(line, "message.model") not in ("", "<synthetic>") for line in answers),
        "printed": bool(stream.objects or stream.plain),
        "channel": stream.plain if output.exit_code != 0 else (),
        "session": next((session for line in stream.objects if (session := find_text(line, "session_id"))), ""),
        "waits": tuple(_waits(stream)),
    }
    if result is None:
        return Ending(**ending)
    ending["usage"] = _usage(result)
    ending["said_at"] = find_moment(result, "timestamp")
    ending["denials"] = tuple(_denials(result))
    failed = result.get("is_error") is not False or find_text(result, "subtype") != "success"
    if failed:
        kind = _SUBTYPES.get(find_text(result, "subtype")) or _class(answers)
        said = [find_text(result, "result"), find_text(result, "errors[]"), find_text(result, "subtype")]
        errors = tuple(words for words in said if words and words != "success") or ("it failed without a word",)
        return Ending(errors=errors, status=find_count(result, "api_error_status"), kind=kind, **ending)
    stop = find_text(result, "stop_reason")
    if stop == "refusal":
        return Ending(kind=FailureKind.CONTENT_FILTER, errors=(find_text(result, "result"),), **ending)
    structured = result.get("structured_output")
    return Ending(
        finished=True,
        text=find_text(result, "result"),
        structured=structured if isinstance(structured, Mapping) else None,
        truncated=stop == "max_tokens",
        **ending,
    )


def _ids(line: Line, name: str) -> list[str]:
    """The ids of the tools that a line calls (`id`) or answers for (`tool_use_id`)."""
    content = find_value(line, "message.content")
    parts = content if isinstance(content, list) else ()
    kind = "tool_use" if name == "id" else "tool_result"
    return [str(part.get(name)) for part in parts if isinstance(part, Mapping) and part.get("type") == kind]


def _retries(stream: Stream) -> Iterable[str]:
    for line in stream.objects:
        if line.get("type") == "system" and line.get("subtype") == "api_retry":
            status = find_count(line, "error_status")
            yield f"{find_text(line, 'error')}" + (f": status {status}" if status else ": connection failed")


def _waits(stream: Stream) -> Iterable[str]:
    """When the window comes back that the CLI says is used up (its type `SDKRateLimitEvent`)."""
    events = [line for line in stream.objects if line.get("type") == "rate_limit_event"]
    if events and find_text(events[-1], "rate_limit_info.status") == "rejected":
        resets_at = find_count(events[-1], "rate_limit_info.resetsAt")
        yield f"resets_at: {resets_at}"


def _class(answers: list[Line]) -> FailureKind | None:
    named = [_CLASSES.get(find_text(line, "error")) for line in answers if line.get("error")]
    return named[-1] if named else None


def _denials(result: Line) -> Iterable[str]:
    denials = result.get("permission_denials")
    for denial in denials if isinstance(denials, list) else ():
        about = find_text(denial, "tool_input.command") or find_text(denial, "tool_input.file_path")
        yield f"{find_text(denial, 'tool_name') or 'a tool'}" + (f" ({about[:80]})" if about else "")


def _usage(result: Line) -> Usage:
    """Tokens with those read from and written to the cache: by model, since the plain sum misses some answers."""
    by_model = result.get("modelUsage")
    cost = find_number(result, "total_cost_usd")
    if not isinstance(by_model, Mapping) or not by_model:
        parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        used = _sum(result, *(f"usage.{part}" for part in parts))
        return Usage(used, find_count(result, "usage.output_tokens"), cost)
    parts = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    used = sum(_sum(one, *parts) or 0 for one in by_model.values())
    written = sum(find_count(one, "outputTokens") or 0 for one in by_model.values())
    return Usage(used, written, cost, tuple(str(name) for name in by_model))


def _sum(line: object, *paths: str) -> int | None:
    numbers = [number for path in paths if (number := find_count(line, path)) is not None]
    return sum(numbers) if numbers else None
