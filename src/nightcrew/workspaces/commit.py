"""Commits that the engine makes for an agent: who made them, and what their message says.

No hook of the repository runs for them, its pre-commit included: a hook may come from an agent, and a failing one would
lose work. Agents that commit by themselves do run the repository's hooks.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from nightcrew.core.ids import Sha
from nightcrew.core.model.settings import CommitSettings
from nightcrew.workspaces.git import NIGHTCREW, NIGHTCREW_EMAIL, Identity, identity_environment
from nightcrew.workspaces.repository import Repository

AGENT_TRAILER = "Nightcrew-Agent"

_TRAILER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*: \S.*")
_UNFIT_NAME = re.compile(r"[\x00-\x1f\x7f<>]+")
_UNFIT_TEXT = re.compile(r"[\x00\r]|[\ud800-\udfff]")


def author_of(agent: str, settings: CommitSettings, *, at: datetime) -> Identity:
    """An agent as the author of a commit; `{agent}` in the setting is its name."""
    name = " ".join(_UNFIT_NAME.sub(" ", agent).split()) or "agent"
    email = _UNFIT_NAME.sub("", settings.email.replace("{agent}", name.replace(" ", "-"))).strip()
    return Identity(name, email or NIGHTCREW_EMAIL, int(at.timestamp()))


def nightcrew(at: datetime) -> Identity:
    """Nightcrew itself, for commits that only save or join."""
    return Identity(NIGHTCREW, NIGHTCREW_EMAIL, int(at.timestamp()))


def render_message(message: str, author: Identity, settings: CommitSettings) -> str:
    """The message with its trailers: the agent, those from the settings, and the sign-off where it is wanted; each
    once, joined to trailers that the message already ends with."""
    return _with_trailers(message, author, settings, [f"{AGENT_TRAILER}: {author.name}"])


def render_engine_message(message: str, author: Identity, settings: CommitSettings) -> str:
    """The same for a commit that no agent has a part in."""
    return _with_trailers(message, author, settings, [])


def _with_trailers(message: str, author: Identity, settings: CommitSettings, first: list[str]) -> str:
    text = _UNFIT_TEXT.sub("", message).strip() or "Work in progress"
    wanted = [*first, *(_UNFIT_TEXT.sub("", line).strip() for line in settings.trailers)]
    if settings.sign_off:
        wanted.append(f"Signed-off-by: {author.name} <{author.email}>")
    head, gap, last = text.rpartition("\n\n")
    present = last.splitlines() if gap and all(_TRAILER.fullmatch(line) for line in last.splitlines()) else []
    body = head if present else text
    lines = [*present, *(line for line in dict.fromkeys(wanted) if line and line not in present)]
    return f"{body}\n\n" + "\n".join(lines) + "\n" if lines else f"{body}\n"


async def make_commit(
    repository: Repository,
    *,
    tree: str,
    parents: Sequence[Sha],
    message: str,
    author: Identity,
    is_published: bool = True,
) -> Sha:
    """A commit object in the engine's repository; no ref is moved. One that is published is signed, where that is
    set."""
    args = [part for parent in dict.fromkeys(parents) for part in ("-p", parent)]
    env = identity_environment(author, committer=repository.signing.committer(author.at_s))
    words = repository.signing.words(is_published=is_published)
    said = message.encode("utf-8", "replace")
    done = await repository.run(*words, *args, "-F", "-", tree, doing="making a commit", env=env, stdin=said)
    return Sha(done.text.strip())
