"""Workers behind the interface of `concurrent.futures`: `submit(function, *arguments) -> Future`.

`ProcessWorkers` is a pool of processes of this machine that outlives its workers: one that dies (killed, out
of memory) costs the call it was making, which is made again by a new process. The standard pool gives up
altogether in that case. `DaskWorkers` are those of an existing Dask cluster.
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

ATTEMPTS = 3
"""How often a call is made before the death of its workers is taken to be its own fault."""


MOST_PROCESSES = 512
"""Of this machine: beyond that somebody has mistyped, and so many threads may not be had."""

BLAS_THREADS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""A worker has one core: NumPy's matrix products must not wait for threads on those of the others."""


class CallError(Exception):
    """What calls raise to tell a person in a sentence why they failed: it comes back as it is.

    Its arguments must be plain data.
    """


class WorkerDiedError(RuntimeError):
    """A call took its worker down with it, `ATTEMPTS` times."""


class WorkersError(Exception):
    """No workers: the address is wrong, nobody answers there, or a package is missing."""


class Workers(Protocol):
    """Something that makes calls elsewhere. Leaving the `with` block drops calls that are not finished.

    Futures that are cancelled before that mean that there are no workers any more.
    """

    def size(self) -> int:
        """How many calls are made at the same time, at the moment."""
        ...

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> Future[Result]:
        """Call `function(*arguments)`, both picklable; it may happen more than once."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_workers(text: str | None) -> Workers:
    """Workers as a person asks for them: a number of processes, `dask://host:port`, or None for all cores.

    Raises WorkersError.
    """
    if text is None:
        return ProcessWorkers(usable_cores())
    if text.startswith("dask://"):
        return DaskWorkers(text)
    if text.isascii() and text.isdigit() and text.strip("0"):
        if len(text) > 9 or int(text) > MOST_PROCESSES:
            raise WorkersError(f"at most {MOST_PROCESSES} processes, not {text[:20]}")
        return ProcessWorkers(int(text))
    raise WorkersError(f"workers are a number of processes or dask://host:port, not {text!r}")


def usable_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Call:
    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments
        self.future: Future[Any] = Future()


class ProcessWorkers:
    """A pool of processes; each is looked after by a thread that replaces it when it dies."""

    def __init__(self, size: int, *, attempts: int = ATTEMPTS) -> None:
        self._size = size
        self._attempts = attempts
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._is_closing = False
        self._lock = threading.Lock()
        self._processes: dict[int, Any] = {}
        self._keepers: list[threading.Thread] = []

    def size(self) -> int:
        return self._size

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes that run now."""
        with self._lock:
            return tuple(process.pid for process in self._processes.values() if process.pid is not None)

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> Future[Result]:
        assert not self._is_closing, "submit after close"
        call = _Call(function, arguments)
        self._calls.put(call)
        if len(self._keepers) < self._size:  # as many as there are calls, however many are allowed
            number = len(self._keepers)
            keeper = threading.Thread(
                target=self._keep, args=(number,), name=f"worker-keeper-{number}", daemon=True
            )
            keeper.start()
            self._keepers.append(keeper)
        return call.future

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes, now."""
        with self._lock:
            self._is_closing = True
            for process in self._processes.values():
                process.terminate()
        for _ in self._keepers:
            self._calls.put(None)
        for keeper in self._keepers:
            keeper.join(timeout=5)
        with contextlib.suppress(queue.Empty):
            while True:
                call = self._calls.get_nowait()
                if call is not None:
                    call.future.cancel()
                    call.future.set_running_or_notify_cancel()  # else who waits for it is not told

    def _keep(self, number: int) -> None:
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
                    self._bury(number)
                    if self._is_closing or attempt == self._attempts:
                        call.future.set_exception(
                            WorkerDiedError(f"its worker died, {attempt} times: {error}")
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
        self._bury(number)

    def _start(self, number: int) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve_calls, args=(theirs,), name=f"worker-{number}")
        with self._lock:
            if self._is_closing:
                raise EOFError("the pool is closing")
            with _environment(BLAS_THREADS):
                process.start()
            self._processes[number] = process
        theirs.close()
        return ours

    def _bury(self, number: int) -> None:
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
    """Variables for a process that starts now; those that the user has set stay."""
    added = [name for name in defaults if name not in os.environ]
    os.environ.update({name: defaults[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _serve_calls(link: Connection) -> None:
    """What a worker process does: make one call after the other until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            function, arguments = link.recv()
        except (EOFError, ConnectionError):  # a killed parent resets the link where answers were left unread
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
    """`error` with its traceback in the text, as an exception that every process can unpickle."""
    if isinstance(error, CallError):
        return error
    return RuntimeError("".join(traceback.format_exception(error)).rstrip())


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class DaskWorkers:
    """The workers of a Dask cluster, which must have this package installed."""

    def __init__(self, address: str) -> None:
        """Connect to `dask://host:port`. Raises WorkersError."""
        try:
            import distributed
        except ImportError:
            raise WorkersError("dask:// needs the extra: pip install 'ggp-lanes[distributed]'") from None
        try:
            client: Any = distributed.Client
            self._client = client(address.replace("dask://", "tcp://", 1), timeout=10)
        except (OSError, ValueError) as error:
            raise WorkersError(f"no Dask scheduler at {address}: {error}") from None
        # `pure` calls with equal arguments would be one call. The scheduler itself makes the calls of dead
        # workers again.
        self._executor = self._client.get_executor(pure=False)

    def size(self) -> int:
        """Raises WorkersError where the scheduler is gone."""
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
        except Exception as trouble:  # of several kinds, where there is no scheduler any more
            _logger.info("the Dask cluster was not told to drop its calls: %s", trouble)
