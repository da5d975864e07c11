"""launchctl as far as agents of a user need it: what is loaded, what is disabled, and which pids run are kept in files.
Standard library only: it runs as a program of its own."""

import json
import plistlib
import sys
from pathlib import Path
from typing import Any, NoReturn

state = Path(sys.argv[1])
words = sys.argv[2:]
book = state / "launchd.json"
memory: dict[str, Any] = json.loads(book.read_text()) if book.is_file() else {"loaded": {}, "disabled": [], "pid": 100}


def end(code: int = 0, said: str = "") -> NoReturn:
    book.write_text(json.dumps(memory))
    with (state / "calls.log").open("a") as log:
        log.write(" ".join(words) + "\n")
    (sys.stderr if code else sys.stdout).write(said)
    sys.exit(code)


def run(label: str) -> None:
    memory["pid"] += 1
    memory["loaded"][label]["pid"] = memory["pid"]


def label_of(target: str) -> str:
    domain, uid, label = target.split("/")
    if domain != "gui" or not uid.isdigit():
        end(64, f"Unrecognized target specifier: {target}\n")
    return label


match words:
    case ["print", target]:
        label = label_of(target)
        if label not in memory["loaded"]:
            end(113, f'Bad request.\nCould not find service "{label}" in domain for user gui\n')
        one = memory["loaded"][label]
        pid = f"\tpid = {one['pid']}\n" if one["pid"] else "\tlast exit code = 0\n"
        state_word = "running" if one["pid"] else "not running"
        end(0, f"{target} = {{\n\tactive count = 1\n\tpath = {one['path']}\n\tstate = {state_word}\n{pid}}}\n")
    case ["bootstrap", domain, path]:
        plist = plistlib.loads(Path(path).read_bytes())
        label = plist["Label"]
        if label in memory["loaded"]:
            end(5, "Bootstrap failed: 5: Input/output error\n")
        if label in memory["disabled"]:
            end(119, "Bootstrap failed: 119: Service is disabled\n")
        memory["loaded"][label] = {"path": path, "pid": 0, "argv": plist["ProgramArguments"]}
        if plist.get("RunAtLoad"):
            run(label)
        end()
    case ["bootout", target]:
        label = label_of(target)
        if label not in memory["loaded"]:
            end(3, "Boot-out failed: 3: No such process\n")
        del memory["loaded"][label]
        end(36, "Boot-out failed: 36: Operation now in progress\n")
    case ["enable", target]:
        memory["disabled"] = [one for one in memory["disabled"] if one != label_of(target)]
        end()
    case ["kickstart", *flags, target]:
        label = label_of(target)
        if label not in memory["loaded"]:
            end(113, f'Could not find service "{label}"\n')
        if flags == ["-k"] or not memory["loaded"][label]["pid"]:
            run(label)
        end()
    case _:
        end(64, f"Unrecognized subcommand: {words}\n")
