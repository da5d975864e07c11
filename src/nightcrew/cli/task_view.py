"""How tasks look to a person: the list, the page of one, its diff."""

from collections.abc import Callable

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_age, render_when
from nightcrew.cli.run_view import print_runs
from nightcrew.cli.table import Column
from nightcrew.cli.text import clean, reveal

_LAST_EVENTS = 12


def print_tasks(context: Context, tasks: list[Json]) -> None:
    if not tasks:
        context.terminal.line("No tasks. File one with: nightcrew task add TITLE")
        return
    columns = [
        Column("TASK"),
        Column("STATUS", painted=True),
        Column("AGENT"),
        Column("PR"),
        Column("WHY/NEXT", flexible=True),
        Column("AGE"),
        Column("TITLE", flexible=True),
    ]
    rows = [
        [
            task["task"],
            task["status"],
            _agent(task),
            f"#{task['pull']}" if task["pull"] else "",
            task["sentence"],
            render_age(task["created_at"], context.now),
            task["title"],
        ]
        for task in tasks
    ]
    context.terminal.table(columns, rows)


def print_task(context: Context, detail: Json) -> None:
    terminal, task = context.terminal, detail["summary"]
    terminal.line(terminal.paint(clean(task["sentence"]), "bold"))
    terminal.line()
    for name, value in _facts(detail, now=context.now):
        terminal.line(f"  {terminal.paint(f'{name:<10}', 'dim')} {terminal.paint(clean(value), value)}")
    _print_internal(context, detail["internal"] or {})
    _print_delegated(context, detail.get("delegated") or {})
    _print_part(context, "Runs", bool(detail["runs"]))
    print_runs(context, detail["runs"], with_task=False)
    _print_part(context, "Reviews", bool(detail["verdicts"]))
    for verdict in detail["verdicts"]:
        _print_verdict(context, verdict)
    _print_part(context, "Messages to its agent", bool(detail["sayings"]))
    for saying in detail["sayings"]:
        _print_saying(context, saying)
    events = detail["events"][-_LAST_EVENTS:]
    _print_part(context, "Last events", bool(events))
    rows = [[render_when(event["at"], context.now), event["kind"], event["why"]] for event in events]
    terminal.table([Column("WHEN"), Column("EVENT"), Column("WHY", flexible=True)], rows)


def print_diff(context: Context, diff: str) -> None:
    """For a terminal what could mislead is shown by its number; another program gets the diff as it is."""
    terminal = context.terminal
    if not terminal.is_tty:
        terminal.verbatim(diff)
        return
    for line in reveal(diff).splitlines():
        terminal.line(terminal.paint(line, _diff_colour(line)))


def _facts(detail: Json, *, now: float) -> list[tuple[str, str]]:
    task = detail["summary"]
    wait, block, route = task["wait"] or {}, task["block"] or {}, task["route"] or {}
    model = f" ({route['model']})" if route.get("model") else ""
    facts = [
        ("task", task["task"]),
        ("title", task["title"]),
        ("status", task["status"]),
        ("until", render_when(wait["until_at"], now) if wait.get("until_at") else ""),
        ("blocked", f"{block['words']} [{block['code']}]" if block else ""),
        ("answer", _how_answered(detail) if block.get("answerable") else ""),
        ("agent", f"{route['agent']}{model}, {route['complexity']}: {route['why']}" if route else ""),
        ("skills", ", ".join(route.get("skills", ()))),
        ("attempts", f"{task['attempts']}, reviews that asked for changes: {task['cycles']}"),
        ("used", _spent(detail)),
        ("tried", ", ".join(task["tried"])),
        ("pull", f"#{task['pull']}" if task["pull"] else ""),
        ("branch", task["branch"] + (f" from {task['base_ref']}" if task["branch"] and task["base_ref"] else "")),
        ("merged", task["merge_sha"] or ""),
        ("base", (detail.get("landing") or {}).get("words", "")),
        ("workspace", detail["workspace"]),
        ("issue", task["url"] or _published(detail["internal"] or {})),
        ("created", render_when(task["created_at"], now)),
        ("updated", render_when(task["updated_at"], now)),
    ]
    return [(name, value) for name, value in facts if value]


def _how_answered(detail: Json) -> str:
    """How a person answers what a blocked task asks."""
    return f"nightcrew task comment {detail['summary']['task']} TEXT" if detail["internal"] else "comment on the issue"


def _published(internal: Json) -> str:
    return f"#{internal['issue']}" if internal.get("issue") else ""


def _print_internal(context: Context, internal: Json) -> None:
    """What was asked for and found out, where no issue shows it."""
    for name, key in (("Text", "body"), ("Report", "result")):
        _print_part(context, name, bool(internal.get(key)))
        for line in str(internal.get(key) or "").splitlines():
            context.terminal.line(f"  {clean(line)}")


def _print_delegated(context: Context, delegated: Json) -> None:
    """What is handed over to sub-tasks, and what of a proposal is not."""
    _print_part(context, f"Sub-tasks ({delegated.get('state')})", bool(delegated))
    rows = [
        [part["task"] or "", part["standing"] or "", part["agent"], part["complexity"], part["title"]]
        for part in delegated.get("parts", [])
    ]
    columns = [Column("TASK"), Column("ENDED"), Column("AGENT"), Column("COMPLEXITY"), Column("TITLE", flexible=True)]
    if rows:
        context.terminal.table(columns, rows)
    for words in delegated.get("cut", []):
        context.terminal.line(f"  left out: {clean(words)}")


def _spent(detail: Json) -> str:
    """What its runs used, each beside what they may use where that is limited."""
    spent, budget = detail["spent"], detail["budget"]

    def shown(name: str, render: Callable[[float], str]) -> str:
        if spent[name] is None and budget[name] is None:
            return ""
        limit = "" if budget[name] is None else f" of {render(budget[name])}"
        return f"{render(spent[name] or 0)}{limit}"

    parts = [
        shown("runs", lambda number: f"{number:.0f} run{'' if number == 1 else 's'}"),
        shown("wall_s", lambda seconds: f"{seconds / 60:.0f} min"),
        shown("tokens", lambda number: f"{number:,.0f} tokens"),
        shown("cost_usd", lambda cost: f"{cost:.2f} USD"),
    ]
    return ", ".join(part for part in parts if part) if spent["runs"] else ""


def _print_part(context: Context, name: str, present: bool) -> None:
    if present:
        context.terminal.line()
        context.terminal.line(context.terminal.paint(name, "bold"))


def _print_verdict(context: Context, verdict: Json) -> None:
    terminal = context.terminal
    decision = terminal.paint(clean(verdict["decision"]), verdict["decision"])
    head = clean(f"{verdict['agent']} on {verdict['head_sha'][:10]}, {render_when(verdict['at'], context.now)}")
    terminal.line(f"  {decision} by {head}: {clean(verdict['summary'])}")
    for finding in verdict["findings"]:
        place = finding["path"] if finding["line"] is None else f"{finding['path']}:{finding['line']}"
        terminal.line(f"    {clean(place)}  {clean(finding['text'])}")


def _print_saying(context: Context, saying: Json) -> None:
    terminal = context.terminal
    head = clean(f"{saying['author']}, {render_when(saying['said_at'], context.now)}: {saying['words']}")
    terminal.line(f"  {terminal.paint(clean(saying['state']), saying['state'])} {head}")
    for line in str(saying["text"]).splitlines():
        terminal.line(f"    {clean(line)}")


def _agent(task: Json) -> str:
    if task["open_run"]:
        return str(task["open_run"]["agent"])
    return str(task["route"]["agent"]) if task["route"] else ""


def _diff_colour(line: str) -> str:
    if line.startswith(("+++", "---", "diff ", "index ")):
        return "bold"
    return {"+": "added", "-": "removed", "@": "dim"}.get(line[:1], "")
