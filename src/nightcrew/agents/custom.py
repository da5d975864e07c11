"""Any other CLI, by config: a command template, and rules for reading its output. No shell is involved.

    adapter: custom
    command: [mytool, --prompt-file, "{prompt_file}", --cwd, "{workspace}"]
    options: {format: jsonl, text: result, finished: {type: result}, failures: [{words: "quota", kind: credits}]}

Placeholders, as whole words or inside them: {prompt_file} {workspace} {run_folder} {report_file} {model} {session}
{resume} {role}. Another name in braces is refused, so that a slip is seen at the start and not by the agent.
"""

import re
from collections.abc import Mapping

from nightcrew.agents.ending import judge
from nightcrew.agents.limit import ADVICE, NONE, WHAT, render_limits
from nightcrew.agents.option import Options
from nightcrew.agents.pattern import Pattern
from nightcrew.agents.repeating import find_repeated_limit
from nightcrew.agents.rule import FORMATS, OutputRule, parse_ending
from nightcrew.agents.vendor import CLI_PATTERNS, VENDOR_PATTERNS
from nightcrew.core.errors import Invalid
from nightcrew.core.failures import FailureKind
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import AgentSettings
from nightcrew.ports.agent import Access, AgentCommand, AgentJob, HomePath, Limit, Needs, Reading, RunOutput
from nightcrew.ports.runtime import ShowRule

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_NAMES = ("prompt_file", "workspace", "run_folder", "report_file", "model", "session", "resume", "role")


class CustomAgent:
    """A CLI described by config. Options for its command: `stdin` (the prompt is its standard input; default true),
    `model_args`, `resume_args`, and `author_args`, `reviewer_args`, `router_args`, all added behind the command when
    they apply. Options for its output: see `rule.OutputRule`; `failures` is a list of {words, kind}, and `patterns`
    names a CLI whose own words are known (aider, copilot, cursor, kimi): both are tried, in this order, before the
    words of vendors; `show` is a list of {match, show, prefix} for the pane. `home` lists what the CLI needs of the
    person's home in a sandbox, as {path, access}: relative, a folder with `/` at its end; access `write` (the default),
    `read`, `guard` (there and read-only) or `empty`."""

    def __init__(self, settings: AgentSettings) -> None:
        options = Options(settings)
        self._stdin = options.flag("stdin", True)
        self._model_args = options.words("model_args")
        self._resume_args = options.words("resume_args")
        self._role_args = {role: options.words(f"{role.value}_args") for role in Role}
        self._rule = _read_rule(options)
        known = CLI_PATTERNS.get(options.text("patterns", "", among=("", *CLI_PATTERNS)), ())
        self._patterns = (*_read_failures(options), *known, *VENDOR_PATTERNS)
        self._show = tuple(_read_show(options))
        self._home = tuple(_read_home(options))
        template = (*settings.command, *self._model_args, *self._resume_args, *sum(self._role_args.values(), ()))
        if not settings.command:
            options.complain("", "has no command", "the custom adapter needs `command`, a list of words")
        for word in template:
            for name in _PLACEHOLDER.findall(word):
                if name not in _NAMES:
                    options.complain(
                        "", f"command has the unknown placeholder {{{name}}}", "known: " + ", ".join(_NAMES)
                    )
        if not self._stdin and "{prompt_file}" not in " ".join(template):
            options.complain("stdin", "is false, and no word has {prompt_file}", "the prompt would not reach the agent")
        options.close()
        self._name = settings.name
        self._program = settings.command

    @property
    def name(self) -> str:
        return self._name

    @property
    def program(self) -> str:
        return self._program[0]

    @property
    def settings_paths(self) -> tuple[str, ...]:
        return ()

    def command(self, job: AgentJob) -> AgentCommand:
        if job.resume and not self._resume_args:
            raise Invalid(f"agent {self._name} has no resume_args, so its session cannot be resumed")
        words = (
            *self._program,
            *(self._model_args if job.model else ()),
            *(self._resume_args if job.resume else ()),
            *self._role_args[job.role],
        )
        values = {
            "prompt_file": str(job.folder / "prompt.md"),
            "workspace": str(job.workspace),
            "run_folder": str(job.folder),
            "report_file": str(job.report),
            "model": job.model,
            "session": job.session,
            "resume": job.resume,
            "role": job.role.value,
        }
        argv = tuple(_PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), word) for word in words)
        return AgentCommand(argv, job.env, {"prompt.md": job.prompt}, "prompt.md" if self._stdin else "", self._show)

    def needs(self, job: AgentJob) -> Needs:
        del job
        return Needs(self._home)

    def read(self, output: RunOutput) -> Reading:
        return judge(output, parse_ending(output, self._rule), self._patterns)

    @property
    def can_resume(self) -> bool:
        return bool(self._resume_args)

    def is_at_work(self, output: bytes) -> bool:
        del output
        return False

    def find_limit(self, output: bytes) -> str:
        return find_repeated_limit(output, self._patterns)

    def limits(self) -> tuple[Limit, ...]:
        rows = dict.fromkeys(WHAT, (NONE, "not known: it depends on the command"))
        rows["read_only"] = (
            ADVICE,
            "the report instructions" + (", reviewer_args" if self._role_args[Role.REVIEWER] else ""),
        )
        rows["git_push"] = (ADVICE, "no forge token in the environment")
        return render_limits(rows)

    def homes(self) -> tuple[str, ...]:
        return (f"whatever {self.program} reads and writes in the person's home",)


def _read_rule(options: Options) -> OutputRule:
    rule = OutputRule(
        format=options.text("format", "text", among=FORMATS),
        text=options.text("text"),
        text_when=_conditions(options, "text_when"),
        error=options.text("error"),
        error_when=_conditions(options, "error_when"),
        error_text=options.text("error_text"),
        finished=_conditions(options, "finished"),
        truncated=_conditions(options, "truncated"),
        success_codes=options.numbers("success_codes", (0,)),
        session=options.text("session"),
        input_tokens=options.text("input_tokens"),
        output_tokens=options.text("output_tokens"),
        cost_usd=options.text("cost_usd"),
        usage_is_total=options.flag("usage_is_total", True),
    )
    if _broken(rule.error_text):
        options.complain("error_text", f"is {rule.error_text!r}", "must be a regular expression")
    return rule


def _conditions(options: Options, key: str) -> Mapping[str, str | bool]:
    table = options.table(key)
    wanted = {path: value for path, value in table.items() if isinstance(value, str | bool)}
    if len(wanted) != len(table):
        options.complain(key, "has a value that is neither a text nor a flag")
    return wanted


def _read_failures(options: Options) -> list[Pattern]:
    kinds = {kind.value: kind for kind in FailureKind} | {"warning": None}
    patterns = []
    for entry in options.tables("failures"):
        words, kind = entry.get("words"), entry.get("kind")
        if not isinstance(words, str) or _broken(words) or not isinstance(kind, str) or kind not in kinds:
            needed = "each needs `words` (a regular expression) and `kind`, one of " + ", ".join(kinds)
            options.complain("failures", f"has {dict(entry)!r}", needed)
        else:
            patterns.append(Pattern(words, kinds[kind], "config"))
    return patterns


def _read_show(options: Options) -> list[ShowRule]:
    rules = []
    for entry in options.tables("show"):
        match, show, prefix = entry.get("match", {}), entry.get("show"), entry.get("prefix", "")
        if isinstance(match, Mapping) and isinstance(show, str) and isinstance(prefix, str):
            rules.append(ShowRule({str(path): value for path, value in match.items()}, show, prefix))
        else:
            options.complain(
                "show", f"has {dict(entry)!r}", "each needs `match` (a table), `show` and `prefix` (texts)"
            )
    return rules


def _read_home(options: Options) -> list[HomePath]:
    paths = []
    known = {access.value: access for access in Access}
    for entry in options.tables("home"):
        path, access = entry.get("path"), entry.get("access", Access.WRITE.value)
        if _is_inside(path) and isinstance(access, str) and access in known:
            paths.append(HomePath(str(path), known[access]))
        else:
            needed = "each needs `path`, relative to the home, and `access`, one of " + ", ".join(known)
            options.complain("home", f"has {dict(entry)!r}", needed)
    return paths


def _is_inside(path: object) -> bool:
    """Whether it names a part of the home, not the whole of it and nothing above."""
    if not isinstance(path, str) or path.startswith(("/", "~")) or "\0" in path:
        return False
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return bool(parts) and ".." not in parts


def _broken(words: str) -> bool:
    try:
        re.compile(words)
    except re.error:
        return True
    return False
