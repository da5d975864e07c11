"""The GitHub client: the ports Tracker and Scm over GitHub's REST API, for GitHub and whatever speaks like it."""

from nightcrew.forges.github.app import AppKey, AppToken
from nightcrew.forges.github.forge import GitHubForge
from nightcrew.forges.github.token import Token, resolve_token
from nightcrew.forges.github.traffic import Traffic

__all__ = ["AppKey", "AppToken", "GitHubForge", "Token", "Traffic", "resolve_token"]
