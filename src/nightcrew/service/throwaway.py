"""Removing a throw-away home whole: also what lies outside it because its path was too long for a socket."""

import shutil

from nightcrew.config.home import Home
from nightcrew.runtimes.tmux import TmuxRuntime


def remove_home(home: Home) -> None:
    """Remove the home and the short folders of its sockets. Its sessions have to be ended before."""
    for folder in (home.sockets, TmuxRuntime(home.root).server.socket.parent, home.root):
        if folder.is_relative_to(home.root) and folder != home.root:
            continue
        shutil.rmtree(folder, ignore_errors=True)
