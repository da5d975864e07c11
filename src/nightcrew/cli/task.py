"""`nightcrew task …`: what there is to do, and a person's word about one task."""

import argparse
import os
import sys

from nightcrew.cli.context import Context
from nightcrew.cli.error import USAGE, CliError
from nightcrew.cli.parser import Act, Group
from nightcrew.cli.reader import task_path

TASK_WORDS = "owner/repo#42, repo#42 or 42; i7 for an internal task"
STATUSES = ("new", "routed", "in_progress", "needs_review", "in_review", "done", "blocked")
COMPLEXITIES = ("simple", "medium", "complex")
_VERBS = {
    "approve": "let the pull request be merged as it is now",
    "retry": "start anew with the counters at zero; work on the branch is kept",
    "stop": "end the run at work and block the task; its work is kept",
    "unblock": "let a blocked task go on",
    "start": "start a task without waiting for the issues that it depends on",
    "close": "close the issue without merging; a run at work is ended, its work kept",
    "publish": "make an issue of an internal task",
}


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    listing = group.add("list", "list tasks and why each is where it is", list_tasks)
    listing.add_argument("--project", metavar="OWNER/REPO", help="only this project's")
    listing.add_argument("--status", metavar="STATUS", choices=STATUSES, help=f"only those: {', '.join(STATUSES)}")
    listing.add_argument("--all", action="store_true", help="also those that are done")
    _task(group.add("show", "show everything about a task, first why it is where it is", show_task))
    _task(group.add("diff", "show the task's branch against its base", show_diff))
    adding = group.add("add", "file an issue that becomes a task", add_task)
    adding.add_argument("title", metavar="TITLE")
    adding.add_argument("--project", metavar="OWNER/REPO", help="needed if there is more than one project")
    adding.add_argument("--body", metavar="TEXT", help="what is to be done; - reads standard input")
    adding.add_argument("--label", metavar="LABEL", action="append", default=[], help="a further label; repeatable")
    adding.add_argument("--internal", action="store_true", help="record it here, without an issue")
    adding.add_argument("--report", action="store_true", help="ask for a report, not for a change; needs --internal")
    adding.add_argument("--agent", metavar="NAME", default="", help="who is to do it; needs --internal")
    adding.add_argument("--model", metavar="NAME", default="", help="with which model; needs --internal")
    adding.add_argument("--complexity", choices=COMPLEXITIES, default="", help="how hard it is; needs --internal")
    adding.add_argument(
        "--skill", metavar="SKILL", action="append", default=[], help="what its author has to have; needs --internal"
    )
    blocking = _task(group.add("block", "keep a task from going on", block_task))
    blocking.add_argument("--why", metavar="TEXT", required=True, help="the reason, for whoever reads the issue")
    commenting = _task(group.add("comment", "write a comment on the issue, as to answer a question", comment_task))
    commenting.add_argument("text", metavar="TEXT", help="what to say; - reads standard input")
    saying = _task(group.add("say", "send a message to the agent, as the next turn of its own session", say_to))
    saying.add_argument("text", metavar="TEXT", help="what to say; - reads standard input")
    saying.add_argument("--now", action="store_true", help="end the turn at work for it, and go on with the message")
    delegating = _task(group.add("delegate", "answer an author that proposes sub-tasks", delegate_task))
    delegating.add_argument("answer", choices=("accept", "refuse"), help="have them made, or everything done in one")
    for verb, words in _VERBS.items():
        _task(group.add(verb, words, _say(verb)))


def list_tasks(context: Context, options: argparse.Namespace) -> int:
    include_done = bool(options.all) or options.status == "done"
    tasks = context.reader().list_tasks(project=options.project, include_done=include_done)
    if options.status:
        tasks = [task for task in tasks if task["status"] == options.status]
    if context.as_json:
        context.terminal.json({"tasks": tasks})
        return 0
    from nightcrew.cli.task_view import print_tasks

    print_tasks(context, tasks)
    return 0


def show_task(context: Context, options: argparse.Namespace) -> int:
    reader = context.reader()
    detail = reader.get_task(reader.resolve_task(options.task))
    if context.as_json:
        context.terminal.json(detail)
        return 0
    from nightcrew.cli.task_view import print_task

    print_task(context, detail)
    return 0


def show_diff(context: Context, options: argparse.Namespace) -> int:
    reader = context.reader()
    answer = reader.load_diff(reader.resolve_task(options.task))
    if context.as_json:
        context.terminal.json(answer)
        return 0
    from nightcrew.cli.task_view import print_diff

    print_diff(context, str(answer["diff"]))
    return 0


def add_task(context: Context, options: argparse.Namespace) -> int:
    client = context.client()
    body = sys.stdin.read() if options.body == "-" else options.body or ""
    project = options.project or _only_project(context)
    new = {"project": project, "title": options.title, "body": body}
    pins = {"agent": options.agent, "model": options.model, "complexity": options.complexity, "skills": options.skill}
    if options.internal:
        if options.label:
            raise CliError("an internal task has no labels", hint="choose with --agent and the like", code=USAGE)
        kind = "report" if options.report else "change"
        return context.answer(client.post("/tasks/internal", {**new, "kind": kind, **pins}))
    if options.report or any(pins.values()):
        raise CliError("an issue is told such things by labels", hint="add --internal, or use --label", code=USAGE)
    new["labels"] = options.label
    return context.answer(client.post("/tasks", new))


def block_task(context: Context, options: argparse.Namespace) -> int:
    client = context.client()
    return context.answer(client.post(task_path(resolve(context, options.task), "block"), {"why": options.why}))


def comment_task(context: Context, options: argparse.Namespace) -> int:
    client = context.client()
    text = sys.stdin.read() if options.text == "-" else options.text
    return context.answer(client.post(task_path(resolve(context, options.task), "comment"), {"text": text}))


def say_to(context: Context, options: argparse.Namespace) -> int:
    client = context.client()
    text = sys.stdin.read() if options.text == "-" else options.text
    # Asked for again after an answer that was lost, it is the same message.
    word = {"text": text, "interrupts": options.now, "name": f"cli:{os.urandom(10).hex()}"}
    return context.answer(client.post(task_path(resolve(context, options.task), "say"), word))


def delegate_task(context: Context, options: argparse.Namespace) -> int:
    client = context.client()
    path = task_path(resolve(context, options.task), "delegate")
    return context.answer(client.post(path, {"accept": options.answer == "accept"}))


def resolve(context: Context, text: str) -> str:
    """The one task that the running service knows by this name."""
    return str(context.client().get("/tasks/resolve", {"text": text})["task"])


def _say(verb: str) -> Act:
    def act(context: Context, options: argparse.Namespace) -> int:
        client = context.client()
        return context.answer(client.post(task_path(resolve(context, options.task), verb)))

    return act


def _task(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("task", metavar="TASK", help=TASK_WORDS)
    return parser


def _only_project(context: Context) -> str:
    projects = [str(project["project"]) for project in context.client().get("/projects")["projects"]]
    if not projects:
        raise CliError("there is no project yet", hint="add one with: nightcrew project add")
    if len(projects) > 1:
        raise CliError(f"which project? there are {', '.join(projects)}", hint="say it with --project", code=USAGE)
    return projects[0]
