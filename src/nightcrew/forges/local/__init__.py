"""The local forge: GitHub's REST API over real bare repositories and SQLite, on loopback or in the same process."""
