"""Nightcrew: issues in, reviewed and merged pull requests out."""
