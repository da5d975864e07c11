"""systemctl as far as a unit of a user needs it: what was read at the last daemon-reload, enabled, and runs is kept in
files. Standard library only: it runs as a program of its own."""

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

state = Path(sys.argv[1])
words = sys.argv[2:]
book = state / "systemd.json"
memory: dict[str, Any] = (
    json.loads(book.read_text()) if book.is_file() else {"units": {}, "enabled": [], "running": {}, "pid": 100}
)
units = Path(os.environ.get("XDG_CONFIG_HOME") or Path(os.environ["HOME"]) / ".config") / "systemd" / "user"


def end(code: int = 0, said: str = "") -> NoReturn:
    book.write_text(json.dumps(memory))
    with (state / "calls.log").open("a") as log:
        log.write(" ".join(words) + "\n")
    (sys.stderr if code else sys.stdout).write(said)
    sys.exit(code)


def run(unit: str) -> None:
    if unit not in memory["units"]:
        end(5, f"Failed to start {unit}: Unit {unit} not found.\n")
    memory["pid"] += 1
    memory["running"][unit] = memory["pid"]


if (state / "no-bus").exists():
    end(1, "Failed to connect to bus: No medium found\n")
if words[:1] != ["--user"]:
    end(1, "Interactive authentication required.\n")
match words[1:]:
    case ["daemon-reload"]:
        memory["units"] = {path.name: path.read_text() for path in units.glob("*.service")}
        end()
    case ["enable", unit]:
        if unit not in memory["units"]:
            end(1, f"Failed to enable unit: Unit file {unit} does not exist.\n")
        memory["enabled"] = sorted({*memory["enabled"], unit})
        end()
    case ["disable", "--now", unit]:
        memory["enabled"] = [one for one in memory["enabled"] if one != unit]
        memory["running"].pop(unit, None)
        end()
    case ["start", unit]:
        if unit not in memory["running"]:
            run(unit)
        end()
    case ["restart", unit]:
        run(unit)
        end()
    case ["stop", unit]:
        if unit not in memory["units"]:
            end(5, f"Failed to stop {unit}: Unit {unit} not loaded.\n")
        memory["running"].pop(unit, None)
        end()
    case ["show", unit, _]:
        pid = memory["running"].get(unit, 0)
        load = "loaded" if unit in memory["units"] else "not-found"
        active, sub = ("active", "running") if pid else ("inactive", "dead")
        text = (state / "status-text").read_text() if (state / "status-text").is_file() else "at work"
        end(
            0,
            f"LoadState={load}\nActiveState={active}\nSubState={sub}\nMainPID={pid}\nNRestarts=0\nStatusText={text}\n",
        )
    case _:
        end(1, f"Unknown command verb {words}.\n")
