"""Secrets and variables that the service would not find: a service manager starts it without those of this terminal."""

from collections.abc import Mapping

from nightcrew.config.check import list_references
from nightcrew.config.home import Home
from nightcrew.config.variable import OTHERS, PREFIX
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.settings import Settings
from nightcrew.forges.github.token import resolve_token
from nightcrew.process import clean_environment
from nightcrew.service.background.plan import Plan
from nightcrew.service.connection import used_forges
from nightcrew.service.ours import SESSION

_HINT = "write it into a file, and name it in config.yml as file:PATH"
_NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""What the libraries that reach servers go by."""


async def find_unseen(
    home: Home, settings: Settings, plan: Plan, *, environ: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Each reference to a variable, each forge for which no token is found without variables, and what else in
    `environ` (of this terminal) says how Nightcrew works; in words."""
    environment = clean_environment(extra={"PATH": plan.path})
    used = {forge.name: forge for forge in used_forges(settings)}
    found = []
    for where, reference in list_references(settings).items():
        section, _, rest = where.partition(".")
        is_unused = section == "forges" and rest.partition(".")[0] not in used
        if reference.startswith("env:") and not is_unused:
            found.append(f"{where}: {reference} is not set for the service: {_HINT}")
    for forge in used.values():
        if forge.kind == "local" or forge.app is not None or forge.tokens or forge.token.startswith("env:"):
            continue
        try:
            await resolve_token(forge, environment=environment, base=home.root)
        except ConfigError:
            found.append(f"forges.{forge.name}: the token is in a variable of this terminal alone: {_HINT}")
    return (*found, *_of_terminal(environ or {}))


def _of_terminal(environ: Mapping[str, str]) -> list[str]:
    kept = "keep it in config.yml, or give it to the service manager"
    own = [name for name in environ if name.startswith(PREFIX) and name not in {*OTHERS, SESSION, "NIGHTCREW_DEBUG"}]
    network = [name for name in environ if name.upper() in _NETWORK]
    return [
        *(f"{name} is set in this terminal, and not for the service: {kept}" for name in sorted(own)),
        *(f"{name} is set in this terminal, and not for the service, which reaches servers without it"
          for name in sorted(network)),
    ]  # fmt: skip
