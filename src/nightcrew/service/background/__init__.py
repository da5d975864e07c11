"""Nightcrew kept running by the operating system: launchd on macOS, systemd's user manager on Linux."""

from nightcrew.service.background.control import run_background, run_background_log

__all__ = ["run_background", "run_background_log"]
