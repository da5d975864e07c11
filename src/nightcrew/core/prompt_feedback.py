"""How an agent is told what people said on its pull request: each person's latest review, threads on lines, comments.

What does not fit into the budget is not told, and so not on record as given either: it comes with the next round.
"""

from dataclasses import dataclass

from nightcrew.core.cut import cut
from nightcrew.core.model.issue import Comment
from nightcrew.core.model.pull import Remark, Review
from nightcrew.core.neutral import one_line, strip_hidden
from nightcrew.core.policy.reacting import remark_thing, review_thing

_HUNK_LINES = 8
_STATES = {"APPROVED": "approved", "CHANGES_REQUESTED": "asks for changes", "COMMENTED": "commented"}


@dataclass(frozen=True, slots=True)
class Feedback:
    """What people with write access (and bots, where the project says so) said on the pull request. `reviews` are the
    latest of each person that say something; `comments` those of the conversation since the last run; `settled`
    are remarks in threads that somebody resolved: they are not told, and nothing waits for them."""

    reviews: tuple[Review, ...] = ()
    remarks: tuple[Remark, ...] = ()
    comments: tuple[Comment, ...] = ()
    settled: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class ToldFeedback:
    """The text, and the names of what stands in it."""

    text: str = ""
    things: tuple[str, ...] = ()


def render_feedback(feedback: Feedback, budget: int) -> ToldFeedback:
    """Reviews first, then whole threads, then the conversation, as far as they fit; something always does."""
    parts: list[tuple[str, tuple[str, ...]]] = [
        (_review(review), (review_thing(review),)) for review in feedback.reviews
    ]
    for thread in threads_of(feedback.remarks):
        parts.append((_thread(thread), tuple(remark_thing(remark) for remark in thread)))
    parts += [(_comment(comment), ()) for comment in feedback.comments]
    shown: list[str] = []
    things: list[str] = []
    used = 0
    for text, names in parts:
        if shown and used + len(text) + 2 > budget:
            shown.append("[more was said, and comes once this is done]"[: max(0, budget - used - 2)])
            break
        shown.append(cut(text, budget))
        used += len(shown[-1]) + 2
        things += names
    things += [remark_thing(remark) for remark in feedback.settled]
    return ToldFeedback("\n\n".join(part for part in shown if part), tuple(things))


def threads_of(remarks: tuple[Remark, ...]) -> tuple[tuple[Remark, ...], ...]:
    """Remarks by thread, in the order in which the threads began; each as it went on."""
    threads: dict[int, list[Remark]] = {}
    for remark in remarks:
        threads.setdefault(remark.reply_to or remark.id, []).append(remark)
    return tuple(tuple(thread) for thread in threads.values())


def _review(review: Review) -> str:
    said = strip_hidden(review.body)[0].strip()
    state = _STATES.get(review.state.value, review.state.value.lower())
    return f"- {one_line(review.author, 40)} {state}" + (f": {said}" if said else "")


def _thread(thread: tuple[Remark, ...]) -> str:
    first = thread[0]
    place = one_line(first.path, 300) + (f":{first.line}" if first.line is not None else "")
    hunk = "\n".join(f"  | {one_line(text, 300)}" for text in first.hunk.splitlines()[-_HUNK_LINES:])
    said = "\n".join(
        f"{_lead(remark, first)}{one_line(remark.author, 40)}, {place}: {strip_hidden(remark.body)[0]}"
        for remark in thread
    )
    return f"{said}\n{hunk}".rstrip()


def _lead(remark: Remark, first: Remark) -> str:
    return f"- thread {first.id}, " if remark is first else "  "


def _comment(comment: Comment) -> str:
    return f"- {one_line(comment.author, 40)} wrote on the pull request: {strip_hidden(comment.body)[0]}"
