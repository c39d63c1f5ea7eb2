"""A disk that is full after a few bytes, for child processes of tests."""

SMALL = 2048
"""Bytes that a file may have: more than settings and marks, less than any kernel."""


def small_disk() -> None:
    """Let longer files fail as on a full disk; called in the child (`preexec_fn`). Python ignores SIGXFSZ."""
    import resource  # not on Windows

    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))
