"""Child side of the link to the parent: requests in, answers and events out, memory limit, end.

Standard input is read in a separate thread, so that its end is noticed at once: then the parent is dead, and
the process ends with its descendants. Messages are described in `ggp.processes.child`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import logging
import os
import queue
import resource
import select
import signal
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, TypeAlias

log = logging.getLogger("ggp")

_MESSAGE_CHARACTERS = 2000
FULL_STATUS = 3
"""Exit code after running out of memory."""

Mistakes: TypeAlias = tuple[type[Exception], ...]
Methods: TypeAlias = Mapping[str, Callable[..., Any]]


class RequestError(Exception):
    """A request that cannot be fulfilled; the text is shown to the user."""


class Parent:
    """The process that started this one; its requests are received from construction on.

    Any thread may send. Output of libraries goes to standard error.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # interrupts of a terminal are meant for the parent
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._out, self._lock, self._pid = os.fdopen(os.dup(1), "wb"), threading.Lock(), os.getpid()
        os.dup2(2, 1)
        threading.Thread(target=self._receive, args=(sys.stdin.buffer,), daemon=True).start()

    def _receive(self, stream: BinaryIO) -> None:
        try:
            for line in stream:
                self._requests.put(json.loads(line))
        except MemoryError:
            end_process_group(FULL_STATUS)
        end_process_group()

    def put(self, item: object) -> None:
        """Queue an item between the requests."""
        self._requests.put(item)

    def has_requests(self) -> bool:
        """Whether a request has arrived that `next` has not returned."""
        return not self._requests.empty()

    def next(self, timeout: float | None = None) -> Any:
        """The next request, as soon as there is one. Raises queue.Empty after `timeout` seconds."""
        return self._requests.get(timeout=timeout)

    def next_all(self) -> list[Any]:
        """Everything that has arrived, as soon as there is something."""
        requests = [self.next()]
        while self.has_requests():
            requests.append(self.next())
        return requests

    def send(self, message: Mapping[str, Any]) -> None:
        """Send an answer or event; the process ends if it is not read. Raises TypeError, ValueError."""
        line = json.dumps(message).encode() + b"\n"
        if os.getpid() != self._pid:  # a process that an author's code has forked
            return
        with self._lock:
            try:
                self._out.write(line)
                self._out.flush()
            except (OSError, ValueError):
                end_process_group()

    def send_event(self, event: str, **values: Any) -> None:
        self.send({"event": event, **values})

    def answer(self, request: dict[str, Any], methods: Methods, mistakes: Mistakes) -> None:
        """Answer a request by the method that it names; the process ends when its memory is full.

        mistakes   errors that are explained to the user, like RequestError; others are logged and answered
                   too, so that they fail one request and not the match
        """
        reply: dict[str, Any] = {"number": request.pop("number", None)}
        try:
            reply["result"] = methods[request.pop("do")](**request)
        except MemoryError:
            reply |= {"error": "stopped: the rules need too much memory", "is_full": True}
        except Exception as error:
            reply["error"] = sentence(error, mistakes)
        if reply["number"] is not None:
            self.send(reply)
        if "is_full" in reply:
            end_process_group(FULL_STATUS)


def sentence(error: Exception, mistakes: Mistakes) -> str:
    """The text of an error for users; the traceback of an unexpected one goes to the log."""
    if isinstance(error, (RequestError, *mistakes)):
        return str(error)[:_MESSAGE_CHARACTERS]
    if isinstance(error, RecursionError):
        return "the rules are nested too deeply"
    log.error("request failed", exc_info=error)
    return f"a bug in the program, not your mistake: {type(error).__name__}: {error}"[:_MESSAGE_CHARACTERS]


def serve(parent: Parent, methods: Methods, mistakes: Mistakes, mebibytes: int) -> None:
    """Answer requests until the input ends, under a memory limit."""
    limit_memory(mebibytes)
    gc.freeze()  # imports stay alive: collecting them would take longer than a click may
    while True:
        parent.answer(parent.next(), methods, mistakes)


def guard_group() -> None:
    """Start a guard that kills this process's group once standard input is closed; call it before any thread.

    Code that never releases the interpreter lock, and its children, would outlive the parent.
    """
    group = os.getpgrp()
    if group != os.getpid():
        return
    between = os.fork()
    if between:  # the guard is not a child of this process, which may wait for its own children
        os.waitpid(between, 0)
        return
    if os.fork():
        os._exit(0)
    with contextlib.suppress(BaseException):
        os.setpgid(0, 0)  # a stop of the group does not stop its guard
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):  # readers of these must see the end of the others
            os.dup2(nothing, stream)
        end = select.poll()
        end.register(0, 0)
        end.poll()
        os.killpg(group, signal.SIGKILL)
    os._exit(0)


_SECCOMP_CALLS = {
    0xC000003E: (109, 112),  # x86-64
    0x40000003: (57, 66),  # i386
    0xC00000B7: (154, 157),  # aarch64
    0x40000028: (57, 66),  # arm
}
"""AUDIT_ARCH of seccomp(2) → numbers of setpgid and setsid."""


def keep_group() -> None:
    """Keep this process, and all that it will start, in its group: setsid and setpgid do nothing from now on.

    So nothing escapes when the group is killed. Only Linux supports it; call it before any thread.
    """
    program: list[tuple[int, int, int, int]] = []  # struct sock_filter: code, jump if true, if false, value
    for architecture, (setpgid, setsid) in _SECCOMP_CALLS.items():
        program += [
            (0x20, 0, 0, 4),  # load the architecture
            (0x15, 0, 5, architecture),  # of another one: behind this block
            (0x20, 0, 0, 0),  # load the number of the call
            (0x54, 0, 0, 0xBFFFFFFF),  # without the bit of x32
            (0x15, 1, 0, setpgid),
            (0x15, 0, 1, setsid),
            (0x06, 0, 0, 0x00050000),  # return 0 at once: to programs, an error would be a crash
        ]
    code = b"".join(struct.pack("=HBBI", *line) for line in [*program, (0x06, 0, 0, 0x7FFF0000)])  # allow
    buffer = ctypes.create_string_buffer(code)
    filtered = struct.pack("HP", len(code) // 8, ctypes.addressof(buffer))
    with contextlib.suppress(OSError, AttributeError):
        control = ctypes.CDLL(None).prctl
        control(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, which a filter without privileges needs
        control(22, 2, filtered)  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def limit_memory(mebibytes: int) -> None:
    """Make allocations beyond `mebibytes` fail, where the system supports it."""
    limit = mebibytes * 1024 * 1024
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def release_memory() -> None:
    """Collect garbage and return free memory to the system, as far as the C library can do that.

    Objects of `gc.freeze()` are included.
    """
    gc.unfreeze()
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def end_process_group(status: int = 0) -> None:
    """End this process and its descendants at once. May be called from any thread."""
    with contextlib.suppress(OSError):
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
    os._exit(status)


if __name__ == "__main__":  # the command that follows, with all that it starts in its group
    keep_group()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would the command
        signal.signal(number, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
