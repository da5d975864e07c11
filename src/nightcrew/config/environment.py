"""The one place of this package that reads the process environment. Everything else takes it as a mapping."""

import os


def load_environment() -> dict[str, str]:
    """A copy of the variables of this process."""
    return dict(os.environ)  # noqa: TID251 - this is the home of the environment for configuration
