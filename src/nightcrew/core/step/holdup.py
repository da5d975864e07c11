"""What holds up a merge, kept with since when: checks that do not end, a forge that does not know whether it merges,
a base that is red itself. Each is told apart from what the author could mend."""

from dataclasses import replace

from nightcrew.core.actions import NoteHoldup
from nightcrew.core.known import Unknown
from nightcrew.core.model.holdup import Holdup, HoldupKind, find_holdup
from nightcrew.core.model.pull import PullView
from nightcrew.core.policy.checking import failed_on_base
from nightcrew.core.policy.merging import Gate
from nightcrew.core.policy.pending import is_unknown_for_long, out_of_patience, pending_checks
from nightcrew.core.policy.term import Truth
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, block
from nightcrew.core.step.base import update_branch


def follow_holdup(case: Case, pull: PullView, gate: Gate, rest: Wait) -> Stage:
    """The wait at a shut gate, with since when; or the block once it took too long."""
    names = pending_checks(case.settings, pull)
    since = _find(case, pull, HoldupKind.CHECKS)
    if names and since is not None and not gate.failed_checks:
        spent = out_of_patience(case.settings, since, names, now=case.world.now)
        if spent is not None:
            return block(case.task, spent)
    unknown = any(term.code == "mergeable" and term.truth is Truth.UNKNOWN for term in gate.shut)
    unknown_since = _find(case, pull, HoldupKind.MERGEABLE)
    if unknown and unknown_since is not None and is_unknown_for_long(unknown_since, now=case.world.now):
        rest = Wait("gate_shut", gate.words, "The forge is asked again; look at the pull request there.")
    notes = (
        *_note(case, pull, HoldupKind.CHECKS, since, f"{', '.join(names)}: not finished" if names else ""),
        *_note(case, pull, HoldupKind.MERGEABLE, unknown_since, "whether it merges is not known" if unknown else ""),
    )
    return Stage(notes, rest)


def follow_red_base(case: Case, pull: PullView, gate: Gate) -> Stage | None:
    """Checks that fail on the base as well are not the author's to mend: it waits until the base is green, and has it
    brought in then, so that they run anew."""
    since = _find(case, pull, HoldupKind.BASE_RED)
    red = failed_on_base(case.settings, pull)
    if isinstance(red, Unknown):
        words = f"whether {pull.pull.base_ref} fails in the same way is not known ({red.why})"
        return Stage(wait=Wait("gate_waits", words, "It is looked up again."))
    if red.value and gate.failed_checks:
        return None  # the others are its author's
    if red.value:
        words = (
            f"{', '.join(red.value)} fails on {pull.pull.base_ref} itself as well, so that no change of this pull "
            "request could mend it"
        )
        notes = _note(case, pull, HoldupKind.BASE_RED, since, words)
        return Stage(notes, Wait("gate_shut", words, f"It goes on by itself once {pull.pull.base_ref} is green."))
    if since is None or not gate.failed_checks:
        return None
    if isinstance(pull.has_base, Unknown):
        words = f"whether it has the repaired {pull.pull.base_ref} in it is not known ({pull.has_base.why})"
        return Stage(wait=Wait("gate_waits", words, "It is looked up again."))
    if pull.has_base.value or pull.pull.is_fork:
        return None
    return update_branch(case, pull, f"{pull.pull.base_ref} is green again, and its checks failed as that did")


def _find(case: Case, pull: PullView, kind: HoldupKind) -> Holdup | None:
    return find_holdup(case.task.holdups, kind, head_sha=pull.pull.head_sha)


def _note(case: Case, pull: PullView, kind: HoldupKind, since: Holdup | None, why: str) -> tuple[NoteHoldup, ...]:
    """Keep when it began, or that it has ended."""
    if bool(why) == (since is not None):
        return ()
    seen = NoteHoldup(case.task.key, pull.pull.number, pull.pull.head_sha, kind, why or "it has ended")
    return (seen if why else replace(seen, is_over=True),)
