"""Which variables a child may see. What is not named here does not pass."""

import os
from collections.abc import Iterable, Mapping

# What a program needs to find its libraries, its language and its temporary folder; never a credential.
BASE_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM")


def clean_environment(
    *, extra: Mapping[str, str] | None = None, allow: Iterable[str] = BASE_VARIABLES
) -> dict[str, str]:
    """A child's environment: the allowed variables of this process, then `extra` over them."""
    own = os.environ  # noqa: TID251 - this is the one home of the environment for children
    environment = {name: own[name] for name in allow if name in own}
    environment.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    if extra:
        environment.update(extra)
    return environment
