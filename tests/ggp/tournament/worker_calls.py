"""Calls for worker processes, which import them by name."""

import os
import signal
import time
from pathlib import Path


def add(left, right):
    return left + right


def fail(words):
    raise ValueError(words)


def slow_process_id(seconds):
    time.sleep(seconds)
    return os.getpid()


def die(folder, times):
    """Kill this process in the first calls; returns the number of calls."""
    calls = len(list(Path(folder).iterdir())) + 1
    (Path(folder) / str(calls)).touch()
    if calls <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return calls


def variables():
    return dict(os.environ)
