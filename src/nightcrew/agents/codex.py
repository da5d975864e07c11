"""OpenAI Codex CLI: its command line (`codex exec --json`) and its stream.

Facts measured on version 0.171.0. Its own OS sandbox confines the agent: authors write to the workspace, the run folder
and what git needs to commit there; reviewers and routers write nothing and answer by an output schema. Another model
provider is config only: option `provider`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from nightcrew.agents.ending import Ending, judge
from nightcrew.agents.home import guard, host_of, spare
from nightcrew.agents.limit import ADVICE, ENFORCED, NONE, render_limits
from nightcrew.agents.option import Options
from nightcrew.agents.pattern import Pattern
from nightcrew.agents.stream import Line, find_count, find_text, has_open, parse_stream
from nightcrew.agents.toml import render_toml
from nightcrew.agents.vendor import VENDOR_PATTERNS
from nightcrew.agents.worktree import find_git_folders
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
    Pattern(r"Model metadata for .* not found|proceeding, even though", None, "V061; recorded codex/ok-json-danger"),
    Pattern(r"^(workdir|model|provider|approval|sandbox|session id|reasoning \w+): ", None, "recorded codex/ok-text"),
    Pattern(r"no rollout found for thread id", FailureKind.CRASH, "recorded codex/resume-unknown", scope=Scope.NOBODY),
    Pattern(r"Not inside a trusted directory", FailureKind.PERMISSION, "agent-clis 4", scope=Scope.AGENT),
    *VENDOR_PATTERNS,
)

_SANDBOXES = ("workspace-write", "danger-full-access")
_SCHEMA = "report-schema.json"

# A fresh bare repository has no folder for reflogs, and the sandbox lets git make none: its commit would fail.
_NO_REFLOG = {
    "shell_environment_policy.set.GIT_CONFIG_COUNT": "1",
    "shell_environment_policy.set.GIT_CONFIG_KEY_0": "core.logAllRefUpdates",
    "shell_environment_policy.set.GIT_CONFIG_VALUE_0": "false",
}

SHOW: tuple[ShowRule, ...] = (
    ShowRule({"type": "item.started", "item.type": "command_execution"}, "item.command", "$ "),
    ShowRule({"type": "item.completed", "item.type": "command_execution"}, "item.aggregated_output", "  "),
    ShowRule({"type": "item.completed", "item.type": "agent_message"}, "item.text"),
    ShowRule({"type": "item.completed", "item.type": "file_change"}, "item.changes[].path", "edit "),
    ShowRule({"type": "item.completed", "item.type": "error"}, "item.message", "note: "),
    ShowRule({"type": "item.started"}, ""),
    ShowRule({"type": "error"}, "message", "error: "),
    ShowRule({"type": "turn.failed"}, "error.message", "failed: "),
    ShowRule({"type": "turn.completed"}, ""),
    ShowRule({"type": "thread.started"}, ""),
    ShowRule({"type": "turn.started"}, ""),
)


_TOP = "CODEX_HOME"
_HOSTS = ("api.openai.com", "chatgpt.com", "auth.openai.com")

# Measured in a sandbox (docs/sandbox.md). What the CLI obeys when the person runs it next is guarded; what a CLI of the
# person runs while this one works is spare.
_GUARDED = (
    "config.toml", "AGENTS.md", "AGENTS.override.md", "agents/", "plugins/", "prompts/", "rules/", "skills/",
)  # fmt: skip
_SPARE = ("tmp/", ".tmp/", "shell_snapshots/")


class CodexAgent:
    """The `codex` CLI. Options: `sandbox` (workspace-write or danger-full-access), `network` (for commands in the
    sandbox), `tmp` (may write to /tmp), `commit` (may write the git folders of its worktree), `output_schema`
    (reviewers and routers), `provider` (a table as in its config file's `model_providers`), `config` (any other key
    of that file)."""

    def __init__(self, settings: AgentSettings) -> None:
        options = Options(settings)
        self._sandbox = options.text("sandbox", "workspace-write", among=_SANDBOXES)
        self._network = options.flag("network", False)
        self._tmp = options.flag("tmp", False)
        self._commit = options.flag("commit", True)
        self._output_schema = options.flag("output_schema", True)
        provider, config = options.table("provider"), dict(options.table("config"))
        if provider:
            config |= {"model_provider": "custom", "model_providers.custom": {"name": settings.name, **provider}}
        for key, value in config.items():
            if render_toml(value) is None:
                options.complain(
                    "config", f"{key} cannot be written as TOML", "use texts, numbers, flags, lists, tables"
                )
        options.close()
        self._config = config
        self._name = settings.name
        self._program = settings.command or ("codex",)

    @property
    def name(self) -> str:
        return self._name

    @property
    def program(self) -> str:
        return self._program[0]

    def login_command(self) -> str:
        return f"{self.program} login"

    @property
    def settings_paths(self) -> tuple[str, ...]:
        return ()

    def command(self, job: AgentJob) -> AgentCommand:
        argv = [*self._program, "exec", "--json", "--skip-git-repo-check", "--cd", str(job.workspace)]
        argv += ["--sandbox", self._sandbox if job.role is Role.AUTHOR else "read-only"]
        for key, value in self._settings(job).items():
            argv += ["-c", f"{key}={render_toml(value)}"]
        argv += ["--model", job.model] if job.model else []
        files = {"prompt.md": job.prompt}
        if job.role is not Role.AUTHOR and self._output_schema:
            argv += ["--output-schema", str(job.folder / _SCHEMA)]
            files[_SCHEMA] = json.dumps(report_schema(job.role))
        argv += ["resume", job.resume, "-"] if job.resume else ["-"]
        # Its sandbox links helpers from a folder that may not lie under the temporary one, and the one it gets
        # must be writable in the sandbox: the run folder is both.
        return AgentCommand(tuple(argv), {"TMPDIR": str(job.folder), **job.env}, files, "prompt.md", SHOW)

    def needs(self, job: AgentJob) -> Needs:
        top = job.env.get(_TOP, ".codex")
        home = (
            HomePath(f"{top}/", Access.WRITE),
            *guard(top, _GUARDED),
            *guard(top, ("hooks.json",), content="{}\n"),
            *spare(top, _SPARE),
        )
        provider = self._config.get("model_providers.custom")
        api = provider.get("base_url", "") if isinstance(provider, Mapping) else ""
        return Needs(home, hosts=(host_of(str(api)),) if api else _HOSTS)

    def read(self, output: RunOutput) -> Reading:
        return replace(judge(output, parse_ending(output), PATTERNS), usage_of_session=True)

    @property
    def can_resume(self) -> bool:
        return True

    def is_at_work(self, output: bytes) -> bool:
        lines = parse_stream(output).objects
        return has_open(
            lines, began=lambda line: _item(line, "item.started"), ended=lambda line: _item(line, "item.completed")
        )

    def limits(self) -> tuple[Limit, ...]:
        fenced = self._sandbox == "workspace-write"
        tmp = " (/tmp as well: option tmp)" if self._tmp else ""
        return render_limits({
            "write_outside": (ENFORCED, f"its sandbox{tmp}") if fenced else (NONE, "option sandbox"),
            "read_outside": (NONE, "its sandbox lets everything be read"),
            "network": (ENFORCED, "its sandbox") if fenced and not self._network else (NONE, "option network"),
            "git_push": (ENFORCED, "no network") if fenced and not self._network else (ADVICE, "no forge token"),
            "report": (ENFORCED, "a writable root for authors; others answer by --output-schema"),
            "read_only": (ENFORCED, "--sandbox read-only"),
            "model": (ENFORCED, "--model"),
            "budget": (NONE, "it has no such limit"),
            "hooks": (ENFORCED, "it trusts no repository unless the person has told it to"),
        })  # fmt: skip

    def login_sign(self) -> LoginSign:
        """`login status` was tried with 0.171.0. It does not know of the keys that other providers name."""
        if self._config.get("model_provider"):
            return LoginSign()
        return LoginSign((*self._program, "login", "status"), files=(".codex/auth.json",))

    def read_login(self, exit_code: int, output: str) -> bool | None:
        if "Not logged in" in output:
            return False
        return True if exit_code == 0 and "Logged in" in output else None

    def homes(self) -> tuple[str, ...]:
        return (
            "reads the login in ~/.codex/auth.json, or the key that its provider names, and refreshes it there",
            "reads ~/.codex/config.toml, ~/.codex/AGENTS.md and the AGENTS.md of the repository",
            "writes each session to ~/.codex/sessions/<date>/, with its history and state files beside them",
        )

    def _settings(self, job: AgentJob) -> Mapping[str, object]:
        settings: dict[str, object] = {
            "approval_policy": "never",
            "check_for_update_on_startup": False,
            "analytics.enabled": False,
        }
        if job.role is Role.AUTHOR and self._sandbox == "workspace-write":
            git = find_git_folders(job.workspace) if self._commit else ()
            settings |= {
                "sandbox_workspace_write.writable_roots": [str(root) for root in (job.folder, *git)],
                "sandbox_workspace_write.network_access": self._network,
                "sandbox_workspace_write.exclude_slash_tmp": not self._tmp,
                "sandbox_workspace_write.exclude_tmpdir_env_var": True,
            }
            settings |= _NO_REFLOG if git else {}
        return settings | self._config


def parse_ending(output: RunOutput) -> Ending:
    """What the stream says. Its usage counts the whole thread, so a resumed run includes what came before."""
    stream = parse_stream(output.stdout)
    last = next(
        (line for line in reversed(stream.objects) if line.get("type") in ("turn.completed", "turn.failed")), {}
    )
    items = [line for line in stream.objects if line.get("type") == "item.completed"]
    said = [text for line in items if find_text(line, "item.type") == "agent_message"
            and (text := find_text(line, "item.text"))]  # fmt: skip
    finished = last.get("type") == "turn.completed"
    retries, final = _errors(stream.objects)
    errors = (
        (f"turn failed: {find_text(last, 'error.message')}", *final)
        if last.get("type") == "turn.failed"
        else tuple(final)
    )
    reasoning, written = find_count(last, "usage.reasoning_output_tokens"), find_count(last, "usage.output_tokens")
    return Ending(
        finished=finished,
        text=said[-1] if said else "",
        errors=() if finished else tuple(error for error in errors if error),
        retries=tuple(retries),
        # All tokens went into hidden thinking: its answer was cut, though the turn says completed.
        truncated=finished and not said and bool(reasoning) and reasoning == written,
        spoke=bool(said) or any(find_text(line, "item.type") not in ("", "error") for line in items),
        printed=bool(stream.objects or stream.plain),
        channel=stream.plain if output.exit_code != 0 else (),
        usage=Usage(find_count(last, "usage.input_tokens"), written),
        session=next((session for line in stream.objects if (session := find_text(line, "thread_id"))), ""),
        waits=tuple(
            f"{name}: {number}"
            for name in ("resets_at", "resets_in_seconds")
            if (number := find_count(last, f"error.{name}")) is not None
        ),
    )


def _item(line: Line, kind: str) -> list[str]:
    """The id of the item that a line of that kind is about."""
    found = find_text(line, "item.id") if line.get("type") == kind else ""
    return [found] if found else []


def _errors(lines: Iterable[Line]) -> tuple[list[str], list[str]]:
    """Its error lines: those it meant to get over, and the others."""
    retries: list[str] = []
    final: list[str] = []
    for line in lines:
        if line.get("type") == "error":
            message = find_text(line, "message")
            (retries if message.startswith("Reconnecting") else final).append(message)
    return retries, final
