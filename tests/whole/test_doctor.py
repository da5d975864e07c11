"""`nightcrew doctor` as a person runs it: real git, real tmux, the local forge over HTTP, stand-ins for CLIs."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.whole.outside import PROJECT
from tests.whole.program import git
from tests.whole.stage import APPROVE, Stage, attempt, staged

Json = dict[str, Any]
BRANCH = "nightcrew/1-find-the-answer"


async def told(stage: Stage, *words: str, code: int = 0) -> dict[str, Json]:
    """The findings of one call, by what they are about."""
    said = await stage.cli("doctor", "--json", *words)
    assert (said.code, said.err) == (code, ""), said.out + said.err
    return {one["what"]: one for one in json.loads(said.out)["findings"]}


def bad(found: dict[str, Json]) -> list[str]:
    """Those of what the engine keeps that are not well."""
    kept = ("session", "labels", "task", "worktree", "checkout", "branch", "run ", "issue")
    return [what for what, one in found.items() if what.startswith(kept) and one["level"] != "ok"]


async def finish_one(stage: Stage) -> str:
    """A task goes its whole way; the head that was merged. The service runs on."""
    stage.play("Find the answer", [attempt({"answer.txt": "42\n"})], [APPROVE])
    number = await stage.file_issue("Find the answer")
    stage.start()
    await stage.until(number, "done", within_s=120)
    (pull,) = await stage.pulls()
    return str((await stage.get(f"/pulls/{pull['number']}"))["head"]["sha"])


def add_stray_session(stage: Stage) -> None:
    """One that carries this installation's mark, and that no run claims."""
    mark = stage.tmux("list-sessions", "-F", "#{@nightcrew}").out.split()
    assert mark, "a session of ours has to be there to copy its mark"
    stage.tmux("new-session", "-d", "-s", "nc-stray", "sleep 600")
    stage.tmux("set-option", "-t", "=nc-stray:", "@nightcrew", mark[0])


async def leave_things(stage: Stage, head: str) -> Path:
    """What a service that died at bad moments, and hands that slip, leave behind: a branch, a label, a worktree."""
    git(f"--git-dir={stage.bare}", "update-ref", f"refs/heads/{BRANCH}", head)
    for label in ("status:blocked", "status:new"):
        assert (await stage.octo.delete(f"/labels/{label}")).status_code in (204, 404)
    return stage.home.workspaces


async def test_it_mends_with_the_running_service_what_is_safe_and_only_once():
    async with staged() as stage:
        head = await finish_one(stage)
        await told(stage, "--fix")
        assert bad(await told(stage)) == []
        await leave_things(stage, head)
        # The second task holds its agent at a gate, so that a session is there.
        stage.play("Find more", [attempt({"answer.txt": "43\n"}, gate=stage.gate("hold"))])
        number = await stage.file_issue("Find more")
        await stage.started("author", 2)
        await stage.until(number, "in_progress")
        add_stray_session(stage)

        found = await told(stage)
        assert sorted(bad(found)) == [f"branch {BRANCH} of {PROJECT}", f"labels of {PROJECT}", "session nc-stray"]
        assert stage.git("for-each-ref", f"refs/heads/{BRANCH}"), "a look changes nothing"
        assert len(stage.sessions()) == 2

        mended = await told(stage, "--fix")
        assert {mended[what]["level"] for what in bad(found)} == {"mended"}
        assert not stage.git("for-each-ref", f"refs/heads/{BRANCH}")
        assert "nc-stray" not in stage.sessions()
        assert len(stage.sessions()) == 1, "the session of the run goes on"
        effects = [row["kind"] for row in stage.rows("SELECT kind FROM effects WHERE state = 'done' ORDER BY id")]
        for kind in ("session.stop", "label.create", "branch.delete"):
            assert kind in effects
        count = len(stage.rows("SELECT id FROM effects"))
        assert bad(await told(stage, "--fix")) == []
        assert len(stage.rows("SELECT id FROM effects WHERE kind IN ('label.create', 'session.stop')")) == 3
        assert count >= 3
        stage.open_gate("hold")


async def test_it_mends_by_itself_what_is_safe_while_no_service_runs():
    async with staged() as stage:
        head = await finish_one(stage)
        assert await stage.stop() == 0
        await leave_things(stage, head)
        (task,) = stage.rows("SELECT * FROM tasks")
        tree = await _leave_worktree(stage, task)
        before = stage.home.database.read_bytes()

        found = await told(stage)
        assert sorted(bad(found)) == [f"branch {BRANCH} of {PROJECT}", f"labels of {PROJECT}", f"worktree {tree}"]
        assert tree.is_dir()
        assert stage.home.database.read_bytes() == before, "a look writes nothing"

        mended = await told(stage, "--fix")
        assert {mended[what]["level"] for what in bad(found)} == {"mended"}
        assert "refs/nightcrew/salvage/1/" in mended[f"worktree {tree}"]["done"]
        assert not tree.exists()
        engine = next(stage.home.repos.glob("*/engine.git"))
        (saved,) = git(f"--git-dir={engine}", "for-each-ref", "--format=%(refname)", "refs/nightcrew/salvage/").split()
        assert git(f"--git-dir={engine}", "show", f"{saved}:loose.txt") == "nowhere else"
        assert not stage.git("for-each-ref", f"refs/heads/{BRANCH}")
        assert bad(await told(stage, "--fix")) == []


async def _leave_worktree(stage: Stage, task: Json) -> Path:
    """The worktree of the finished task, made again by the product's own parts, with a file in it that is nowhere
    else."""
    from nightcrew.core.ids import RunId
    from nightcrew.ports.workspace import WorkspaceSpec
    from nightcrew.service.clock import SystemClock
    from nightcrew.workspaces.worktree import GitWorkspaces

    port = GitWorkspaces(stage.home.root, SystemClock())
    run = RunId(stage.runs("author")[0]["id"])
    made = await port.ensure_workspace(WorkspaceSpec(PROJECT, int(task["number"]), BRANCH, "main", run))
    (made.path / "loose.txt").write_text("nowhere else\n", encoding="utf-8")
    return made.path


async def test_offline_and_without_a_token_nothing_is_called_wrong_that_is_only_unknown():
    async with staged() as stage:
        await finish_one(stage)
        assert await stage.stop() == 0
        stage.configure(
            top={"forges": {"stage": {"kind": "github", "base_url": "http://127.0.0.1:9", "token": "file:token"}}}
        )
        found = await told(stage)
        for what in ("clock", PROJECT, f"labels of {PROJECT}", f"tasks of {PROJECT}", f"branches of {PROJECT}"):
            assert found[what]["level"] == "unknown", found[what]
        assert found[f"worktrees of {PROJECT}"]["level"] == "ok"
        (stage.home.root / "token").unlink()
        found = await told(stage, code=1)
        assert found["forge stage"]["level"] == "error"
        assert found[PROJECT]["level"] == "unknown"
        assert found[f"labels of {PROJECT}"]["level"] == "unknown"


def vendor(folder: Path, name: str, body: str) -> list[str]:
    """A stand-in for a vendor's CLI, which says its version and how its login is."""
    script = folder / name
    script.write_text(f"#!/bin/sh\ncase \"$*\" in --version) echo '{name} 2.1.197';;\n{body}\nesac\n", encoding="utf-8")
    script.chmod(0o755)
    return [str(script)]


async def test_agents_are_here_and_logged_in_or_not_or_nobody_knows():
    async with staged() as stage:
        tools = stage.folder / "tools"
        tools.mkdir()
        logged_in = vendor(tools, "claude", """"auth status") echo '{"loggedIn": true}';;""")
        logged_out = vendor(tools, "codex", '"login status") echo "Not logged in" >&2; exit 1;;')
        no_keys = vendor(tools, "opencode", '"auth list") echo "0 credentials";;')
        old = vendor(tools, "old-claude", '*) echo "Hello, I am a model" ;;')
        Path(old[0]).write_text('#!/bin/sh\ncase "$*" in --version) echo 1.0.9;; *) touch $0.asked;; esac\n')
        gemini = vendor(tools, "gemini", "")
        agents = {
            "claude": {"command": logged_in},
            "codex": {"command": logged_out},
            "keyed": {"adapter": "codex", "command": logged_out, "env": {"OPENAI_API_KEY": "file:token"}},
            "opencode": {"command": no_keys},
            "old": {"adapter": "claude", "command": old},
            "gemini": {"command": gemini},
            "gone": {"adapter": "claude", "command": [str(tools / "nothing")]},
            "lost": {"adapter": "claude", "command": logged_in, "env": {"ANTHROPIC_AUTH_TOKEN": "file:no-such"}},
        }
        stage.configure(top={"agents": agents})
        (stage.folder / "person" / ".gemini").mkdir()
        (stage.folder / "person" / ".gemini" / "oauth_creds.json").write_text("{}")
        found = await told(stage, code=1)
        levels = {name: found.get(f"login of {name}", found[f"agent {name}"])["level"] for name in agents}
        assert levels == {
            "claude": "ok", "codex": "error", "keyed": "ok", "opencode": "unknown", "old": "unknown", "gemini": "ok",
            "gone": "error", "lost": "error",
        }  # fmt: skip
        assert found["login of codex"]["hint"] == f"log in with: {logged_out[0]} login"
        assert not Path(f"{old[0]}.asked").exists(), "an old one would take the question for a prompt"
        assert "2.1.197" in found["agent claude"]["words"]


async def test_an_agent_cannot_have_anything_mended():
    async with staged() as stage:
        said = await stage.cli("doctor", "--fix", NIGHTCREW_SESSION="nc-1")
        assert said.code == 1
        assert "is a person's to change" in said.err
        assert (await stage.cli("doctor", "--nonsense")).code == 2


async def test_a_service_that_holds_the_home_and_does_not_answer_is_left_alone():
    async with staged() as stage:
        stage.home.ensure()
        script = (
            "import fcntl, sys, time; file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX)\n"
            "print(1, flush=True); time.sleep(600)"
        )
        holder = subprocess.Popen(["python3", "-c", script, str(stage.home.lock)], stdout=subprocess.PIPE)
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline()
            found = await told(stage, "--fix", code=1)
            assert "already runs on" in found["store"]["words"]
            assert not stage.home.database.exists()
        finally:
            holder.kill()
            holder.wait()
            if holder.stdout is not None:
                holder.stdout.close()


async def test_what_others_may_read_is_closed_and_what_they_may_write_is_a_persons_to_look_at():
    async with staged() as stage:
        token = stage.home.root / "token"
        token.chmod(0o644)
        stage.home.root.chmod(0o755)
        found = await told(stage)
        assert (found[str(token)]["level"], found[str(stage.home.root)]["level"]) == ("warning", "warning")
        assert token.stat().st_mode & 0o777 == 0o644
        found = await told(stage, "--fix")
        assert (found[str(token)]["done"], found[str(stage.home.root)]["done"]) == (
            "its mode is 600",
            "its mode is 700",
        )
        assert token.stat().st_mode & 0o777 == 0o600
        assert str(token) not in await told(stage)
        token.chmod(0o666)
        found = await told(stage, "--fix", code=1)
        assert found[str(token)]["hint"].startswith("look what is in it, then: chmod 600 ")
        assert token.stat().st_mode & 0o777 == 0o666


async def test_a_label_that_the_service_has_not_seen_yet_is_told_while_it_rests():
    async with staged() as stage:
        await finish_one(stage)
        stage.play("Ask", [attempt({"answer.txt": "44\n"}, gate=stage.gate("never"))])
        number = await stage.file_issue("Ask")
        await stage.until(number, "in_progress")
        await stage.kill()
        await stage.octo.delete(f"/issues/{number}/labels/status:in_progress")
        await stage.octo.post(f"/issues/{number}/labels", json={"labels": ["status:blocked"]})
        found = await told(stage, "--fix")
        task = found[f"task {PROJECT}#{number}"]
        assert (task["level"], task["done"]) == ("warning", "")
        assert "its issue has status:blocked" in task["words"]
        assert await stage.labels(number) == ["nightcrew", "status:blocked"]
