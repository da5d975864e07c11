"""What keys must agree on with each other: names that are used must exist, names that are given must differ."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from nightcrew.config.build import KNOWN_FORGES
from nightcrew.config.document import Path
from nightcrew.config.file import ConfigFile
from nightcrew.config.notice import check_targets
from nightcrew.config.problem import Where, nearest
from nightcrew.config.value import is_loopback
from nightcrew.core.errors import Problem
from nightcrew.core.model.git import SignKind
from nightcrew.core.model.settings import RouterMode

Sets = Callable[[Path], bool]


def find_disagreements(
    file: ConfigFile, values: Mapping[str, Any], *, where: Where, adapters: Collection[str] | None
) -> list[Problem]:
    """All of them. `values` are the keys that are really written; `adapters` the known ones, None if not known."""
    return [
        *_projects(file, where),
        *_jobs(file, where),
        *_forges(file, values, where=where),
        *_router(file, where),
        *_ask(file, where),
        *_adapters(file, where, adapters=adapters),
        *_webhook(file, where),
        *_git(file, where),
        *_channels(file, where),
        *_metrics(file, where),
        *(Problem(where(path), what, hint) for path, what, hint in check_targets(file.notices)),
    ]


def _projects(file: ConfigFile, where: Where) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, project in enumerate(file.projects):
        known = first.setdefault(project.slug.lower(), index)
        if known != index:
            other = where(("projects", known))
            yield Problem(where(("projects", index)), f"{project.slug} is there already", f"see {other}")


def _jobs(file: ConfigFile, where: Where) -> Iterator[Problem]:
    for index, project in enumerate(file.projects):
        for job, keys in project.jobs.items():
            if keys.agent is not None and file.agents and keys.agent not in file.agents:
                place = where(("projects", index, "jobs", job, "agent"))
                yield _unknown(place, "agent", keys.agent, known=file.agents)


def _forges(file: ConfigFile, values: Mapping[str, Any], *, where: Where) -> Iterator[Problem]:
    known = {*KNOWN_FORGES, *file.forges}
    if file.defaults.forge not in known:
        yield _unknown(where(("defaults", "forge")), "forge", file.defaults.forge, known=known)
    for name, keys in file.forges.items():
        shares = keys.budget
        if not shares.reserve <= shares.stop <= shares.slow:
            hint = "it must be that reserve ≤ stop ≤ slow"
            yield Problem(where(("forges", name, "budget")), "the shares do not fit each other", hint)
    for index, written in enumerate(values.get("projects", ())):
        name = written.get("forge")
        if name is not None and name not in known:
            yield _unknown(where(("projects", index, "forge")), "forge", name, known=known)


def _ask(file: ConfigFile, where: Where) -> Iterator[Problem]:
    for index, name in enumerate(file.ask.agents):
        if name not in file.agents:
            yield _unknown(where(("ask", "agents", index)), "agent", name, known=file.agents)


def _router(file: ConfigFile, where: Where) -> Iterator[Problem]:
    name = file.router.agent
    if name is None:
        if file.router.mode is RouterMode.MODEL:
            yield Problem(where(("router", "agent")), "is missing", "mode `model` needs an agent to ask")
        return
    agent = file.agents.get(name)
    if agent is None:
        yield _unknown(where(("router", "agent")), "agent", name, known=file.agents)
    elif not agent.enabled:
        yield Problem(where(("router", "agent")), f"the agent `{name}` is not enabled")


def _adapters(file: ConfigFile, where: Where, *, adapters: Collection[str] | None) -> Iterator[Problem]:
    for name, agent in file.agents.items():
        adapter = agent.adapter or name
        if adapters is not None and adapter not in adapters:
            path: Path = ("agents", name, "adapter") if agent.adapter else ("agents", name)
            yield _unknown(where(path), "adapter", adapter, known=adapters)


def _webhook(file: ConfigFile, where: Where) -> Iterator[Problem]:
    given = file.webhook
    if not given.listen:
        return
    if not given.secret:
        yield Problem(where(("webhook", "secret")), "is missing", "deliveries that nobody signed are not taken")
    if not given.allow_remote and not is_loopback(given.listen):
        hint = "listen on 127.0.0.1, or set `webhook.allow_remote: true`"
        yield Problem(where(("webhook", "listen")), "other machines can reach that address", hint)


def _git(file: ConfigFile, where: Where) -> Iterator[Problem]:
    given = file.git
    if given.sign is not SignKind.OFF and not given.key:
        yield Problem(where(("git", "key")), "is missing", "nothing can be signed without a key")
    if given.sign is SignKind.SSH and given.key and not given.key.startswith(("/", "~/")):
        yield Problem(where(("git", "key")), "is no absolute path", "write where the private key is, as ~/.ssh/signing")


def _channels(file: ConfigFile, where: Where) -> Iterator[Problem]:
    for name, keys in (("telegram", file.channels.telegram), ("discord", file.channels.discord)):
        if keys.token and not keys.users:
            hint = "list the ids of those who may give orders"
            yield Problem(where(("channels", name, "users")), "is missing: everybody could give orders", hint)


def _metrics(file: ConfigFile, where: Where) -> Iterator[Problem]:
    if file.metrics.listen and not is_loopback(file.metrics.listen):
        hint = "listen on 127.0.0.1, and let a proxy with a password of its own lead there"
        yield Problem(where(("metrics", "listen")), "other machines can reach that address", hint)


def _unknown(where: str, what: str, name: str, *, known: Collection[str]) -> Problem:
    return Problem(where, f"there is no {what} `{name}`", nearest(name, known) or f"no {what} is configured")
