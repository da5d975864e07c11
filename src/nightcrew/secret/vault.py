"""The secrets that the service has seen so far. They come to light one by one: a variable may be set anew while the
service runs."""

from collections.abc import Iterable
from pathlib import Path

from nightcrew.secret.folder import mask_folder
from nightcrew.secret.hit import Hit
from nightcrew.secret.mask import Masker
from nightcrew.secret.scan import scan_diff


class Vault:
    """Masks and scans with all secrets that it has learned. Nothing is ever unlearned: what was a token last week may
    still stand in a file."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = frozenset(known)
        self._masker = Masker(self._known)

    def __repr__(self) -> str:
        return f"Vault({len(self._known)} secrets)"

    def learn(self, values: Iterable[str]) -> None:
        """Know these values from now on."""
        known = self._known.union(values)
        if known != self._known:
            self._known, self._masker = known, Masker(known)

    def mask(self, text: str) -> str:
        """`text` without secrets."""
        return self._masker.mask(text)

    def mask_folder(self, folder: Path) -> tuple[str, ...]:
        """The files of `folder` without secrets; the names of those that had some."""
        return mask_folder(folder, self._masker)

    def scan(self, diff: str) -> tuple[Hit, ...]:
        """What a diff adds that is secret, or looks so."""
        return scan_diff(diff, known=self._masker)
