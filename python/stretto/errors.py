"""The exceptions whose messages are meant for the user."""


class StrettoError(Exception):
    """Something the user can mend. The message names the fix; the command prints it and exits with `exit_code`."""

    exit_code = 2


class ProgramFailedError(StrettoError):
    """A program that we started failed or outran its time: not a matter of usage."""

    exit_code = 1
