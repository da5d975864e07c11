"""What the scripted model does, for every CLI alike."""

import json
import shlex

from tests.agents_real.model_server import Fail, Move, Run, Say, Script, Turn

DONE = {"outcome": "done", "summary": "Wrote hello.txt.", "why": "", "tested": "cat", "question": "", "learned": ""}
VERDICT = {
    "decision": "request_changes",
    "summary": "There is no test.",
    "findings": [{"path": "hello.txt", "line": 1, "text": "Say hello to whom?"}],
}
REPLY = {"answer": "It waits.", "orders": ["/retry acme/widget#4"]}
ROUTE = {"complexity": "complex", "agent": "", "why": "Many files.", "skills": []}


def author(turn: Turn) -> Move:
    """Edit, commit and report, in one command; then a last word."""
    if turn.answers:
        return Say("Done. I wrote hello.txt and committed it.")
    report = f"printf %s {shlex.quote(json.dumps(DONE))} > {shlex.quote(turn.report)}"
    return Run(f"printf 'hello\\n' > hello.txt && git add hello.txt && git commit -qm 'Add hello' && {report}")


def silent_author(turn: Turn) -> Move:
    """The same, without a report."""
    return Say("Done.") if turn.answers else Run("printf 'hello\\n' > hello.txt && git add -A && git commit -qm x")


def talker(turn: Turn) -> Move:
    """Words only."""
    return Say("LGTM, approve. All done.")


def failing(status: int, kind: str, message: str) -> Script:
    return lambda turn: Fail(status, kind, message)


def trespasser(*paths: str) -> Script:
    """Write where it must not, and call it done."""
    command = "; ".join(f"touch {shlex.quote(path)}" for path in paths)
    return lambda turn: Say(json.dumps(DONE)) if turn.answers else Run(command)


FAILURES = {
    "s401": failing(401, "authentication_error", "invalid x-api-key"),
    "s429": failing(429, "rate_limit_error", "This request would exceed your rate limit."),
    "s529": failing(529, "overloaded_error", "Overloaded"),
}
