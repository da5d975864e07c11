"""Agents: whether their CLIs are here, which version they are, whether they are logged in, and what bounds them."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from nightcrew.agents.stream import strip_terminal
from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.config.secret import is_reference, looks_secret, resolve_secret
from nightcrew.core.errors import ConfigError, PortError
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.settings import AgentSettings, Settings
from nightcrew.core.neutral import one_line
from nightcrew.engine.doctor.ward import Found
from nightcrew.ports.agent import Agent, LoginSign, ShowsLogin
from nightcrew.process import clean_environment, run_process
from nightcrew.service.doctor.program import VERSION_TIMEOUT_S, parse_version
from nightcrew.service.sandbox import Sandboxes, find_bounds

LOGIN_TIMEOUT_S = 20.0
LOGIN = "login of "


async def look_at_agents(home: Home, settings: Settings, agents: Mapping[str, Agent]) -> AsyncIterator[Found]:
    """All CLIs at once, as they take their time to say anything."""
    for name, bound in (await find_bounds(settings, agents, Sandboxes())).items():
        yield Found(Diagnosis(f"sandbox of {name}", Level(bound.level), bound.words, bound.hint))
    async with asyncio.TaskGroup() as group:
        looks = [group.create_task(_look(home, settings.agents[name], agent)) for name, agent in sorted(agents.items())]
    for look in looks:
        for diagnosis in look.result():
            yield Found(diagnosis)


async def list_logged_out(home: Home, settings: Settings, agents: Mapping[str, Agent]) -> tuple[str, ...]:
    """Words about those whose CLIs say that nobody is logged in. What is not known is not told."""
    async with asyncio.TaskGroup() as group:
        looks = {
            name: group.create_task(_look(home, settings.agents[name], agent)) for name, agent in sorted(agents.items())
        }
    return tuple(
        f"{name}: {diagnosis.words}; {diagnosis.hint}"
        for name, look in looks.items()
        for diagnosis in look.result()
        if diagnosis.what.startswith(LOGIN) and diagnosis.level is Level.ERROR
    )


async def _look(home: Home, keys: AgentSettings, agent: Agent) -> list[Diagnosis]:
    what, found = f"agent {keys.name}", shutil.which(agent.program)
    if found is None:
        hint = f"install it, or set `agents.{keys.name}.enabled: false`"
        return [Diagnosis(what, Level.ERROR, f"{agent.program} is not on PATH", hint)]
    try:
        done = await run_process([found, "--version"], timeout_s=VERSION_TIMEOUT_S)
    except PortError as error:
        return [Diagnosis(what, Level.WARNING, f"{found} does not tell its version: {error}")]
    lines = strip_terminal(done.text).strip().splitlines()
    version = one_line(lines[0], 100) if lines else ""
    here = Diagnosis(what, Level.OK, f"{found} {version}".strip())
    if not isinstance(agent, ShowsLogin):
        return [here]
    return [here, await _look_at_login(home, keys, agent, version=version)]


async def _look_at_login(home: Home, keys: AgentSettings, agent: ShowsLogin, *, version: str) -> Diagnosis:
    """Asked with the variables that a run has, in no sandbox. A CLI that knows nothing of a key that its settings bring
    along is not believed."""
    what, sign = f"{LOGIN}{keys.name}", agent.login_sign()
    environ, hint = load_environment(), f"log in with: {agent.login_command()}"
    try:
        own = {
            name: resolve_secret(value, f"agents.{keys.name}.env.{name}", environ=environ, base=home.root).reveal()
            for name, value in keys.env.items()
        }
    except ConfigError as error:
        return Diagnosis(what, Level.ERROR, "; ".join(f"{one.where}: {one.what}" for one in error.problems))
    answer = await _ask(sign, agent, own, version=version)
    if isinstance(answer, bool) and answer:
        return Diagnosis(what, Level.OK, "its CLI says that it is logged in")
    brought = [name for name, value in keys.env.items() if is_reference(value) or looks_secret(name, value)]
    if brought:
        return Diagnosis(what, Level.OK, f"its settings bring {', '.join(sorted(brought))}")
    if answer is False:
        return Diagnosis(what, Level.ERROR, "its CLI says that it is not logged in", hint)
    person = Path(environ.get("HOME") or "/nowhere")
    if kept := next((person / name for name in sign.files if (person / name).is_file()), None):
        return Diagnosis(what, Level.OK, f"a login is kept in {kept}")
    why = answer if isinstance(answer, str) else "its CLI does not tell"
    return Diagnosis(what, Level.UNKNOWN, f"whether there is one cannot be seen: {why}", hint)


async def _ask(sign: LoginSign, agent: ShowsLogin, own: Mapping[str, str], *, version: str) -> bool | str | None:
    """What its command answers; words where it could not be asked."""
    if not sign.command:
        return None
    if sign.since and parse_version(version) < sign.since:
        return f"it is older than {'.'.join(map(str, sign.since))}"
    try:
        done = await run_process(sign.command, env=clean_environment(extra=own), timeout_s=LOGIN_TIMEOUT_S)
    except PortError as error:
        return one_line(str(error), 200)
    return agent.read_login(done.returncode, done.text + "\n" + done.stderr.decode("utf-8", "replace"))
