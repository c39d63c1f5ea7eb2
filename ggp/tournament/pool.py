"""A pool of processes with the interface of `concurrent.futures`: `submit(function, *arguments) -> Future`.

It survives the death of its workers (killed, out of memory): a new process repeats the interrupted call,
whereas the standard pool breaks.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, Self, TypeVar

from ggp.processes.child import Child, ChildGoneError
from ggp.processes.isolation import from_text, to_text

Result = TypeVar("Result")

ATTEMPTS = 3
"""Number of attempts before a call is blamed for the death of its workers."""

MAX_PROCESSES = 512
"""Limit for local processes: a larger number is a typing error, and threads may run out."""

MAX_ANSWER_BYTES = 1 << 30
"""Maximum length of the result of a call."""

BLAS_THREADS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""A worker has one core: NumPy's matrix products must not use threads on other workers' cores."""


class CallError(Exception):
    """Base of errors that explain a failed call in a sentence; passed to the caller unchanged.

    Their arguments must be plain data.
    """


class WorkerDiedError(RuntimeError):
    """A call killed its worker `ATTEMPTS` times."""


def open_workers(count: int | None) -> ProcessWorkers:
    """Open this many worker processes, or one for each core."""
    return ProcessWorkers(usable_cores() if count is None else count)


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ProcessWorkers:
    """A pool of threads, each with a process that is replaced if it dies."""

    def __init__(self, size: int, *, attempts: int = ATTEMPTS) -> None:
        self._size, self._attempts = size, attempts
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="worker-supervisor")
        self._is_closing = False
        self._lock = threading.Lock()
        self._children: dict[int, Child] = {}
        """Thread → its process."""

    def size(self) -> int:
        return self._size

    @property
    def process_ids(self) -> tuple[int, ...]:
        with self._lock:
            return tuple(child.pid for child in self._children.values() if child.pid is not None)

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> Future[Result]:
        return self._threads.submit(self._call, function, *arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes immediately."""
        with self._lock:
            self._is_closing = True
            for child in self._children.values():
                child.kill()
        self._threads.shutdown()  # calls that wait end as cancelled ones
        for child in self._children.values():
            child.close()

    def _call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """The result of a call in the process of this thread.

        Raises what the call raises, CancelledError once the pool is closing, and WorkerDiedError.
        """
        packed = to_text((function, arguments))
        for attempt in range(1, self._attempts + 1):
            try:
                is_result, value = from_text(self._child().ask("call", packed=packed).result())
            except ChildGoneError as error:
                if self._is_closing or attempt == self._attempts:
                    raise WorkerDiedError(f"its worker died {attempt} times: {error}") from None
                continue
            if not is_result:
                raise value
            result: Result = value
            return result
        raise AssertionError

    def _child(self) -> Child:
        """The process of this thread."""
        number = threading.get_ident()
        with self._lock:
            if self._is_closing:
                raise CancelledError
            child = self._children.get(number)
            if child is None or child.is_gone:
                child = self._children[number] = Child(
                    "ggp.tournament.pool_process", environment=BLAS_THREADS, line_bytes=MAX_ANSWER_BYTES
                )
            return child
