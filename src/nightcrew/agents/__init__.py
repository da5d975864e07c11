"""Adapters for coding CLIs, one a file. They start nothing themselves; none knows another."""
