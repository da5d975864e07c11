"""Why a command did not do what was asked, with what to do about it and the exit code."""

FAILED = 1
USAGE = 2
NOT_RUNNING = 3
BROKEN_PIPE = 141
INTERRUPTED = 130


class CliError(Exception):
    """One line for the person. `hint` says what to do; `code` is the exit code."""

    def __init__(self, message: str, *, hint: str = "", code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class NotRunning(CliError):
    """No service answers on this home."""

    def __init__(self) -> None:
        super().__init__("the service is not running", hint="start it with: nightcrew serve", code=NOT_RUNNING)
