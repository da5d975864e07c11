"""Serving an app on a port of this machine. What is served is not known here."""
