"""Secrets in texts: taking them out of what is kept or shown, and finding them in what is about to be published. Where
secrets are kept, and who needs which, is not known here."""

from nightcrew.secret.folder import mask_folder
from nightcrew.secret.hit import Hit
from nightcrew.secret.mask import MASK, Masker, MaskStream, hide_addresses
from nightcrew.secret.scan import scan_diff, scan_text
from nightcrew.secret.vault import Vault

__all__ = ["MASK", "Hit", "MaskStream", "Masker", "Vault", "hide_addresses", "mask_folder", "scan_diff", "scan_text"]
