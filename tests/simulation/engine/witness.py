"""What must hold at the moment of each effect, judged by the truth of the fakes and never by what the service says."""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from nightcrew.core.branch import QUEUE_PREFIX
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.pull import Merged
from nightcrew.core.model.run import Probe, Role
from nightcrew.core.policy.cooling import cooled_until
from nightcrew.core.render import MARK
from nightcrew.core.revert import is_offer
from nightcrew.core.words import is_landed, is_reaction, is_reply
from nightcrew.ports.runtime import SessionSpec
from tests.fakes.workspace_state import FakeRepository, Files
from tests.simulation.engine.ci import Ci
from tests.simulation.engine.crew import Crew
from tests.simulation.engine.outside import World
from tests.simulation.engine.scene import Scene
from tests.simulation.engine.weather import FORGE_READS

Look = Callable[[Any], None]
LATE_S = 120.0
"""How old the evidence of an effect may be at the moment that it lands: calls can be slow."""
LEAST_PAUSE_S = 4.0
NEWEST_LINES = 200
JOURNALLED = {
    "add_label": "label.add",
    "remove_label": "label.remove",
    "create_comment": "comment.create",
    "update_comment": "comment.edit",
    "create_issue": "issue.create",
    "add_child": "issue.link",
    "create_pull": "pull.create",
    "merge_pull": "pull.merge",
    "post_review": "review.post",
    "post_status": "status.post",
    "delete_branch": "branch.delete",
    "set_issue_open": "issue.close",
    "push": "branch.push",
    "collect": "workspace.collect",
    "ensure_workspace": "workspace.ensure",
    "remove_workspace": "workspace.remove",
    "start_session": "session.start",
}
JOURNALLED_TOO = {"push": {"branch.update"}, "move_branch": {"queue.push", "queue.drop", "queue.land"}}
"""Kinds of effects that are made by the same call of a port."""
TREE_MOVERS = ("ensure_workspace", "remove_workspace", "collect")

_PARENT = re.compile(r"^A sub-task of #(\d+),", re.MULTILINE)
_OTHER_COMMENTS = (is_landed, is_offer, is_reaction, is_reply)
"""Comments of ours that are written once each, beside the one that is kept up to date."""


class Effects:
    """The witness of the doors."""

    def __init__(self, scene: Scene, world: World, crew: Crew, ci: Ci) -> None:
        self._scene, self._world, self._crew, self._ci = scene, world, crew, ci
        self.asked: dict[int, int] = {}
        """Requests to the forge that its limit counts, by hour."""
        self.merges: dict[TaskKey, int] = {}
        self.lives = 0
        """How many times the service was started."""
        self.on_intent: Callable[[str, TaskKey], None] = lambda _kind, _key: None
        self._refused_at: dict[str, tuple[float, int]] = {}
        self._parts: dict[TaskKey, list[int]] = {}
        self._answers: dict[tuple[object, ...], object] = {}
        self._cooled_at: dict[tuple[str, str | None], float] = {}

    def __call__(self, port: str, method: str, args: tuple[Any, ...], named: dict[str, Any]) -> Look | None:
        if port == "forge" and method.startswith(FORGE_READS):
            return self._reads(method, args, named)
        if method.startswith(("load_", "find_", "list_", "is_", "fetch")):
            return None
        self._scene.note(f"{port}.{method} {_brief(args)}")
        self._is_journalled(method)
        if method == "move_branch":
            return self._on_move_branch(args, named)
        if port == "workspace":
            return self._git(method, args, named)
        special = getattr(self, f"_on_{method}", None)
        if port == "forge":
            self._count(method)
        look: Look | None = special(args, named) if special is not None else None
        return look

    def failed(self, port: str, method: str) -> None:
        """A request that was answered with an error counts as well."""
        if port == "forge":
            self._count(method)

    def _reads(self, method: str, args: tuple[Any, ...], named: dict[str, Any]) -> Look:
        key = (method, *args, *(value for name, value in named.items() if name != "known_at"))

        def look(answer: Any) -> None:
            if self._answers.get(key, self) != answer:
                self._answers[key] = answer
                self._count(method)

        return look

    def _count(self, method: str) -> None:
        hour = int(self._scene.outside.monotonic() // 3600)
        self.asked[hour] = self.asked.get(hour, 0) + 1
        self._scene.count("requests")

    def _is_journalled(self, method: str) -> None:
        """What changes the world outside was written down before, and not settled as done."""
        kinds = {JOURNALLED.get(method)} - {None} | JOURNALLED_TOO.get(method, set())
        if not kinds:
            return
        lines = islice(reversed(self._world.store.effects.values()), NEWEST_LINES)
        is_open = any(line.kind in kinds and line.state in ("intent", "unknown") for line in lines)
        self._scene.demand(is_open, "intent before effect", f"{method} without a line in the journal")

    # Sessions and cooldowns

    def _on_record_run(self, args: tuple[Any, ...], _named: dict[str, Any]) -> None:
        run, now = args[0], self._scene.clock.now()
        if run.role is Role.AUTHOR:
            self._no_part_open(run.task)
        cooled = cooled_until(self._world.store.cooldowns.values(), agent=run.agent, model=run.model, now=now)
        if cooled is not None:
            since = self._scene.loop.time() - self._cooled_at.get((cooled.agent, cooled.model), -1e9)
            self._scene.demand(
                since < LATE_S,
                "cooldowns hold",
                f"{run.agent} is cooled until {cooled.until_at}, and {run.id} is claimed",
            )
        self._crew.forget_past(now)
        said_at = self._crew.stay_away.get(run.agent)
        self._scene.demand(
            said_at is None or said_at <= now,
            "cooldowns hold",
            f"a vendor said {said_at}, and {run.id} of it is claimed",
        )

    def _on_save_cooldown(self, args: tuple[Any, ...], _named: dict[str, Any]) -> None:
        self._cooled_at[args[0].agent, args[0].model] = self._scene.loop.time()

    def _on_save_run(self, args: tuple[Any, ...], _named: dict[str, Any]) -> None:
        run = args[0]
        shift = next((shift for shift in self._crew.shifts if shift.spec.name == run.session), None)
        if not run.is_open:
            repository = self._world.workspace.repository(run.task.project)
            is_free = repository.leases.get(run.task.number) != run.id and run.id not in repository.checkouts
            self._scene.demand(is_free, "nothing is left over", f"{run.session} ended and keeps its workspace")
        self._crew.forget_past(self._scene.clock.now())
        if not run.is_open and shift is not None and shift.ended and shift.retry_at is not None:
            self._crew.stay_away_after(run.agent, shift.retry_at, self._scene.loop.time())

    def _on_record_event(self, args: tuple[Any, ...], _named: dict[str, Any]) -> None:
        event = args[0]
        if event.kind not in ("action.refused", "action.unknown") or event.task is None:
            return
        key, now = str(event.data.get("key", "")), self._scene.loop.time()
        last_at, life = self._refused_at.get(key, (-1e9, -1))
        self._refused_at[key] = (now, self.lives)
        if life == self.lives and self._world.forge.untouched_s(event.task.project, event.task.number) > LATE_S:
            self._scene.demand(now - last_at > LEAST_PAUSE_S, "no hot loop", f"{key} was tried again at once")

    def _on_record_intent(self, _args: tuple[Any, ...], named: dict[str, Any]) -> None:
        if named["task"] is not None:
            self.on_intent(named["kind"], named["task"])

    def _on_start_session(self, args: tuple[Any, ...], _named: dict[str, Any]) -> None:
        spec: SessionSpec = args[0]
        run = next((run for run in self._world.store.runs.values() if run.session == spec.name), None)
        if run is None or run.role is not Role.AUTHOR:
            return
        other = [
            shift.spec.name
            for shift in self._crew.shifts
            if shift.task == run.task and shift.role is Role.AUTHOR and shift.spec.name != spec.name
            and self._is_alive(shift.spec.name)
        ]  # fmt: skip
        self._scene.demand(not other, "one author at a time", f"{spec.name} starts beside {other}")
        leases = self._world.workspace.repository(run.task.project).leases
        self._scene.demand(
            leases.get(run.task.number) == run.id, "one author at a time", f"{spec.name} starts without the lease"
        )

    def _is_alive(self, name: str) -> bool:
        session = self._world.runtime.sessions.get(name)
        return session is not None and session.probe is Probe.ALIVE

    # The forge

    def _on_remove_label(self, args: tuple[Any, ...], _named: dict[str, Any]) -> Look | None:
        slug, number, name = args
        if not any(
            line.state == "intent" and line.task == TaskKey(slug, number) and line.detail == name
            for line in self._world.store.effects.values()
        ):
            return None  # it was given up before it landed: what came since could not know, and puts it right

        def look(_answer: Any) -> None:
            issue = self._world.forge.thread(slug, number).issue
            others = parse_status_labels(issue.labels)
            if self._world.forge.untouched_s(slug, number) > LATE_S:
                self._scene.demand(others, "one status label", f"{slug}#{number} lost {name}, its only status")

        return look

    def _on_create_comment(self, args: tuple[Any, ...], _named: dict[str, Any]) -> Look:
        slug, number = args

        def look(_answer: Any) -> None:
            thread = self._world.forge.thread(slug, number)
            own = [
                one
                for one in thread.comments
                if one.body.startswith(MARK) and not any(is_other(one.body) for is_other in _OTHER_COMMENTS)
            ]
            self._scene.demand(len(own) <= 1, "one status comment", f"{slug}#{number} has {len(own)} status comments")

        return look

    def _on_post_review(self, args: tuple[Any, ...], named: dict[str, Any]) -> Look:
        slug, number = args

        def look(_answer: Any) -> None:
            marks = [
                review.body.splitlines()[0] for review in self._world.forge.thread(slug, number).reviews if review.body
            ]
            self._scene.demand(
                len(marks) == len(set(marks)), "one review a verdict", f"{slug}#{number} has the same review twice"
            )

        return look

    def _on_create_issue(self, args: tuple[Any, ...], named: dict[str, Any]) -> Look:
        """A sub-task is known by the first line of its text, and its parent by the second."""
        (slug,), mark = args, named["body"].partition("\n")[0]
        parent = _PARENT.search(named["body"])

        def look(answer: Any) -> None:
            threads = self._world.forge.projects[slug].threads.values()
            same = [thread.issue.number for thread in threads if thread.issue.body.startswith(mark)]
            self._scene.demand(len(same) == 1, "one issue a sub-task", f"{mark} stands in {same}")
            self._scene.count("sub-tasks")
            if parent is not None:
                self._parts.setdefault(TaskKey(slug, int(parent[1])), []).append(same[0])

        return look

    def _no_part_open(self, key: TaskKey) -> None:
        """An author of a task that handed parts over does not start before they have ended, or a person says so."""
        forge, task = self._world.forge, self._world.store.tasks[key]
        for number in self._parts.get(key, ()):
            is_open = forge.thread(key.project, number).issue.is_open
            is_news = forge.untouched_s(key.project, number) < LATE_S
            ended = not is_open or is_news or task.waived
            self._scene.demand(ended, "sub-tasks end first", f"{key} starts while #{number} is open")

    def _on_create_pull(self, args: tuple[Any, ...], _named: dict[str, Any]) -> Look:
        slug, new = args

        def look(_answer: Any) -> None:
            threads = self._world.forge.projects[slug].threads.values()
            pulls = [
                thread.pull for thread in threads if thread.pull is not None and thread.pull.head_ref == new.head_ref
            ]
            is_open = [pull.number for pull in pulls if pull.is_open]
            self._scene.demand(
                len(is_open) == 1, "one pull request a branch", f"{new.head_ref} has the pull requests {is_open}"
            )

        return look

    def _on_merge_pull(self, args: tuple[Any, ...], named: dict[str, Any]) -> Look | None:
        (slug, number), sha = args, named["sha"]
        thread = self._world.forge.thread(slug, number)
        if thread.pull is None or thread.pull.is_merged:
            return None
        authors, forge = self._authors(slug, thread.pull.base_ref, sha), self._world.forge
        held = [label for label in thread.issue.labels if label.lower() == "hold"]

        def look(answer: Any) -> None:
            if not isinstance(answer, Merged):
                return
            self._scene.count("merges")
            others = self._approved(sha) - authors
            self._scene.demand(
                others,
                "merges are approved",
                f"{slug}#{number} was merged at {sha[:8]}, which nobody but {authors} approved",
            )
            self._scene.demand(
                self._ci.was_green(sha, within_s=LATE_S),
                "merges are green",
                f"{slug}#{number} was merged at {sha[:8]}, which is not green",
            )
            if forge.untouched_s(slug, number) > LATE_S:
                self._scene.demand(not held, "merges are not held", f"{slug}#{number} was merged, and is held")

        return look

    def _on_move_branch(self, args: tuple[Any, ...], named: dict[str, Any]) -> Look | None:
        """The merge queue lands: exactly what was tested, and nobody in it whom a merge would not take."""
        slug, branch, sha = args[0], named["branch"], named["sha"]
        forge = self._world.forge.projects[slug]
        if branch.startswith(QUEUE_PREFIX) or sha == forge.branches[branch]:
            return None
        base, green = forge.branches[branch], self._ci.was_green(sha, within_s=LATE_S)
        builds = [build for build in self._world.store.builds.values() if build.sha == sha and build.ended_at is None]

        def look(_answer: Any) -> None:
            self._scene.demand(len(builds) == 1, "merges are tested", f"{slug} landed {sha[:8]}, which is no build")
            self._scene.demand(green, "merges are tested", f"{slug} landed {sha[:8]}, which is not green")
            self._scene.demand(builds[0].base_sha == base, "merges are tested", f"{slug} landed on another base")
            for member in builds[0].members:
                self._scene.count("merges")
                self._is_fit(slug, member.pull, member.head_sha, base)

        return look

    def _is_fit(self, slug: str, number: int, head: Sha, base: Sha) -> None:
        """A member of what landed."""
        thread, forge = self._world.forge.thread(slug, number), self._world.forge
        name = f"{slug}#{number} at {head[:8]}"
        others = self._approved(head) - self._authors_since(slug, base, head)
        self._scene.demand(others, "merges are approved", f"{name} landed, which nobody else approved")
        self._scene.demand(self._ci.was_green(head, within_s=LATE_S), "merges are green", f"{name} landed, not green")
        if forge.untouched_s(slug, number) > LATE_S:
            held = [label for label in thread.issue.labels if label.lower() == "hold"]
            self._scene.demand(not held, "merges are not held", f"{name} landed, and is held")

    def _approved(self, head: Sha) -> set[str]:
        """Who approved a head, or the one that the engine brought the base into to make it."""
        agents = self._crew.approved_by(head)
        for (before, _base, _method), made in self._world.workspace.brought_in.items():
            if made == head:
                agents |= self._approved(before)
        return agents

    def _authors_since(self, slug: str, base: Sha, head: Sha) -> set[str]:
        repository, forge = self._world.workspace.repository(slug), self._world.forge.projects[slug]
        new = forge.ancestors(head) - forge.ancestors(base)
        made = [repository.commits[commit] for commit in new if commit in repository.commits]
        return {agent for commit in made for agent in commit.agents}

    def _authors(self, slug: str, base_ref: str, sha: Sha) -> set[str]:
        return self._authors_since(slug, self._world.forge.projects[slug].branches[base_ref], sha)

    # Git

    def _git(self, method: str, args: tuple[Any, ...], _named: dict[str, Any]) -> Look | None:
        if method not in TREE_MOVERS:
            return None
        slug, number = (args[0].project, args[0].number) if method == "ensure_workspace" else args[:2]
        repository = self._world.workspace.repository(slug)
        tree = repository.trees.get(number)
        if tree is None:
            return None
        if method == "remove_workspace":
            self._no_author_in(slug, number)
        head, files = tree.head, dict(tree.files)

        def look(_answer: Any) -> None:
            self._nothing_lost(slug, number, head, files, method)

        return look

    def _no_author_in(self, slug: str, number: int) -> None:
        key = TaskKey(slug, number)
        names = [shift.spec.name for shift in self._crew.shifts if shift.task == key and shift.role is Role.AUTHOR]
        alive = [name for name in names if self._is_alive(name)]
        self._scene.demand(
            not alive, "nothing is removed under an agent", f"the workspace of {key} is removed under {alive}"
        )

    def _nothing_lost(self, slug: str, number: int, head: Sha, files: Files, method: str) -> None:
        """The commits and the files that were there are in the workspace still, in the salvage, or on the forge."""
        repository: FakeRepository = self._world.workspace.repository(slug)
        kept = set(self._world.forge.projects[slug].commits)
        for sha in repository.salvage.values():
            kept |= repository.history(sha)
        tree = repository.trees.get(number)
        if tree is not None:
            kept |= repository.history(tree.head)
        self._scene.demand(head in kept, "no work is lost", f"{method} lost the commits of {slug}#{number}")
        if files == repository.commits[head].files or (tree is not None and tree.files == files):
            return
        saved = any(repository.commits[sha].files == files for sha in kept if sha in repository.commits)
        self._scene.demand(saved, "no work is lost", f"{method} lost the uncommitted work of {slug}#{number}")


def _brief(args: tuple[Any, ...]) -> str:
    shown = []
    for arg in args:
        name = getattr(arg, "key", None) or getattr(arg, "name", None) or getattr(arg, "id", None)
        shown.append(
            str(name) if name is not None else str(arg)[:40] if isinstance(arg, str | int) else type(arg).__name__
        )
    return " ".join(shown)


def says_exactly(labels: tuple[str, ...], status: Status) -> bool:
    return parse_status_labels(labels) == (status,)
