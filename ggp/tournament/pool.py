"""A pool of processes with the interface of `concurrent.futures`: `submit(function, *arguments) -> Future`.

It survives the death of its workers (killed, out of memory): a new process repeats the interrupted call,
whereas the standard pool breaks.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
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


Call = tuple[Callable[..., Any], tuple[Any, ...], Future[Any]]
"""Function, arguments, and what becomes of them."""


class ProcessWorkers:
    """A pool of processes, each with a supervising thread that replaces it if it dies."""

    def __init__(self, size: int, *, attempts: int = ATTEMPTS) -> None:
        self._size = size
        self._attempts = attempts
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._is_closing = False
        self._lock = threading.Lock()
        self._children: dict[int, Child] = {}
        self._supervisors: list[threading.Thread] = []

    def size(self) -> int:
        return self._size

    @property
    def process_ids(self) -> tuple[int, ...]:
        with self._lock:
            return tuple(child.pid for child in self._children.values() if child.pid is not None)

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> Future[Result]:
        assert not self._is_closing, "submit after close"
        future: Future[Result] = Future()
        self._calls.put((function, arguments, future))
        number = len(self._supervisors)
        if number < self._size:  # no more processes than calls
            name = f"worker-supervisor-{number}"
            supervisor = threading.Thread(target=self._supervise, args=(number,), name=name, daemon=True)
            supervisor.start()
            self._supervisors.append(supervisor)
        return future

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
        for _ in self._supervisors:
            self._calls.put(None)
        for supervisor in self._supervisors:
            supervisor.join(timeout=5)
        with contextlib.suppress(queue.Empty):
            while True:
                if (call := self._calls.get_nowait()) is not None:
                    call[2].cancel()
                    call[2].set_running_or_notify_cancel()  # otherwise `wait` does not return it

    def _supervise(self, number: int) -> None:
        while not self._is_closing and (call := self._calls.get()) is not None:
            function, arguments, future = call
            if future.set_running_or_notify_cancel():
                try:
                    is_result, value = self._outcome(number, to_text((function, arguments)))
                except Exception as error:  # the process died, or something cannot be pickled
                    is_result, value = False, error
                (future.set_result if is_result else future.set_exception)(value)
        if (child := self._children.get(number)) is not None:
            child.close()

    def _outcome(self, number: int, packed: str) -> tuple[bool, Any]:
        """Whether a call has a result, and the result or exception."""
        for attempt in range(1, self._attempts + 1):
            try:
                outcome: tuple[bool, Any] = from_text(self._child(number).ask("call", packed=packed).result())
                return outcome
            except ChildGoneError as error:
                if self._is_closing or attempt == self._attempts:
                    raise WorkerDiedError(f"its worker died {attempt} times: {error}") from None
        raise AssertionError

    def _child(self, number: int) -> Child:
        """The process of a supervisor. Raises ChildGoneError."""
        with self._lock:
            if self._is_closing:
                raise ChildGoneError("the pool is closing")
            child = self._children.get(number)
            if child is None or child.is_gone:
                child = self._children[number] = Child(
                    "ggp.tournament.pool_process", environment=BLAS_THREADS, line_bytes=MAX_ANSWER_BYTES
                )
            return child
