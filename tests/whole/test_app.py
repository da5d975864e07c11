"""The service as a GitHub App: from the key to the merge, all of it by the App's bot."""

from tests.adapters.github.test_app import a_pair
from tests.whole.outside import PROJECT
from tests.whole.stage import attempt, staged

GRANTED = {
    "contents": "write", "issues": "write", "pull_requests": "write", "statuses": "write", "checks": "read",
    "administration": "read", "actions": "read", "metadata": "read",
}  # fmt: skip


async def test_an_app_takes_an_issue_to_its_merge():
    async with staged() as stage:
        private, public = a_pair()
        app, installation = stage.forge.install_app("night-bot", owner="octo", public_key=public, permissions=GRANTED)
        stage.forge.set_permission(PROJECT, "night-bot[bot]", "write")
        key = stage.home.root / "app.pem"
        key.touch(mode=0o600)
        key.write_text(private, encoding="utf-8")
        given = {"id": app, "installation": installation, "private_key": "file:app.pem"}
        forge = {"kind": "github", "base_url": stage.url, "app": given, "write_interval": 0}
        stage.configure(top={"forges": {"stage": forge}})
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        await stage.until(number, "done")

        (pull,) = await stage.pulls()
        assert pull["user"]["login"] == "night-bot[bot]"
        (status,) = await stage.get(f"/issues/{number}/comments")
        assert status["user"]["login"] == "night-bot[bot]"
        assert len(stage.forge.log.matching("POST", "/access_tokens")) == 1
        status = await stage.cli("status")
        assert f"stage, App {app}, installation {installation}: 1 project, " in status.out
        said = await stage.cli("doctor")
        assert "night-bot[bot] may push" in said.out
        logged = stage.log.read_text(encoding="utf-8")
        assert "ghs_" not in logged
        assert private.splitlines()[3] not in logged
        assert await stage.stop() == 0
