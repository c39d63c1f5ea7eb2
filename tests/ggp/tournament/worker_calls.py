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


def die_at_first(folder):
    """Kill this process on the first call; returns the number of calls."""
    calls = len(list(Path(folder).iterdir())) + 1
    (Path(folder) / str(calls)).touch()
    if calls == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return calls


def die_always(folder):
    (Path(folder) / str(time.monotonic_ns())).touch()
    os.kill(os.getpid(), signal.SIGKILL)


def blas_threads():
    return {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}


def safe_path():
    return os.environ.get("PYTHONSAFEPATH")
