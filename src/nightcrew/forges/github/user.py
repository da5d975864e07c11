"""Accounts: who we are, and what others may do in a repository."""

from nightcrew.core.errors import Missing
from nightcrew.core.model.issue import GHOST, Permission
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api, segment
from nightcrew.forges.github.field import Json, Unreadable

_KNOWN = {permission.value: permission for permission in Permission}
_OLD_WORDS = {"pull": Permission.READ, "push": Permission.WRITE}


async def fetch_login(api: Api) -> str:
    return await api.get(api.url("/user"), _parse_login)


def _parse_login(raw: Json) -> str:
    name = field.text(raw, "login")
    if not name:
        raise Unreadable("login is empty")
    return name


async def fetch_permission(api: Api, project: str, login: str) -> Permission:
    """NONE for an account that the forge does not know, and for the ghost, which stands for any deleted account."""
    if login == GHOST or not login:
        return Permission.NONE
    try:
        return await api.get(api.of(project, f"/collaborators/{segment(login)}/permission"), parse_permission)
    except Missing:
        # Also the answer where the repository itself is not visible, which must not pass for a stranger.
        await api.get(api.of(project), lambda raw: field.number(raw, "id"))
        return Permission.NONE


def parse_permission(raw: Json) -> Permission:
    """`role_name` tells triage and maintain apart; a custom role is named there and has its base in `permission`."""
    for name in ("role_name", "permission"):
        word = field.text(raw, name)
        if word in _KNOWN:
            return _KNOWN[word]
        if word in _OLD_WORDS:
            return _OLD_WORDS[word]
    return Permission.NONE
