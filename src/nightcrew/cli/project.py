"""`nightcrew project …`: which repositories are looked after."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import NotRunning
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column
from nightcrew.cli.text import clean


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    adding = group.add("add", "look after a repository", add_project)
    adding.add_argument("target", metavar="TARGET", help="owner/repo, or a checkout's folder")
    adding.add_argument("--local", action="store_true", help="on the embedded local forge")
    group.add("list", "list the projects and their tasks", list_projects)
    removing = group.add("remove", "look after a repository no longer; nothing of it is deleted", remove_project)
    removing.add_argument("project", metavar="OWNER/REPO")


def add_project(context: Context, options: argparse.Namespace) -> int:
    add = context.load("project").add_project
    code = int(add(context.home.root, target=options.target, local=options.local, as_json=context.as_json))
    return code or _take_up(context)


def remove_project(context: Context, options: argparse.Namespace) -> int:
    remove = context.load("project").remove_project
    code = int(remove(context.home.root, project=options.project, as_json=context.as_json))
    return code or _take_up(context)


def _take_up(context: Context) -> int:
    """Have a running service read the configuration, and say when the change takes effect."""
    try:
        answer = context.client().post("/config/reload")
    except NotRunning:
        words = "It takes effect when the service starts."
    else:
        waiting = "; ".join(clean(change) for change in answer["data"]["needs_restart"])
        words = "The running service has taken it up." + (f" Still needs a restart: {waiting}" if waiting else "")
    if not context.as_json:
        context.terminal.line(words)
    return 0


def list_projects(context: Context, _options: argparse.Namespace) -> int:
    projects = context.reader().list_projects()
    if context.as_json:
        context.terminal.json({"projects": projects})
    else:
        print_projects(context, projects)
    return 0


def print_projects(context: Context, projects: list[Json]) -> None:
    if not projects:
        context.terminal.line("No projects. Add one with: nightcrew project add OWNER/REPO")
        return
    columns = [
        Column("PROJECT"),
        Column("FORGE"),
        Column("BASE"),
        Column("STATE"),
        Column("TASKS", flexible=True),
        Column("PROBLEM", flexible=True),
    ]
    rows = [
        [
            project["project"],
            project["forge"],
            project["base_ref"],
            "paused" if project["paused"] else "active",
            ", ".join(f"{count} {status}" for status, count in project["tasks"].items() if count),
            project["problem"],
        ]
        for project in projects
    ]
    context.terminal.table(columns, rows)
