"""A model server on loopback that follows scripts: enough of two vendors' APIs for their real CLIs.

The path of a request, `/<run>/<mode>/v1/...`, chooses the script, so that runs share nothing. A script sees what the
model would see, the prompt and how many tools have answered, and says what a model would: a text, or one tool call. The
tool is one of those that the request itself offers.
"""

import asyncio
import contextlib
import hashlib
import json
import re
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.waiting import eventually

REPORT = re.compile(r"report to the file (.+?) as one JSON object")


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model sees: the whole text it was given, how many tools have answered, the names of its tools."""

    prompt: str
    answers: int
    tools: frozenset[str]

    @property
    def report(self) -> str:
        """Where the prompt says the report goes."""
        found = REPORT.search(self.prompt)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class Say:
    """A last message."""

    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """A shell command, by whatever tool the CLI has for that."""

    command: str


@dataclass(frozen=True, slots=True)
class Use:
    """A named tool of the CLI with its arguments."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error, as a vendor answers it."""

    status: int
    kind: str
    message: str


Move = Say | Run | Use | Fail
Script = Callable[[Turn], Move]


@dataclass(slots=True)
class ModelServer:
    """The scripts by mode, and what came in by run."""

    scripts: dict[str, Script]
    url: str = ""
    turns: dict[str, list[Turn]] = field(default_factory=dict)
    models: dict[str, set[str]] = field(default_factory=dict)
    digests: dict[str, set[str]] = field(default_factory=dict)

    def base(self, run: str, mode: str) -> str:
        return f"{self.url}/{run}/{mode}"

    def answer(self, request: Request, body: dict[str, Any], turn: Turn, texts: list[str]) -> Move:
        run, mode = request.path_params["run"], request.path_params["mode"]
        self.turns.setdefault(run, []).append(turn)
        self.models.setdefault(run, set()).add(str(body.get("model")))
        self.digests.setdefault(run, set()).update(hashlib.sha256(text.encode()).hexdigest() for text in texts)
        return self.scripts[mode](turn)

    async def messages(self, request: Request) -> Response:
        """Anthropic's Messages API, streamed or not."""
        body = await request.json()
        texts, answers = _read_messages(body)
        tools = frozenset(tool["name"] for tool in body.get("tools", ()))
        move = self.answer(request, body, Turn("\n".join(texts), answers, tools), texts)
        if isinstance(move, Fail):
            error = {"type": "error", "error": {"type": move.kind, "message": move.message}}
            return JSONResponse(error, move.status)
        block: dict[str, Any] = {"type": "text", "text": move.text} if isinstance(move, Say) else {}
        if not isinstance(move, Say):
            use = Use("Bash", {"command": move.command, "description": "work"}) if isinstance(move, Run) else move
            assert use.tool in tools, f"{use.tool} is not among {sorted(tools)}"
            block = {"type": "tool_use", "id": f"toolu_{answers}", "name": use.tool, "input": use.arguments}
        stop = "end_turn" if isinstance(move, Say) else "tool_use"
        usage = {"input_tokens": 1200, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 0}
        message = {
            "id": f"msg_{answers}", "type": "message", "role": "assistant", "model": body["model"], "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1},
        }  # fmt: skip
        if not body.get("stream"):
            usage["output_tokens"] = 42
            return JSONResponse({**message, "content": [block], "stop_reason": stop, "usage": usage})
        return _stream(_message_events(message, block, stop))

    async def responses(self, request: Request) -> Response:
        """OpenAI's Responses API, streamed."""
        body = await request.json()
        texts, answers = _read_input(body)
        tools = frozenset(str(tool.get("name")) for tool in body.get("tools", ()))
        move = self.answer(request, body, Turn("\n".join(texts), answers, tools), texts)
        if isinstance(move, Fail):
            return JSONResponse({"error": {"type": move.kind, "code": move.kind, "message": move.message}}, move.status)
        if isinstance(move, Say):
            content = [{"type": "output_text", "text": move.text, "annotations": []}]
            item: dict[str, Any] = {"type": "message", "id": f"msg_{answers}", "role": "assistant", "content": content}
        else:
            name, arguments = _shell(move, tools)
            item = {"type": "function_call", "id": f"fc_{answers}", "call_id": f"call_{answers}", "name": name,
                    "arguments": json.dumps(arguments)}  # fmt: skip
        usage = {"input_tokens": 1500, "input_tokens_details": {"cached_tokens": 300}, "output_tokens": 42,
                 "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 1542}  # fmt: skip
        response = {"id": f"resp_{answers}", "object": "response", "status": "in_progress", "output": []}
        done = {**response, "status": "completed", "output": [item], "usage": usage}
        return _stream([
            ("response.created", {"type": "response.created", "response": response}),
            ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
            ("response.completed", {"type": "response.completed", "response": done}),
        ])  # fmt: skip

    async def other(self, request: Request) -> Response:
        """Whatever else a CLI looks for at its start."""
        return JSONResponse({"data": [], "input_tokens": 1})


@contextlib.asynccontextmanager
async def serving(**scripts: Script) -> AsyncIterator[ModelServer]:
    """A server with these scripts by mode, for a test body."""
    model = ModelServer(scripts)
    app = Starlette(routes=[
        Route("/{run}/{mode}/v1/messages", model.messages, methods=["POST"]),
        Route("/{run}/{mode}/v1/responses", model.responses, methods=["POST"]),
        Route("/{rest:path}", model.other, methods=["GET", "HEAD", "POST"]),
    ])  # fmt: skip
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        model.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1))
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listener]))
            await eventually(lambda: server.started, what="the model server")
            try:
                yield model
            finally:
                server.should_exit = True


def _read_messages(body: dict[str, Any]) -> tuple[list[str], int]:
    texts, answers = [], 0
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "text" and message["role"] == "user":
                texts.append(block["text"])
            answers += block["type"] == "tool_result"
    return texts, answers


def _read_input(body: dict[str, Any]) -> tuple[list[str], int]:
    texts, answers = [], 0
    for item in body["input"]:
        if item.get("type") == "message" and item.get("role") == "user":
            texts += [part["text"] for part in item["content"] if part.get("type") == "input_text"]
        answers += str(item.get("type")).endswith("_call_output")
    return texts, answers


def _shell(move: Run | Use, tools: frozenset[str]) -> tuple[str, dict[str, Any]]:
    if isinstance(move, Use):
        return move.tool, move.arguments
    if "exec_command" in tools:
        return "exec_command", {"cmd": move.command}
    return "shell", {"command": ["bash", "-lc", move.command]}


def _message_events(message: dict[str, Any], block: dict[str, Any], stop: str) -> list[tuple[str, dict[str, Any]]]:
    empty: dict[str, Any] = {**block, "input": {}}
    delta: dict[str, Any] = {"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}
    if block["type"] == "text":
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 42},
        },
        {"type": "message_stop"},
    ]
    return [(str(event["type"]), event) for event in events]


def _stream(events: list[tuple[str, dict[str, Any]]]) -> Response:
    async def body() -> AsyncIterator[str]:
        for name, event in events:
            yield f"event: {name}\ndata: {json.dumps(event)}\n\n"

    return StreamingResponse(body(), media_type="text/event-stream")
