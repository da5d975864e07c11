"""Routes of tasks: what there is, why each waits, and the words of a person about one."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from nightcrew.api import schema
from nightcrew.api.delegation_body import DelegateRequestBody
from nightcrew.api.error import describe_errors
from nightcrew.api.live import LiveResponse, follow_events, follow_task_output
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer, render_task_detail, render_tasks
from nightcrew.api.saying_body import WordBody
from nightcrew.api.wiring import LastEvent, Port, Surroundings, live_answers
from nightcrew.core.errors import Invalid, NightcrewError
from nightcrew.core.ids import TaskKey, is_slug, parse_number, parse_task_key
from nightcrew.core.model.internal import Pins, TaskKind
from nightcrew.ports.service import Word

router = APIRouter(prefix="/tasks", tags=["task"])
_ONE = "/{owner}/{repo}/{number}"
_FOUND = describe_errors(404)
_DONE = describe_errors(404, 409)
_HEAD = "^([0-9a-f]{7,40})?$"


def key_of_path(
    owner: Annotated[str, Path(max_length=100)],
    repo: Annotated[str, Path(max_length=100)],
    number: Annotated[str, Path(pattern="^i?[1-9][0-9]{0,9}$", description="42, or i7 for an internal task")],
) -> TaskKey:
    """The task that a path names."""
    slug = f"{owner}/{repo}"
    if not is_slug(slug):
        raise Invalid(f"{slug!r} is not a repository; write it as owner/repo")
    return TaskKey(slug, parse_number(number))


def read_key(text: str) -> TaskKey:
    """The task that a query names as `owner/repo#42`; Invalid for anything else."""
    try:
        return parse_task_key(text)
    except NightcrewError as error:
        raise Invalid(str(error)) from error


Key = Annotated[TaskKey, Depends(key_of_path)]


@router.get("", response_model=schema.TasksBody, responses=describe_errors(404))
async def list_tasks(service: Port, project: str | None = None, *, include_done: bool = False) -> Json:
    """All tasks (of one project) with why each is where it is; those that are done only if asked for."""
    return render_tasks(await service.list_tasks(project=project, include_done=include_done))


@router.post("", response_model=schema.AnswerBody, responses=_DONE)
async def add_task(service: Port, new: schema.NewTaskBody) -> Json:
    """File an issue that becomes a task. `data` has `task` and `url`."""
    answer = await service.add_task(new.project, title=new.title, body=new.body, labels=new.labels)
    return render_answer(answer)


@router.post("/internal", response_model=schema.AnswerBody, responses=_DONE)
async def add_internal_task(service: Port, new: schema.NewInternalTaskBody) -> Json:
    """Record a task that no issue stands for. `data` has `task`."""
    pins = Pins(new.agent, new.model, new.complexity, tuple(dict.fromkeys(new.skills)))
    kind = TaskKind(new.kind)
    answer = await service.add_internal_task(new.project, title=new.title, body=new.body, kind=kind, pins=pins)
    return render_answer(answer)


@router.get("/resolve", response_model=schema.TaskNameBody, responses=_DONE)
async def resolve_task(service: Port, text: Annotated[str, Query(min_length=1, max_length=220)]) -> Json:
    """The one task that `owner/repo#42`, `repo#42` or `42` means; 409 names all candidates if there are more."""
    return {"task": str(await service.resolve_task(text))}


@router.get(_ONE, response_model=schema.TaskDetailBody, responses=_FOUND)
async def get_task(service: Port, key: Key) -> Json:
    """Everything about one task; events newest last."""
    return render_task_detail(await service.get_task(key))


@router.get(_ONE + "/diff", response_model=schema.DiffBody, responses=_DONE)
async def get_diff(service: Port, key: Key) -> Json:
    """The task's branch against its base."""
    return {"task": str(key), "diff": await service.load_diff(key)}


@router.get(_ONE + "/attach", response_model=schema.AttachBody, responses=_DONE)
async def get_attach(service: Port, key: Key) -> Json:
    """The command that attaches a terminal to the session of the run at work; 404 if none lives."""
    return {"argv": list(await service.attach_argv(key))}


@router.get(_ONE + "/live", response_class=LiveResponse, status_code=200, responses=live_answers("fact", "output"))
async def follow_task(service: Port, key: Key, live: Surroundings, after: LastEvent) -> LiveResponse:
    """The task's facts and the output of its runs as they happen."""
    await service.get_task(key)
    facts = follow_events(service, after=after, task=key)
    return LiveResponse(
        facts, follow_task_output(service, key, look_s=live.pace.look_s), closing=live.closing, pace=live.pace
    )


@router.post(_ONE + "/publish", response_model=schema.AnswerBody, responses=_DONE)
async def publish_task(service: Port, key: Key) -> Json:
    """Make an issue of an internal task, once. `data` has `task` and `url`."""
    return render_answer(await service.publish_task(key))


@router.post(_ONE + "/approve", response_model=schema.AnswerBody, responses=_DONE)
async def approve_task(service: Port, key: Key, head: Annotated[str, Query(pattern=_HEAD)] = "") -> Json:
    """A person's word for the merge of the head as it is now; with `head` (or its beginning) for that one alone."""
    return render_answer(await service.approve_task(key, head=head))


@router.post(_ONE + "/retry", response_model=schema.AnswerBody, responses=_DONE)
async def retry_task(service: Port, key: Key) -> Json:
    """Start anew with the counters at zero; work on the branch is kept."""
    return render_answer(await service.retry_task(key))


@router.post(_ONE + "/stop", response_model=schema.AnswerBody, responses=_DONE)
async def stop_task(service: Port, key: Key) -> Json:
    """End the run at work and block the task; its work is kept."""
    return render_answer(await service.stop_task(key))


@router.post(_ONE + "/block", response_model=schema.AnswerBody, responses=_DONE)
async def block_task(service: Port, key: Key, request: schema.BlockRequestBody) -> Json:
    """Keep the task from going on, and say why."""
    return render_answer(await service.block_task(key, why=request.why))


@router.post(_ONE + "/comment", response_model=schema.AnswerBody, responses=_DONE)
async def comment_task(service: Port, key: Key, request: schema.CommentBody) -> Json:
    """Write a comment on the issue, as its person: it answers a question, and commands in it are obeyed."""
    return render_answer(await service.comment_task(key, text=request.text))


@router.post(_ONE + "/say", response_model=schema.AnswerBody, responses=_DONE)
async def say_to(service: Port, key: Key, request: WordBody) -> Json:
    """Send a message to the task's agent, as the next turn of its own session. `data` has `message` and `state`."""
    word = Word(request.text, request.author, interrupts=request.interrupts, name=request.name)
    return render_answer(await service.say_to(key, word))


@router.post(_ONE + "/unblock", response_model=schema.AnswerBody, responses=_DONE)
async def unblock_task(service: Port, key: Key) -> Json:
    """Let a blocked task go on."""
    return render_answer(await service.unblock_task(key))


@router.post(_ONE + "/delegate", response_model=schema.AnswerBody, responses=_DONE)
async def delegate_task(service: Port, key: Key, request: DelegateRequestBody) -> Json:
    """Accept or refuse the sub-tasks that its author proposes."""
    return render_answer(await service.delegate_task(key, accept=request.accept))


@router.post(_ONE + "/start", response_model=schema.AnswerBody, responses=_DONE)
async def start_task(service: Port, key: Key) -> Json:
    """Have it start although it depends on issues that are not closed as completed."""
    return render_answer(await service.start_task(key))


@router.post(_ONE + "/close", response_model=schema.AnswerBody, responses=_DONE)
async def close_task(service: Port, key: Key) -> Json:
    """Close the issue without merging; a run at work is ended, its work kept."""
    return render_answer(await service.close_task(key))
