"""GitHub's published description as a judge of requests and responses, for tests of any client or server of that API.

`Contract.validate` takes one exchange and raises AssertionError with every complaint. Paths outside the description
are not judged; `covers` tells.
"""

import functools
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import jsonschema_rs

DESCRIPTION = Path(__file__).parent / "data" / "openapi-subset.json"

# Parameters that may hold slashes.
_WIDE = frozenset({"ref", "branch", "basehead", "path", "name"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its id, and what it says of the request and of each response."""

    id: str
    path: str
    detail: Mapping[str, Any]
    parameters: tuple[Mapping[str, Any], ...]


class Contract:
    """The description, its schemas turned into plain JSON Schema and compiled once each."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._definitions = {name: _convert(s) for name, s in document["components"]["schemas"].items()}
        self._compiled: dict[str, jsonschema_rs.Validator] = {}
        self._routes = sorted(self._read_routes(), key=lambda route: _breadth(route[1].path))

    def _read_routes(self) -> list[tuple[str, Operation, re.Pattern[str]]]:
        routes = []
        for path, methods in self._document["paths"].items():
            shared = methods.get("parameters", [])
            for method, detail in methods.items():
                if method == "parameters":
                    continue
                parameters = tuple(self._resolve(p) for p in [*shared, *detail.get("parameters", [])])
                operation = Operation(detail["operationId"], path, detail, parameters)
                routes.append((method.upper(), operation, _pattern(path)))
        return routes

    def _resolve(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in item:
            _, kind, name = item["$ref"].split("/")[1:]
            item = self._document["components"][kind][name]
        return item

    def find(self, method: str, path: str) -> Operation | None:
        """The operation that a request means; `/repositories/{id}` counts as `/repos/{owner}/{repo}`."""
        path = re.sub(r"^/repositories/\d+", "/repos/o/r", path)
        for known, operation, pattern in self._routes:
            if known == method.upper() and pattern.fullmatch(path):
                return operation
        return None

    def covers(self, method: str, path: str) -> bool:
        return self.find(method, path) is not None

    def validate(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        request_body: Any = None,
        status: int,
        response_body: Any = None,
    ) -> str | None:
        """Judge one exchange; the id of its operation, or None if the description has none for it."""
        operation = self.find(method, path)
        if operation is None:
            return None
        complaints = [
            *(self._asking_complaints(operation, query or {}, request_body) if status < 400 else []),
            *self._response_complaints(operation, status, response_body),
        ]
        if complaints:
            raise AssertionError(f"{method} {path} -> {status} ({operation.id}):\n" + "\n".join(complaints))
        return operation.id

    def _asking_complaints(self, operation: Operation, query: Mapping[str, str], body: Any) -> list[str]:
        # What a server refused may well break the description: that is what was tested.
        return [*self._query_complaints(operation, query), *self._request_complaints(operation, body)]

    def _query_complaints(self, operation: Operation, query: Mapping[str, str]) -> list[str]:
        known = {p["name"]: p for p in operation.parameters if p["in"] == "query"}
        complaints = [f"query parameter {name!r} is not described" for name in query if name not in known]
        for name, text in query.items():
            schema = known.get(name, {}).get("schema", {})
            kind = schema.get("type")
            value: Any = text
            if kind == "integer" and text.lstrip("-").isdigit():
                value = int(text)
            elif kind == "boolean" and text in {"true", "false"}:
                value = text == "true"
            complaints += self._complaints(f"query {operation.id} {name}", schema, value)
        return complaints

    def _request_complaints(self, operation: Operation, body: Any) -> list[str]:
        described = operation.detail.get("requestBody")
        if described is None:
            return [] if body is None else ["a body where none is described"]
        if body is None:
            return ["the required body is missing"] if described.get("required") else []
        schema = self._resolve(described)["content"]["application/json"]["schema"]
        return self._complaints(f"request {operation.id}", schema, body)

    def _response_complaints(self, operation: Operation, status: int, body: Any) -> list[str]:
        described = operation.detail["responses"].get(str(status))
        if described is None:
            # Every operation can fail in the common ways; 2xx must be described.
            return [f"status {status} is not described"] if status < 300 else []
        content = self._resolve(described).get("content", {})
        if "application/json" not in content:
            return [] if body is None or status >= 300 else ["a body where none is described"]
        return self._complaints(f"response {operation.id} {status}", content["application/json"]["schema"], body)

    def _complaints(self, key: str, schema: Mapping[str, Any], value: Any) -> list[str]:
        if key not in self._compiled:
            whole = {"allOf": [_convert(schema)], "components": {"schemas": self._definitions}}
            self._compiled[key] = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        return [
            f"{key}: at {'/'.join(map(str, error.instance_path)) or '.'}: {error.message[:300]}"
            for error in self._compiled[key].iter_errors(value)
        ]


def _breadth(path: str) -> tuple[int, int]:
    # Fixed paths before those with parameters, and longer before shorter.
    return (path.count("{"), -len(path))


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", path)
    text = ""
    for number, part in enumerate(parts):
        if number % 2 == 0:
            text += re.escape(part)
        elif part.endswith(("_number", "_id")):
            text += r"\d+"
        else:
            text += ".+?" if part in _WIDE else "[^/]+"
    return re.compile(text)


def _convert(schema: Any) -> Any:
    """OAS 3.0 to JSON Schema. GitHub writes `nullable` beside an enum that lacks null, yet sends null: it is added."""
    if isinstance(schema, list):
        return [_convert(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: _convert(value) for key, value in schema.items() if key not in {"nullable", "example", "discriminator"}
    }
    if schema.get("nullable") is not True:
        return plain
    if isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
        if "enum" in plain:
            plain["enum"] = [*plain["enum"], None]
        return plain
    return {"anyOf": [plain, {"type": "null"}]}


@functools.cache
def load_contract() -> Contract:
    """The contract, compiled once a process."""
    return Contract(json.loads(DESCRIPTION.read_text()))


def _sent(request: httpx.Request) -> Any:
    try:
        return json.loads(request.content) if request.content else None
    except ValueError:
        return request.content.decode("utf-8", "replace")


class JudgedTransport(httpx.AsyncBaseTransport):
    """Passes requests on, and judges every exchange. `judged` counts the operations seen, by id and status."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.contract = load_contract()
        self.judged: Counter[tuple[str, int]] = Counter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        await response.aread()
        sent = _sent(request)
        is_json = response.headers.get("content-type", "").startswith("application/json")
        body = response.json() if response.content and is_json else None
        operation = self.contract.validate(
            request.method,
            unquote(request.url.path),
            query=dict(request.url.params),
            request_body=sent,
            status=response.status_code,
            response_body=body,
        )
        if operation is not None:
            self.judged[operation, response.status_code] += 1
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()
