"""The rows of the table that says, for each CLI, how far it keeps our limits; every adapter fills all of them."""

from collections.abc import Mapping

from nightcrew.ports.agent import Enforcement, Limit

WHAT = {
    "write_outside": "nothing is written outside the workspace and the run folder",
    "read_outside": "nothing is read outside the workspace",
    "network": "no network but the model",
    "git_push": "no push from the workspace",
    "report": "the run folder can be written",
    "read_only": "a reviewer cannot change the workspace",
    "model": "the model that was asked for",
    "budget": "a budget for one run",
    "hooks": "hooks and settings of the repository are not run",
}

ENFORCED, ADVICE, NONE = Enforcement.ENFORCED, Enforcement.ADVICE, Enforcement.NONE


def render_limits(rows: Mapping[str, tuple[str, str]]) -> tuple[Limit, ...]:
    """The table in its fixed order. `rows` gives how far and by which means, for exactly the keys of WHAT."""
    if set(rows) != set(WHAT):
        raise ValueError(f"rows missing or too many: {set(rows) ^ set(WHAT)}")
    return tuple(Limit(WHAT[key], *rows[key]) for key in WHAT)
