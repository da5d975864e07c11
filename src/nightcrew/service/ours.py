"""What only a person may do to the service: an agent that Nightcrew started must not change or end what runs it."""

from collections.abc import Mapping

from nightcrew.core.errors import Denied

SESSION = "NIGHTCREW_SESSION"
"""Set by the shim for everything that runs in a session."""


def refuse_agents(environ: Mapping[str, str]) -> None:
    """Denied where these are the variables of an agent's session."""
    if session := environ.get(SESSION):
        raise Denied(f"this is the session {session} of an agent, and the service is a person's to change")
