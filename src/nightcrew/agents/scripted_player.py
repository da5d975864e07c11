"""The program behind a scripted agent. It reads its prompt, finds its part in the playbook by the issue's title, edits
or reviews accordingly, and writes its report. Standard library only; it calls no model.

A playbook is JSON: {"pause_s": seconds, "issues": {title: {"attempts": [{"files": {path: text}, "summary": …}, …],
"review": [[program, word, …], …]}}}. An author plays the attempt that its prompt asks for: the first, or the next one
after changes were asked for. A reviewer runs the commands and approves if all succeed; `"review": "approve"` approves
whatever there is.
"""

import json
import pathlib
import re
import subprocess  # noqa: TID251 - a program of its own, outside the service
import sys
import time
from typing import Any

Json = dict[str, Any]


def main() -> int:
    job = json.loads(sys.argv[1])
    prompt = sys.stdin.read()
    playbook = json.loads(pathlib.Path(job["playbook"]).read_text(encoding="utf-8"))
    title = re.search(r"^## The issue\n<<<BEGIN DATA \w+>>>\n#\d+ (.*)$", prompt, re.MULTILINE)
    part = playbook["issues"].get(title[1]) if title else None
    if title is None or part is None:
        say("say", "there is nothing about this issue in the playbook")
        report(job, {"outcome": "declined", "summary": "not in the playbook", "why": "the playbook has no such issue"})
        return 0
    say("say", f"{job['agent']} ({job['role']}) takes: {title[1]}")
    pause(playbook)
    if job["role"] == "router":
        report(
            job, {"complexity": part.get("complexity", "medium"), "agent": part.get("agent", ""), "why": "the playbook"}
        )
        return 0
    if job["role"] == "author":
        return write(job, part, prompt, playbook)
    return review(job, part, playbook)


def write(job: Json, part: Json, prompt: str, playbook: Json) -> int:
    """Play an attempt: its files, then its report."""
    again = "## Changes that the review of your branch asks for" in prompt
    attempts = part["attempts"]
    attempt = attempts[min(int(again), len(attempts) - 1)]
    for name, text in attempt["files"].items():
        path = pathlib.Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        say("say", f"wrote {name}")
        pause(playbook)
    report(
        job,
        {
            "outcome": "done",
            "summary": attempt["summary"],
            "why": attempt.get("why", ""),
            "tested": attempt.get("tested", ""),
            "learned": attempt.get("learned", ""),
        },
    )
    return 0


def review(job: Json, part: Json, playbook: Json) -> int:
    """Run the commands of the review on the checkout; each one that fails is a finding."""
    commands = part["review"]
    if commands == "approve":
        report(job, {"decision": "approve", "summary": "Approved unseen.", "findings": []})
        return 0
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


def report(job: Json, content: Json) -> None:
    path = pathlib.Path(job["report"])
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.replace(path)


def say(kind: str, text: str) -> None:
    sys.stdout.write(json.dumps({"type": kind, "text": text}) + "\n")
    sys.stdout.flush()


def pause(playbook: Json) -> None:
    time.sleep(playbook.get("pause_s", 0))  # noqa: TID251 - the pace of the show


if __name__ == "__main__":
    sys.exit(main())
