"""Configurations of other tools, turned into one of Nightcrew's: what has a counterpart, and what has none."""
