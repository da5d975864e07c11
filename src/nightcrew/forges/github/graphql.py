"""The few things that only GraphQL can do. Queries are static texts; values travel as variables."""

from typing import Any

from nightcrew.core.errors import Denied, Invalid, Missing, Unavailable
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.field import Json, as_object, child, children, text


def graphql_url(base_url: str) -> str:
    """Next to the REST API; on an Enterprise server `/api/graphql` beside `/api/v3`."""
    return base_url.removesuffix("/v3") + "/graphql"


async def run_query(api: Api, query: str, variables: dict[str, Any]) -> Json:
    """The `data` of an answer. Only for mutations that may be repeated. Errors come with status 200 and are typed here;
    Denied where the forge has no GraphQL."""
    sent = {"query": query, "variables": variables}
    try:
        answer = await api.write("POST", graphql_url(api.base_url), sent, repeatable=True)
    except Missing as error:
        raise Denied("this forge has no GraphQL, which this needs") from error
    body = as_object(answer.json())
    errors = children(body, "errors")
    if errors:
        said = "; ".join(api.transport.mask(text(error, "message"))[:300] for error in errors)
        kinds = {text(error, "type") for error in errors}
        if kinds & {"RATE_LIMITED", "RESOURCE_LIMITS_EXCEEDED"}:
            raise Unavailable(f"rate limit: {said}")
        if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
            raise Denied(said)
        if "NOT_FOUND" in kinds:
            raise Missing(said)
        raise Invalid(said, codes=tuple(sorted(kinds - {""})))
    return child(body, "data")
