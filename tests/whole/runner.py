"""The service as `nightcrew serve` runs it, with a boundary: it notes every effect, and dies at the one it is told to.

    python runner.py HOME [BOUNDARY_FILE]

Each (phase, kind) is added to the file `effects.log` beside the home. BOUNDARY_FILE is JSON, [[phase, kind, nth], …]:
at the n-th such moment of this process it is taken out of the file, and the process kills itself as `kill -9` does.
"""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

from nightcrew.config.home import Home
from nightcrew.service.compose import home_of
from nightcrew.service.load import load
from nightcrew.service.lock import held
from nightcrew.service.log import configure_log
from nightcrew.service.run import serve


class Fate:
    """Notes effects, and ends the process at some of them."""

    def __init__(self, log: Path, order: Path | None) -> None:
        self._log = log
        self._order = order
        self._moments: list[list[object]] = []
        if order is not None and order.is_file():
            self._moments = json.loads(order.read_text(encoding="utf-8"))
        self._seen: Counter[tuple[str, str]] = Counter()

    def __call__(self, phase: str, kind: str) -> None:
        with self._log.open("a", encoding="utf-8") as file:
            file.write(f"{phase} {kind}\n")
        self._seen[phase, kind] += 1
        moment: list[object] = [phase, kind, self._seen[phase, kind]]
        if moment in self._moments and self._order is not None:
            self._moments.remove(moment)
            self._order.write_text(json.dumps(self._moments), encoding="utf-8")
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> int:
    home: Home = home_of(Path(sys.argv[1]))
    order = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    configuration = load(home)
    configure_log(sys.stderr)
    with held(home.lock):
        asyncio.run(serve(home, configuration, boundary=Fate(home.root.parent / "effects.log", order)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
