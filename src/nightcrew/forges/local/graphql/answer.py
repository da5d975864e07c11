"""POST /graphql: a query in, data and errors out, always with status 200, as on GitHub."""

from typing import Any

from graphql import ExecutionResult, GraphQLError, execute

from nightcrew.forges.local.call import Answer, Call
from nightcrew.forges.local.error import Refusal
from nightcrew.forges.local.graphql.connection import Shown
from nightcrew.forges.local.graphql.cost import Cost, compute_cost
from nightcrew.forges.local.graphql.root import make_root
from nightcrew.forges.local.graphql.schema import load_schema, prepare_query
from nightcrew.forges.local.moment import render_moment


async def answer_query(call: Call) -> Answer:
    body = call.body()
    query, variables = body.get("query"), body.get("variables") or {}
    if not isinstance(query, str) or not isinstance(variables, dict):
        raise Refusal(400, "A query attribute must be specified and must be a string.")
    if call.user.permissions is None and call.standing is not None and call.standing.remaining <= 0:
        return _refused(GraphQLError("API rate limit already exceeded", extensions={"type": "RATE_LIMITED"}))
    document, wrong = await prepare_query(query)
    if document is None:
        return _refused(*wrong)
    try:
        cost = compute_cost(load_schema(), document, variables)
    except GraphQLError as error:
        return _refused(error)
    call.cost = cost.points
    root = make_root(call, lambda _info, **_more: _rate_limit(call, cost))
    found = execute(load_schema(), document, root_value=root, variable_values=variables)
    result = found if isinstance(found, ExecutionResult) else await found
    shown: Shown = {"data": result.data}
    return Answer(200, shown | ({"errors": [_show_error(one) for one in result.errors]} if result.errors else {}))


def _rate_limit(call: Call, cost: Cost) -> Shown:
    standing = call.standing
    limit, used = (standing.limit, standing.used) if standing is not None else (5000, 0)
    reset = render_moment(standing.reset_at if standing is not None else call.now)
    left = max(limit - used - cost.points, 0)
    return {
        "cost": cost.points,
        "nodeCount": cost.nodes,
        "limit": limit,
        "used": limit - left,
        "remaining": left,
        "resetAt": reset,
    }


def _refused(*errors: GraphQLError) -> Answer:
    return Answer(200, {"errors": [_show_error(error) for error in errors]})


def _show_error(error: GraphQLError) -> dict[str, Any]:
    """GitHub puts the type beside the message."""
    shown: dict[str, Any] = {**error.formatted}
    extensions = shown.pop("extensions", None) or {}
    return ({"type": extensions["type"]} if "type" in extensions else {}) | shown
