"""The files that launchd and systemd are given: whatever is in a path or in the PATH, they read back what was meant."""

import os
import plistlib
import shutil
from pathlib import Path

import pytest

from nightcrew.config.home import Home
from nightcrew.core.errors import NightcrewError
from nightcrew.process import clean_environment, run_process
from nightcrew.service.background.launchd import LaunchAgent
from nightcrew.service.background.plan import Plan, draw_plan
from nightcrew.service.background.systemd import UserUnit, quote, unquote
from tests.adapters.service.background.world import move_in

# launchd.plist(5), with what each has to be
KEYS = {
    "Label": str,
    "ProgramArguments": list,
    "WorkingDirectory": str,
    "EnvironmentVariables": dict,
    "RunAtLoad": bool,
    "KeepAlive": dict,
    "ThrottleInterval": int,
    "ExitTimeOut": int,
    "AbandonProcessGroup": bool,
    "ProcessType": str,
    "SoftResourceLimits": dict,
    "StandardOutPath": str,
    "StandardErrorPath": str,
}
KEEP_ALIVE = {"SuccessfulExit", "NetworkState", "PathState", "OtherJobEnabled", "Crashed", "AfterInitialDemand"}
LIMITS = {"Core", "CPU", "Data", "FileSize", "MemoryLock", "NumberOfFiles", "NumberOfProcesses", "ResidentSetSize",
          "Stack"}  # fmt: skip
TYPES = {"Background", "Standard", "Adaptive", "Interactive"}

ODD = ("/opt/R&D/bin", "/opt/50%/bin", "/opt/a b/bin", "/opt/<x>/bin", "/opt/it's \"so\"/bin", "/opt/$HOME/bin",
       "/opt/ü/bin", "/opt/back\\slash/bin", "/opt/%h/bin", "/opt/{path}/bin")  # fmt: skip


def odd_plan(folder: Path) -> Plan:
    home = folder / 'o&d %d "$HOME" <h>'
    return Plan(
        home=Home(home),
        name="nightcrew-0123abcd",
        argv=("/bin/true", "serve", "--home", str(home), "--background"),
        path=":".join(ODD),
        language="C.UTF-8",
        person=folder,
    )


@pytest.mark.case("C238")
def test_a_plist_is_one_that_launchd_knows(tmp_path):
    plan = odd_plan(tmp_path)
    plist = plistlib.loads(LaunchAgent(plan, {}, uid=501).render().encode())
    assert {key: type(value) for key, value in plist.items()} == KEYS
    assert plist["ProgramArguments"] == list(plan.argv)
    assert plist["EnvironmentVariables"] == {"PATH": plan.path, "LANG": "C.UTF-8"}
    assert plist["Label"] == "dev.nightcrew.service.0123abcd"
    assert set(plist["KeepAlive"]) <= KEEP_ALIVE
    assert set(plist["SoftResourceLimits"]) <= LIMITS
    assert plist["ProcessType"] in TYPES
    for key in ("WorkingDirectory", "StandardOutPath", "StandardErrorPath"):
        assert Path(plist[key]).is_absolute()
    assert "{" not in plist["StandardOutPath"]


@pytest.mark.case("C238")
async def test_a_unit_is_one_that_systemd_takes(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("NOT TESTED: systemd-analyze is not installed")
    unit = UserUnit(odd_plan(tmp_path), {"XDG_CONFIG_HOME": str(tmp_path)}, user="sam")
    unit.file.parent.mkdir(parents=True)
    unit.file.write_text(unit.render(), encoding="utf-8")
    variables = clean_environment(extra={"XDG_RUNTIME_DIR": str(tmp_path)})
    done = await run_process(
        ["systemd-analyze", "verify", "--user", "--man=no", str(unit.file)], env=variables, timeout_s=60
    )
    assert (done.returncode, [line for line in done.complaint.splitlines() if unit.unit in line]) == (0, [])


def test_a_line_of_a_unit_says_what_was_meant(tmp_path):
    plan = odd_plan(tmp_path)
    lines = dict(line.split("=", 1) for line in UserUnit(plan, {}, user="sam").render().splitlines() if "=" in line)
    assert _words(lines["ExecStart"].removeprefix(":")) == list(plan.argv)
    assert _words(lines["Environment"]) == [f"PATH={plan.path}", "LANG=C.UTF-8"]
    assert (lines["Type"], lines["KillMode"], lines["Restart"]) == ("notify", "process", "on-failure")
    assert lines["OOMPolicy"] == "continue", "an agent that takes too much memory ends alone"
    assert all(unquote(quote(word)[1:-1]) == word for word in ODD)


def _words(text: str) -> list[str]:
    """systemd.syntax(7): words in double quotes, C escapes, then specifiers, of which there may be none."""
    words, inside, letters = [], False, iter(text)
    for letter in letters:
        if letter == '"':
            inside = not inside
            if inside:
                words.append("")
        elif inside:
            words[-1] += next(letters) if letter == "\\" else letter
        else:
            assert letter == " "
    assert not inside
    assert all("%" not in word.replace("%%", "") for word in words)
    return [word.replace("%%", "%") for word in words]


async def test_the_path_is_that_of_the_login_shell(tmp_path):
    person = move_in(tmp_path)
    tools = tmp_path / "only here"
    tools.mkdir()
    (tools / "owl").write_text("#!/bin/sh\n", encoding="utf-8")
    (tools / "owl").chmod(0o755)
    shell = tmp_path / "shell"
    shell.write_text(
        "#!/bin/sh\necho PATH=/wrong of a greeting\nPATH=/opt/R\\&D/bin:relative:/usr/bin:/usr/bin exec /usr/bin/env\n",
        encoding="utf-8",
    )
    shell.chmod(0o755)
    environ = {**person.environ, "SHELL": str(shell), "PATH": f"{tools}:/elsewhere"}
    plan = await draw_plan(person.home, environ, programs=("owl", "env", "not-there"))
    assert plan.path == f"/opt/R&D/bin:/usr/bin:{tools}"


@pytest.mark.parametrize("shell", ["", "/nowhere/sh", "/bin/false"])
async def test_without_a_shell_that_answers_it_is_the_path_of_here(tmp_path, shell):
    person = move_in(tmp_path)
    plan = await person.plan(SHELL=shell)
    assert plan.path == person.environ["PATH"]
    assert Path(plan.argv[0]).is_absolute()
    assert os.access(plan.argv[0], os.X_OK)
    assert plan.argv[-4:] == ("serve", "--home", str(person.home.root), "--background")


async def test_each_home_has_a_name_of_its_own(tmp_path):
    person = move_in(tmp_path)
    names = {(await person.plan(home)).name for home in (None, Home(tmp_path / "one"), Home(tmp_path / "two"))}
    assert len(names) == 3
    assert "nightcrew" in names
    with pytest.raises(NightcrewError, match="control characters"):
        await person.plan(Home(tmp_path / "new\nline"))


async def test_a_relative_folder_of_settings_is_passed_over(tmp_path):
    plan = await move_in(tmp_path).plan()
    units = tmp_path / ".config" / "systemd" / "user"
    assert UserUnit(plan, {"XDG_CONFIG_HOME": "some/where"}, user="sam").file == units / "nightcrew.service"
    assert UserUnit(plan, {"XDG_CONFIG_HOME": "/else"}, user="sam").file == Path("/else/systemd/user/nightcrew.service")
