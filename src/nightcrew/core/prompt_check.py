"""How failed checks are told to an agent: what failed and where first, then the end of each log, within a budget."""

from dataclasses import dataclass

from nightcrew.core.cut import cut, cut_front
from nightcrew.core.failed_log import FailedLog, group_alike, parse_failed_log
from nightcrew.core.neutral import one_line


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check that failed on the head, with the end of its log. `notes` are its annotations; `url` is where a status
    says more."""

    name: str
    summary: str
    log: str
    notes: tuple[str, ...] = ()
    url: str = ""


def render_checks(checks: tuple[FailedCheck, ...], budget: int) -> str:
    """All of them in at most `budget` characters. Checks that fail the same way are told once, with all their names;
    of each log its end stands last, for that is where most say why."""
    summaries = {check.name: check.summary for check in checks}
    silent = [check for check in checks if not check.log.strip()]
    groups = group_alike((check.name, parse_failed_log(check.log)) for check in checks if check.log.strip())
    share = budget // max(1, len(groups) + len(silent))
    more = {check.name: _more(check) for check in checks}
    parts = [_group(log, _head(names, summaries[names[0]]) + more[names[0]], share) for names, log in groups]
    parts += [cut(_head((check.name,), check.summary) + _more(check), max(0, share - 2)) for check in silent]
    return "\n\n".join(parts)


def _group(log: FailedLog, said: str, share: int) -> str:
    head = cut(said + _found(log), share // 2)
    return f"{head}\n{cut_front(log.text, max(0, share - len(head) - 3))}".strip()


def _head(names: tuple[str, ...], summary: str) -> str:
    return f"{', '.join(one_line(name, 100) for name in names)}: {one_line(summary, 300)}".strip()


def _more(check: FailedCheck) -> str:
    """What a check says of places, and where more of it stands."""
    url = f"\nmore at: {one_line(check.url, 300)}" if check.url else ""
    notes = "".join(f"\n- {one_line(note, 400)}" for note in check.notes)
    return url + (f"\nannotations:{notes}" if notes else "")


def _found(log: FailedLog) -> str:
    text = f"\nfailed step: {one_line(log.step, 300)}" if log.step else ""
    if log.tests:
        more = f"\n- and {log.more_tests} more" if log.more_tests else ""
        text += "\nfailing tests:\n" + "\n".join(f"- {one_line(name, 300)}" for name in log.tests) + more
    if log.error and log.error != log.text.strip():
        text += f"\nfirst error:\n{log.error}"
    return text + "\nend of the log:" if text else ""
