"""The one exception whose message is meant for the user."""


class StrettoError(Exception):
    """Something the user can mend. The message names the fix; the command prints it and exits with code 2."""
