"""`nightcrew demo` as a person starts it, and that its proof proves something."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from nightcrew.runtimes.process_table import load_processes
from tests.whole.program import Said, command

ROWS = ("word_count counts words", "Add shorten", "README how slugify", "Add initials")


async def demo(folder: Path, *words: str, **environment: str) -> Said:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": "/tmp", **environment}
    if "PYTHONPATH" in os.environ:
        env["PYTHONPATH"] = os.environ["PYTHONPATH"]
    argv = [sys.executable, "-m", "nightcrew.cli.main", "demo", *words]
    return await command(argv, env=env, cwd=folder, within_s=110)


async def test_it_shows_every_issue_to_its_merge(tmp_path: Path):
    said = await demo(tmp_path)
    assert said.code == 0, said.err + said.out
    assert "are scripted and call no model" in said.out
    head, _, table = said.out.partition("ISSUE  TITLE")
    assert head.count(" done ") == 4
    for row in ROWS:
        assert row in table
    attempts = [line.split()[-3] for line in table.splitlines() if line.startswith("#")]
    assert attempts == ["1", "1", "1", "2"], "the wrong first attempt was sent back"
    assert "acceptance tests failed before, and now they pass" in table
    assert list(tmp_path.iterdir()) == [], "nothing is left in the person's folder"


async def test_sigterm_takes_its_home_along(tmp_path: Path):
    # Short, as its sockets have to lie in it.
    place = Path(tempfile.mkdtemp(prefix="ncd-", dir="/tmp"))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(place)}
    env |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    argv = [sys.executable, "-m", "nightcrew.cli.main", "demo"]
    try:
        process = await asyncio.create_subprocess_exec(*argv, env=env, cwd=tmp_path, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        async with asyncio.timeout(90):
            while b" in_progress " not in await process.stdout.readline():
                continue  # until an agent is at work
            process.send_signal(signal.SIGTERM)
            await process.stdout.read()
            assert await process.wait() == 128 + signal.SIGTERM
        assert list(place.iterdir()) == []
        marks = str(place)
        found = (await load_processes(with_marks=True)).values()
        assert [p.arguments for p in found if marks in p.arguments and p.pid != os.getpid()] == []
    finally:
        shutil.rmtree(place, ignore_errors=True)


async def test_a_reviewer_that_approves_everything_is_found_out(tmp_path: Path):
    said = await demo(tmp_path, "--json", NIGHTCREW_DEMO_REVIEWER="approve")
    answer = json.loads(said.out)
    assert said.code == 1
    assert answer["scripted"] is True
    assert not answer["ok"]
    assert answer["acceptance_failed_before"]
    assert not answer["acceptance_passes_now"]
    assert all(task["merge_commit"] != "-" for task in answer["tasks"]), "what is wrong was merged"
    assert all(task["agent"] != task["reviewer"] for task in answer["tasks"])
