"""The ASGI app: which path means which operation. What happens on the way is in `pipeline`."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as HttpRoute

from nightcrew.core.errors import Invalid
from nightcrew.forges.local import (
    check,
    comment,
    commit,
    dependency,
    installation,
    issue,
    issue_list,
    label,
    merge,
    meta,
    pull,
    ref,
    repository,
    review,
    review_comment,
    rule,
    search,
    status,
    timeline,
    user,
    workflow,
)  # fmt: skip
from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.fault import parse_fault
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.graphql import route as graphql
from nightcrew.forges.local.pipeline import Pipeline, rate_limit_body

# Within a list the first fit wins: fixed parts before parameters, and paths that take slashes last.
_NOUNS = (
    meta, installation, user, search, graphql, label, comment, timeline, dependency, issue, issue_list, merge, review,
    review_comment, pull, check, status, rule, commit, ref, workflow, repository,
)  # fmt: skip
_PREFIXES = ("/repos/{owner}/{repo}", "/repositories/{repository_id:int}")
_METHODS = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"]


def create_app(forge: LocalForge, *, faults: bool = False, allowed_hosts: Sequence[str] = ("*",)) -> Starlette:
    """GitHub's REST API over a forge, at the root as on api.github.com.

    With `faults`, faults can be armed over HTTP too: POST and DELETE on `/_forge/faults`.
    """
    pipeline = Pipeline(forge)

    async def rate_limit(call: Call) -> Answer:
        return Answer(200, rate_limit_body(forge, call.actor))

    routes = [Route("GET", "/rate_limit", rate_limit), *(route for noun in _NOUNS for route in noun.ROUTES)]
    mounted: list[BaseRoute] = (
        [HttpRoute("/_forge/faults", _fault_door(forge), methods=["POST", "DELETE"])] if faults else []
    )
    for route in routes:
        prefixes = _PREFIXES if route.path.startswith("~") else ("",)
        paths = [prefix + route.path.removeprefix("~") for prefix in prefixes]
        mounted += [HttpRoute(path, _endpoint(pipeline, route), methods=[route.method]) for path in paths]
    mounted.append(HttpRoute("/{rest:path}", _endpoint(pipeline, None), methods=_METHODS))
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=list(allowed_hosts), www_redirect=False)
    return Starlette(routes=mounted, middleware=[hosts])


def _endpoint(pipeline: Pipeline, route: Route | None) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await pipeline.answer(request, route)

    return endpoint


def _fault_door(forge: LocalForge) -> Callable[[Request], Awaitable[Response]]:
    async def door(request: Request) -> Response:
        if request.method == "DELETE":
            forge.faults.clear()
            return Response(status_code=204)
        try:
            body = await request.json()
            forge.faults.arm(**parse_fault(body if isinstance(body, dict) else {}))
        except (ValueError, Invalid) as error:
            return JSONResponse({"message": str(error)}, status_code=422)
        return JSONResponse({"armed": len(forge.faults.armed)}, status_code=201)

    return door
