"""Bad input, given as a person gives it: one clear line with what to do, an exit code that says no, nothing changed.
What shows only while the service runs is said by `status`, `task show` or `doctor`."""

import shutil
import socket
from pathlib import Path

import pytest

from tests.waiting import eventually
from tests.whole.outside import TOKENS
from tests.whole.program import Said, git
from tests.whole.stage import Stage, attempt, staged


def refused(said: Said, *words: str) -> None:
    """One line, with these words, and no traceback."""
    assert said.code not in (0, 3), said
    assert "Traceback" not in said.err + said.out
    lines = said.err.strip().splitlines()
    assert len(lines) == 1, said.err
    assert lines[0].startswith("nightcrew: ")
    for word in words:
        assert word in lines[0], lines[0]


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder below, to see that nothing changed."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if not path.is_socket() and path.name != "nightcrew.lock"
    }


def checkout(stage: Stage) -> Path:
    """A person's checkout with one commit."""
    folder = stage.folder / "mine"
    git("init", "--quiet", "--initial-branch=main", str(folder))
    (folder / "a.txt").write_text("a\n")
    git("-C", str(folder), "add", "--all")
    git("-C", str(folder), "commit", "--quiet", "--message", "First")
    return folder


async def serve_refused(stage: Stage, *words: str, path: str = "") -> None:
    before = contents(stage.home.root)
    refused(await (stage.cli("serve", PATH=path) if path else stage.cli("serve")), *words)
    after = contents(stage.home.root)
    assert {name: after[name] for name in before} == before
    assert not any(name.endswith(".db") for name in after), "the database was not made"


@pytest.mark.case("C116")
async def test_a_second_instance_on_the_same_home():
    async with staged() as stage:
        stage.serve()
        await stage.answering()
        refused(await stage.cli("serve"), "another Nightcrew", f"pid {stage.pid}", "--home")
        await stage.answering()  # the first is as well as before
        assert await stage.stop() == 0


async def test_a_taken_port():
    async with staged() as stage:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            refused(await stage.cli("forge", "serve", "--port", str(port)), f"127.0.0.1:{port}", "another port")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("projects: [\n", ("config.yml:2", "not YAML")),
        ("projects:\n\t- acme/x\n", ("config.yml:2", "spaces")),
        ("projcets: []\n", ("config.yml:1", "projcets", "projects")),
        ("agents:\n  claude:\n    max_rnus: 2\n", ("config.yml:3", "max_rnus", "max_runs")),
        ("agents:\n  nobody:\n", ("config.yml:2", "nobody", "claude")),
        ("agents:\n  owl: {adapter: scripted}\n", ("agents.owl", "playbook")),
        ("projects: [not-a-slug]\n", ("config.yml:1", "not-a-slug", "owner/name")),
        ("interval: soon\n", ("config.yml:1", "interval")),
        ("projects: [{slug: octo/demo, forge: nowhere}]\n", ("config.yml:1", "nowhere")),
    ],
)
async def test_a_configuration_that_is_wrong(text: str, words: tuple[str, ...]):
    async with staged() as stage:
        stage.home.config.write_text(text)
        await serve_refused(stage, *words)
        refused(await stage.cli("config", "check"), *words)


async def test_no_configuration_at_all():
    async with staged() as stage:
        stage.home.config.unlink()
        await serve_refused(stage, "nightcrew init")
        home = stage.folder / "new"
        refused(await stage.cli("serve", home=home), "nightcrew init")
        assert not home.exists()


async def test_a_token_that_is_not_there():
    async with staged() as stage:
        (stage.home.root / "token").unlink()
        await serve_refused(stage, "forges.stage.token", str(stage.home.root / "token"))
        assert [path.name for path in stage.home.root.iterdir()] == ["config.yml"], "nothing is made before it is right"
        stage.configure(top={"forges": {"github": {"base_url": stage.url}}}, forge="github")
        no_gh = str(_tools(stage, "git", "tmux"))
        await serve_refused(stage, "no token", "NIGHTCREW_GITHUB_TOKEN", path=no_gh)
        stage.configure(top={"forges": {"github": {"token": "env:NOT_SET"}}}, forge="github")
        await serve_refused(stage, "NOT_SET", path=no_gh)


@pytest.mark.parametrize("missing", ["git", "tmux"])
async def test_a_missing_tool(missing: str):
    async with staged() as stage:
        path = str(_tools(stage, *({"git", "tmux"} - {missing})))
        for words in (["serve"], ["demo"], ["init", "--local", str(checkout(stage))]):
            before = contents(stage.home.root)
            refused(await stage.cli(*words, PATH=path), f"{missing} cannot be found", "install")
            assert contents(stage.home.root) == before
            shutil.rmtree(stage.folder / "mine", ignore_errors=True)
        said = await stage.cli("doctor", PATH=path)
        assert said.code == 1
        assert any(line.startswith("error") and missing in line for line in said.out.splitlines())


def _tools(stage: Stage, *names: str) -> Path:
    """A folder for PATH with these programs alone, and what they need to start."""
    folder = stage.folder / f"bin-{'-'.join(sorted(names))}"
    folder.mkdir(exist_ok=True)
    for name in (*names, "sh", "env"):
        found = shutil.which(name)
        assert found is not None
        if not (folder / name).exists():
            (folder / name).symlink_to(found)
    return folder


async def test_a_checkout_that_cannot_be_used():
    async with staged() as stage:
        home = stage.folder / "new"
        mine = checkout(stage)
        bare, empty, nothing = (stage.folder / name for name in ("bare.git", "empty", "nothing"))
        git("clone", "--quiet", "--bare", str(mine), str(bare))
        git("init", "--quiet", str(empty))
        nothing.mkdir()
        (mine / "a.txt").write_text("changed\n")
        before = contents(mine)
        cases = [
            (mine, ("1 changed", "commit or stash")),
            (bare, ("bare repository",)),
            (empty, ("no commit",)),
            (nothing, ("not in a git repository",)),
            (stage.folder / "absent", ("not a folder",)),
        ]
        for folder, words in cases:
            refused(await stage.cli("init", "--local", str(folder), home=home), *words)
            assert not home.exists(), f"{folder}: nothing was written"
        assert contents(mine) == before
        # Without a word about where it is on GitHub there is nothing to begin with.
        refused(await stage.cli("init", str(mine), home=home), "--repo OWNER/REPO")
        git("-C", str(mine), "checkout", "--quiet", "--force", "--detach")
        refused(await stage.cli("init", "--local", str(mine), home=home), "detached")


async def test_an_agent_that_is_not_installed():
    async with staged() as stage:
        agents = {"claude": {"command": ["no-such-claude"]}, "codex": {"command": ["no-such-codex"]}}
        stage.configure(top={"agents": agents})
        said = await stage.cli("doctor")
        assert said.code == 1
        (found,) = [line for line in said.out.splitlines() if "no-such-claude" in line]
        assert found.startswith("error")
        assert "not on PATH" in found
        number = await stage.file_issue("Find the answer")
        stage.serve()
        shown = await eventually(lambda: _shown(stage, number, "not installed"), within_s=20, every_s=0.3)
        assert "claude" in str(shown)
        assert "not found" in (await stage.cli("status")).out
        assert stage.runs() == []


async def _shown(stage: Stage, number: int, word: str) -> object:
    said = await stage.cli("task", "show", str(number))
    assert "Traceback" not in said.out + said.err
    return said.out if word in said.out else ""


async def problem_of(stage: Stage, word: str) -> str:
    """What `status` says is wrong, once it has this word."""

    async def look() -> object:
        said = await stage.cli("status")
        lines = [line for line in said.out.splitlines() if line.strip().startswith("!") and word in line]
        return lines[0] if lines else ""

    return str(await eventually(look, within_s=20, every_s=0.3, what=f"status to say {word!r}"))


async def test_a_repository_without_a_commit_is_a_problem_that_is_told():
    async with staged() as stage:
        await stage.forge.create_repository("octo/empty")
        stage.configure(slug="octo/empty")
        stage.serve()
        await stage.answering()
        line = await problem_of(stage, "octo/empty")
        assert "no branch 'main'" in line
        assert "first commit" in line
        assert await stage.stop() == 0


async def test_a_repository_that_is_not_there_is_a_problem_that_is_told():
    async with staged() as stage:
        stage.configure(slug="octo/absent")
        stage.serve()
        await stage.answering()
        line = await problem_of(stage, "octo/absent")
        assert "404" not in line, "words, not numbers"
        assert stage.tail().count('"event": "problem"') == 1, "the log says it once"
        said = await stage.cli("doctor")
        assert said.code == 1
        assert any(x.startswith("error") and "octo/absent" in x for x in said.out.splitlines())


async def test_a_token_that_may_only_read_is_told_and_starts_nothing():
    async with staged() as stage:
        (stage.home.root / "token").write_text(TOKENS["eve"])
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})])
        number = await stage.file_issue("Find the answer")
        said = await stage.cli("doctor")
        assert said.code == 1
        assert any(x.startswith("error") and "octo/demo" in x for x in said.out.splitlines())
        before = await stage.labels(number)
        stage.serve()
        await stage.answering()
        line = await problem_of(stage, "may not push")
        assert "octo/demo" in line
        assert "may not push" in stage.tail()
        line = await problem_of(stage, f"#{number}")
        assert "write access" in line
        assert await stage.labels(number) == before
        assert await stage.comments(number) == []
        assert stage.starts() == []
