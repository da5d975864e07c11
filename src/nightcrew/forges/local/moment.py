"""Times as GitHub writes them: UTC, whole seconds, `Z`. No clock is read here."""

from datetime import UTC, datetime


def render_moment(moment: datetime) -> str:
    """`2026-01-31T09:00:00Z`; fractions of a second are cut."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_moment(text: str) -> datetime | None:
    """An ISO 8601 time, or None if it is not one; without a zone it is taken as UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
