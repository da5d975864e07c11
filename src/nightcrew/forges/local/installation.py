"""Apps that show a signed claim (JWT, RS256), and the tokens that their installations get for it."""

import json
import secrets
from datetime import timedelta
from typing import Any

from nightcrew.forges.local.access import digest
from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import Refusal, not_found
from nightcrew.forges.local.moment import render_moment
from nightcrew.forges.local.repository import REPOSITORY
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import render_app, render_user_id

TOKEN_FOR_S = 3600
CLAIM_AT_MOST_S = 600


def _get_app(call: Call) -> Row:
    """The App that signed the claim; 401 in GitHub's words for one that does not hold."""
    import jwt

    scheme, _, claim = call.authorization.partition(" ")
    if scheme.lower() != "bearer" or not claim:
        raise Refusal(401, "A JSON web token could not be decoded")
    try:
        read: dict[str, Any] = jwt.decode(claim, options={"verify_signature": False})
    except jwt.InvalidTokenError as error:
        raise Refusal(401, "A JSON web token could not be decoded") from error
    row = _find_signer(call, claim, str(read.get("iss", "")))
    now, since, until = call.now.timestamp(), read.get("iat"), read.get("exp")
    if not isinstance(since, int) or since > now:
        raise Refusal(401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was"
                           " issued")  # fmt: skip
    if not isinstance(until, int) or until <= now or until > now + CLAIM_AT_MOST_S:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future or has passed")
    return row


def _find_signer(call: Call, claim: str, app_id: str) -> Row:
    import jwt

    keys = call.store.all("SELECT * FROM installation WHERE app_id = ?", app_id if app_id.isdigit() else -1)
    if not keys:
        raise Refusal(401, "Integration not found")
    for row in keys:
        try:
            # Times are judged by the forge's own clock, above.
            jwt.decode(
                claim, row["public_key"], algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
            )
        except jwt.InvalidTokenError:
            continue
        return call.store.get("SELECT * FROM app WHERE id = ?", row["app_id"])
    raise Refusal(401, "A JSON web token could not be decoded")


async def show_app(call: Call) -> Answer:
    return Answer(200, render_app(call, _get_app(call)))


async def create_token(call: Call) -> Answer:
    app = _get_app(call)
    row = call.store.find(
        "SELECT * FROM installation WHERE id = ? AND app_id = ?", call.params["installation_id"], app["id"]
    )
    if row is None:
        raise not_found()
    bot = call.store.get("SELECT id FROM user WHERE login = ?", f"{app['slug']}[bot]")
    token, ends = f"ghs_{secrets.token_hex(18)}", render_moment(call.now + timedelta(seconds=TOKEN_FOR_S))
    call.store.insert(
        "token", digest=digest(token), user_id=bot["id"], app_id=app["id"], permissions=row["permissions"],
        expires_at=ends,
    )  # fmt: skip
    shown = {"token": token, "expires_at": ends, "permissions": json.loads(row["permissions"])}
    return Answer(201, {**shown, "repository_selection": "all"})


async def show_installation(call: Call) -> Answer:
    """Where the App is installed for a repository: its bot has to be somebody there."""
    app = _get_app(call)
    bot = call.store.get("SELECT id FROM user WHERE login = ?", f"{app['slug']}[bot]")
    where = "WHERE login = ? AND repository.name = ?"
    call.found = call.store.find(f"{REPOSITORY} {where}", call.params["owner"], call.params["repo"])
    row = call.store.find("SELECT * FROM installation WHERE app_id = ? ORDER BY id", app["id"])
    if call.found is None or row is None or not _is_member(call, bot["id"]):
        raise not_found()
    account = render_user_id(call, call.repo["owner_id"])
    url = f"{call.base}/app/installations/{row['id']}"
    shown = {
        "id": row["id"],
        "app_id": app["id"],
        "app_slug": app["slug"],
        "account": account,
        "target_id": call.repo["owner_id"],
        "target_type": "User",
        "repository_selection": "selected",
        "permissions": json.loads(row["permissions"]),
        "events": [],
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{call.base}/installation/repositories",
        "html_url": f"{call.base}/settings/installations/{row['id']}",
        "single_file_name": None,
        "created_at": app["created_at"],
        "updated_at": app["created_at"],
        "suspended_by": None,
        "suspended_at": None,
    }
    return Answer(200, shown)


def _is_member(call: Call, user_id: int) -> bool:
    sql = "SELECT permission FROM collaborator WHERE repository_id = ? AND user_id = ?"
    row = call.store.find(sql, call.repo["id"], user_id)
    return row is not None and row["permission"] != "none"


ROUTES = [
    Route("GET", "/repos/{owner}/{repo}/installation", show_installation, is_signed=True),
    Route("GET", "/app", show_app, is_signed=True),
    Route("POST", "/app/installations/{installation_id:int}/access_tokens", create_token, is_signed=True),
]
