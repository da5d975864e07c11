"""`nightcrew skill …`: which skills runs are given, and what is wrong with others."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import USAGE, CliError
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column
from nightcrew.cli.text import clean

_USES = {
    "required": "every author",
    "review": "every reviewer",
    "offered": "router's choice",
    "by_name": "by name alone",
}


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    listing = group.add("list", "list skills, who gets them, and what is wrong with others", list_skills)
    listing.add_argument("--project", metavar="OWNER/REPO", help="only this project's")
    showing = group.add("show", "show what a skill says", show_skill)
    showing.add_argument("name", metavar="NAME", help="its name")
    showing.add_argument("--project", metavar="OWNER/REPO", help="needed if projects have different ones of that name")


def list_skills(context: Context, options: argparse.Namespace) -> int:
    found = context.reader().list_skills(project=options.project)
    terminal = context.terminal
    if context.as_json:
        terminal.json(found)
        return 0
    columns = [Column("SKILL"), Column("PROJECT"), Column("FOR"), Column("FROM"), Column("WHAT", flexible=True)]
    if found["skills"]:
        terminal.table(columns, [_row(skill) for skill in found["skills"]])
    else:
        terminal.line("No skills. See docs/skills.md for where they may lie.")
    for words in found["problems"]:
        terminal.line(f"{terminal.paint('problem', 'yellow')}: {clean(words)}")
    return 0


def show_skill(context: Context, options: argparse.Namespace) -> int:
    reader = context.reader()
    skills = reader.list_skills(project=options.project)["skills"]
    skill = _choose([one for one in skills if one["skill"] == options.name], options.name)
    detail = reader.get_skill(skill["project"], skill["skill"])
    terminal = context.terminal
    if context.as_json:
        terminal.json(detail)
        return 0
    facts = {
        "skill": skill["skill"],
        "what": skill["description"],
        "for": f"{_USES[skill['use']]} of {skill['project']}",
        "from": f"{skill['origin']} ({skill['source']})",
        "files": ", ".join(skill["files"]),
    }
    for name, value in facts.items():
        terminal.line(f"  {terminal.paint(f'{name:<6}', 'dim')} {clean(value)}")
    terminal.line()
    for line in str(detail["text"]).splitlines():
        terminal.line(f"  {clean(line)}")
    return 0


def _choose(found: list[Json], name: str) -> Json:
    if not found:
        raise CliError(f"there is no skill {clean(name)}", hint="see: nightcrew skill list")
    if len({skill["origin"] for skill in found}) > 1:
        projects = ", ".join(str(skill["project"]) for skill in found)
        raise CliError(f"{name} is not the same in {projects}", hint="say which with --project", code=USAGE)
    return found[0]


def _row(skill: Json) -> list[str]:
    return [skill["skill"], skill["project"], _USES[skill["use"]], skill["source"], skill["description"]]
