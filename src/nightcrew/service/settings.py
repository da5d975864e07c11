"""`nightcrew config show|check|schema`."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

from nightcrew.config.check import Surroundings, check_settings
from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.render import render_settings, render_yaml
from nightcrew.config.schema import render_schema_text
from nightcrew.core.errors import ConfigError
from nightcrew.service.adapter import load_agents
from nightcrew.service.load import load
from nightcrew.service.sandbox import Sandboxes, find_bounds, find_sandbox_problems
from nightcrew.service.skill import find_skill_problems


def show_config(home: Path, *, as_json: bool) -> int:
    """The settings in force; secrets only as references."""
    plain = render_settings(load(Home(home)).apply())
    if as_json:
        sys.stdout.write(json.dumps(plain, indent=2) + "\n")
        return 0
    sys.stdout.write(render_yaml(plain))
    return 0


def show_schema(home: Path, *, as_json: bool) -> int:
    """The JSON schema of the configuration; it is JSON either way."""
    del home, as_json
    sys.stdout.write(render_schema_text())
    return 0


def check_config(home: Path, *, as_json: bool) -> int:
    """Load it (what is wrong raises), then say what is risky, what bounds each agent and what its CLI enforces. Exit
    code 0: warnings are no errors."""
    place = Home(home)
    settings = load(place).apply()
    agents = load_agents(settings)
    programs = {name: agent.program for name, agent in agents.items()}
    around = Surroundings(environ=load_environment(), base=place.root, programs=programs)
    bounds = asyncio.run(find_bounds(settings, agents, Sandboxes()))
    if problems := find_sandbox_problems(bounds):
        raise ConfigError(problems)
    warnings = (*check_settings(settings, around), *asyncio.run(find_skill_problems(settings, place.root)))
    if as_json:
        answer = {
            "config": str(place.config),
            "warnings": [{"where": item.where, "what": item.what, "hint": item.hint} for item in warnings],
            "agents": {
                name: {
                    "sandbox": {"level": bounds[name].level, "words": bounds[name].words, "hint": bounds[name].hint},
                    "program": shutil.which(agent.program) or "",
                    "limits": [{"what": x.what, "how_far": x.how_far, "means": x.means} for x in agent.limits()],
                    "outside": list(agent.homes()),
                }
                for name, agent in agents.items()
            },
        }
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
        return 0
    lines = [f"{place.config} is valid."]
    lines += [f"warning: {item}" for item in warnings]
    for name, agent in agents.items():
        lines += ["", f"{name} ({shutil.which(agent.program) or 'not installed'}): what its CLI keeps to"]
        lines.append(f"  sandbox: {bounds[name].words}" + (f" ({bounds[name].hint})" if bounds[name].hint else ""))
        width = max((len(limit.what) for limit in agent.limits()), default=0)
        lines += [f"  {limit.what.ljust(width)}  {limit.how_far:<9} {limit.means}" for limit in agent.limits()]
        lines += [f"  reads or writes: {words}" for words in agent.homes()]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
