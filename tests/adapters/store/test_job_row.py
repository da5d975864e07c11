"""How many rows of a job are kept, and which."""

from datetime import timedelta
from pathlib import Path

from nightcrew.core.model.event import Event
from nightcrew.core.model.job import JobRun, JobState
from nightcrew.store.job import KEPT
from nightcrew.store.sqlite import SqliteStore
from tests.adapters.store.sample import NOW, FixedClock


async def test_the_run_whose_task_may_still_live_outlasts_all_that_were_skipped(tmp_path: Path) -> None:
    def a_run(minutes: int, state: JobState) -> JobRun:
        return JobRun("o/r", "sweep", NOW + timedelta(minutes=minutes), NOW, state)

    async with SqliteStore.open(tmp_path / "nightcrew.db", clock=FixedClock()) as store:
        for minutes in (1, 2):
            await store.record_job_run(a_run(minutes, JobState.DONE), event=Event("due", "", NOW))
        for minutes in range(3, KEPT + 10):
            await store.record_job_run(a_run(minutes, JobState.SKIPPED), event=Event("due", "", NOW))
        found = await store.load_job_runs(each=2 * KEPT)
        assert await store.load_job_runs(started=True) == (a_run(2, JobState.DONE),)
        assert KEPT <= len(found) <= KEPT + 2
