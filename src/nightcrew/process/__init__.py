"""Running programs: the only door to subprocesses. Nothing here knows what the programs are."""

from nightcrew.process.environment import clean_environment
from nightcrew.process.run import Completed, NotFound, TimedOut, run_process

__all__ = ["Completed", "NotFound", "TimedOut", "clean_environment", "run_process"]
