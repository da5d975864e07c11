"""orch: its global config.yml and a project's .orch.yml. Keys and defaults as its documentation gives them."""

from typing import Any

from nightcrew.config.foreign.conversion import Conversion, Source, whole
from nightcrew.core.model.skill import is_skill_name

KNOWN_AGENTS = ("claude", "codex", "opencode", "gemini")
_LEVELS = ("simple", "medium", "complex")


def convert_orch(everywhere: Source, projects: list[Source]) -> Conversion:
    """`everywhere` is the global file, `projects` the files of the repositories, which win over it."""
    result = Conversion()
    everywhere.take("projects")  # local paths; what they hold comes as `projects`
    result.put("projects", [])
    for source in projects:
        _project(source, everywhere, result)
    for source in (everywhere, *projects):
        _limits(source, result)
        _router(source, result)
        _agents(source, result)
        _forge(source, result)
        _chats(source, result)
        if source.take("jobs") is not None:
            result.remark(source.where("jobs"), "write them anew, see docs/jobs.md: their form is another")
        if source.take("skills") is not None:
            result.remark(source.where("skills"), "name each under `skills.repositories`, at a commit (docs/skills.md)")
    if not result.values["projects"] and (slug := everywhere.section("gh").take("repo")):
        result.values["projects"].append({"slug": str(slug), "intake": "all"})
    for where in (line for source in (everywhere, *projects) for line in source.rest()):
        result.remark(where, "has no counterpart")
    return result


def _project(source: Source, everywhere: Source, result: Conversion) -> None:
    forge, work = source.section("gh"), source.section("workflow")
    slug = forge.take("repo")
    if not slug:
        result.remark(source.where("gh.repo"), "is missing: the project is left out")
        return
    project: dict[str, Any] = {"slug": str(slug)}
    if branch := forge.take("default_branch"):
        project["base_ref"] = str(branch)
    if label := forge.take("sync_label"):
        project["intake_label"] = str(label)
    else:
        project["intake"] = "all"
        result.remark(
            source.where("gh.sync_label"),
            "is not set: every open issue becomes a task, as before; set `intake: label` to ask for each",
        )
    for key in ("project_id", "project_status_field_id", "project_status_map", "project_status_names"):
        if forge.take(key) is not None:
            result.remark(source.where(f"gh.{key}"), "a board is linked by its address: nightcrew board link")
    for keys in (work, everywhere.section("workflow")):
        _workflow(keys, project, result)
    result.values["projects"].append(project)


def _workflow(keys: Source, project: dict[str, Any], result: Conversion) -> None:
    """What of the work is a project's here; what is everybody's is put beside it."""
    if (attempts := keys.whole("max_attempts")) is not None:
        project.setdefault("attempts", attempts)
    if (cycles := keys.whole("max_review_cycles")) is not None:
        project.setdefault("review", {"cycles": cycles})
    if (merges := keys.take("auto_merge")) is not None:
        project.setdefault("merge", {"mode": "auto" if _is_on(merges) else "ask"})
    if (limit := keys.seconds("ci_poll_max_wait_secs")) is not None:
        result.remark(keys.where("ci_poll_max_wait_secs"), f"was {limit}; here it is `merge.checks_limit`")
    if (timeout := keys.seconds("timeout_seconds")) is not None:
        for level in _LEVELS:
            result.values.setdefault("limits", {}).setdefault("timeouts", {}).setdefault(level, timeout)
    by_level = keys.section("timeout_by_complexity")
    for level in _LEVELS:
        if (timeout := by_level.seconds(level)) is not None:
            result.put(f"limits.timeouts.{level}", timeout)
    if (timeout := keys.seconds("review_timeout_seconds")) is not None:
        result.put("limits.review_timeout", timeout)
    if keys.take("enable_review_agent") in (False, "false"):
        result.remark(keys.where("enable_review_agent"), "nothing merges here without a review by another agent")
    if named := keys.texts("required_skills"):
        known = [name for name in named if is_skill_name(name)]
        project.setdefault("skills", {"required": known})
        if len(known) < len(named):
            result.remark(keys.where("required_skills"), "names that no skill can have here are left out")
    if keys.take("sandbox") in (False, "false"):
        result.remark(keys.where("sandbox"), "agents are in a sandbox; `sandbox: none` in config.yml turns it off")


def _limits(source: Source, result: Conversion) -> None:
    engine = source.section("engine")
    if (most := engine.whole("max_parallel")) is not None:
        result.put("limits.max_runs", most)
    if (interval := engine.seconds("sync_interval")) is not None:
        result.put("interval", interval)
    if engine.take("tick_interval") is not None:
        result.remark(engine.where("tick_interval"), "runs that end are seen within a second; there is nothing to set")
    hook = source.section("webhook")
    is_on, port, secret = hook.take("enabled"), hook.whole("port") or 8080, hook.take("secret")
    if is_on is not None and _is_on(is_on):
        reference = result.reference(hook.where("secret"), secret) if secret else None
        if reference is not None:
            result.put("webhook", {"listen": f"127.0.0.1:{port}", "secret": reference})
        else:
            result.remark(hook.where("secret"), "deliveries that nobody signed are not taken: `webhook` is left out")


def _router(source: Source, result: Conversion) -> None:
    router = source.section("router")
    mode = router.take("mode")
    if mode in ("llm", "round_robin"):
        result.put("router.mode", "model" if mode == "llm" else "round_robin")
    elif mode is not None:
        result.remark(router.where("mode"), f"there is no mode {str(mode)[:40]!r}: agents take turns")
    agent, model = router.take("agent"), router.take("model")
    if mode is None and (agent or model) and "mode" not in result.values.get("router", {}):
        mode = "llm"  # orch's own default
        result.put("router.mode", "model")
    if mode == "llm":
        result.put("router.agent", str(agent or "claude"))
        if model:
            result.put("router.model", str(model))
    if (timeout := router.seconds("timeout_seconds")) is not None:
        result.put("router.timeout", timeout)
    for name in router.texts("agents"):
        _agent(name, router, result)


def _agents(source: Source, result: Conversion) -> None:
    for name in source.texts("agents"):
        _agent(name, source, result)
    models = source.section("model_map")
    for level in (*_LEVELS, "review"):
        given = models.section(level)
        for name in given.names():
            names = given.texts(name)
            if names and _agent(name, given, result):
                key = "review_models" if level == "review" else f"models.{level}"
                result.put(f"agents.{name}.{key}", names)
    for name in source.section("git").texts("email"):
        for project in result.values["projects"]:
            project.setdefault("commit", {"email": name})


def _agent(name: str, source: Source, result: Conversion) -> bool:
    if name not in KNOWN_AGENTS:
        result.remark(source.where(name), "has no adapter here; write it as a `custom` agent (docs/config.md)")
        return False
    result.values.setdefault("agents", {}).setdefault(name, {})
    return True


def _forge(source: Source, result: Conversion) -> None:
    forge = source.section("gh")
    auth = forge.section("auth")
    token, app, key, place = (auth.take(name) for name in ("token", "app_id", "private_key", "installation_id"))
    auth.take("mode")
    if token and (reference := result.reference(auth.where("token"), token)) is not None:
        result.put("forges.github.token", reference)
    if whole(app) is None or not key:
        return
    reference = result.reference(auth.where("private_key"), key) if str(key).startswith("$") else f"file:{key}"
    if reference is not None:
        known: dict[str, Any] = {"id": whole(app), "private_key": reference}
        if whole(place) is not None:
            known["installation"] = whole(place)
        result.put("forges.github.app", known)


def _chats(source: Source, result: Conversion) -> None:
    level = source.section("notifications").take("level")
    if level == "none":
        result.put("notices.desktop", False)
    chats = source.section("channels")
    for name, token_keys, chat_keys in (
        ("telegram", ("bot_token", "token"), ("chat_id",)),
        ("discord", ("bot_token", "token"), ("channel_id",)),
    ):
        given = chats.section(name)
        found = [value for key in token_keys if (value := given.take(key))]
        places = [text for key in chat_keys for text in given.texts(key)]
        given.take("enabled")
        if not found:
            continue
        reference = result.reference(given.where("token"), found[0])
        people = [place for place in places if name == "telegram" and not place.startswith("-")]
        if reference is None or not people:
            hint = f"list yourself under `channels.{name}.users`, and name its token there (docs/chat.md)"
            result.remark(given.where(), f"orders are taken only from people on a list: {hint}")
            continue
        result.put(f"channels.{name}", {"token": reference, "users": people})
        least = "warning" if level == "errors_only" else "info"
        if level != "none":
            target = {"to": name, "chat": places[0], "least": least}
            result.values.setdefault("notices", {}).setdefault("targets", []).append(target)


def _is_on(value: object) -> bool:
    return str(value).strip().lower() not in ("false", "no", "off", "0")
