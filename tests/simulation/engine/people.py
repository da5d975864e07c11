"""People at random: what they file, label, say, close, merge, push, delete and command. `tidy` is a person who helps
where Nightcrew waits for one."""

from dataclasses import replace
from functools import partial

from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import ReviewState
from nightcrew.core.render import MARK
from tests.engine.part import PERSON, STRANGER
from tests.fakes.forge_state import Thread
from tests.simulation.engine.machine import Machine
from tests.simulation.engine.outside import World
from tests.simulation.engine.scene import Scene

MOST_OPEN = 6
ON_ISSUES = ("label", "label", "unlabel", "two labels", "comment", "stranger", "close", "reopen", "hold", "forget")
ON_PULLS = ("close pull", "merge", "push", "delete branch", "object", "hold", "draft", "reopen pull")
COMMANDS = ("retry", "unblock", "block", "stop", "approve", "close", "pause", "resume", "wake")
WORDS = ("left", "left", "/retry", "/block", "/unblock", "/stop", "/close", "/agent bob", "/start", "/delegate accept")
TIMELY = {
    "session.start": ("merge", "push", "close pull", "close", "label", "delete branch", "retry", "stop"),
    "session.end": ("push", "merge", "close pull", "label"),
    "branch.push": ("push", "delete branch", "close"),
    "pull.merge": ("push", "hold", "object", "close", "draft", "block"),
}
"""What people do just when Nightcrew makes an effect of this kind."""


class People:
    """`hurry_s` is how long they rest between two deeds, on average."""

    def __init__(self, scene: Scene, world: World, machine: Machine) -> None:
        self._scene, self._world, self._machine = scene, world, machine
        self._chance = scene.chance("people")
        swarm = scene.chance("swarm")
        self.hurry_s = swarm.choice((600.0, 1800.0, 7200.0))
        self.arrival_s = swarm.choice((900.0, 1800.0, 3600.0))
        self.deeds = tuple(deed for deed in (*ON_ISSUES, *ON_PULLS, *COMMANDS) if swarm.random() < 0.6)
        self.meddling = swarm.choice((0.0, 0.05, 0.2))
        """How often somebody does something about a task in the very moment in which Nightcrew does."""
        self.is_over = False
        self._count = 0
        scene.after(5, self._file)
        scene.after(self._chance.expovariate(1 / self.hurry_s), self._act)

    def _file(self) -> None:
        if self.is_over:
            return
        slug = self._chance.choice(self._world.projects)
        if len(self._issues()) < MOST_OPEN:
            self._count += 1
            labels = ("nightcrew",) if self._chance.random() < 0.9 else ("status:new",)
            issue = self._world.forge.open_issue(slug, title=f"Thing {self._count}", author=PERSON, labels=labels)
            self._scene.note(f"person files {slug}#{issue.number}")
            self._scene.count("issues")
        self._scene.after(self._chance.expovariate(1 / self.arrival_s), self._file)

    def _act(self) -> None:
        if self.is_over:
            return
        if self.deeds:
            deed = self._chance.choice(self.deeds)
            done = self._command(deed) if deed in COMMANDS else self._by_hand(deed)
            if done:
                self._scene.count(f"person {deed}")
        self._scene.after(self._chance.expovariate(1 / self.hurry_s), self._act)

    def meddle(self, kind: str, key: TaskKey) -> None:
        """Nightcrew is about to do something about a task: now and then a person does too."""
        task = self._world.store.tasks.get(key)
        has_pull = task is not None and task.pull is not None
        deeds = [
            deed for deed in self.deeds if deed in TIMELY.get(kind, self.deeds) and (has_pull or deed not in ON_PULLS)
        ]
        often = self.meddling * (5 if kind in TIMELY else 1)
        if self.is_over or not deeds or self._chance.random() >= often:
            return
        waits_s = (0.0, 1.0) if kind in ("session.end", "pull.merge") else (0.0, 1.0, 60.0, 600.0)
        wait_s = self._chance.choice(waits_s) * self._chance.random()
        self._scene.after(wait_s, partial(self._meddle, self._chance.choice(deeds), key))

    def _meddle(self, deed: str, key: TaskKey) -> None:
        if deed in COMMANDS:
            if deed not in ("pause", "resume", "wake"):
                self.command_on(deed, key)
            return
        task = self._world.store.tasks.get(key)
        number = task.pull if task is not None and deed in ON_PULLS else key.number
        thread = self._world.forge.projects[key.project].threads.get(number or 0)
        if thread is not None and thread.issue.is_open and not deed.startswith("reopen"):
            self._do(deed, key.project, thread)

    def _issues(self, *, is_open: bool = True) -> list[tuple[str, Thread]]:
        return [
            (slug, thread)
            for slug, project in self._world.forge.projects.items()
            for thread in project.threads.values()
            if thread.pull is None and thread.issue.is_open is is_open
        ]

    def _pulls(self, *, is_open: bool = True) -> list[tuple[str, Thread]]:
        return [
            (slug, thread)
            for slug, project in self._world.forge.projects.items()
            for thread in project.threads.values()
            if thread.pull is not None and thread.pull.is_open is is_open and not thread.pull.is_merged
        ]

    def _by_hand(self, deed: str) -> bool:
        on_pull = deed in ON_PULLS
        found = self._pulls(is_open=deed != "reopen pull") if on_pull else self._issues(is_open=deed != "reopen")
        if not found:
            return False
        slug, thread = self._chance.choice(found)
        self._do(deed, slug, thread)
        return True

    def _do(self, deed: str, slug: str, thread: Thread) -> None:
        self._scene.note(f"person: {deed} on {slug}#{thread.issue.number}")
        self._world.forge.touch_by_person(slug, thread.issue.number)
        if deed in ON_PULLS and thread.pull is not None:
            self._on_pull(deed, slug, thread)
        else:
            self._on_issue(deed, slug, thread)

    def _on_issue(self, deed: str, slug: str, thread: Thread) -> None:
        forge, number = self._world.forge, thread.issue.number
        statuses = [label for label in thread.issue.labels if label.startswith("status:")]
        match deed:
            case "label" | "two labels":
                if deed == "label":
                    for label in statuses:
                        forge.unlabel(slug, number, label)
                forge.label(slug, number, self._chance.choice(list(Status)).label, actor=PERSON)
            case "unlabel":
                for label in statuses:
                    forge.unlabel(slug, number, label)
            case "comment" | "stranger":
                words = self._chance.choice(WORDS)
                forge.comment(slug, number, body=words, author=PERSON if deed == "comment" else STRANGER)
            case "close" | "reopen":
                forge.set_open(slug, number, is_open=deed == "reopen")
            case "hold":
                forge.label(slug, number, "hold", actor=PERSON)
                self._scene.after(1800, lambda: forge.unlabel(slug, number, "hold"))
            case _:
                for comment in [comment for comment in thread.comments if comment.body.startswith(MARK)]:
                    forge.delete_comment(slug, comment.id)

    def _on_pull(self, deed: str, slug: str, thread: Thread) -> None:
        forge, number, pull = self._world.forge, thread.issue.number, thread.pull
        assert pull is not None
        project = forge.projects[slug]
        match deed:
            case "close pull" | "reopen pull":
                if deed == "close pull" or pull.head_ref in project.branches:
                    forge.set_open(slug, number, is_open=deed == "reopen pull")
            case "merge":
                self._merge(slug, thread)
            case "push":
                if pull.head_ref in project.branches:
                    forge.push(slug, pull.head_ref, paths=(f"by-hand-{number}",))
            case "delete branch":
                forge.set_open(slug, number, is_open=False)
                project.branches.pop(pull.head_ref, None)
            case "object":
                head = project.branches.get(pull.head_ref, pull.head_sha)
                state = self._chance.choice((ReviewState.CHANGES_REQUESTED, ReviewState.APPROVED))
                forge.add_review(slug, number, author=PERSON, state=state, sha=head)
            case "hold":
                forge.label(slug, number, "hold", actor=PERSON)
            case _:
                thread.pull = replace(pull, is_draft=not pull.is_draft)

    def _merge(self, slug: str, thread: Thread) -> None:
        """With the button of the forge, which asks nobody."""
        forge, project = self._world.forge, self._world.forge.projects[slug]
        pull = forge._seen(project, thread)
        paths = tuple(sorted(path for sha in (pull.head_sha,) for path in project.commits[sha].paths))
        merged = forge._commit(project, (pull.base_sha,), paths, message="by hand")
        project.branches[pull.base_ref] = merged
        thread.pull = replace(pull, is_open=False, is_merged=True, merge_commit_sha=merged)
        forge._touch(thread, is_open=False)

    def _command(self, deed: str) -> bool:
        """A command of the CLI."""
        if deed in ("pause", "resume"):
            project = self._chance.choice((None, *self._world.projects))
            self._machine.command(deed, lambda facade: facade.set_paused(paused=deed == "pause", project=project))
            if deed == "pause":
                self._scene.after(3600, partial(self._resume, project))
            return True
        if deed == "wake":
            self._machine.command(deed, lambda facade: facade.wake())
            return True
        keys = sorted(key for key, task in self._world.store.tasks.items() if task.status is not Status.DONE)
        if not keys:
            return False
        self.command_on(deed, self._chance.choice(keys))
        return True

    def _resume(self, project: str | None) -> None:
        self._machine.command("resume", lambda facade: facade.set_paused(paused=False, project=project))

    def command_on(self, deed: str, key: TaskKey) -> None:
        self._world.forge.touch_by_person(key.project, key.number)
        match deed:
            case "block":
                self._machine.command(f"{deed} {key}", lambda facade: facade.block_task(key, why="not now"))
            case _:
                self._machine.command(f"{deed} {key}", lambda facade: getattr(facade, f"{deed}_task")(key))

    def stop(self) -> None:
        """They go home."""
        self.is_over = True

    def tidy(self) -> None:
        """Somebody helps with everything that waits for a person."""
        forge = self._world.forge
        for slug in (None, *self._world.projects):
            self._resume(slug)
        for slug, thread in (*self._issues(), *self._pulls()):
            if thread.issue.has_label("hold"):
                forge.unlabel(slug, thread.issue.number, "hold")
        for slug, thread in self._pulls():
            assert thread.pull is not None
            thread.pull = replace(thread.pull, is_draft=False)
            if thread.reviews:
                head = forge.projects[slug].branches.get(thread.pull.head_ref, thread.pull.head_sha)
                forge.add_review(slug, thread.issue.number, author=PERSON, state=ReviewState.APPROVED, sha=head)
        for key, wait in self._machine.waits().items():
            number = self._world.store.tasks[key].pull
            if wait.code == "no_reviewer" and number is not None:
                self._merge(key.project, self._world.forge.thread(key.project, number))
                self._scene.count("no reviewer left")
        for slug, thread in self._issues():
            if TaskKey(slug, thread.issue.number) not in self._world.store.tasks:
                self._ask_again(slug, thread)
        for key, task in sorted(self._world.store.tasks.items()):
            if task.status is Status.BLOCKED:
                self.command_on("retry", key)

    def _ask_again(self, slug: str, thread: Thread) -> None:
        """An issue with a status label that Nightcrew does not know was given to somebody else: take it back."""
        for label in thread.issue.labels:
            if label.startswith("status:") and label != Status.NEW.label:
                self._world.forge.unlabel(slug, thread.issue.number, label)
        self._world.forge.label(slug, thread.issue.number, "nightcrew", actor=PERSON)
