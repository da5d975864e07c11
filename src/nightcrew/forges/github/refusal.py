"""What the forge's words mean when it refuses a merge. 405 stands for all of them, so the words are all there is; they
are as people reported them from github.com, which documents none."""

from nightcrew.core.model.refusal import RefusalKind

_WORDS: tuple[tuple[RefusalKind, tuple[str, ...]], ...] = (
    # From what is said of one thing only to what is said of many.
    (RefusalKind.QUEUE, ("merge queue",)),
    (RefusalKind.METHOD, ("are not allowed on this", "is not allowed on this", "merge method", "linear history")),
    (RefusalKind.SIGNATURE, ("verified signature", "signed commit", "must be signed")),
    (RefusalKind.REVIEW, ("approving review", "review is required", "reviews are required", "code owner",
                          "changes have been requested", "requested changes")),
    (RefusalKind.CHECKS, ("status check", "required check", "required workflow", "code scanning")),
    (RefusalKind.BEHIND, ("out of date", "out-of-date", "not up to date")),
    (RefusalKind.RACE, ("base branch was modified", "head branch was modified", "try again", "is in progress")),
    (RefusalKind.DRAFT, ("draft", "work in progress")),
    (RefusalKind.CONFLICT, ("not mergeable", "merge conflict", "can't be rebased", "cannot be rebased",
                            "can not be rebased")),
    (RefusalKind.RULE, ("rule violation", "protected branch", "must be resolved", "must be made through",
                        "is locked", "cannot be updated")),
)  # fmt: skip


def classify(words: str, *, status: int) -> RefusalKind:
    """The kind of a refusal, as far as its words and status tell; 409 with the same head is a race in the forge."""
    said = words.lower().replace("’", "'")
    found = next((kind for kind, marks in _WORDS if any(mark in said for mark in marks)), None)
    if status == 409:
        return found if found is RefusalKind.BEHIND else RefusalKind.RACE
    if found is not None:
        return found
    return RefusalKind.INVALID if status == 422 else RefusalKind.OTHER
