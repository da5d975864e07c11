"""How runs look to a person: the table, and the page of one."""

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_between, render_when
from nightcrew.cli.table import Column
from nightcrew.cli.text import clean


def print_runs(context: Context, runs: list[Json], *, with_task: bool) -> None:
    columns = [
        Column("RUN"),
        *([Column("TASK")] if with_task else []),
        Column("ROLE"),
        Column("AGENT"),
        Column("MODEL"),
        Column("TRY"),
        Column("RESULT", painted=True),
        Column("TOOK"),
        Column("STARTED"),
        Column("DETAIL", flexible=True),
    ]
    rows = [
        [
            run["id"],
            *([run["task"]] if with_task else []),
            run["role"],
            run["agent"],
            run["model"] or "default",
            str(run["attempt"]),
            render_result(run),
            render_between(run["started_at"], run["ended_at"], context.now),
            render_when(run["started_at"] or run["created_at"], context.now),
            _detail(run),
        ]
        for run in runs
    ]
    context.terminal.table(columns, rows)


def print_run(context: Context, detail: Json) -> None:
    terminal, run = context.terminal, detail["run"]
    outcome = run["outcome"] or {}
    usage = outcome.get("usage") or {}
    facts = [
        ("run", run["id"]),
        ("task", run["task"]),
        ("role", f"{run['role']}, attempt {run['attempt']}"),
        ("agent", f"{run['agent']} ({run['model'] or 'default model'})"),
        ("result", render_result(run)),
        ("detail", _detail(run)),
        ("head", outcome.get("head_sha") or run["head_sha"] or ""),
        ("usage", _usage(usage)),
        ("created", render_when(run["created_at"], context.now)),
        ("started", render_when(run["started_at"], context.now)),
        ("ended", render_when(run["ended_at"], context.now) if run["ended_at"] else ""),
        ("took", render_between(run["started_at"], run["ended_at"], context.now)),
        ("session", run["session"]),
        ("folder", detail["folder"]),
    ]
    for name, value in facts:
        if value:
            terminal.line(f"  {terminal.paint(f'{name:<10}', 'dim')} {clean(value)}")
    for name, content in (("Report", detail["report"]), ("Prompt", detail["prompt"])):
        if content:
            terminal.line()
            terminal.line(terminal.paint(name, "bold"))
            terminal.text(content.rstrip("\n") + "\n")


def render_result(run: Json) -> str:
    """What came of a run in one word: its state while it is at work, else the kind of failure or interruption, or the
    report's word."""
    outcome = run["outcome"]
    if outcome is None:
        return str(run["state"])
    ended = outcome["failure"] or outcome["interruption"]
    return str(ended["kind"] if ended else outcome["answer"] or run["state"])


def _detail(run: Json) -> str:
    outcome = run["outcome"]
    if outcome is None:
        return ""
    if outcome["interruption"]:
        return str(outcome["interruption"]["why"])
    return str(outcome["failure"]["detail"] if outcome["failure"] else outcome["summary"])


def _usage(usage: Json) -> str:
    parts = [
        f"{usage[name]:,} {words}"
        for name, words in (("input_tokens", "tokens in"), ("output_tokens", "tokens out"))
        if usage.get(name) is not None
    ]
    if usage.get("cost_usd") is not None:
        parts.append(f"{usage['cost_usd']:.4f} USD")
    return ", ".join(parts)
