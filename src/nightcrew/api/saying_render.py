"""Messages to agents as plain JSON values."""

from nightcrew.api.plain import Json, render_moment
from nightcrew.core.model.saying import Saying
from nightcrew.core.policy.saying import describe_saying


def render_saying(saying: Saying) -> Json:
    return {
        "message": saying.id,
        "author": saying.author,
        "text": saying.text,
        "said_at": render_moment(saying.said_at),
        "interrupts": saying.interrupts,
        "state": saying.state.value,
        "words": describe_saying(saying),
        "run": saying.run,
        "tries": saying.tries,
        "delivered_at": None if saying.delivered_at is None else render_moment(saying.delivered_at),
        "seen_at": None if saying.seen_at is None else render_moment(saying.seen_at),
        "session": saying.session,
    }
