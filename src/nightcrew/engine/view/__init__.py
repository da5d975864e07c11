"""Observing, a subject a file: the issues of a project, one pull request, the runs. Nothing here changes anything."""
