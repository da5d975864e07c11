"""The whole loop with its agents, setup commands and checks in a sandbox, and what a hostile agent gets out of one."""

import json
import shutil
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from nightcrew.sandbox import Kind, Unusable, find_sandbox
from tests.waiting import eventually
from tests.whole.attempt import ATTEMPTS, HARMLESS, SECRET
from tests.whole.outside import PROJECT
from tests.whole.stage import FILES, Stage, staged

pytestmark = pytest.mark.timeout(180)

WITHIN_S = 120.0

INTRUDER = """
import json, os, subprocess, sys
report, variables = sys.argv[1], json.load(open(sys.argv[2]))
variables["RUN"] = os.path.dirname(os.path.dirname(report))
for number, attempt in enumerate(variables.pop("ATTEMPTS")):
    try:
        done = subprocess.run(["bash", "-c", attempt], env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20)
        code, said = done.returncode, done.stdout.decode("utf-8", "replace")[:2000]
    except subprocess.TimeoutExpired:
        code, said = "no end", ""
    print(json.dumps({"number": number, "code": code, "said": said}), flush=True)
subprocess.run("rm -f out up readme; echo 42 > answer.txt", shell=True)
with open(report, "w") as file:
    json.dump({"outcome": "done", "summary": "Wrote the answer."}, file)
"""
ASK = """
import json, os, sys, urllib.request
token = next((os.environ[name] for name in ("GH_TOKEN", "GITHUB_TOKEN") if name in os.environ), "none")
data, headers = json.dumps({"title": "evil"}).encode(), {"Authorization": "Bearer " + token}
request = urllib.request.Request(sys.argv[1], data, headers)
print(urllib.request.urlopen(request, timeout=10).status)
"""

REACH = """
import json, os, sys, urllib.error, urllib.request
proxy = os.environ["HTTP_PROXY"]
for name in ("NO_PROXY", "no_proxy"):
    del os.environ[name]
def reach(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    try:
        opener.open(url, timeout=20)
    except urllib.error.HTTPError as error:
        return b"Nightcrew:" not in error.read()
    except OSError:
        return False
    return True
print(json.dumps({url: reach(url) for url in sys.argv[2:]}))
open("answer.txt", "w").write("42")
with open(sys.argv[1], "w") as file:
    json.dump({"outcome": "done", "summary": "Wrote the answer."}, file)
"""


async def require_bwrap() -> None:
    found = await find_sandbox(Kind.BWRAP)
    if isinstance(found, Unusable):
        pytest.skip(f"{found.reason} ({found.hint})")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


class Trap:
    """Everything that an intruder is after, on a stage."""

    def __init__(self, stage: Stage) -> None:
        self.stage, person, root = stage, stage.folder / "person", stage.home.root
        self.source = stage.clone()
        self.tools = stage.folder / "tools"
        self.other = root / "worktrees" / "octo__demo" / "demo-99"
        self.agents_git = root / "repos" / "octo__demo" / "agents" / "1.git"
        self.theirs = self.agents_git.with_name("99.git") / "refs" / "heads" / "theirs"
        for path in (
            self.source / "secret.txt",
            self.theirs,
            self.other / "secret.txt",
            *(person / name for name in (".ssh/id_ed25519", ".config/gh/hosts.yml", ".aws/credentials")),
        ):
            write(path, SECRET)
        write(person / ".git-credentials", f"https://octo:{SECRET}@github.com\n")
        write(person / ".gitconfig", "[credential]\n\thelper = store\n")
        write(self.tools / "intruder.py", INTRUDER)
        write(self.tools / "ask.py", ASK)
        stage.variables |= {
            "GH_TOKEN": SECRET,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "ANTHROPIC_API_KEY": SECRET,
            "SSH_AUTH_SOCK": str(person / "agent.sock"),
        }

    def arm(self) -> None:
        """Tell the intruder where everything is; the service has to run."""
        stage = self.stage
        variables: dict[str, Any] = {
            "SOURCE": str(self.source),
            "BARE": str(stage.bare),
            "OTHER": str(self.other),
            "AGENTS_GIT": str(self.agents_git),
            "NIGHTCREW": str(stage.home.root),
            "SERVICE": str(stage.pid),
            "API": str(stage.home.socket),
            "TMUX_SOCKET": str(stage.tmux_socket),
            "TOOLS": str(self.tools),
            "FORGE": stage.url,
            "AGENT_SOCKET": str(stage.folder / "person" / "agent.sock"),
            "PYTHON": sys.executable,
            "ATTEMPTS": [attempt.script for attempt in ATTEMPTS],
        }
        write(self.tools / "variables.json", json.dumps(variables))


def intruder(trap: Trap) -> dict[str, Any]:
    command = [sys.executable, str(trap.tools / "intruder.py"), "{report_file}", str(trap.tools / "variables.json")]
    return {
        "adapter": "custom",
        "command": command,
        "can_review": False,
        "sandbox_read": [str(trap.tools), sys.prefix, sys.base_prefix],
    }


@pytest.mark.case("C215", "C217", "C220", "C242")
async def test_an_agent_gets_nothing_out_of_its_sandbox():
    await require_bwrap()
    async with staged() as stage:
        trap = Trap(stage)
        stage.play("Find the answer", [])
        fox = {"adapter": "scripted", "options": {"playbook": str(stage.playbook)}, "can_author": False}
        agents = {"owl": intruder(trap), "fox": {**fox, "sandbox": "none"}}
        stage.configure(top={"sandbox": "bwrap", "agents": agents}, source=str(trap.source))
        settings, token = stage.home.config.read_bytes(), (stage.home.root / "token").read_bytes()
        stage.serve()
        trap.arm()
        number = await stage.file_issue("Find the answer")
        await stage.until(number, "done", within_s=WITHIN_S)

        (run,) = stage.runs("author")
        folder = stage.home.root / run["folder"]
        lines = [json.loads(line) for line in (folder / "stdout.log").read_text().splitlines()]
        assert [line["number"] for line in lines] == list(range(len(ATTEMPTS)))
        for attempt, line in zip(ATTEMPTS, lines, strict=True):
            assert SECRET not in line["said"], attempt.what
            assert line["code"] == 0 if attempt.must_be is HARMLESS else line["code"] not in (0, "no end"), (
                attempt,
                line,
            )

        # Outside, nothing of it came to anything.
        assert json.loads((folder / "result.json").read_text()).keys() > {"exit_code", "stopped_by"}
        assert json.loads((folder / "shim.json").read_text())["session"] == run["session"]
        assert sorted(path.name for path in folder.iterdir()) == [
            "agent", "prompt.md", "result.json", "shim.json", "shim.lock", "show.json", "stderr.log", "stdout.log"
        ]  # fmt: skip
        assert (stage.home.config.read_bytes(), (stage.home.root / "token").read_bytes()) == (settings, token)
        assert (trap.source / "README.md").read_text() == FILES["README.md"]
        assert not trap.agents_git.exists(), "with the task goes its repository, and what was planted in it"
        assert trap.theirs.read_text() == SECRET
        assert not (stage.folder / "person" / ".bashrc").exists()
        assert (stage.folder / "person" / ".gitconfig").read_text() == "[credential]\n\thelper = store\n"
        assert [words for words in (await stage.left()).values() if "sleep" in words] == []
        assert "evil" not in stage.git("branch", "--format=%(refname:short)")
        assert [issue["title"] for issue in await stage.get("/issues?state=all")] == [
            "Find the answer"
        ] * 2  # and its PR
        assert [json.loads(event["data"])["sandbox"] for event in stage.events("run.started")] == ["bwrap", "none"]
        assert stage.git("show", "main:answer.txt") == "42"


async def test_the_whole_loop_in_sandboxes():
    await require_bwrap()
    async with staged() as stage:
        trap = Trap(stage)
        book = write(stage.folder / "book.json", json.dumps({"issues": {"Find the answer": {
            "attempts": [{"files": {"answer.txt": "42\n"}, "summary": "Wrote the answer.", "commit": True}],
            "review": [{"argv": ["python", "-c", "assert open('answer.txt').read() == '42\\n'"], "path": "answer.txt",
                        "text": "wrong"}],
            "review_says": {"approve": "It is right.", "request_changes": "No."},
        }}}))  # fmt: skip
        refused = " && ".join(
            f"! cat {path}" for path in (stage.home.root / "token", trap.source / "secret.txt", "~/.ssh/id_ed25519")
        )
        agents = {name: {"adapter": "scripted", "options": {"playbook": str(book)}} for name in ("owl", "fox")}
        stage.configure(
            top={"sandbox": "bwrap", "agents": agents},
            source=str(trap.source),
            setup=[{"command": ["bash", "-c", f"{refused} && test -w . && touch $XDG_CACHE_HOME/kept"]}],
            checks=[
                {"name": "answer", "command": ["bash", "-c", f"{refused} && test $CI = true && grep 42 answer.txt"]}
            ],
        )
        stage.serve()
        number = await stage.file_issue("Find the answer")
        await stage.until(number, "done", within_s=WITHIN_S)
        assert [json.loads(event["data"])["sandbox"] for event in stage.events("run.started")] == ["bwrap", "bwrap"]
        assert stage.git("show", "main:answer.txt") == "42"
        (kept,) = (stage.home.root / "caches").rglob("kept")
        assert kept.is_relative_to(stage.home.root / "caches" / PROJECT.replace("/", "_"))
        (pull,) = await stage.pulls()
        states = (await stage.get(f"/commits/{pull['head']['sha']}/status"))["statuses"]
        assert {status["context"]: status["state"] for status in states}["nightcrew/answer"] == "success"


async def test_an_agent_reaches_the_model_and_nothing_else():
    await require_bwrap()
    async with staged() as stage:
        write(stage.folder / "tools" / "reach.py", REACH)
        with socket.create_server(("127.0.0.1", 0)) as other:
            servers = [stage.url, f"http://127.0.0.1:{other.getsockname()[1]}/"]
            words = [sys.executable, str(stage.folder / "tools" / "reach.py"), "{report_file}", *servers]
            owl = {
                "adapter": "custom",
                "command": words,
                "sandbox_read": [str(stage.folder / "tools"), sys.prefix, sys.base_prefix],
                "network": "vendor",
                "hosts": [urlsplit(stage.url).netloc],
                "can_review": False,
            }
            stage.configure(top={"sandbox": "bwrap", "agents": {"owl": owl}})
            stage.serve()
            number = await stage.file_issue("Find the answer")
            await stage.until(number, "needs_review", within_s=WITHIN_S)
        folder = stage.home.root / stage.runs("author")[0]["folder"]
        assert json.loads((folder / "stdout.log").read_text()) == {servers[0]: True, servers[1]: False}
        assert servers[1] in (folder / "network.log").read_text()
        await eventually(lambda: stage.sessions() == [], what="the end of the session, and of its proxy")
        assert [words for words in (await stage.left()).values() if "tunnel.py" in words] == []


async def test_with_a_sandbox_that_cannot_be_had_nothing_is_started(tmp_path):
    """Asked for by name it has to work; `auto` says that there is none."""
    path = tmp_path / "bin"
    path.mkdir()
    for program in ("git", "tmux", "sh", "env", "test", "python3"):
        found = shutil.which(program)
        assert found is not None
        (path / program).symlink_to(found)
    async with staged() as stage:
        stage.variables["PATH"] = str(path)
        stage.configure(top={"sandbox": "bwrap"})
        said = await stage.cli("config", "check")
        assert said.code != 0
        assert "bwrap is not installed" in said.err + said.out
        stage.serve()
        assert await stage.ended() != 0
        assert "never started: bwrap is not installed" in stage.tail()
        stage.configure(top={"sandbox": "auto"})
        said = await stage.cli("config", "check")
        assert said.code == 0, said.err
        assert "no sandbox, only its CLI's own rules: bwrap is not installed" in said.out
        stage.play("Find the answer", [{"files": {"answer.txt": "42\n"}, "summary": "Wrote it."}])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        await stage.until(number, "done", within_s=WITHIN_S)
        assert {json.loads(event["data"])["sandbox"] for event in stage.events("run.started")} == {
            "none: bwrap is not installed"
        }
        assert "agent without a sandbox" in stage.tail(200)


async def test_who_answers_a_question_gets_nothing_out_of_its_sandbox_either():
    """With the project's base before it, which it may read; nothing of what it tries has come to anything outside."""
    await require_bwrap()
    async with staged() as stage:
        trap = Trap(stage)
        stage.configure(top={"sandbox": "bwrap", "agents": {"owl": intruder(trap)}}, source=str(trap.source))
        settings, token = stage.home.config.read_bytes(), (stage.home.root / "token").read_bytes()
        stage.serve()
        trap.arm()
        await stage.answering()
        said = await stage.cli("ask", "What is in the readme?", "--project", PROJECT)
        # What it reports is an author's shape, and no answer.
        assert (said.code, said.out) == (1, "")
        (folder,) = (stage.home.root / "asks").glob("*/assistant-1")
        lines = [json.loads(line) for line in (folder / "stdout.log").read_text().splitlines()]
        assert len(lines) == len(ATTEMPTS)
        for attempt, line in zip(ATTEMPTS, lines, strict=True):
            assert SECRET not in line["said"], attempt.what
        # Some of it went well in what is its own and goes with it: no task's repository is there to refuse it.
        assert not trap.agents_git.exists()
        assert (stage.home.config.read_bytes(), (stage.home.root / "token").read_bytes()) == (settings, token)
        assert trap.theirs.read_text() == SECRET
        assert not (stage.folder / "person" / ".bashrc").exists()
        assert [words for words in (await stage.left()).values() if "sleep" in words] == []
        assert await stage.get("/issues?state=all") == []
        assert stage.git("show", "main:answer.txt") == "unknown"
        assert stage.git("branch", "--format=%(refname:short)") == "main"
        assert [json.loads(event["data"])["sandbox"] for event in stage.events("inquiry.started")] == ["bwrap"]
        assert not list((stage.home.root / "checkouts").glob("*/*"))
