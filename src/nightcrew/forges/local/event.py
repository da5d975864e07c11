"""What happened to an issue, as facts with an actor. How they read in a timeline is in `timeline`."""

import json
from typing import Any

from nightcrew.forges.local.call import Call


def record_event(
    call: Call,
    issue_id: int,
    event: str,
    *,
    commit_id: str | None = None,
    actor_id: int | None = None,
    **detail: Any,
) -> None:
    """Record an event by who asks now, unless another actor is given."""
    actor = actor_id if actor_id is not None else (call.actor.id if call.actor else None)
    call.store.insert(
        "event",
        repository_id=call.repo["id"],
        issue_id=issue_id,
        event=event,
        actor_id=actor,
        commit_id=commit_id,
        detail=json.dumps(detail),
        created_at=call.at,
    )


def touch(call: Call, issue_id: int) -> None:
    """Move the issue's `updated_at`."""
    call.store.update("issue", issue_id, updated_at=call.at)
