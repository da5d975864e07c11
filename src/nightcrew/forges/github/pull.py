"""Pull requests: reading, finding, opening, changing. Merging is in `merge`, reviews are in `review`."""

from dataclasses import dataclass

from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.model.pull import Pull
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.body import fit_body, fit_title
from nightcrew.forges.github.classify import parse_complaint
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.graphql import run_query
from nightcrew.forges.github.page import PER_PAGE, Listing
from nightcrew.forges.github.repository import fetch_present_owner
from nightcrew.ports.scm import NewPull

CREATE_TRIES = 3
MOST_FILES = 3000
"""GitHub lists no more files of a pull request than this ("List pull requests files")."""

_MARK_READY = (
    "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
)


@dataclass(frozen=True, slots=True)
class Facts:
    """A pull request and what else its answer tells. `files` is 0 where it is not told (in lists)."""

    pull: Pull
    node_id: str
    files: int


def parse_pull(raw: Json) -> Pull:
    """One of the single read, or of a list; a list does not tell whether it can be merged."""
    head, base = field.child(raw, "head"), field.child(raw, "base")
    home, there = field.text(field.child(base, "repo"), "full_name"), field.text(field.child(head, "repo"), "full_name")
    mergeable = raw.get("mergeable")
    return Pull(
        number=field.number(raw, "number"),
        title=field.text(raw, "title"),
        body=field.text(raw, "body"),
        head_ref=field.text(head, "ref"),
        head_sha=field.sha(head, "sha"),
        base_ref=field.text(base, "ref"),
        base_sha=field.sha(base, "sha"),
        is_open=field.text(raw, "state") == "open",
        is_merged=raw.get("merged") is True or field.find_moment(raw, "merged_at") is not None,
        is_draft=raw.get("draft") is True,
        mergeable=mergeable if isinstance(mergeable, bool) else None,
        mergeable_state=field.text(raw, "mergeable_state") or "unknown",
        merge_commit_sha=field.find_sha(raw, "merge_commit_sha"),
        labels=field.label_names(raw),
        author=field.login(raw),
        # The head repository of a deleted fork is null, and is no less a fork for that.
        is_fork=there.lower() != home.lower(),
        url=field.text(raw, "html_url"),
    )


def parse_facts(raw: Json) -> Facts:
    return Facts(parse_pull(raw), field.text(raw, "node_id"), field.count(raw, "changed_files"))


async def fetch_facts(api: Api, project: str, number: int) -> Facts:
    return await api.get(api.of(project, f"/pulls/{number}"), parse_facts, confirm=True)


async def fetch(api: Api, project: str, number: int) -> Pull:
    return (await fetch_facts(api, project, number)).pull


async def find(api: Api, project: str, *, head_ref: str, base_ref: str = "") -> Pull | None:
    """Filtered here once more, since GitHub ignores a filter that it does not understand."""
    owner = await fetch_present_owner(api, project)
    query = {"state": "all", "head": f"{owner}:{head_ref}", "sort": "created", "direction": "desc"}
    url = api.of(project, "/pulls", **query, per_page=PER_PAGE)
    pulls = await api.list(Listing(url, parse_pull, key=lambda raw: field.number(raw, "number")))
    fitting = [
        pull for pull in pulls if pull.head_ref == head_ref and not pull.is_fork and base_ref in ("", pull.base_ref)
    ]
    return max(fitting, key=lambda pull: (pull.is_open, pull.number), default=None)


async def create(api: Api, project: str, new: NewPull) -> Pull:
    """Open it, or adopt the open one. The forge refuses a second one for the same branches, so that after a lost answer
    it is looked for and, if it is not there, asked for again."""
    sent = {"title": fit_title(new.title), "body": fit_body(new.body), "head": new.head_ref, "base": new.base_ref}
    url = api.of(project, "/pulls")
    tries = 0
    while True:
        tries += 1
        try:
            answer = await api.write(
                "POST", url, {**sent, "draft": new.draft}, repeatable=False, accept=frozenset({422})
            )
        except OutcomeUnknown:
            adopted = await _find_open(api, project, new)
            if adopted is not None:
                return adopted
            if tries >= CREATE_TRIES:
                raise
            continue
        if answer.status != 422:
            return api.parse(answer, parse_pull)
        complaint = parse_complaint(answer)
        if complaint.says("already exists"):
            adopted = await _find_open(api, project, new)
            if adopted is None:
                raise Unavailable(f"{project} has a pull request from {new.head_ref} that its list does not show yet")
            return adopted
        raise Invalid(
            f"no pull request from {new.head_ref} to {new.base_ref} in {project}: {complaint.text}",
            codes=complaint.codes,
        )


async def _find_open(api: Api, project: str, new: NewPull) -> Pull | None:
    found = await find(api, project, head_ref=new.head_ref, base_ref=new.base_ref)
    return found if found is not None and found.is_open else None


async def update(api: Api, project: str, number: int, *, title: str | None, body: str | None) -> None:
    sent = {} if title is None else {"title": fit_title(title)}
    if body is not None:
        sent["body"] = fit_body(body)
    if sent:
        await api.write("PATCH", api.of(project, f"/pulls/{number}"), {**sent}, repeatable=True)


async def set_open(api: Api, project: str, number: int, *, is_open: bool) -> None:
    sent = {"state": "open" if is_open else "closed"}
    await api.write("PATCH", api.of(project, f"/pulls/{number}"), {**sent}, repeatable=True)


async def set_base(api: Api, project: str, number: int, *, base_ref: str) -> None:
    await api.write("PATCH", api.of(project, f"/pulls/{number}"), {"base": base_ref}, repeatable=True)


async def mark_ready(api: Api, project: str, number: int) -> None:
    """Only GraphQL can do this ("markPullRequestReadyForReview")."""
    facts = await fetch_facts(api, project, number)
    if not facts.pull.is_draft:
        return
    if not facts.node_id:
        raise Denied(f"{project}#{number} cannot be taken out of draft: the forge gives no node id")
    await run_query(api, _MARK_READY, {"id": facts.node_id})


async def list_paths(api: Api, project: str, number: int) -> tuple[str, ...]:
    """Raises Invalid where the forge lists fewer files than the pull request has."""
    files = await list_files(api, project, number)
    if len(files) >= MOST_FILES and (await fetch_facts(api, project, number)).files != len(files):
        raise Invalid(f"{project}#{number} changes more files than the forge lists ({MOST_FILES})")
    paths = dict.fromkeys(path for file in files for path in (file.previous_path, file.path) if path)
    return api.memory.settle(api.of(project, f"/pulls/{number}#paths"), tuple(paths))


@dataclass(frozen=True, slots=True)
class PullFile:
    """A file of a pull request. `patch` is empty where the forge shows none (binary, or too large)."""

    path: str
    previous_path: str
    patch: str


def parse_file(raw: Json) -> PullFile:
    return PullFile(field.text(raw, "filename"), field.text(raw, "previous_filename"), field.text(raw, "patch"))


async def list_files(api: Api, project: str, number: int) -> tuple[PullFile, ...]:
    url = api.of(project, f"/pulls/{number}/files", per_page=PER_PAGE)
    return await api.list(Listing(url, parse_file, key=lambda raw: field.text(raw, "filename")))
