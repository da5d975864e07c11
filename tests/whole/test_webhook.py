"""Webhooks: with an interval of an hour, a signed delivery is what makes the service act."""

import json
from typing import Any

import httpx

from nightcrew.forges.github.webhook.delivery import render_signature
from tests.waiting import eventually
from tests.whole.outside import PROJECT
from tests.whole.stage import WITHIN_S, Stage, attempt, staged

SECRET = "a secret of the hook"


async def listening(stage: Stage) -> str:
    """Where it listens, once it does and the first look is over."""

    async def address() -> Any:
        status = (await stage.api("GET", "/status")).json()
        return status["ticks"] and status["webhook"] and status["webhook"]["address"]

    await stage.answering()
    return str(await eventually(address, within_s=WITHIN_S, what="the listener"))


async def deliver(url: str, *, secret: str = SECRET, delivery: str = "1") -> int:
    body = json.dumps({"action": "labeled", "repository": {"full_name": PROJECT}}).encode()
    headers = {
        "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": render_signature(body, secret),
    }
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.post(url, content=body, headers=headers)).status_code


async def test_a_signed_delivery_makes_the_service_act_long_before_its_interval():
    async with staged() as stage:
        (stage.folder / "hook").write_text(SECRET, encoding="utf-8")
        (stage.folder / "hook").chmod(0o600)
        hook = {"listen": "127.0.0.1:0", "secret": f"file:{stage.folder / 'hook'}"}
        stage.configure(top={"interval": "1h"})
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})])
        stage.serve()
        await stage.answering()
        assert (await stage.api("GET", "/status")).json()["webhook"] is None

        # It is taken up live.
        stage.configure(top={"interval": "1h", "webhook": hook})
        url = await listening(stage)
        await eventually(lambda: len(stage.forge.log.entries) > 0, what="the first look")
        number = await stage.file_issue("Find the answer")

        # Nobody looks until somebody who knows the secret says so.
        assert await deliver(url, secret="another") == 401
        assert stage.task(number) is None
        assert await deliver(url) == 202
        await stage.until(number, "done")

        status = (await stage.api("GET", "/status")).json()["webhook"]
        assert (status["taken"], status["refused"], status["problem"]) == (1, 1, "")
        assert status["last_at"] is not None
        said = await stage.cli("status")
        assert f"webhooks: listens at {url}; last delivery" in said.out
        assert "1 taken, 1 refused" in said.out
        assert f"ok       webhooks: listens at {url}" in (await stage.cli("doctor")).out

        # And given up live.
        stage.configure(top={"interval": "1h"})

        async def is_gone() -> bool:
            return (await stage.api("GET", "/status")).json()["webhook"] is None

        await eventually(is_gone, what="the listener to be given up")
        assert await stage.stop() == 0
