"""Settings as plain values in the shape of config.yml, for `config show`. What is or may be a secret is masked."""

from collections.abc import Mapping
from enum import Enum

import yaml

from nightcrew.config.channel import render_chat
from nightcrew.config.document import copy_resolvers
from nightcrew.config.job import render_jobs
from nightcrew.config.notice import render_notices
from nightcrew.config.reaction import ReactionKeys
from nightcrew.config.secret import MASK, is_reference, looks_secret
from nightcrew.config.section import Section
from nightcrew.config.skill import render_skills
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardSettings
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.reaction import ReactionKind, ReactionRule, ReactionSettings
from nightcrew.core.model.settings import AgentSettings, ProjectSettings, Settings
from nightcrew.core.model.upkeep import UpkeepSettings


def render_settings(settings: Settings) -> dict[str, object]:
    """Every setting in force. Read back, it gives the same settings, apart from what is masked."""
    limits, router = settings.limits, settings.router
    return {
        "interval": render_duration(settings.interval_s),
        "interval_min": render_duration(settings.interval_min_s),
        "interval_max": render_duration(settings.interval_max_s),
        "probe_above": settings.probe_above,
        "sandbox": settings.sandbox.value,
        "limits": {
            "max_runs": limits.max_runs,
            "timeouts": {level.value: render_duration(value) for level, value in limits.timeouts_s.items()},
            "review_timeout": render_duration(limits.review_timeout_s),
        },
        "ask": {
            "max_runs": settings.ask.max_runs,
            "timeout": render_duration(settings.ask.timeout_s),
            "agents": list(settings.ask.agents),
        },
        "cooldowns": {
            kind.value: {
                "base": render_duration(rule.base_s),
                "max": render_duration(rule.max_s),
                "scope": rule.scope.value,
            }
            for kind, rule in settings.cooldowns.items()
        },
        "router": {
            "mode": router.mode.value,
            "agent": router.agent or None,
            "model": router.model or None,
            "timeout": render_duration(router.timeout_s),
        },
        "forges": {name: _forge(forge) for name, forge in settings.forges.items()},
        "git": {
            "sign": settings.git.sign.value,
            "key": settings.git.key,
            "name": settings.git.name,
            "email": settings.git.email,
        },
        "webhook": {
            "listen": settings.webhook.listen,
            "secret": settings.webhook.secret,
            "allow_remote": settings.webhook.allow_remote,
        },
        "notices": render_notices(settings.notices),
        "channels": {"telegram": render_chat(settings.telegram), "discord": render_chat(settings.discord)},
        **_upkeep(settings.upkeep),
        "agents": {name: _agent(agent) for name, agent in settings.agents.items()},
        "projects": [_project(project) for project in settings.projects.values()],
    }


def render_yaml(values: Mapping[str, object]) -> str:
    """Plain values as YAML that this package reads back as the same."""
    return yaml.dump(values, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the name is the library's
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if not text.replace("\n", "").isprintable():
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


copy_resolvers(_Dumper)
_Dumper.add_representer(str, _represent_text)


def render_duration(seconds: float) -> str | float:
    """`45s`, `30m`, `2h`: the largest unit that loses nothing; a bare number of seconds where none does."""
    if seconds != int(seconds):
        return seconds
    whole = int(seconds)
    for unit, length in (("h", 3600), ("m", 60)):
        if whole and whole % length == 0:
            return f"{whole // length}{unit}"
    return f"{whole}s"


def _upkeep(upkeep: UpkeepSettings) -> dict[str, object]:
    kept = upkeep.retention
    return {
        "metrics": {"listen": upkeep.metrics.listen},
        "tracing": {"endpoint": upkeep.tracing.endpoint},
        "retention": {
            "runs": render_duration(kept.runs_s),
            "events": render_duration(kept.events_s),
            "logs": render_duration(kept.logs_s),
            "worktrees": render_duration(kept.worktrees_s),
            "backups": kept.backups,
        },
        "least_free_mb": upkeep.least_free_mb,
        "prevent_sleep": upkeep.prevent_sleep,
    }


def _forge(forge: ForgeSettings) -> dict[str, object]:
    return {
        "kind": forge.kind,
        "base_url": forge.base_url,
        "token": forge.token if not forge.token or is_reference(forge.token) else MASK,
        "tokens": [token if is_reference(token) else MASK for token in forge.tokens],
        "app": {"id": forge.app.id, "installation": forge.app.installation, "private_key": forge.app.private_key}
        if forge.app is not None
        else None,
        "write_interval": render_duration(forge.write_interval_s),
        "budget": {"slow": forge.budget.slow, "stop": forge.budget.stop, "reserve": forge.budget.reserve},
    }


def _agent(agent: AgentSettings) -> dict[str, object]:
    return {
        "adapter": agent.adapter,
        "command": [_masked("", word) for word in agent.command],
        "models": {level.value: list(models) for level, models in agent.models.items()},
        "review_models": list(agent.review_models),
        "env": {name: _masked(name, value) for name, value in agent.env.items()},
        "options": _masked("", agent.options),
        "max_runs": agent.max_runs,
        "silence": render_duration(agent.silence_s),
        "enabled": agent.enabled,
        "can_review": agent.can_review,
        "can_author": agent.can_author,
        "sandbox": agent.sandbox.value if agent.sandbox else None,
        "sandbox_read": list(agent.sandbox_read),
        "network": agent.network.value,
        "hosts": list(agent.hosts),
    }


def _project(project: ProjectSettings) -> dict[str, object]:
    merge, review, commit, budget = project.merge, project.review, project.commit, project.budget
    return {
        "slug": project.slug,
        "forge": project.forge,
        "base_ref": project.base_ref,
        "intake": project.intake.value,
        "intake_label": project.intake_label,
        "max_runs": project.max_runs,
        "attempts": project.attempts,
        "budget": {
            "runs": budget.runs,
            "wall": None if budget.wall_s is None else render_duration(budget.wall_s),
            "tokens": budget.tokens,
            "cost": budget.cost_usd,
        },
        "cycles_cooldown": render_duration(project.cycles_cooldown_s),
        "claim": project.claim.value,
        "claim_expiry": render_duration(project.claim_expiry_s),
        "merge": {
            "mode": merge.mode.value,
            "strategy": merge.strategy.value,
            "batch": merge.batch,
            "queue_timeout": render_duration(merge.queue_timeout_s),
            "method": merge.method.value,
            "fallback": [method.value for method in merge.fallback],
            "checks_limit": render_duration(merge.checks_limit_s),
            "watch": render_duration(merge.watch_s),
            "update": merge.update.value,
            "allow_without_ci": merge.allow_without_ci,
            "required_checks": list(merge.required_checks),
            "protected_paths": list(merge.protected_paths),
            "hold_labels": list(merge.hold_labels),
        },
        "review": {"cycles": review.cycles, "allow": review.allow.value, "attempts": review.attempts},
        "reactions": _reactions(project.reactions),
        "dependencies": {"parent": project.dependencies.parent.value},
        "delegation": {
            "allow": project.delegation.allow.value,
            "max_children": project.delegation.max_children,
            "max_depth": project.delegation.max_depth,
            "max_open": project.delegation.max_open,
            "labels": list(project.delegation.labels),
        },
        "board": _board(project.board),
        "commit": {"email": commit.email, "trailers": list(commit.trailers), "sign_off": commit.sign_off},
        "prompt": {
            part: getattr(project.prompt, part)
            for part in (
                *("issue", "comments", "documents", "tree", "findings", "checks", "attempts"),
                "memory",
                "skills",
            )
        },
        "checks": [
            {"name": check.name, "command": list(check.argv), "timeout": render_duration(check.timeout_s)}
            for check in project.checks
        ],
        "setup": [{"command": list(step.argv), "timeout": render_duration(step.timeout_s)} for step in project.setup],
        "jobs": dict(render_jobs(project.jobs, duration=render_duration)),
        "repository_jobs": project.repository_jobs.value,
        "skills": render_skills(project.skills),
        "copy_files": list(project.copy_files),
        "agent_settings": project.agent_settings,
        "scan_allow": list(project.scan_allow),
        "source": project.source,
        "sandbox_read": list(project.sandbox_read),
        "network": project.network.value,
        "instructions": project.instructions,
    }


def _reactions(rules: ReactionSettings) -> dict[str, object]:
    return {kind.value: _rule(rules.rule(kind), ReactionKeys.model_fields[kind.value].default) for kind in ReactionKind}


def _rule(rule: ReactionRule, keys: Section) -> dict[str, object]:
    """As far as the kind has keys."""
    shown: dict[str, object] = {
        "action": rule.action.value,
        "rerun": rule.rerun,
        "retries": rule.retries,
        "escalate_after": render_duration(rule.escalate_after_s),
        "bots": rule.bots,
        "log_hosts": list(rule.log_hosts),
        "priority": rule.priority.value,
        "message": rule.message,
    }
    return {name: value for name, value in shown.items() if name in type(keys).model_fields}


def _board(board: BoardSettings) -> dict[str, object]:
    return {
        "project": str(board.place or ""),
        "field": board.field_name,
        "columns": {status.value: board.columns.get(status) for status in Status},
        "moved_by_hand": board.moved_by_hand.value,
        "look_every": render_duration(board.look_every_s),
    }


def _masked(name: str, value: object) -> object:
    """A value with everything in it replaced that looks like a secret."""
    if isinstance(value, str):
        return MASK if looks_secret(name, value) else value
    if isinstance(value, Mapping):
        return {key: _masked(str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_masked(name, item) for item in value]
    return value.value if isinstance(value, Enum) else value
