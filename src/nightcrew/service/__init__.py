"""Putting Nightcrew together and running it. `compose` is the only place that knows the concrete classes."""
