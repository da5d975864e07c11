"""Filling forges, stores and worlds with as much as a benchmark needs, by the quickest way."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nightcrew.core.branch import branch_name
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Evidence, Status, transition
from nightcrew.core.model.event import Event
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.route import Complexity, Route, RouteSource
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.core.model.task import Task
from nightcrew.engine.naming import run_folder, session_name
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.moment import render_moment
from nightcrew.store.sqlite import SqliteStore

BEGAN_AT = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
EMPTY_REPOSITORY = {"README.md": "# A repository\n"}


def big_tree(files: int) -> dict[str, str]:
    """So many small files, fifty a folder."""
    line = "value = {number}  # one of many lines that make this file about as long as a small module is\n"
    return {
        f"src/part{number // 50:03}/module{number % 50:02}.py": line.format(number=number) * 12
        for number in range(files)
    }


def seed_issues(
    forge: LocalForge, slug: str, count: int, *, labels: Callable[[int], Sequence[str]] = lambda _number: ()
) -> None:
    """Open issues 1…count by the owner, with their labels, straight into the forge's tables: over HTTP, a thousand of
    them would take longer than what is measured."""
    repository, store = forge.repository_id(slug), forge.store
    owner = store.count("SELECT owner_id FROM repository WHERE id = ?", repository)
    ids: dict[str, int] = {}
    with store.transaction():
        for number in range(1, count + 1):
            at = render_moment(BEGAN_AT + timedelta(seconds=number))
            issue = store.insert(
                "issue", repository_id=repository, number=number, title=f"Thing {number} is not as it should be",
                body="It should be otherwise.\n" * 20, user_id=owner, is_pull=False, created_at=at, updated_at=at,
            )  # fmt: skip
            for name in labels(number):
                if name not in ids:
                    ids[name] = store.insert(
                        "label",
                        repository_id=repository,
                        name=name,
                        key=name.casefold(),
                        color="ededed",
                        description="",
                    )
                store.insert("issue_label", issue_id=issue, label_id=ids[name])
        store.update("repository", repository, next_number=count + 1)


def task_of(slug: str, number: int, *, status: Status) -> Task:
    """A task as it is in the middle of things."""
    at = BEGAN_AT + timedelta(seconds=number)
    title = f"Thing {number} is not as it should be"
    return Task(
        key=TaskKey(slug, number),
        title=title,
        status=status,
        created_at=at,
        updated_at=at,
        route=None
        if status is Status.NEW
        else Route("owl", "", Complexity.MEDIUM, RouteSource.ROUND_ROBIN, "its turn"),
        branch=branch_name(number, title),
        base_ref="main",
        attempts=1 if status is Status.IN_PROGRESS else 0,
    )


def run_of(task: Task) -> Run:
    """The run that works on a task."""
    return Run(
        id=RunId(f"01BENCH{task.key.number:019}"),
        task=task.key,
        role=Role.AUTHOR,
        agent="owl",
        model="",
        attempt=1,
        state=RunState.RUNNING,
        session=session_name(task.key, Role.AUTHOR, 1),
        folder=run_folder(task.key, Role.AUTHOR, 1),
        created_at=task.created_at,
        started_at=task.created_at,
        deadline_s=1e8,
    )


def issue_of(task: Task) -> Issue:
    """The issue of a task, labelled as the task is."""
    return Issue(
        number=task.key.number,
        title=task.title,
        body="It should be otherwise.\n" * 20,
        labels=("nightcrew", task.status.label),
        is_open=True,
        author="local",
        created_at=task.created_at,
        updated_at=task.updated_at,
    )


async def record_tasks(store: SqliteStore, tasks: Iterable[Task]) -> None:
    """Rows of tasks, brought to their status along the edges that there are."""
    for task in tasks:
        event = Event("task.adopted", "for a benchmark", task.created_at, task.key)
        await store.record_task(_as_new(task), event=event)
        if task.status is Status.NEW:
            continue
        await _move(store, task, Status.NEW, Status.ROUTED, Evidence.ROUTE)
        if task.status is not Status.ROUTED:
            await _move(store, task, Status.ROUTED, Status.IN_PROGRESS, Evidence.RUN_STARTED)


def _as_new(task: Task) -> Task:
    return replace(task, status=Status.NEW)


async def _move(store: SqliteStore, task: Task, source: Status, target: Status, evidence: Evidence) -> None:
    event = Event("status.changed", "for a benchmark", task.created_at, task.key)
    await store.change_status(task.key, transition(source, target, evidence), event=event, labels_follow=False)


def a_key_pair() -> tuple[str, str]:
    """A private key and its public one, as an App has them."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = made.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()
