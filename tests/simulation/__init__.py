"""Months of Nightcrew in minutes: a simulated clock, forge, agents and people, driven by a seed."""
