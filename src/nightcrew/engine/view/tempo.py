"""How often one project is read now, and what of it is due."""

from dataclasses import dataclass

from nightcrew.core.model.quota import Pace, PaceNow
from nightcrew.core.model.settings import Settings
from nightcrew.core.policy.pacing import project_interval_s

TOLD_FOR_S = 86_400.0
"""How long a delivery shows that the webhook of a project works."""


@dataclass(slots=True)
class Tempo:
    """When a project was read and when something last happened in it, by the monotonic clock. `lists_at`: its lists
    and all its tasks; `work_at`: its tasks at work at least. None: not yet, or it is asked for again."""

    lists_at: float | None = None
    work_at: float | None = None
    news_at: float | None = None
    told_at: float | None = None
    asked: int = 0  # how often somebody asked for it to be read anew
    pace: PaceNow = PaceNow()
    """How freely the forge lets it be read."""

    def expire(self) -> None:
        """Everything is read again at the next look."""
        self.lists_at = None
        self.asked += 1

    def tell(self, now: float) -> None:
        """The forge itself said that there is news."""
        self.told_at = self.news_at = now
        self.expire()

    def note_news(self, now: float) -> None:
        """Something happened, or is being done."""
        self.news_at = now

    def note_lists(self, at: float, asked: int) -> None:
        """It was read, from that moment on. Who asked meanwhile may have meant something newer."""
        self.lists_at = at if self.asked == asked else None
        self.work_at = at

    def note_work(self, at: float) -> None:
        """Its tasks at work were read."""
        self.work_at = at

    def interval_s(self, settings: Settings, now: float) -> float:
        """Between two looks at its lists; the first news is that it is there at all."""
        if self.news_at is None:
            self.news_at = now
        idle_s = now - self.news_at
        is_told = self.told_at is not None and now - self.told_at < TOLD_FOR_S
        return project_interval_s(settings, idle_s=idle_s, pace=self.pace.pace, is_told=is_told)

    def are_lists_due(self, settings: Settings, now: float) -> bool:
        """Whether its lists are to be read now. Not while polling has to wait; where nothing may be asked at all,
        asking costs nothing and brings the words for it."""
        if self.pace.pace is Pace.STOPPED:
            return False
        return self.lists_at is None or now - self.lists_at >= self.interval_s(settings, now)

    def is_work_due(self, settings: Settings, now: float) -> bool:
        """Whether its tasks at work are to be read now, where its lists are read less often than usual or not at
        all."""
        if self.pace.pace not in (Pace.SLOW, Pace.STOPPED):
            return False
        return self.work_at is None or now - self.work_at >= settings.interval_s

    def next_at(self, settings: Settings, now: float) -> float | None:
        """When something of it is due by its intervals; None if that is not known."""
        if self.lists_at is None and self.work_at is None:
            return None
        times = []
        if self.lists_at is not None and self.pace.pace is not Pace.STOPPED:
            times.append(self.lists_at + self.interval_s(settings, now))
        if self.work_at is not None and self.pace.pace in (Pace.SLOW, Pace.STOPPED):
            times.append(self.work_at + settings.interval_s)
        return min(times, default=None)
