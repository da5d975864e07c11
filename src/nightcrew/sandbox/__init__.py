"""Confining an agent with the operating system's own means: what it may see, write and reach is a spec, and a spec is a
command line around the agent's. Which agent needs what of a home is the adapters' to say; nothing here knows one."""

from nightcrew.sandbox.folder import view_folder
from nightcrew.sandbox.git import GitView, checkout_view, ensure_worktree_view
from nightcrew.sandbox.home import Access, HomePath, HomeView, ensure_home_view
from nightcrew.sandbox.probe import Found, Kind, Unusable, Usable, find_sandbox
from nightcrew.sandbox.program import ProgramView, find_program_view
from nightcrew.sandbox.spec import Bind, Link, Network, SandboxSpec
from nightcrew.sandbox.wrap import build_argv

__all__ = [
    "Access",
    "Bind",
    "Found",
    "GitView",
    "HomePath",
    "HomeView",
    "Kind",
    "Link",
    "Network",
    "ProgramView",
    "SandboxSpec",
    "Unusable",
    "Usable",
    "build_argv",
    "checkout_view",
    "ensure_home_view",
    "ensure_worktree_view",
    "find_program_view",
    "find_sandbox",
    "view_folder",
]
