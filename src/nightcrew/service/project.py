"""`nightcrew project add|remove`: edits of the configuration, which a running service takes up by itself."""

import asyncio
import json
import sys
from pathlib import Path

from nightcrew.config.edit import add_project as add_line
from nightcrew.config.edit import edit_file
from nightcrew.config.edit import remove_project as remove_line
from nightcrew.config.home import Home
from nightcrew.config.template import ProjectLine
from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import is_slug
from nightcrew.service.checkout import read_checkout
from nightcrew.service.compose import home_of
from nightcrew.service.init import import_local
from nightcrew.service.load import load


def add_project(home: Path, *, target: str, local: bool, as_json: bool) -> int:
    """Look after a repository: `owner/repo`, or a checkout's folder."""
    place = home_of(home)
    load(place)
    line = asyncio.run(_line(place, target, local=local))
    edit_file(place.config, lambda text: add_line(text, str(place.config), project=line))
    _tell({"project": line.slug, "config": str(place.config)}, f"{line.slug} was added.", as_json=as_json)
    return 0


def remove_project(home: Path, *, project: str, as_json: bool) -> int:
    """Look after a repository no longer. Its tasks, work and repositories stay where they are."""
    place = home_of(home)
    load(place)
    edit_file(place.config, lambda text: remove_line(text, str(place.config), slug=project))
    _tell({"project": project, "config": str(place.config)}, f"{project} was removed.", as_json=as_json)
    return 0


async def _line(home: Home, target: str, *, local: bool) -> ProjectLine:
    folder = Path(target).expanduser()
    if not folder.is_dir():
        if local:
            raise Invalid(f"{target} is not a folder; --local needs a checkout")
        if not is_slug(target):
            raise Invalid(f"{target!r} is neither owner/repo nor a checkout's folder")
        return ProjectLine(target)
    checkout = await read_checkout(folder.absolute())
    if local:
        if checkout.dirty:
            raise Conflict(f"{checkout.root} has changes that are not committed, and only commits are taken")
        slug, _bare, _labels = await import_local(home, checkout)
        return ProjectLine(slug, forge="local", source=str(checkout.root))
    if not checkout.origin_slug:
        raise Invalid(f"the origin of {checkout.root} ({checkout.origin or 'none'}) names no owner/repo")
    return ProjectLine(checkout.origin_slug, source=str(checkout.root))


def _tell(answer: dict[str, str], words: str, *, as_json: bool) -> None:
    sys.stdout.write(json.dumps(answer) + "\n" if as_json else words + "\n")
