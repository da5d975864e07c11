"""The one entry: an agent's command line, confined by whatever this machine has."""

from collections.abc import Sequence

from nightcrew.sandbox.bubblewrap import Bubblewrap, render_bubblewrap
from nightcrew.sandbox.probe import Usable
from nightcrew.sandbox.seatbelt import Seatbelt, render_seatbelt
from nightcrew.sandbox.spec import SandboxSpec


def build_argv(spec: SandboxSpec, argv: Sequence[str], sandbox: Usable) -> tuple[str, ...]:
    """`argv` in a sandbox; itself, if there is to be none. Invalid if the spec lets too much in, or asks for what the
    sandbox of this machine cannot do. Pure: nothing is looked at."""
    spec.check()
    match sandbox.means:
        case Bubblewrap() as means:
            return render_bubblewrap(spec, argv, means)
        case Seatbelt() as means:
            return render_seatbelt(spec, argv, means)
        case None:
            return tuple(argv)
