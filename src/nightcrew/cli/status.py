"""`nightcrew status`: how the service, its projects and its agents are."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import leaf
from nightcrew.cli.project import print_projects
from nightcrew.cli.table import Column
from nightcrew.cli.text import clean


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, show_status)


def show_status(context: Context, _options: argparse.Namespace) -> int:
    status = context.reader().status()
    if context.as_json:
        context.terminal.json(status)
        return 0
    terminal = context.terminal
    terminal.line(terminal.paint(_sentence(status, now=context.now), "bold"))
    for problem in status["problems"]:
        terminal.line(terminal.paint(f"  ! {clean(problem)}", "blocked"))
    for token in status["tokens"]:
        terminal.line(f"  {token_sentence(token, now=context.now)}")
    if status["webhook"] is not None:
        terminal.line(f"  {webhook_sentence(status['webhook'], now=context.now)}")
    terminal.line()
    print_projects(context, status["projects"])
    if status["agents"]:
        terminal.line()
        _print_agents(context, status["agents"])
    return 0


def _sentence(status: Json, *, now: float) -> str:
    version, home = clean(status["version"]), clean(status["home"])
    if not status["running"]:
        return f"Nightcrew {version} is not running (home {home}); start it with: nightcrew serve"
    state = "is paused: no new work starts" if status["paused"] else "is running"
    if status["draining"]:
        state = "takes no new work, and ends when no run lives any more"
    ticks = f"{status['ticks']} ticks, last {render_when(status['last_tick_at'], now)}"
    following = f", next {render_when(status['next_tick_at'], now)}" if status["next_tick_at"] else ""
    return (
        f"Nightcrew {version} {state} (pid {status['pid']}, home {home}), "
        f"started {render_when(status['started_at'], now)}; {ticks}{following}"
    )


def token_sentence(token: Json, *, now: float) -> str:
    """What a token has left, and whom it serves."""
    things = {"core": "requests", "graphql": "GraphQL points"}
    left = [
        f"{purse['left']:,} of {purse['limit']:,} {things[purse['resource']]}"
        f" (all of them again {render_when(purse['reset_at'], now)})"
        for purse in token["purses"]
        if purse["resource"] in things
    ]
    said = f"; {clean(token['words'])}" if token["words"] else ""
    count = f"{token['projects']} {'project' if token['projects'] == 1 else 'projects'}"
    rest = f"{', '.join(left)} left" if left else "not asked yet"
    return f"{clean(token['forge'])}, {clean(token['source'])}: {count}, {rest}{said}"


def webhook_sentence(webhook: Json, *, now: float) -> str:
    """What became of the webhook listener, and of what it was sent."""
    if not webhook["address"]:
        return f"webhooks: does not listen ({clean(webhook['problem']) or 'it is being started'})"
    last = render_when(webhook["last_at"], now) if webhook["last_at"] else "none yet"
    counts = f"{webhook['taken']} taken, {webhook['refused']} refused for their signature"
    return f"webhooks: listens at {clean(webhook['address'])}; last delivery {last}; {counts}"


def _print_agents(context: Context, agents: list[Json]) -> None:
    columns = [Column("AGENT"), Column("ADAPTER"), Column("CLI"), Column("RUNS"), Column("COOLED", flexible=True)]
    found = {True: "found", False: "not found", None: "unknown"}
    rows = [
        [
            agent["agent"],
            agent["adapter"],
            found[agent["available"]],
            f"{agent['running']} of {agent['max_runs']}",
            "; ".join(_cooldown(cooldown, now=context.now) for cooldown in agent["cooldowns"]),
        ]
        for agent in agents
    ]
    context.terminal.table(columns, rows)
    for agent in agents:
        if agent["free_models"]:
            context.terminal.line(f"{clean(agent['agent'])}: opencode:free is {clean(', '.join(agent['free_models']))}")


def _cooldown(cooldown: Json, *, now: float) -> str:
    model = f"{cooldown['model']} " if cooldown["model"] else ""
    return f"{model}{cooldown['kind']}, back {render_when(cooldown['until_at'], now)}"
