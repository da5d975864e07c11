"""The few things that only GraphQL can do. Queries are static texts; values travel as variables."""

from dataclasses import dataclass
from typing import Any

from nightcrew.core.errors import Denied, Invalid, Missing, Unavailable
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.client import Answer, Lost
from nightcrew.forges.github.field import Json, Unreadable, as_object, children, text

_LACKING = "this forge has no GraphQL, which this needs"


def graphql_url(base_url: str) -> str:
    """Next to the REST API; on an Enterprise server `/api/graphql` beside `/api/v3`."""
    return base_url.removesuffix("/v3") + "/graphql"


@dataclass(frozen=True, slots=True)
class Partial:
    """What came back: `data` as far as there is any, and what is wrong with the rest, in words without secrets."""

    data: Json
    errors: tuple[Json, ...]
    words: str

    def get(self) -> Json:
        """All of the data. Errors come with status 200 and are typed here."""
        kinds = {text(error, "type") for error in self.errors}
        if kinds & {"RATE_LIMITED", "RESOURCE_LIMITS_EXCEEDED"}:
            raise Unavailable(f"rate limit: {self.words}")
        if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
            raise Denied(self.words)
        if "NOT_FOUND" in kinds:
            raise Missing(self.words)
        if self.errors:
            raise Invalid(self.words, codes=tuple(sorted(kinds - {""})))
        return self.data


async def run_query(api: Api, query: str, variables: dict[str, Any], *, repeatable: bool = True) -> Json:
    """The `data` of a mutation; OutcomeUnknown if it is not `repeatable` and may have taken effect. Denied where the
    forge has no GraphQL."""
    sent = {"query": query, "variables": variables}
    try:
        answer = await api.write("POST", graphql_url(api.base_url), sent, repeatable=repeatable)
    except Missing as error:
        raise Denied(_LACKING) from error
    return _read(api, answer).get()


async def change_many(api: Api, query: str, variables: dict[str, Any]) -> Partial:
    """What came of a mutation with several changes, each of which may be made again: one that fails leaves the others
    made. Errors: as those of `Partial.get` where nothing was made at all."""
    try:
        answer = await api.write(
            "POST", graphql_url(api.base_url), {"query": query, "variables": variables}, repeatable=True
        )
    except Missing as error:
        raise Denied(_LACKING) from error
    found = _read(api, answer)
    if not any(found.data.values()):
        found.get()
    return found


async def ask_query(api: Api, query: str, variables: dict[str, Any]) -> Partial:
    """What a query that only reads found: as a read it is repeated, and does not wait its turn among the writes."""
    sent = {"query": query, "variables": variables}
    try:
        answer = await api.requester.ask(graphql_url(api.base_url), sent)
    except Missing as error:
        raise Denied(_LACKING) from error
    return _read(api, answer)


def _read(api: Api, answer: Answer) -> Partial:
    try:
        body = as_object(answer.json())
        errors = tuple(children(body, "errors"))
    except (Unreadable, Lost) as error:
        raise Unavailable(f"the answer of GraphQL is not understood: {error}") from error
    words = "; ".join(api.transport.mask(text(error, "message"))[:300] for error in errors)
    data = body.get("data")
    return Partial(as_object(data) if isinstance(data, dict) else {}, errors, words)
