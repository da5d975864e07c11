"""`nightcrew doctor`: what is missing or wrong, each with what to do about it; one kind of finding a file. What the
engine keeps (sessions, worktrees, labels, branches) is looked at by `engine/doctor`."""

from nightcrew.service.doctor.run import run_doctor

__all__ = ["run_doctor"]
