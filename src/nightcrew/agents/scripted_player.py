"""The program behind a scripted agent. It reads its prompt, finds its part in the playbook by the issue's title, edits
or reviews accordingly, and writes its report. Standard library only; it calls no model.

A playbook is JSON: {"pause_s": seconds, "starts": path, "issues": {title: {"attempts": [attempt, …], "review": …}}}.
With `starts`, a line for each start is added to that file.

An author plays the first attempt, or the next one after changes were asked for; with `"in_order": true` the n-th
run plays the n-th attempt, the last one again and again. An attempt has `files` ({path: text}) and `summary`; it may
have `commit` (true: commit the files itself), `heard` (a path: what people said to it in this turn goes there, a line
each, with its session), `gate` (a path: wait there until it exists), `exit` (leave with that code and no report),
`outcome` (done, declined, needs_input, blocked), `question`, `answers` (to review threads), `delegations` (sub-tasks
that it proposes) and `answer` (what a report found out).

A reviewer runs the commands of `review` and approves if all succeed. `"review": "approve"` approves whatever there
is; `"review": {"in_order": [step, …]}` gives in the n-th run the n-th answer: `decision`, `summary`, and what is said
above of `gate` and `exit`. A router answers with what `route` has over a medium complexity.

With `questions` ({words: step}) it answers a person's question in which the words stand: `answer`, `orders`, `shows`
(what a line of the prompt holds that is repeated), `gate` and `exit`.
"""

import json
import os
import pathlib
import re
import subprocess  # noqa: TID251 - a program of its own, outside the service
import sys
import time
from typing import Any

Json = dict[str, Any]

GATE_LOOK_S = 0.05


def main() -> int:
    job = json.loads(sys.argv[1])
    prompt = sys.stdin.read()
    playbook = json.loads(pathlib.Path(job["playbook"]).read_text(encoding="utf-8"))
    note_start(job, playbook)
    tell({"type": "session", "id": job["resume"] or job["session"]})
    if job["role"] == "assistant":
        return reply(job, playbook, prompt)
    title = re.search(r"^## The issue\n<<<BEGIN DATA \w+>>>\n(?:#|i)\d+ (.*)$", prompt, re.MULTILINE)
    part = playbook["issues"].get(title[1]) if title else None
    if title is None or part is None:
        say("say", "there is nothing about this issue in the playbook")
        report(job, {"outcome": "declined", "summary": "not in the playbook", "why": "the playbook has no such issue"})
        return 0
    say("say", f"{job['agent']} ({job['role']}) takes: {title[1]}")
    pause(playbook)
    if job["role"] == "router":
        report(job, {"complexity": "medium", "agent": "", "why": "as written", **part.get("route", {})})
        return 0
    if job["role"] == "author":
        return write(job, part, prompt, playbook)
    return review(job, part, playbook)


def write(job: Json, part: Json, prompt: str, playbook: Json) -> int:
    """Play an attempt: its files, then its report."""
    attempts = part["attempts"]
    again = int("## Changes that the review of your branch asks for" in prompt)
    attempt = nth(attempts, run_number(job) - 1 if part.get("in_order") else again)
    for name, text in attempt.get("files", {}).items():
        path = pathlib.Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        say("say", f"wrote {name}")
        pause(playbook)
    if "heard" in attempt:
        lines = [f"{job['resume'] or job['session']} {name} {text}" for name, text in heard(prompt)]
        pathlib.Path(attempt["heard"]).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if attempt.get("commit"):
        for words in (["add", "--all"], ["commit", "--quiet", "--message", attempt["summary"]]):
            subprocess.run(["git", *words], timeout=60, check=True)  # noqa: S607 - words of the playbook
    if leaves(job, attempt):
        return int(attempt["exit"])
    if "answer" in attempt:
        pathlib.Path(job["report"]).with_name("answer.md").write_text(attempt["answer"], encoding="utf-8")
    report(
        job,
        {
            "outcome": attempt.get("outcome", "done"),
            "summary": attempt["summary"],
            "why": attempt.get("why", ""),
            "tested": attempt.get("tested", ""),
            "learned": attempt.get("learned", ""),
            **{key: attempt[key] for key in ("question", "answers", "delegations") if key in attempt},
        },
    )
    return 0


def heard(prompt: str) -> list[tuple[str, str]]:
    """The messages of this turn that stand in a prompt: the name and the first line of each."""
    before, _, _ = prompt.partition("## The issue")
    return re.findall(r"^## A message from .*, message (\S+)\)\n(.*)$", before, re.MULTILINE)


def review(job: Json, part: Json, playbook: Json) -> int:
    """Run the commands of the review on the checkout; each one that fails is a finding."""
    commands = part["review"]
    if commands == "approve":
        report(job, {"decision": "approve", "summary": "Approved unseen.", "findings": []})
        return 0
    if isinstance(commands, dict):
        return answer(job, nth(commands["in_order"], run_number(job) - 1))
    findings = []
    for command in commands:
        words = [sys.executable if word == "python" else word for word in command["argv"]]
        say("run", " ".join(command["argv"]))
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        pause(playbook)
        if done.returncode != 0:
            last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-6:]
            say("say", "failed")
            findings.append({"path": command["path"], "line": None, "text": command["text"] + "\n" + "\n".join(last)})
    decision = "request_changes" if findings else "approve"
    summary = part["review_says"][decision]
    say("say", f"{decision}: {summary}")
    report(job, {"decision": decision, "summary": summary, "findings": findings})
    return 0


def answer(job: Json, step: Json) -> int:
    """A review whose answer was written beforehand."""
    if leaves(job, step):
        return int(step["exit"])
    report(job, {"decision": step["decision"], "summary": step["summary"], "findings": step.get("findings", [])})
    return 0


def reply(job: Json, playbook: Json, prompt: str) -> int:
    """The answer to the first question of the playbook whose words stand in the person's."""
    title = r"^## The question of the person\n<<<BEGIN DATA \w+>>>\n(.*?)\n<<<END DATA"
    asked = re.search(title, prompt, re.MULTILINE | re.DOTALL)
    words = asked[1] if asked else ""
    step = next((step for key, step in playbook.get("questions", {}).items() if key in words), None)
    if step is None:
        report(job, {"answer": "There is nothing about this in the playbook.", "orders": []})
        return 0
    say("say", f"{job['agent']} answers: {words.splitlines()[0]}")
    if leaves(job, step):
        return int(step["exit"])
    shown = [line for line in prompt.splitlines() if step.get("shows") and step["shows"] in line]
    report(job, {"answer": "\n".join([step["answer"], *shown[:1]]), "orders": step.get("orders", [])})
    return 0


def leaves(job: Json, step: Json) -> bool:
    """Wait at the step's gate, if it has one; then whether it leaves without a report."""
    if "gate" in step:
        say("say", f"waits for {step['gate']}")
        while not pathlib.Path(step["gate"]).exists():
            if not pathlib.Path(job["playbook"]).exists():
                sys.exit("the playbook is gone")
            time.sleep(GATE_LOOK_S)  # noqa: TID251 - nothing tells of a file that appears
    return "exit" in step


def run_number(job: Json) -> int:
    """The number at the end of the run folder's name."""
    return int(pathlib.Path(job["run"]).name.rpartition("-")[2])


def nth(steps: list[Json], index: int) -> Json:
    return steps[min(index, len(steps) - 1)]


def note_start(job: Json, playbook: Json) -> None:
    if "starts" not in playbook:
        return
    line = {"agent": job["agent"], "role": job["role"], "folder": job["run"], "pid": os.getpid()}
    line |= {"session": job["session"], "resume": job["resume"]}
    with pathlib.Path(playbook["starts"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def report(job: Json, content: Json) -> None:
    path = pathlib.Path(job["report"])
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.replace(path)


def say(kind: str, text: str) -> None:
    tell({"type": kind, "text": text})


def tell(line: Json) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def pause(playbook: Json) -> None:
    time.sleep(playbook.get("pause_s", 0))  # noqa: TID251 - the pace of the show


if __name__ == "__main__":
    sys.exit(main())
