"""What went wrong, as HTTP: one table from the port's errors to a status and a code, and one body for all of them.

Nothing of an unforeseen error but its kind leaves the service; its traceback goes to the log.
"""

import logging
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from nightcrew.api.body import ErrorBody
from nightcrew.core.errors import (
    ConfigError,
    Conflict,
    Denied,
    Invalid,
    Missing,
    NightcrewError,
    OutcomeUnknown,
    PortError,
    Unavailable,
)

_log = logging.getLogger(__name__)

# The first that fits counts, so the special ones come before the general ones.
_TABLE: tuple[tuple[type[NightcrewError], int, str], ...] = (
    (Missing, 404, "missing"),
    (Conflict, 409, "conflict"),
    (Invalid, 422, "invalid"),
    (Denied, 403, "denied"),
    (Unavailable, 503, "unavailable"),
    (OutcomeUnknown, 504, "outcome_unknown"),
    (ConfigError, 422, "config"),
    (PortError, 502, "failed"),
    (NightcrewError, 500, "failed"),
)
_HTTP_CODES = {404: "no_such_route", 405: "method_not_allowed", 413: "too_large", 415: "media_type"}

WORDS: dict[int, str] = {
    403: "denied: not allowed with the credentials at hand, or a request from a web page of another site",
    404: "missing: no such task, run or project",
    409: "conflict: not possible now, and why; or an ambiguous name, with all candidates",
    422: "invalid: an argument has the wrong form",
    500: "bug: a fault of Nightcrew's own; its log has more",
    503: "unavailable: not now",
}


def describe_errors(*codes: int) -> dict[int | str, dict[str, object]]:
    """The error answers of a route for OpenAPI; 403, 422, 500 and 503 are possible everywhere."""
    return {code: {"model": ErrorBody, "description": WORDS[code]} for code in sorted({403, 422, 500, 503, *codes})}


def render_error(error: NightcrewError) -> tuple[int, str, str]:
    """Status, code and message of an error."""
    for kind, status, code in _TABLE:
        if isinstance(error, kind):
            return status, code, str(error)
    raise AssertionError("the table ends with the root")


def answer_error(status: int, *, code: str, message: str) -> JSONResponse:
    """The one body of all errors."""
    return JSONResponse({"error": {"code": code, "message": message}}, status_code=status)


def install_errors(app: FastAPI) -> None:
    """Answer every error in the one shape."""
    answers: tuple[tuple[type[Exception], Callable[[Request, Exception], Awaitable[JSONResponse]]], ...] = (
        (NightcrewError, _answer_known),
        (RequestValidationError, _answer_validation),
        (HTTPException, _answer_http),
        (Exception, _answer_bug),
    )
    for kind, answer in answers:
        app.add_exception_handler(kind, answer)


async def _answer_known(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, NightcrewError):
        raise error
    status, code, message = render_error(error)
    return answer_error(status, code=code, message=message)


_PLAIN = {"string_too_short": "is empty, or too short", "missing": "is missing"}
"""What a person is told in the place of the library's words, by kind of problem."""


async def _answer_validation(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    parts = [
        f"{'.'.join(str(step) for step in problem['loc'][1:]) or 'body'}: {_PLAIN.get(problem['type'], problem['msg'])}"
        for problem in error.errors()[:10]
    ]
    return answer_error(422, code="invalid", message="; ".join(parts))


async def _answer_http(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    code = _HTTP_CODES.get(error.status_code, "invalid")
    return answer_error(error.status_code, code=code, message=str(error.detail))


async def _answer_bug(_request: Request, error: Exception) -> JSONResponse:
    _log.error("api request failed: %s", type(error).__name__, exc_info=error)
    return answer_error(500, code="bug", message=f"{type(error).__name__} inside Nightcrew; its log has the details")
