"""A thread that keeps the state of one match, so that the server's event loop never computes.

Unlike a thread of `concurrent.futures` it can be abandoned: it is a daemon, and work that does not end is
interrupted, since rules from strangers may keep a reasoner busy for ever, or make it eat all memory.

Interrupting is an exception that strikes anywhere, so jobs only compute: they must not log, import a
module for the first time, or take any other lock that the rest of the process needs, because such a lock
might never be released.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


class KeeperClosed(Exception):  # noqa: N818 - an event, raised inside the thread
    """The match is over; whatever the thread was doing is no longer wanted."""


class Keeper:
    """Runs jobs one after the other in a thread of its own."""

    def __init__(self, name: str) -> None:
        # Not a Queue: this one takes no lock in Python code.
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_closed = False
        self._busy_since: float | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def busy_seconds(self) -> float:
        """How long the thread has been at its present job; 0 when it waits for one."""
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    def submit(self, job: Callable[[], Result]) -> asyncio.Future[Result]:
        """Run `job` in the thread; the future lives in the calling event loop.

        It raises KeeperClosed where the thread was closed before the job was done.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()

        def run() -> None:
            try:
                result = job()
            except KeeperClosed as closed:
                _settle(loop, functools.partial(_fail, future, closed))
                raise
            except Exception as error:
                _settle(loop, functools.partial(_fail, future, error))
            else:
                _settle(loop, functools.partial(_succeed, future, result))

        if self._is_closed:
            future.set_exception(KeeperClosed())
        self._jobs.put(run)
        # An exception nobody waits for any more is not worth a message at exit.
        future.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        return future

    def close(self) -> None:
        """End the thread, now if it is at work. Jobs that are left are forgotten."""
        self._is_closed = True
        self._jobs.put(None)
        ident = self._thread.ident
        if ident is not None and self._busy_since is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(KeeperClosed))

    def _work(self) -> None:
        try:
            while not self._is_closed:
                job = self._jobs.get()
                if job is None:
                    return
                self._busy_since = time.monotonic()
                job()
                self._busy_since = None
        except KeeperClosed:
            self._busy_since = None


def _succeed(future: asyncio.Future[Result], result: Result) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Result], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _settle(loop: asyncio.AbstractEventLoop, action: Callable[[], None]) -> None:
    # RuntimeError: the loop is closed, the server has gone.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(action)
