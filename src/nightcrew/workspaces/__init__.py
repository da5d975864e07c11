"""Workspaces of tasks on real git: bare repositories, and worktrees. No forge's API is known here."""

from nightcrew.workspaces.worktree import GitWorkspaces

__all__ = ["GitWorkspaces"]
