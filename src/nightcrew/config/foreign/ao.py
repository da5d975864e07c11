"""Agent Orchestrator: agent-orchestrator.yaml. Keys and defaults as its schema gives them."""

from collections.abc import Mapping
from typing import Any

from nightcrew.config.foreign.conversion import Conversion, Source, whole

_AGENTS = {"claude-code": "claude", "claude": "claude", "codex": "codex", "opencode": "opencode", "gemini": "gemini"}
_REACTIONS = {
    "ci-failed": "ci_failed",
    "changes-requested": "changes_requested",
    "bugbot-comments": "review_comments",
    "merge-conflicts": "merge_conflict",
    "approved-and-green": "approved_and_green",
    "agent-stuck": "agent_stuck",
    "agent-needs-input": "agent_needs_input",
    "agent-exited": "agent_exited",
    "pr-closed": "pr_closed",
    "all-complete": "all_complete",
}
_ACTIONS = {"send-to-agent": "send", "notify": "notify", "auto-merge": "merge"}
_ORDER = ("urgent", "action", "warning", "info")
_KEYS: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {
    "ci_failed": (("send", "notify", "nothing"), frozenset({"retries"})),
    "changes_requested": (("send", "notify", "nothing"), frozenset({"retries", "escalate_after"})),
    "review_comments": (("send", "nothing"), frozenset({"retries"})),
    "merge_conflict": (("send", "notify", "nothing"), frozenset({"retries", "escalate_after"})),
    "approved_and_green": (("merge", "notify"), frozenset()),
    "agent_stuck": (("notify", "nothing"), frozenset({"escalate_after"})),
    "agent_needs_input": (("notify", "nothing"), frozenset({"escalate_after"})),
    "agent_exited": (("notify", "nothing"), frozenset()),
    "pr_closed": (("notify", "nothing"), frozenset()),
    "all_complete": (("notify", "nothing"), frozenset()),
}
"""What each reaction can do here, and which of the other keys it knows."""


def convert_ao(source: Source) -> Conversion:
    """One file that names projects."""
    result = Conversion()
    source.take("$schema")
    defaults = source.section("defaults")
    agent = defaults.take("agent")
    if agent is not None:
        _agent(agent, defaults.where("agent"), result)
    for key in ("runtime", "workspace"):
        given = defaults.take(key)
        if given not in (None, "tmux", "worktree"):
            result.remark(defaults.where(key), "sessions are tmux's, work spaces worktrees; there is no other way")
    awake = source.section("power").take("preventIdleSleep")
    if isinstance(awake, bool):
        result.put("prevent_sleep", awake)
    shared = _reactions(source.section("reactions"), result)
    projects = source.section("projects")
    result.put("projects", [_project(name, projects.section(name), shared, result) for name in projects.names()])
    result.values["projects"] = [project for project in result.values["projects"] if project]
    _notifiers(source, defaults, result)
    for where in source.rest():
        result.remark(where, "has no counterpart")
    return result


def _project(name: str, keys: Source, shared: Mapping[str, Any], result: Conversion) -> dict[str, Any]:
    slug = keys.take("repo")
    keys.take("name")
    if not slug or "/" not in str(slug):
        result.remark(keys.where("repo"), f"is missing: {name} is left out")
        return {}
    project: dict[str, Any] = {"slug": str(slug)}
    if branch := keys.take("defaultBranch"):
        project["base_ref"] = str(branch)
    if path := keys.take("path"):
        project["source"] = str(path)
    setup = [{"command": ["sh", "-c", line]} for line in keys.texts("postCreate")]
    if setup:
        project["setup"] = setup
    if links := keys.texts("symlinks"):
        project["copy_files"] = links
        result.remark(keys.where("symlinks"), "are copied into each work space, not linked")
    if rules := keys.take("agentRules"):
        project["instructions"] = str(rules)
    if reactions := {**shared, **_reactions(keys.section("reactions"), result)}:
        project["reactions"] = reactions
    _agent_of(keys, result)
    return project


def _agent_of(keys: Source, result: Conversion) -> None:
    given, settings = keys.take("agent"), keys.section("agentConfig")
    name = _agent(given, keys.where("agent"), result) if given is not None else None
    model = settings.take("model")
    if model and name is not None:
        result.put(f"agents.{name}.models", {level: str(model) for level in ("simple", "medium", "complex")})
    elif model:
        result.remark(settings.where("model"), "names no agent; write it under `agents.NAME.models`")
    if given is not None:
        result.remark(keys.where("agent"), "agents take turns here in all projects; `agent:NAME` on an issue names one")


def _agent(given: object, where: str, result: Conversion) -> str | None:
    name = _AGENTS.get(str(given))
    if name is None:
        result.remark(where, f"{str(given)[:40]!r} has no adapter here; write it as a `custom` agent (docs/config.md)")
        return None
    result.values.setdefault("agents", {}).setdefault(name, {})
    return name


def _reactions(source: Source, result: Conversion) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for theirs in source.names():
        ours = _REACTIONS.get(theirs)
        if ours is None:
            continue
        keys = source.section(theirs)
        reaction = _reaction(ours, keys, result)
        if ours == "review_comments":
            reaction["bots"] = True
        found[ours] = reaction
    return found


def _reaction(ours: str, keys: Source, result: Conversion) -> dict[str, Any]:
    actions, known = _KEYS[ours]
    given, is_auto = keys.take("action"), keys.take("auto")
    action = _ACTIONS.get(str(given)) if given is not None else None
    if is_auto is False:
        action = "notify" if "notify" in actions else "nothing"
    reaction: dict[str, Any] = {}
    if action in actions:
        reaction["action"] = action
    elif given is not None:
        result.remark(keys.where("action"), f"is not done here about this; there are: {', '.join(actions)}")
    retries, patience = keys.whole("retries"), keys.take("escalateAfter")
    if whole(patience) is not None:  # a number counts tries, a text is a time
        retries, patience = whole(patience), None
    patience = keys.take("threshold") or patience
    if retries is not None and "retries" in known:
        reaction["retries"] = retries
    if patience is not None and "escalate_after" in known:
        reaction["escalate_after"] = str(patience)
    elif patience is not None:
        result.remark(keys.where("escalateAfter"), "there is no deadline for this; `retries` bounds it")
    if (priority := keys.take("priority")) in _ORDER:
        reaction["priority"] = priority
    if message := keys.take("message"):
        reaction["message"] = str(message).replace("{{", "{").replace("}}", "}")
        if "{" in reaction["message"]:
            result.remark(keys.where("message"), "was left out: its placeholders are other ones here (docs/config.md)")
            del reaction["message"]
    return reaction


def _notifiers(source: Source, defaults: Source, result: Conversion) -> None:
    given, routes = source.section("notifiers"), source.section("notificationRouting")
    routed = {level: routes.texts(level) for level in _ORDER}
    used = set(defaults.texts("notifiers")).union(*routed.values())
    result.put("notices.desktop", "desktop" in used)
    for name in given.names():
        keys = given.section(name)
        kind = str(keys.take("plugin") or name)
        keys.take("sound")
        least = next((level for level in reversed(_ORDER) if name in routed[level]), "info")
        target = _target(kind, keys, result)
        if target is not None:
            plain = {"name": name} if name != target["to"] else {}
            result.values["notices"].setdefault("targets", []).append({**target, **plain, "least": least})
        elif kind != "desktop":
            result.remark(keys.where(), "has no counterpart; a Discord or Telegram bot does more (docs/chat.md)")


def _target(kind: str, keys: Source, result: Conversion) -> dict[str, Any] | None:
    url = keys.take("webhookUrl") or keys.take("url")
    if kind == "slack" and url:
        reference = result.reference(keys.where("webhookUrl"), url)
        return None if reference is None else {"to": "slack", "url": reference}
    if kind == "webhook" and url:
        return {"to": "webhook", "url": str(url)}
    if kind == "openclaw" and url:
        token = keys.take("token")
        reference = result.reference(keys.where("token"), token) if token else None
        return None if reference is None else {"to": "openclaw", "url": str(url), "token": reference}
    return None
