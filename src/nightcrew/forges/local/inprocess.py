"""Reaching a forge in the same process, without a port: for the service that embeds it."""

import httpx

from nightcrew.forges.local.app import create_app
from nightcrew.forges.local.forge import LocalForge

BASE_URL = "http://localhost"


def transport_to(forge: LocalForge) -> httpx.AsyncBaseTransport:
    """A transport whose requests the forge answers; any base URL on `BASE_URL` will do."""
    return httpx.ASGITransport(app=create_app(forge))
