"""What people do by hand to issues and pull requests. What they did is marked, so that Nightcrew's own doing can be
told from theirs."""

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import ReviewState
from tests.simulation.core.truth import Simulated

ISSUE_ACTS = ("no status", "hold", "no hold", "close", "open", "delete", "answer", "no-agent", "agents")
PULL_ACTS = ("push", "close", "open", "merge", "retarget", "back", "draft", "conflict", "unknown", "clean", "ask", "ok")


def touch_issue(sim: Simulated, number: int, what: str) -> None:
    """One thing that a person does to an issue that exists."""
    match what:
        case "no status":
            sim.by_hand.add(number)
            sim.set_labels(number, remove=tuple(status.label for status in Status))
        case "hold":
            sim.set_labels(number, add=("hold",))
        case "no hold":
            sim.set_labels(number, remove=("hold",))
        case "no-agent":
            sim.set_labels(number, add=("no-agent",))
        case "agents":
            sim.set_labels(number, remove=("no-agent",))
        case "close":
            sim.ended_by_hand.add(number)
            sim.set_open(number, is_open=False)
        case "open":
            sim.set_open(number, is_open=True)
        case "delete":
            sim.ended_by_hand.add(number)
            del sim.issues[number]
        case "answer":
            sim.answers[number] = sim.now
        case _:
            raise ValueError(what)


def touch_pull(sim: Simulated, number: int, what: str) -> None:
    """One thing that a person does to a pull request, or that happens to it."""
    match what:
        case "push":
            sim.push_by_hand(number)
        case "close":
            sim.change_pull(number, is_open=False)
        case "open":
            if not sim.pulls[number].is_merged:
                sim.change_pull(number, is_open=True)
        case "merge":
            sim.merge(number)
        case "retarget":
            sim.change_pull(number, base_ref="release")
        case "back":
            sim.change_pull(number, base_ref=sim.tasks[sim.owner[number]].base_ref)
        case "draft":
            sim.change_pull(number, is_draft=True)
        case "conflict":
            sim.change_pull(number, mergeable=False, mergeable_state="dirty")
        case "unknown":
            sim.change_pull(number, mergeable=None, mergeable_state="unknown")
        case "clean":
            sim.change_pull(number, mergeable=True, mergeable_state="clean", is_draft=False)
        case "ask":
            sim.review(number, ReviewState.CHANGES_REQUESTED)
        case "ok":
            sim.review(number, ReviewState.APPROVED)
        case _:
            raise ValueError(what)
