"""The keys of a project, as the owner may set them in config.yml. Defaults are those of the core's settings."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, model_validator

from nightcrew.config.board import BoardKeys
from nightcrew.config.delegation import DelegationKeys
from nightcrew.config.job import JobKeys, JobName
from nightcrew.config.reaction import ReactionKeys
from nightcrew.config.section import Section
from nightcrew.config.skill import SkillKeys
from nightcrew.config.value import (
    Address,
    Amount,
    CheckName,
    Command,
    Count,
    Duration,
    Folder,
    Folders,
    ForgeName,
    InsidePaths,
    Lines,
    OneLine,
    Ref,
    Slug,
    Text,
    Trailers,
    Truth,
    bad_value,
    key,
    listed,
)
from nightcrew.core.model.merge import (
    MergeMethod,
    MergeMode,
    MergeSettings,
    MergeStrategy,
    UpdateMethod,
)
from nightcrew.core.model.settings import (
    CheckCommand,
    ClaimMode,
    CommitSettings,
    DependencySettings,
    Intake,
    ParentMode,
    ProjectSettings,
    PromptBudget,
    RepositoryJobs,
    ReviewAllow,
    ReviewSettings,
    SetupCommand,
)

_PROJECT = ProjectSettings("owner/name")
_MERGE = MergeSettings()
_REVIEW = ReviewSettings()
_COMMIT = CommitSettings()
_DEPENDENCY = DependencySettings()
_PROMPT = PromptBudget()
_CHECK_TIMEOUT_S = CheckCommand("", ()).timeout_s
_SETUP_TIMEOUT_S = SetupCommand(()).timeout_s
_DAY_S = 86_400
_CHARACTERS: dict[str, Any] = {"ge": 0, "le": 400_000}


Methods = Annotated[
    tuple[MergeMethod, ...], BeforeValidator(listed, json_schema_input_type=MergeMethod | list[MergeMethod])
]


class MergeKeys(Section):
    """When and how a pull request is merged. `merge: ask` is short for `merge: {mode: ask}`."""

    short_types = ("string",)

    mode: MergeMode = key("`auto` merges once everything holds; `ask` waits for a person's word as well.", _MERGE.mode)
    strategy: MergeStrategy = key(
        "`direct` merges what is green on its own; `update` only what is green with the base as it is now; `queue` "
        "tests the merge itself on the branch `nightcrew/queue/<base>` and lands exactly that.",
        _MERGE.strategy,
    )
    batch: Count = key("How many pull requests `queue` tests and lands together at most.", _MERGE.batch, ge=1, le=50)
    queue_timeout: Duration = key(
        "How long checks of the queue's branch may take, and how long a head keeps its turn under `update`.",
        _MERGE.queue_timeout_s,
        ge=1,
        le=_DAY_S,
    )
    method: MergeMethod = key("How the forge merges.", _MERGE.method)
    fallback: Methods = key(
        "Other ways to merge, the first that the repository allows, where it does not allow `method`. Empty: it waits.",
        _MERGE.fallback,
    )
    checks_limit: Duration = key(
        "How long the checks of one head may pend before the task is blocked; 0: for ever.",
        _MERGE.checks_limit_s,
        ge=0,
        le=30 * _DAY_S,
    )
    watch: Duration = key(
        "How long the base is watched after a merge, so that a revert is offered if it turns red by it; 0: not at all.",
        _MERGE.watch_s,
        ge=0,
        le=7 * _DAY_S,
    )
    update: UpdateMethod = key(
        "How the base is brought into a branch that is behind or in conflict; after `merge` nothing has to be forced.",
        _MERGE.update,
    )
    allow_without_ci: Truth = key("Merge although no check at all ran.", _MERGE.allow_without_ci)
    required_checks: Lines = key("Checks that must succeed, besides those the forge requires.", _MERGE.required_checks)
    protected_paths: Lines = key("Paths whose change needs a person's approval.", _MERGE.protected_paths)
    hold_labels: Lines = key("Labels that keep a pull request from merging.", _MERGE.hold_labels)

    @model_validator(mode="before")
    @classmethod
    def _mode_alone(cls, data: object) -> object:
        return {"mode": data} if isinstance(data, str) else data


class ReviewKeys(Section):
    """Who reviews, and how often."""

    cycles: Count = key("Rounds of requested changes before the task is blocked.", _REVIEW.cycles, ge=0, le=10)
    allow: ReviewAllow = key(
        "Who may review: `other_agent`, or also `other_model` of the agent that wrote the change.", _REVIEW.allow
    )
    attempts: Count = key("Reviewer runs that may fail before the task is blocked.", _REVIEW.attempts, ge=1, le=10)


class DependencyKeys(Section):
    """What follows from links between issues. A task always waits for those that it depends on."""

    parent: ParentMode = key(
        "What becomes of an issue whose sub-issues are all closed: `run` works on it, `close` closes it.",
        _DEPENDENCY.parent,
    )


class CommitKeys(Section):
    """How commits are written."""

    email: Address = key("Address of the author; `{agent}` stands for the agent's name.", _COMMIT.email)
    trailers: Trailers = key("Lines such as `Reviewed-on: night` added to each commit.", _COMMIT.trailers)
    sign_off: Truth = key("Add Signed-off-by.", _COMMIT.sign_off)


class PromptKeys(Section):
    """Characters that each part of a prompt may take."""

    issue: Count = key("The issue itself.", _PROMPT.issue, **_CHARACTERS)
    comments: Count = key("Its comments.", _PROMPT.comments, **_CHARACTERS)
    documents: Count = key("CLAUDE.md, AGENTS.md and README.md.", _PROMPT.documents, **_CHARACTERS)
    tree: Count = key("The list of files.", _PROMPT.tree, **_CHARACTERS)
    findings: Count = key("What reviewers found.", _PROMPT.findings, **_CHARACTERS)
    checks: Count = key("Output of failed checks.", _PROMPT.checks, **_CHARACTERS)
    attempts: Count = key("What earlier attempts did.", _PROMPT.attempts, **_CHARACTERS)
    memory: Count = key("What runs on other issues learned.", _PROMPT.memory, **_CHARACTERS)
    skills: Count = key("Skills; what does not fit is in the run's copy of them.", _PROMPT.skills, **_CHARACTERS)


class BudgetKeys(Section):
    """What a task may use over all roles until a person resets it. What is not set is counted and not limited."""

    runs: Count | None = key("Runs.", None, ge=1, le=1000)
    wall: Duration | None = key("Time that its runs take together.", None, ge=60, le=365 * _DAY_S)
    tokens: Count | None = key("Tokens, in and out, as far as its CLIs tell.", None, ge=1)
    cost: Amount | None = key("Cost in US dollars, as far as its CLIs tell.", None, gt=0, le=1_000_000)


class CheckKeys(Section):
    """A command that Nightcrew runs on the merge result in a clean checkout, reported as `nightcrew/<name>`."""

    name: CheckName = key("Name of the check; `review` is taken.")
    command: Command = key("Program and arguments, as a list or one line. No shell reads it.")
    timeout: Duration = key("Time limit.", _CHECK_TIMEOUT_S, ge=1, le=_DAY_S)


class SetupKeys(Section):
    """A command that makes a fresh workspace usable. `[npm, ci]` or `npm ci` is short for `{command: [npm, ci]}`."""

    short_types = ("string", "array")

    command: Command = key("Program and arguments, as a list or one line. No shell reads it.")
    timeout: Duration = key("Time limit.", _SETUP_TIMEOUT_S, ge=1, le=_DAY_S)

    @model_validator(mode="before")
    @classmethod
    def _command_alone(cls, data: object) -> object:
        return {"command": data} if isinstance(data, (str, list)) else data


def _distinct(checks: tuple[CheckKeys, ...]) -> tuple[CheckKeys, ...]:
    names = [check.name.lower() for check in checks]
    for name in names:
        if names.count(name) > 1:
            raise bad_value(f"two checks are named {name!r}")
    return checks


Checks = Annotated[tuple[CheckKeys, ...], AfterValidator(_distinct)]


class ProjectKeys(Section):
    """What can be set for every project (`defaults:`) and for one (an entry of `projects:`)."""

    forge: ForgeName = key("The forge that the repository lives on, by its name in `forges`.", _PROJECT.forge)
    base_ref: Ref | None = key("The branch to merge into; empty: the forge's default branch.", _PROJECT.base_ref)
    intake: Intake = key("`label`: issues that bear the intake label; `all`: those that members open.", _PROJECT.intake)
    intake_label: OneLine = key("The label that makes an issue a task.", _PROJECT.intake_label, max_length=50)
    max_runs: Count = key("Runs at once in this project.", _PROJECT.max_runs, ge=1, le=256)
    attempts: Count = key("Author runs before a task is blocked.", _PROJECT.attempts, ge=1, le=20)
    budget: BudgetKeys = key("What a task may use in all.", BudgetKeys())
    cycles_cooldown: Duration = key(
        "How long a pull request waits for its cooled author before its changes go to another agent.",
        _PROJECT.cycles_cooldown_s,
        ge=0,
        le=30 * _DAY_S,
    )
    claim: ClaimMode = key(
        "`auto`: each task is claimed by one machine, so that several can look after the repository; `off`: not.",
        _PROJECT.claim,
    )
    claim_expiry: Duration = key(
        "How long a claim lasts without being renewed, after which another machine takes the task over.",
        _PROJECT.claim_expiry_s,
        ge=1,
        le=_DAY_S,
    )
    merge: MergeKeys = key("When and how a pull request is merged.", MergeKeys())
    review: ReviewKeys = key("Who reviews, and how often.", ReviewKeys())
    reactions: ReactionKeys = key("What is done by itself about events on a pull request.", ReactionKeys())
    dependencies: DependencyKeys = key("What follows from links between issues.", DependencyKeys())
    delegation: DelegationKeys = key("Sub-tasks that agents propose.", DelegationKeys())
    board: BoardKeys = key("A board that shows where the tasks are.", BoardKeys())
    commit: CommitKeys = key("How commits are written.", CommitKeys())
    prompt: PromptKeys = key("Characters that each part of a prompt may take.", PromptKeys())
    checks: Checks = key("Commands that Nightcrew runs as CI.", ())
    setup: tuple[SetupKeys, ...] = key("Commands run in each fresh workspace.", ())
    jobs: dict[JobName, JobKeys] = key("Scheduled work, by name (see jobs.md).", {})
    repository_jobs: RepositoryJobs = key(
        "Which jobs the repository may bring along in `.nightcrew/jobs`: `off`, `tasks`, or `all`, with commands.",
        _PROJECT.repository_jobs,
    )
    skills: SkillKeys = key("Folders of instructions that runs are given.", SkillKeys())
    copy_files: InsidePaths = key("Files copied from `source` into each fresh workspace, such as `.env`.", ())
    sandbox_read: Folders = key(
        "Files and folders that setup commands, checks and agents may read in their sandbox, besides; no secrets.",
        _PROJECT.sandbox_read,
    )
    network: Literal["open", "none"] = key("What setup commands and checks reach from their sandbox.", "open")
    agent_settings: Truth = key(
        "Let agents' CLIs load the settings, hooks and servers that the repository has for them, as they are on the "
        "base branch. Where a branch changes them, none are loaded.",
        _PROJECT.agent_settings,
    )
    scan_allow: Lines = key(
        "Paths in which what looks like a secret may be pushed, such as test data. One that Nightcrew knows never may.",
        _PROJECT.scan_allow,
    )
    instructions: Text = key("Words for every agent that works on this project.", _PROJECT.instructions)


class ProjectEntry(ProjectKeys):
    """One project. `owner/name` alone is short for `{slug: owner/name}`."""

    short_types = ("string",)

    slug: Slug = key("The repository, as owner/name.")
    source: Folder = key("Your own checkout, which `copy_files` come from. It is only read.", _PROJECT.source)

    @model_validator(mode="before")
    @classmethod
    def _slug_alone(cls, data: object) -> object:
        return {"slug": data} if isinstance(data, str) else data
