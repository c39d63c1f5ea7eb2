"""Worker pools with the interface of `concurrent.futures`: `submit(function, *arguments) -> Future`.

`ProcessWorkers` is a pool of local processes that survives the death of its workers (killed, out of memory):
a new process repeats the interrupted call, whereas the standard pool breaks. `DaskWorkers` are the workers of
an existing Dask cluster.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

Result = TypeVar("Result")

_logger = logging.getLogger("ggp")
CONNECT_SECONDS = 10.0
"""How long to wait for a Dask scheduler to answer."""

ATTEMPTS = 3
"""Number of attempts before a call is blamed for the death of its workers."""

MOST_PROCESSES = 512
"""Limit for local processes: a larger number is a typing error, and threads may run out."""

BLAS_THREADS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""A worker has one core: NumPy's matrix products must not use threads on other workers' cores."""


_SAFE_PATH = "PYTHONSAFEPATH"
"""If set, a new Python does not import from the working directory before it has its parent's path."""


class CallError(Exception):
    """Base of errors that explain a failed call in a sentence; passed to the caller unchanged.

    Their arguments must be plain data.
    """


class WorkerDiedError(RuntimeError):
    """A call killed its worker `ATTEMPTS` times."""


class WorkersError(Exception):
    """No workers: wrong address, no reply from there, or a missing package."""


class Workers(Protocol):
    """A pool of workers; leaving the `with` block drops unfinished calls.

    Futures that are cancelled before that mean that the workers are gone.
    """

    def size(self) -> int:
        """The current number of simultaneous calls."""
        ...

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> Future[Result]:
        """Call `function(*arguments)` (all picklable) in a worker, possibly more than once."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_workers(text: str | None) -> Workers:
    """Open workers: a number of processes, `dask://host:port`, or None for all cores.

    Raises WorkersError.
    """
    if text is None:
        return ProcessWorkers(usable_cores())
    if text.startswith("dask://"):
        return DaskWorkers(text)
    if text.isascii() and text.isdigit() and text.strip("0"):
        if len(text) > 9 or int(text) > MOST_PROCESSES:
            raise WorkersError(f"at most {MOST_PROCESSES} worker processes are allowed, not {text[:20]}")
        return ProcessWorkers(int(text))
    raise WorkersError(f"workers: expected a number of processes or dask://host:port, not {text!r}")


def usable_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Call:
    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments
        self.future: Future[Any] = Future()


class ProcessWorkers:
    """A pool of processes, each with a supervising thread that replaces it if it dies."""

    def __init__(self, size: int, *, attempts: int = ATTEMPTS) -> None:
        self._size = size
        self._attempts = attempts
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._is_closing = False
        self._lock = threading.Lock()
        self._processes: dict[int, Any] = {}
        self._supervisors: list[threading.Thread] = []

    def size(self) -> int:
        return self._size

    @property
    def process_ids(self) -> tuple[int, ...]:
        """Ids of the running processes."""
        with self._lock:
            return tuple(process.pid for process in self._processes.values() if process.pid is not None)

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> Future[Result]:
        assert not self._is_closing, "submit after close"
        call = _Call(function, arguments)
        self._calls.put(call)
        if len(self._supervisors) < self._size:  # no more processes than calls
            number = len(self._supervisors)
            supervisor = threading.Thread(
                target=self._supervise, args=(number,), name=f"worker-supervisor-{number}", daemon=True
            )
            supervisor.start()
            self._supervisors.append(supervisor)
        return call.future

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Terminate all processes immediately."""
        with self._lock:
            self._is_closing = True
            for process in self._processes.values():
                process.terminate()
        for _ in self._supervisors:
            self._calls.put(None)
        for supervisor in self._supervisors:
            supervisor.join(timeout=5)
        with contextlib.suppress(queue.Empty):
            while True:
                call = self._calls.get_nowait()
                if call is not None:
                    call.future.cancel()
                    call.future.set_running_or_notify_cancel()  # otherwise `wait` does not return it

    def _supervise(self, number: int) -> None:
        link: Connection | None = None
        while not self._is_closing:
            call = self._calls.get()
            if call is None:
                break
            if not call.future.set_running_or_notify_cancel():
                continue
            for attempt in range(1, self._attempts + 1):
                try:
                    link = link or self._start(number)
                    link.send((call.function, call.arguments))
                    is_result, value = link.recv()
                except (EOFError, OSError) as error:
                    link = None
                    self._remove(number)
                    if self._is_closing or attempt == self._attempts:
                        call.future.set_exception(
                            WorkerDiedError(f"its worker died {attempt} times: {error}")
                        )
                        break
                except Exception as error:
                    call.future.set_exception(error)  # the arguments cannot be pickled
                    break
                else:
                    if is_result:
                        call.future.set_result(value)
                    else:
                        call.future.set_exception(value)
                    break
        self._remove(number)

    def _start(self, number: int) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        arguments = (theirs, os.environ.get(_SAFE_PATH))
        process = context.Process(target=_serve_calls, args=arguments, name=f"worker-{number}")
        with self._lock:
            if self._is_closing:
                raise EOFError("the pool is closing")
            with _environment(BLAS_THREADS | {_SAFE_PATH: "1"}):
                process.start()
            self._processes[number] = process
        theirs.close()
        return ours

    def _remove(self, number: int) -> None:
        with self._lock:
            process = self._processes.pop(number, None)
        if process is not None:
            process.terminate()
            process.join(timeout=2)
            if process.is_alive():
                process.kill()
                process.join()


@contextlib.contextmanager
def _environment(defaults: dict[str, str]) -> Iterator[None]:
    """Set variables for a process that starts in this block; the user's values take precedence."""
    added = [name for name in defaults if name not in os.environ]
    os.environ.update({name: defaults[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _serve_calls(link: Connection, safe_path: str | None = None) -> None:
    """Main loop of a worker process: serve calls until the parent is gone.

    safe_path   PYTHONSAFEPATH of the user, for programs that agents start
    """
    if safe_path is None:
        os.environ.pop(_SAFE_PATH, None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and terminates us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            function, arguments = link.recv()
        except (EOFError, ConnectionError):  # a killed parent resets the link if replies were unread
            return
        try:
            answer: tuple[bool, Any] = (True, function(*arguments))
        except Exception as error:
            answer = (False, _portable(error))
        try:
            link.send(answer)
        except OSError:
            return


def _portable(error: Exception) -> Exception:
    """Put the traceback of `error` in the text of an exception that any process can unpickle."""
    if isinstance(error, CallError):
        return error
    return RuntimeError("".join(traceback.format_exception(error)).rstrip())


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class DaskWorkers:
    """The workers of a Dask cluster, on which this package must be installed."""

    def __init__(self, address: str) -> None:
        """Connect to `dask://host:port`. Raises WorkersError."""
        try:
            import distributed
        except ImportError:
            raise WorkersError("dask:// needs an extra: pip install 'ggp-lanes[distributed]'") from None
        try:
            client: Any = distributed.Client
            self._client = client(address.replace("dask://", "tcp://", 1), timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise WorkersError(f"no Dask scheduler at {address}: {error}") from None
        # With `pure`, calls with equal arguments would be a single call. The scheduler repeats calls of dead
        # workers itself.
        self._executor = self._client.get_executor(pure=False)

    def size(self) -> int:
        """The current number of cores. Raises WorkersError if the scheduler is gone."""
        try:
            cores: int = sum(self._client.ncores().values())
        except OSError as error:
            raise WorkersError(f"the Dask scheduler is gone: {error}") from None
        return max(1, cores)

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> Future[Result]:
        future: Future[Result] = self._executor.submit(function, *arguments)
        return future

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._executor.shutdown(wait=False)
            self._client.close()
        except Exception as trouble:  # of several types, if the scheduler is gone
            _logger.info("could not drop the unfinished calls of the Dask cluster: %s", trouble)
