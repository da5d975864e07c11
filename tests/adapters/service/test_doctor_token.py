"""`nightcrew doctor` where a forge has several tokens: each is looked at, and a spare one that is bad is no error."""

import asyncio
import json

from nightcrew.config.home import Home
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.serving import serve
from nightcrew.service.clock import SystemClock
from nightcrew.service.doctor import run_doctor
from tests.adapters.service.test_init_app import town

PROJECT = "crew/sample"


async def test_each_token_is_looked_at(tmp_path, capsys):
    home = Home(tmp_path / "home")
    home.ensure()
    local = LocalForge(tmp_path / "forge", clock=SystemClock().now)
    await local.create_repository(PROJECT, files={"README.md": "sample\n"})
    local.ensure_user("crew", token="good")
    local.ensure_user("fine")
    local.add_token("fine", "fine", permissions={"contents": "write", "issues": "write"})
    local.set_permission(PROJECT, "fine", "write")
    for name in ("good", "fine", "gone"):
        path = home.root / name
        path.touch(mode=0o600)
        path.write_text(name, encoding="utf-8")
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(serve(local, on_ready=ready.set_result))
            for tokens, usable in ((["file:good", "file:gone", "file:fine"], True), (["file:gone"], False)):
                forge = {"base_url": await ready, "tokens": tokens}
                home.config.write_text(
                    json.dumps({"projects": [PROJECT], "forges": {"github": forge}, "agents": {}}), encoding="utf-8"
                )
                home.config.chmod(0o600)
                await asyncio.to_thread(run_doctor, home.root, as_json=True)
                found = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["what"] == PROJECT]
                if usable:
                    assert [one["level"] for one in found] == ["ok", "warning", "ok", "warning"]
                    assert found[0]["words"].endswith(f"(file {home.root / 'good'})")
                    assert "The token is not valid" in found[1]["words"]
                    assert "cannot read check runs" in found[3]["words"]
                else:
                    assert [one["level"] for one in found] == ["error"]
            serving.cancel()
    finally:
        local.close()


async def test_an_app_that_was_not_granted_enough_is_told_what(tmp_path, capsys):
    async with town(tmp_path) as place:
        place.install()
        assert await place.init() == 0

        async def look() -> dict[str, str]:
            capsys.readouterr()
            await asyncio.to_thread(run_doctor, place.home, as_json=True)
            found = json.loads(capsys.readouterr().out)["findings"]
            return {one["words"]: one["level"] for one in found if one["what"] == PROJECT}

        assert set((await look()).values()) <= {"ok", "warning"}
        fewer = {"contents": "write", "metadata": "read", "issues": "write", "checks": "read"}
        place.local.store.update("installation", place.installation, permissions=json.dumps(fewer))
        found = await look()
        assert found["the App was not granted pull_requests=write"] == "error"
        assert "the App was not granted checks=read" not in found
