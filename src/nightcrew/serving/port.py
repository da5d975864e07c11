"""Ports of this machine."""

import socket

from nightcrew.core.errors import Unavailable


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises Unavailable if it cannot be had."""
    bound: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST if host != "localhost" else 0
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()
    except OSError as error:
        if bound is not None:
            bound.close()
        raise Unavailable(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return bound
