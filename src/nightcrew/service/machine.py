"""Which machine this is, to others that look after the same repositories: an id that the home keeps, and a name for
people. A copied home is the same machine to them: a copy that is to work beside the first is given an id of its own by
removing the file."""

import os
import re
import socket
from contextlib import suppress
from uuid import uuid4  # noqa: TID251 - an identity is made once in the life of a home

from nightcrew.config.home import Home
from nightcrew.core.model.claim import Machine
from nightcrew.core.neutral import one_line

_ID = re.compile(r"[0-9a-f]{32}")


def ensure_machine(home: Home) -> Machine:
    """The machine of this home; its id is made where there is none, or none that can be read."""
    host = one_line(socket.gethostname(), 80)
    with suppress(OSError, UnicodeDecodeError):
        known = home.machine.read_text(encoding="ascii").strip()
        if _ID.fullmatch(known):
            return Machine(known, host)
    made = uuid4().hex
    draft = home.machine.with_suffix(".tmp")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(f"{made}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(home.machine)
    return Machine(made, host)
