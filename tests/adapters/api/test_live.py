"""Live streams: nothing is lost, nothing comes twice, and whoever leaves is forgotten."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from nightcrew.api.pace import Pace
from nightcrew.core.model.event import Event
from nightcrew.core.model.run import RunState
from tests.adapters.api.serving import Message, asked, messages
from tests.fakes.service import NOW, PROJECT, FakeService, a_run, a_task
from tests.waiting import eventually


async def _take(stream: AsyncIterator[Message], count: int) -> list[Message]:
    async with asyncio.timeout(20):
        return [await anext(stream) for _ in range(count)]


async def test_facts_come_as_they_happen(tmp_path):
    service = FakeService()
    async with asked(service, tmp_path) as client, client.stream("GET", "/events/live") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        stream = messages(response)
        assert (await _take(stream, 1))[0][0] == "ready"
        service.record("one", "first")
        service.record("two", "second")
        first, second = await _take(stream, 2)
    assert (first[0], first[1], first[2]["why"]) == ("fact", "1", "first")
    assert (second[0], second[1], second[2]["why"]) == ("fact", "2", "second")


async def test_one_who_comes_back_goes_on_where_it_was(tmp_path):
    service = FakeService()
    for number in range(450):
        service.record("tick", f"fact {number}")
    async with asked(service, tmp_path) as client:
        async with client.stream("GET", "/events/live", params={"after": 5}) as response:
            stream = messages(response)
            taken = await _take(stream, 446)
            service.record("tick", "new")
            taken += await _take(stream, 1)
        async with client.stream("GET", "/events/live", headers={"Last-Event-ID": "449"}) as response:
            later = await _take(messages(response), 3)
    assert [int(number) for _, number, _ in taken[1:]] == list(range(6, 452))
    assert [number for _, number, _ in later[1:]] == ["450", "451"]


async def test_what_the_bus_dropped_is_read_from_the_store(tmp_path):
    service = FakeService()
    service.record("one", "first")
    async with (
        asked(service, tmp_path) as client,
        client.stream("GET", "/events/live", params={"after": 0}) as response,
    ):
        stream = messages(response)
        await _take(stream, 2)
        service.events.append(Event("two", "kept, not told", NOW, id=2))
        service.publish(Event("bus.gap", "1 missed", NOW))
        gap = await _take(stream, 1)
        service.events.append(Event("three", "kept, not told", NOW, id=3))
        service.record("four", "told")
        rest = await _take(stream, 2)
    assert [number for _, number, _ in gap + rest] == ["2", "3", "4"]


async def test_what_is_not_kept_is_passed_on_once(tmp_path):
    service = FakeService()
    async with asked(service, tmp_path) as client, client.stream("GET", "/events/live") as response:
        stream = messages(response)
        await _take(stream, 1)
        service.publish(Event("bus.gap", "some missed", NOW))
        fact = service.record("one", "first")
        service.publish(fact)
        service.record("two", "second")
        taken = await _take(stream, 3)
    assert [data["kind"] for _, _, data in taken] == ["bus.gap", "one", "two"]
    assert [number for _, number, _ in taken] == ["", "1", "2"]


async def test_only_the_facts_of_the_task_that_was_asked_for(tmp_path):
    service = FakeService()
    mine, other = service.put_task(a_task()), service.put_task(a_task(43))
    async with (
        asked(service, tmp_path) as client,
        client.stream("GET", "/events/live", params={"task": str(mine)}) as response,
    ):
        stream = messages(response)
        await _take(stream, 1)
        service.record("x", "other", task=other)
        service.record("x", "mine", task=mine)
        service.record("x", "other", task=other)
        service.record("x", "mine too", task=mine)
        taken = await _take(stream, 2)
    assert [data["why"] for _, _, data in taken] == ["mine", "mine too"]


async def test_the_output_of_a_run_until_it_ends(tmp_path):
    service = FakeService()
    run = service.put_run(a_run(service.put_task(a_task())), log="one\n")
    async with asked(service, tmp_path) as client, client.stream("GET", f"/runs/{run}/log/live") as response:
        stream = messages(response)
        first = await _take(stream, 1)
        service.logs[run] += "two\n"
        second = await _take(stream, 1)
        service.runs[run] = replace(service.runs[run], state=RunState.ENDED)
        last = await _take(stream, 1)
        rest = [message async for message in stream]
    assert [data["text"] for _, _, data in first + second + last] == ["one\n", "two\n", ""]
    assert last[0][2]["ended"] is True
    assert rest == []


async def test_a_long_log_comes_whole(tmp_path):
    service = FakeService()
    log = "".join(f"line {number}\n" for number in range(40_000))
    run = replace(a_run(service.put_task(a_task())), state=RunState.ENDED)
    service.put_run(run, log=log)
    async with asked(service, tmp_path) as client, client.stream("GET", f"/runs/{run.id}/log/live") as response:
        text = "".join([data["text"] async for _, _, data in messages(response)])
    assert text == log


async def test_a_task_gives_its_facts_and_the_output_of_each_of_its_runs(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    path = f"/tasks/{PROJECT}/42/live"
    async with asked(service, tmp_path) as client, client.stream("GET", path) as response:
        stream = messages(response)
        await _take(stream, 1)
        run = service.put_run(a_run(key), log="working\n")
        output = await _take(stream, 1)
        service.runs[run] = replace(service.runs[run], state=RunState.ENDED)
        ended = await _take(stream, 1)
        service.record("run.ended", "done", task=key)
        fact = await _take(stream, 1)
    assert output[0][0] == "output"
    assert (output[0][2]["run"], output[0][2]["text"]) == (run, "working\n")
    assert ended[0][2]["ended"] is True
    assert (fact[0][0], fact[0][2]["why"]) == ("fact", "done")


async def test_a_silent_stream_says_that_it_lives(tmp_path):
    async with (
        asked(FakeService(), tmp_path, pace=Pace(heartbeat_s=0.02)) as client,
        client.stream("GET", "/events/live") as response,
    ):
        taken = await _take(messages(response), 3)
    assert [kind for kind, _, _ in taken[1:]] == ["still here", "still here"]


async def test_who_leaves_is_forgotten(tmp_path):
    service = FakeService()
    async with asked(service, tmp_path) as client:
        async with client.stream("GET", "/events/live") as response:
            await _take(messages(response), 1)
            assert len(service.listeners) == 1
        await eventually(lambda: not service.listeners, what="the reader is forgotten")


async def test_what_is_not_there_is_said_before_the_stream(tmp_path):
    async with asked(FakeService(), tmp_path) as client:
        assert (await client.get("/runs/01ABC/log/live")).status_code == 404
        assert (await client.get(f"/tasks/{PROJECT}/9/live")).status_code == 404
        assert (await client.get("/events/live", params={"task": "9"})).status_code == 422
