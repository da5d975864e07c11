"""A spec as a command line or a profile: pure, and compared whole with what is kept in `golden`."""

from dataclasses import replace
from pathlib import Path

import pytest

from nightcrew.core.errors import Invalid
from nightcrew.sandbox import Bind, Kind, Link, Network, SandboxSpec, Usable, build_argv
from nightcrew.sandbox.bubblewrap import Bubblewrap
from nightcrew.sandbox.seatbelt import Seatbelt, render_profile

GOLDEN = Path(__file__).with_name("golden")
HOME = Path("/home/nina")
CREW = HOME / ".nightcrew"
SPEC = SandboxSpec(
    workspace=CREW / "worktrees" / "acme__widget" / "widget-7",
    folder=CREW / "runs" / 'a "run"',
    home=HOME,
    binds=(
        Bind(HOME / ".tool", writable=True, optional=True),
        Bind(HOME / ".tool" / "settings.json"),
        Bind(CREW / "repos" / "agents.git" / "objects", writable=True),
        Bind(CREW / "repos" / "agents.git" / "objects" / "info"),
    ),
    private=(CREW / "repos" / "agents.git",),
    links=(Link(HOME / "bin" / "tool", Path("/opt/tool")), Link(HOME / ".tool" / "shown", HOME)),
)
ARGV = ("tool", "--flag", "a b")
BWRAP = Usable(Kind.BWRAP, Bubblewrap("/usr/bin/bwrap", "/usr/bin/env"))


def render(argv: tuple[str, ...]) -> str:
    """An option and its values a line."""
    return " ".join(argv).replace(" --", "\n--") + "\n"


def test_bubblewrap():
    assert render(build_argv(SPEC, ARGV, BWRAP)) == (GOLDEN / "bwrap.txt").read_text()


@pytest.mark.parametrize("name", [Network.OPEN, Network.NONE])
def test_seatbelt(name):
    spec = replace(SPEC, network=name)
    argv = build_argv(spec, ARGV, Usable(Kind.SEATBELT, Seatbelt("/usr/bin/sandbox-exec")))
    assert (argv[:2], argv[3:]) == (("/usr/bin/sandbox-exec", "-p"), ARGV)
    assert argv[2] == render_profile(spec) == (GOLDEN / f"seatbelt-{name.value}.sb").read_text()


def test_none_is_the_command_itself():
    assert build_argv(SPEC, ARGV, Usable(Kind.NONE)) == ARGV


def test_without_a_network_there_is_a_namespace_for_it():
    assert "--unshare-net" in build_argv(replace(SPEC, network=Network.NONE), ARGV, BWRAP)
    assert "--unshare-net" not in build_argv(SPEC, ARGV, BWRAP)


def test_without_a_fitting_env_bwrap_starts_the_agent_itself():
    argv = build_argv(SPEC, ARGV, Usable(Kind.BWRAP, Bubblewrap("/usr/bin/bwrap")))
    assert argv[0] == "/usr/bin/bwrap"
    assert argv[-4:] == ("--", *ARGV)


def test_root_is_somebody_else_inside_and_the_kernels_settings_are_closed():
    argv = " ".join(build_argv(SPEC, ARGV, Usable(Kind.BWRAP, Bubblewrap("bwrap", uid=1000))))
    assert "--uid 1000 --gid 1000" in argv
    assert argv.index("--ro-bind-try /proc/sys /proc/sys") > argv.index("--proc /proc")


def test_of_two_that_overlap_the_deeper_comes_later():
    argv = list(build_argv(SPEC, ARGV, BWRAP))
    places = [argv.index(str(path)) for path in (HOME, HOME / ".tool", HOME / ".tool" / "settings.json")]
    assert places == sorted(places)
    assert build_argv(replace(SPEC, binds=SPEC.binds[::-1]), ARGV, BWRAP) == tuple(argv)


@pytest.mark.parametrize("changes", [
    {"workspace": HOME}, {"workspace": Path("/")}, {"folder": Path("/home")}, {"workspace": Path("work")},
    {"home": Path("/")}, {"home": Path("nina")}, {"binds": (Bind(Path("/home/../home/nina")),)},
    {"binds": (Bind(Path("/")),)}, {"links": (Link(Path("x"), HOME),)},
    {"binds": (Bind(HOME / "x", source=HOME),)}, {"binds": (Bind(HOME / "a\0b"),)}, {"private": (Path("x"),)},
    {"binds": (Bind(HOME / "x"), Bind(HOME / "x", writable=True))},
    {"binds": (Bind(SPEC.workspace),)},
])  # fmt: skip
def test_a_spec_that_lets_all_in_is_refused(changes):
    with pytest.raises(Invalid):
        build_argv(replace(SPEC, **changes), ARGV, BWRAP)


def test_seatbelt_refuses_what_it_cannot_do():
    with pytest.raises(Invalid, match="cannot show"):
        render_profile(replace(SPEC, binds=(Bind(HOME / "x", source=HOME / "y"),)))
    with pytest.raises(Invalid, match="cannot stand"):
        render_profile(replace(SPEC, folder=HOME / "a\nb"))


def test_a_path_cannot_end_its_string_in_a_profile():
    profile = render_profile(replace(SPEC, folder=HOME / 'x")) (allow default) ("\\'))
    assert '"/home/nina/x\\")) (allow default) (\\"\\\\"' in profile
