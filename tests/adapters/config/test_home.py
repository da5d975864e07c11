import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nightcrew.config.home import SOCKET_LIMIT, Home, expand_path, find_home
from nightcrew.core.errors import NightcrewError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_home_is_named_by_a_variable_else_lies_in_the_persons_folder(tmp_path):
    assert find_home({"HOME": str(tmp_path)}).root == tmp_path / ".nightcrew"
    assert find_home({"HOME": str(tmp_path), "NIGHTCREW_HOME": " "}).root == tmp_path / ".nightcrew"
    assert find_home({"HOME": "/nowhere", "NIGHTCREW_HOME": str(tmp_path / "x")}).root == tmp_path / "x"
    assert find_home({"HOME": str(tmp_path), "NIGHTCREW_HOME": "~/y"}).root == tmp_path / "y"


def test_without_any_variable_the_account_says_where_the_person_lives():
    assert find_home({}).root.name == ".nightcrew"
    assert expand_path("~", {}).is_absolute()


@pytest.mark.parametrize("named", ["/", "~", "~/"])
def test_a_folder_that_is_not_its_own_is_refused_as_home(tmp_path, named):
    with pytest.raises(NightcrewError, match="no folder of its own"):
        find_home({"HOME": str(tmp_path), "NIGHTCREW_HOME": named})


def test_all_paths_lie_in_the_home_and_differ(tmp_path):
    home = Home(Path("/h"))
    paths = [
        home.config,
        home.database,
        home.lock,
        home.runs,
        home.repos,
        home.workspaces,
        home.logs,
        home.forge,
        home.socket,
        home.tmux,
    ]
    assert len(set(paths)) == len(paths)
    assert all(path.is_relative_to(home.root) for path in paths)


def test_two_names_of_one_folder_are_one_home(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Home(tmp_path / "link") == Home(tmp_path / "real")
    assert hash(Home(tmp_path / "link")) == hash(Home(tmp_path / "real"))
    assert Home(tmp_path / "real") != Home(tmp_path)
    assert "real" in repr(Home(tmp_path / "real"))


def test_ensure_makes_everything_for_this_user_only_and_can_be_repeated(tmp_path):
    home = Home(tmp_path / "h", temp=tmp_path / "short")
    home.root.mkdir(mode=0o755)
    home.ensure()
    home.ensure()
    for folder in (home.root, home.runs, home.repos, home.workspaces, home.logs, home.forge, home.tmux, home.sockets):
        assert mode(folder) == 0o700, folder


def test_a_long_home_keeps_its_sockets_in_a_short_folder_of_its_own(tmp_path):
    temp = tmp_path / "t"
    first, second = (Home(tmp_path / ("x" * 120) / name, temp=temp) for name in ("a", "b"))
    assert first.socket.parent.parent == temp
    assert first.socket != second.socket
    assert Home(first.root, temp=temp).socket == first.socket
    first.ensure()
    assert mode(first.socket.parent) == mode(first.tmux) == 0o700
    assert len(os.fsencode(Home(Path("/" + "é" * 100)).tmux / "nightcrew.sock")) <= SOCKET_LIMIT


def test_a_home_of_somebody_else_is_refused_and_left_alone(tmp_path):
    home = Home(tmp_path / "h")
    home.root.mkdir(mode=0o755)
    with pytest.raises(NightcrewError, match="another user"):
        home.ensure(uid=os.getuid() + 1)
    assert mode(home.root) == 0o755
    assert not list(home.root.iterdir())


def test_a_home_that_anybody_may_write_to_is_refused(tmp_path):
    home = Home(tmp_path / "h")
    home.root.mkdir()
    home.root.chmod(0o777)
    with pytest.raises(NightcrewError, match="anybody may write"):
        home.ensure()


def test_a_short_socket_folder_that_somebody_else_made_is_refused(tmp_path):
    home = Home(tmp_path / ("x" * 120), temp=tmp_path)
    home.sockets.mkdir()
    home.sockets.chmod(0o777)
    with pytest.raises(NightcrewError, match="anybody may write"):
        home.ensure()
    assert not home.root.exists()


def test_a_socket_folder_that_is_a_link_to_elsewhere_is_refused(tmp_path):
    home = Home(tmp_path / ("x" * 120), temp=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    home.sockets.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NightcrewError, match="not a folder"):
        home.ensure()


def test_a_file_in_the_way_is_one_clear_error(tmp_path):
    (tmp_path / "h").write_text("")
    with pytest.raises(NightcrewError, match="not a folder"):
        Home(tmp_path / "h").ensure()
    with pytest.raises(NightcrewError, match="cannot be"):
        Home(tmp_path / "h" / "deeper").ensure()


def test_the_path_of_the_home_costs_clients_no_heavy_import():
    code = "import sys, nightcrew.config.home as h; h.find_home({'HOME': '/h'}); print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"pydantic", "pydantic_settings", "yaml", "json", "tempfile", "dataclasses", "asyncio"}
