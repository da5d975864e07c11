"""The actions, by what they are about. Their union, and what comes of one, is in `core.actions`."""
