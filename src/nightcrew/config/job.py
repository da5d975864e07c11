"""The keys of jobs: in config.yml, and as the front matter of files that a repository brings along."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ValidationError, model_validator

from nightcrew.config.document import parse_document
from nightcrew.config.problem import render_problems
from nightcrew.config.section import Section
from nightcrew.config.skill import SkillNames
from nightcrew.config.value import (
    AgentName,
    Command,
    Count,
    Duration,
    ModelName,
    OneLine,
    Text,
    Truth,
    bad_value,
    key,
)
from nightcrew.core.cron import parse_schedule
from nightcrew.core.errors import ConfigError, NightcrewError, Problem
from nightcrew.core.model.internal import Pins, TaskKind
from nightcrew.core.model.job import CatchUp, DailyReview, JobSettings
from nightcrew.core.model.settings import ProjectSettings, RepositoryJobs

FOLDER = ".nightcrew/jobs/"
_JOB = JobSettings("", "")
_TITLE, _PROMPT = 200, 60_000
_WORKS = ("prompt", "run", "builtin")
_MEANT_FOR: dict[str, tuple[str, ...]] = {
    "title": ("prompt",),
    "kind": ("prompt",),
    "external": ("prompt",),
    "agent": ("prompt", "builtin"),
    "model": ("prompt", "builtin"),
    "complexity": ("prompt", "builtin"),
    "timeout": ("run",),
    "comment": ("builtin",),
    "issues": ("builtin",),
}
"""The works for which a key means something. With another it is refused: who wrote it expects it to do something."""


def _job_name(value: str) -> str:
    plain = value.replace("-", "").replace("_", "")
    if not (plain.isascii() and plain.isalnum() and plain == plain.lower() and value[0].isalnum() and len(value) <= 40):
        raise bad_value("the name of a job is made of small letters, digits, - and _, at most 40")
    return value


def _schedule(value: str) -> str:
    return _parsed(value, value, "UTC")


def _zone(value: str) -> str:
    return _parsed(value, "@daily", value)


def _parsed(value: str, schedule: str, zone: str) -> str:
    try:
        parse_schedule(schedule, zone)
    except NightcrewError as error:
        raise bad_value(str(error)) from None
    return value


JobName = Annotated[str, AfterValidator(_job_name)]
ScheduleText = Annotated[OneLine, AfterValidator(_schedule)]
ZoneName = Annotated[OneLine, AfterValidator(_zone)]


class JobKeys(Section):
    """One job: when, and one of `prompt`, `run` and `builtin`."""

    schedule: ScheduleText = key("Five cron fields (minute hour day month weekday), or `@daily` and the like.")
    timezone: ZoneName = key("The zone on whose clock it fires, such as `Europe/Berlin`.", _JOB.zone)
    enabled: Truth = key("Whether it fires; `nightcrew job enable` and `disable` go over it.", _JOB.enabled)
    catch_up: CatchUp = key(
        "What becomes of times that were missed: `once` makes up for the last of them, `skip` for none.", _JOB.catch_up
    )
    title: OneLine | None = key("The title of its tasks; empty: its name.", None, max_length=_TITLE)
    prompt: Text = key("The text of the task that it asks for.", _JOB.prompt, max_length=_PROMPT)
    kind: Literal["change", "report"] = key(
        "`change` ends as a merged pull request, `report` with what its agent wrote.", "change"
    )
    external: Truth = key("Its task is an issue on the forge, not an internal one.", _JOB.external)
    agent: AgentName | None = key("Who is to do it; empty: the router's choice.", None)
    model: ModelName | None = key("With which model.", None)
    complexity: Literal["simple", "medium", "complex"] | None = key("How hard it is.", None)
    skills: SkillNames = key("Skills that its author has to have.", ())
    run: Command | None = key("A command to run instead, in a checkout of the base branch. No shell reads it.", None)
    timeout: Duration = key("Time limit of the command.", _JOB.timeout_s, ge=1, le=6 * 3600)
    builtin: Literal["daily-review"] | None = key("A job that is built in: the report of the last day.", None)
    comment: Truth = key("`daily-review`: an agent is asked to comment on it.", DailyReview().comment)
    issues: Count = key(
        "`daily-review`: how many issues it may file about what came again and again.",
        DailyReview().issues,
        ge=0,
        le=10,
    )

    @model_validator(mode="after")
    def _one_work(self) -> "JobKeys":
        given = [name for name in _WORKS if getattr(self, name)]
        if len(given) != 1:
            but = f", not {' and '.join(given)}" if given else ""
            raise bad_value(f"needs exactly one of {', '.join(_WORKS)}{but}")
        for name, works in _MEANT_FOR.items():
            if given[0] not in works and getattr(self, name) != type(self).model_fields[name].default:
                raise bad_value(f"`{name}` means nothing with `{given[0]}`, only with {' or '.join(works)}")
        if self.external and self.kind == "report":
            raise bad_value("`kind: report` needs an internal task: leave out `external`")
        return self


def build_jobs(jobs: Mapping[str, JobKeys]) -> tuple[JobSettings, ...]:
    """The jobs of a project, by name."""
    return tuple(_build(name, keys) for name, keys in sorted(jobs.items()))


def _build(name: str, keys: JobKeys, *, path: str = "") -> JobSettings:
    return JobSettings(
        name=name,
        schedule=keys.schedule,
        zone=keys.timezone,
        enabled=keys.enabled,
        title=keys.title or "",
        prompt=keys.prompt,
        kind=TaskKind(keys.kind),
        external=keys.external,
        pins=Pins(keys.agent or "", keys.model or "", keys.complexity or "", keys.skills),
        run=keys.run or (),
        timeout_s=keys.timeout,
        review=DailyReview(keys.comment, keys.issues) if keys.builtin else None,
        catch_up=keys.catch_up,
        path=path,
    )


def add_job_files(project: ProjectSettings, files: Mapping[str, str]) -> tuple[ProjectSettings, tuple[str, ...]]:
    """The project with the jobs of its repository's files (path to text) besides its owner's, and what is wrong with
    those that are left out. The owner's job of the same name wins; what a file may ask for is the owner's to say."""
    jobs, problems = list(project.jobs), []
    names = {job.name for job in jobs}
    for path, text in sorted(files.items()):
        try:
            job = _parse_file(path, text)
            _allow(project, job, names)
        except ConfigError as error:
            problems += [str(problem) for problem in error.problems]
            continue
        names.add(job.name)
        jobs.append(job)
    return replace(project, jobs=tuple(jobs)), tuple(problems)


def _parse_file(path: str, text: str) -> JobSettings:
    """A job from a Markdown file: front matter between two lines of `---`, and the prompt behind it."""
    head, body = _split(path, text)
    document = parse_document(head, path)
    if not isinstance(document.value, Mapping):
        raise ConfigError([Problem(f"{path}:2", "the front matter is not `key: value`", "such as schedule: '@daily'")])
    values: dict[str, Any] = dict(document.value)
    name = path.removeprefix(FOLDER).removesuffix(".md")
    if body.strip():
        if "prompt" in values:
            raise ConfigError([Problem(document.where(("prompt",)), "there is a text behind the front matter as well")])
        values["prompt"] = body.strip()
    try:
        return _build(_job_name(name), JobKeys.model_validate(values), path=path)
    except ValidationError as error:
        raise ConfigError(render_problems(error, JobKeys, where=document.where)) from None
    except ValueError as error:
        raise ConfigError([Problem(path, str(error))]) from None


def _split(path: str, text: str) -> tuple[str, str]:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---" or "---" not in (line.rstrip() for line in lines[1:]):
        raise ConfigError([Problem(f"{path}:1", "has no front matter", "begin with --- schedule: '@daily' ---")])
    end = next(index for index, line in enumerate(lines[1:], start=1) if line.rstrip() == "---")
    return "\n".join(("", *lines[1:end])), "\n".join(lines[end + 1 :])


def _allow(project: ProjectSettings, job: JobSettings, names: set[str]) -> None:
    if job.name in names:
        raise ConfigError([Problem(job.path, f"is not used: config.yml has a job {job.name}")])
    if project.repository_jobs is RepositoryJobs.OFF:
        raise ConfigError([Problem(job.path, "is not used: repository_jobs is off")])
    if job.review is not None:
        raise ConfigError([Problem(job.path, "is not used: what is built in is switched on in config.yml")])
    if job.run and project.repository_jobs is not RepositoryJobs.ALL:
        raise ConfigError([Problem(job.path, "is not used: it runs a command, which needs repository_jobs: all")])


def render_jobs(
    jobs: tuple[JobSettings, ...], *, duration: Callable[[float], object]
) -> Iterator[tuple[str, dict[str, object]]]:
    """As they stand in config.yml; `duration` writes seconds."""
    for job in jobs:
        yield (
            job.name,
            {
                "schedule": job.schedule,
                "timezone": job.zone,
                "enabled": job.enabled,
                "catch_up": job.catch_up.value,
                "title": job.title or None,
                "prompt": job.prompt,
                "kind": job.kind.value,
                "external": job.external,
                "agent": job.pins.agent or None,
                "model": job.pins.model or None,
                "complexity": job.pins.complexity or None,
                "skills": list(job.pins.skills),
                "run": list(job.run) or None,
                "timeout": duration(job.timeout_s),
                "builtin": "daily-review" if job.review is not None else None,
                "comment": (job.review or DailyReview()).comment,
                "issues": (job.review or DailyReview()).issues,
            },
        )
