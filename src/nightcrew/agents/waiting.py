"""When a failed run may be tried again, from what its CLI said about the failure: fields first and words, the later of
both, since a vendor's time is never shortened."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from nightcrew.agents.pattern import Named
from nightcrew.agents.zone import HostZone, find_zone
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.retry_time import names_time, parse_retry_at
from nightcrew.ports.agent import RunOutput

TIMED = frozenset({
    FailureKind.RATE_LIMIT,
    FailureKind.USAGE_WINDOW,
    FailureKind.CREDITS,
    FailureKind.BILLING,
    FailureKind.OVERLOADED,
})  # fmt: skip
"""Kinds that pass with time; in the words about others a time means something else."""

_UNREAD = " [when to try again could not be read]"


def add_retry_at(
    failure: Failure,
    output: RunOutput,
    *,
    named: Named,
    others: Iterable[str],
    fields: Iterable[str],
    said_at: datetime | None,
) -> Failure:
    """The failure with the time that its decisive line or a field names, or else another line of the same message.

    `fields` are what the CLI told in fields of their own, as `name: value`. Durations count from `said_at`, when the
    line was printed, or else from the end of the run. A time that is there and not understood is noted in the detail.
    """
    printed_at = min((at for at in (said_at, output.ended_at) if at is not None), default=None)
    if failure.kind not in TIMED or printed_at is None:
        return failure
    vendor_zone = find_zone(named.zone) if named.zone else None

    def read(text: str) -> datetime | None:
        return parse_retry_at(
            text,
            printed_at=printed_at,
            host_zone=output.zone or HostZone(),
            find_zone=find_zone,
            vendor_zone=vendor_zone,
        )

    retry_at = None
    if vendor_zone is not None or not named.zone:
        certain = [at for at in map(read, (*fields, named.line)) if at is not None]
        retry_at = max(certain) if certain else next((at for at in map(read, others) if at is not None), None)
    if retry_at is None and names_time(named.line):
        return replace(failure, detail=failure.detail + _UNREAD)
    return replace(failure, retry_at=retry_at)
