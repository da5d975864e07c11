"""Secrets that the service would not find: a service manager starts it without the variables of this terminal."""

from nightcrew.config.home import Home
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.settings import Settings
from nightcrew.forges.github.token import resolve_token
from nightcrew.process import clean_environment
from nightcrew.service.background.plan import Plan
from nightcrew.service.connection import used_forges

_HINT = "write it into a file, and name it in config.yml as file:PATH"


async def find_unseen(home: Home, settings: Settings, plan: Plan) -> tuple[str, ...]:
    """Each reference to a variable, and each forge for which no token is found without variables, in words."""
    environment = clean_environment(extra={"PATH": plan.path})
    found = []
    for forge in used_forges(settings):
        reference = forge.app.private_key if forge.app is not None else forge.token
        if reference.startswith("env:"):
            found.append(f"forges.{forge.name}: {reference} is not set for the service: {_HINT}")
        elif forge.kind != "local" and forge.app is None:
            try:
                await resolve_token(forge, environment=environment, base=home.root)
            except ConfigError:
                found.append(f"forges.{forge.name}: the token is in a variable of this terminal alone: {_HINT}")
    for agent in settings.agents.values():
        for name, value in agent.env.items():
            if value.startswith("env:"):
                found.append(f"agents.{agent.name}.env.{name}: {value} is not set for the service: {_HINT}")
    return tuple(found)
