"""Confining an agent with the operating system's own means: what it may see, write and reach is a spec, and a spec is a
command line around the agent's. Which agent needs what of a home is the adapters' to say; nothing here knows one."""

from nightcrew.core.model.settings import Network
from nightcrew.core.model.settings import SandboxKind as Kind
from nightcrew.sandbox.git import GitView, checkout_view, ensure_worktree_view
from nightcrew.sandbox.home import HomeView, ensure_home_view
from nightcrew.sandbox.probe import Found, Unusable, Usable, find_sandbox
from nightcrew.sandbox.program import ProgramView, find_program_view, find_tool_binds
from nightcrew.sandbox.spec import Bind, Link, SandboxSpec
from nightcrew.sandbox.vendor import VendorView, ensure_vendor_view
from nightcrew.sandbox.wrap import build_argv

__all__ = [
    "Bind",
    "Found",
    "GitView",
    "HomeView",
    "Kind",
    "Link",
    "Network",
    "ProgramView",
    "SandboxSpec",
    "Unusable",
    "Usable",
    "VendorView",
    "build_argv",
    "checkout_view",
    "ensure_home_view",
    "ensure_vendor_view",
    "ensure_worktree_view",
    "find_program_view",
    "find_sandbox",
    "find_tool_binds",
]
