"""The service as machines watch it: health and measures over TCP, traces, and a disk that is nearly full."""

import json

import httpx
import pytest

from tests.adapters.service.test_tracing import facts, sink
from tests.waiting import eventually
from tests.whole.stage import WITHIN_S, attempt, staged


async def test_a_task_is_seen_in_health_measures_and_traces():
    async with staged() as stage:
        with sink() as collector:
            stage.configure(top={"metrics": {"listen": "127.0.0.1:0"}, "tracing": {"endpoint": collector.url}})
            stage.play("Find the answer", [attempt({"answer.txt": "42\n"})])
            stage.serve()
            await stage.answering()

            def address() -> str:
                lines = [json.loads(line) for line in stage.home.log.read_text(encoding="utf-8").splitlines()]
                return next((str(line["address"]) for line in lines if line["event"] == "measures"), "")

            url = await eventually(address, within_s=WITHIN_S)
            number = await stage.file_issue("Find the answer")
            await stage.until(number, "done")
            async with httpx.AsyncClient(base_url=url) as client:
                assert (await client.get("/health")).json()["status"] == "ok"
                text = (await client.get("/metrics")).text
            lines = text.splitlines()
            assert 'nightcrew_tasks{project="octo/demo",status="done"} 1' in lines
            assert 'nightcrew_effects_total{kind="pull.merge",state="done"} 1' in lines
            ended = [line for line in lines if line.startswith("nightcrew_runs_ended_total{")]
            assert sorted(line.split(",", 1)[1] for line in ended) == [
                'role="author",outcome="done"} 1',
                'role="reviewer",outcome="approve"} 1',
            ]
            merge = await eventually(lambda: collector.named("pull.merge"), within_s=WITHIN_S)
            action = await eventually(lambda: collector.named("MergePull"), within_s=WITHIN_S)
            assert merge.parent_span_id == action.span_id
            assert facts(action)["nightcrew.task"] == f"octo/demo#{number}"
            logged = [json.loads(line) for line in stage.home.log.read_text(encoding="utf-8").splitlines()]
            (line,) = [one for one in logged if one["event"] == "pull.merge"]
            assert (line["task"], line["state"]) == (f"octo/demo#{number}", "done")
            assert line["why"]
            assert await stage.stop() == 0


@pytest.mark.case("C234")
async def test_with_too_little_room_nothing_starts_until_there_is_more():
    async with staged() as stage:
        stage.configure(top={"least_free_mb": 10**9})
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})])
        number = await stage.file_issue("Find the answer")
        stage.serve()

        async def waits() -> bool:
            status = await stage.api("GET", f"/tasks/octo/demo/{number}")
            return status.status_code == 200 and '"disk_full"' in status.text

        await stage.answering()
        await eventually(waits, within_s=WITHIN_S)
        problems = (await stage.api("GET", "/status")).json()["problems"]
        assert any("MB are free" in words for words in problems)
        assert stage.starts() == []
        stage.configure(top={"least_free_mb": 0})
        await stage.until(number, "done")
