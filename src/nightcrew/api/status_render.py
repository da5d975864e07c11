"""The service as a whole, as plain values."""

from nightcrew.api.plain import Json, render_moment
from nightcrew.api.render import render_agent, render_project
from nightcrew.core.model.quota import TokenStanding
from nightcrew.ports.service import ServiceStatus, WebhookStatus


def render_status(status: ServiceStatus) -> Json:
    return {
        "version": status.version,
        "running": status.running,
        "paused": status.paused,
        "started_at": render_moment(status.started_at),
        "last_tick_at": render_moment(status.last_tick_at),
        "next_tick_at": render_moment(status.next_tick_at),
        "ticks": status.ticks,
        "projects": [render_project(project) for project in status.projects],
        "agents": [render_agent(agent) for agent in status.agents],
        "problems": list(status.problems),
        "home": status.home,
        "pid": status.pid,
        "draining": status.draining,
        "tokens": [_token(token) for token in status.tokens],
        "webhook": _webhook(status.webhook),
    }


def _token(token: TokenStanding) -> Json:
    return {
        "forge": token.forge,
        "source": token.source,
        "pace": token.pace.value,
        "purses": [
            {
                "resource": purse.resource,
                "limit": purse.limit,
                "left": purse.left,
                "reset_at": render_moment(purse.reset_at),
            }
            for purse in token.purses
        ],
        "projects": token.projects,
        "words": token.words,
        "until_at": render_moment(token.until_at),
    }


def _webhook(webhook: WebhookStatus | None) -> Json | None:
    if webhook is None:
        return None
    return {
        "address": webhook.address,
        "taken": webhook.taken,
        "refused": webhook.refused,
        "last_at": render_moment(webhook.last_at),
        "problem": webhook.problem,
    }
