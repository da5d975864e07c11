"""`nightcrew job …`: scheduled work, when it fires next, what came of it, and a person's word about it."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import USAGE, CliError
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Act, Group
from nightcrew.cli.table import Column
from nightcrew.cli.text import clean

_VERBS = {
    "run": "start a job now, besides its times",
    "enable": "switch a job on, over what its settings say",
    "disable": "switch a job off, over what its settings say",
}


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    listing = group.add("list", "list jobs, when they fire next, and what came of the last one", list_jobs)
    listing.add_argument("--project", metavar="OWNER/REPO", help="only this project's")
    _named(group.add("show", "show everything about a job", show_job))
    history = _named(group.add("history", "list what came of a job, the newest due time first", show_history))
    history.add_argument("--limit", metavar="N", type=int, default=20, help="how many (default 20, at most 1000)")
    for verb, words in _VERBS.items():
        _named(group.add(verb, words, _say(verb)))


def list_jobs(context: Context, options: argparse.Namespace) -> int:
    columns = [
        Column("JOB"),
        Column("PROJECT"),
        Column("SCHEDULE"),
        Column("DOES"),
        Column("NEXT"),
        Column("LAST", flexible=True),
    ]
    jobs, now = context.reader().list_jobs(project=options.project), context.now
    none = "No jobs. See docs/jobs.md for how to make one."
    return context.listing("jobs", jobs, none=none, columns=columns, row=lambda job: _row(job, now=now))


def show_job(context: Context, options: argparse.Namespace) -> int:
    detail = _find(context, options, limit=5)
    if context.as_json:
        context.terminal.json(detail)
        return 0
    terminal = context.terminal
    for name, value in _facts(detail, now=context.now):
        terminal.line(f"  {terminal.paint(f'{name:<10}', 'dim')} {clean(value)}")
    for title, text in (("Prompt", detail["prompt"]), ("Last output", detail["output"])):
        if text:
            terminal.line()
            terminal.line(terminal.paint(title, "bold"))
            for line in str(text).splitlines():
                terminal.line(f"  {clean(line)}")
    terminal.line()
    _print_runs(context, detail["runs"])
    return 0


def show_history(context: Context, options: argparse.Namespace) -> int:
    runs = _find(context, options, limit=options.limit)["runs"]
    if context.as_json:
        context.terminal.json({"runs": runs})
        return 0
    _print_runs(context, runs)
    return 0


def _say(verb: str) -> Act:
    def act(context: Context, options: argparse.Namespace) -> int:
        client = context.client()
        jobs = list(client.get("/jobs", {"project": options.project})["jobs"])
        job = _choose(jobs, options.job)
        return context.answer(client.post(f"/jobs/{job['project']}/{job['job']}/{verb}"))

    return act


def _named(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("job", metavar="JOB", help="its name")
    parser.add_argument("--project", metavar="OWNER/REPO", help="needed if several projects have a job of that name")
    return parser


def _find(context: Context, options: argparse.Namespace, *, limit: int) -> Json:
    reader = context.reader()
    job = _choose(reader.list_jobs(project=options.project), options.job)
    return reader.get_job(job["project"], job["job"], limit=limit)


def _choose(jobs: list[Json], name: str) -> Json:
    found = [job for job in jobs if job["job"] == name]
    if len(found) > 1:
        projects = ", ".join(str(job["project"]) for job in found)
        raise CliError(f"{name} is a job of {projects}", hint="say which with --project", code=USAGE)
    if not found:
        raise CliError(f"there is no job {name}", hint="see: nightcrew job list")
    return found[0]


def _row(job: Json, *, now: float) -> list[str]:
    return [
        job["job"],
        job["project"],
        f"{job['schedule']} {job['timezone']}",
        job["work"],
        render_when(job["next_at"][0], now) if job["next_at"] else "off",
        _outcome(job["last"], now=now) if job["last"] else "",
    ]


def _facts(detail: Json, *, now: float) -> list[tuple[str, str]]:
    job = detail["job"]
    pins = ", ".join(str(detail[name]) for name in ("agent", "model", "complexity") if detail[name])
    facts = [
        ("job", f"{job['job']} of {job['project']}"),
        ("title", detail["title"]),
        ("does", f"{job['work']} {' '.join(detail['run'])}".strip()),
        ("schedule", f"{job['schedule']} {job['timezone']}, missed times: {detail['catch_up']}"),
        ("next", "; ".join(render_when(at, now) for at in job["next_at"]) or "never: it is off"),
        ("held", job["held"]),
        ("chosen", pins),
        ("skills", ", ".join(detail["skills"])),
        ("from", job["path"] or "config.yml"),
    ]
    return [(name, str(value)) for name, value in facts if value]


def _print_runs(context: Context, runs: list[Json]) -> None:
    if not runs:
        context.terminal.line("It has not fired yet.")
        return
    columns = [
        Column("DUE"),
        Column("STATE", painted=True),
        Column("TASK"),
        Column("WHAT", flexible=True),
        Column("LOG"),
    ]
    rows = [
        [
            render_when(run["due_at"], context.now),
            run["state"],
            run["task"] or "",
            " ".join(part for part in (_how(run), run["words"]) if part),
            run["log"],
        ]
        for run in runs
    ]
    context.terminal.table(columns, rows)


def _outcome(run: Json, *, now: float) -> str:
    words = f" {run['words']}" if run["words"] else ""
    return f"{run['state']} {run['task'] or ''}{words} {render_when(run['due_at'], now)}".replace("  ", " ")


def _how(run: Json) -> str:
    return ", ".join(word for word, is_so in (("late", run["is_late"]), ("by hand", run["by_hand"])) if is_so)
