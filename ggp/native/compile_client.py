"""compile_client: the one process that compiles for this one, and its turn among those of other processes.

Many matches or agents may begin at once. So a process has one compile process at a time, which serves one
circuit after another and ends when no thread waits for it; and of all processes that share a cache only as
many have one as there are files to lock: `SLOTS`, half the cores.
"""

from __future__ import annotations

import atexit
import fcntl
import itertools
import os
import pickle
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ggp.files import make_private_folder
from ggp.native.compile_process import Answer, Order, Outcome
from ggp.native.parts import Part
from ggp.processes.isolation import isolated_command, isolated_environment

MAX_SLOTS = 8
SLOTS = max(1, min(MAX_SLOTS, (os.cpu_count() or 1) // 2))
"""Compile processes at a time, of all processes that share a cache."""
MAX_WAIT_SECONDS = 60.0
"""For one of them: one that is stopped keeps its file locked."""
POLL_SECONDS = 0.05


class CompileError(Exception):
    """The compile process could not be started, or ended before its order was done.

    part               that it worked on
    is_out_of_budget   whether it had used up its CPU seconds
    was_ended          whether it was ended on purpose, as at the exit of this process
    """

    def __init__(
        self, part: Part, reason: str, *, is_out_of_budget: bool = False, was_ended: bool = False
    ) -> None:
        super().__init__(reason)
        self.part, self.is_out_of_budget, self.was_ended = part, is_out_of_budget, was_ended


class CompileClient:
    """Owns the compile process of this process; safe to use from many threads."""

    def __init__(self) -> None:
        self._turn, self._counting = threading.Lock(), threading.Lock()
        self._threads = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._slot: BinaryIO | None = None

    @contextmanager
    def turn(self, folder: Path | None) -> Iterator[None]:
        """Wait for a turn to compile: one thread of this process, in at most SLOTS processes.

        folder   of the files that are locked; None: other processes are not waited for
        """
        with self._counting:
            self._threads += 1
        with self._turn:
            try:
                if self._slot is None and folder is not None:
                    self._slot = _locked_slot(folder)
                yield
            finally:
                with self._counting:
                    self._threads -= 1
                    is_last = self._threads == 0
                if is_last:
                    self.end()
                    if self._slot is not None:
                        self._slot.close()
                        self._slot = None

    def compile(self, order: Order) -> Iterator[Answer]:
        """The answers to an order, as they come; during a turn. Raises CompileError."""
        waiting = list(order.parts)
        try:
            process = self._process or self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):
                pickle.dump(order, process.stdin)
                process.stdin.flush()
            while waiting:
                part, outcome, content, seconds = pickle.load(process.stdout)
                waiting.remove(Part(part))
                yield Answer(Part(part), Outcome(outcome), content, seconds)
        except OSError as error:
            raise CompileError(waiting[0], error.strerror or str(error)) from None
        except Exception:  # its end, a pipe that `end` has closed, or no answer: what some module prints
            raise self._ended(process, waiting[0]) from None
        finally:
            if waiting:  # its next words would be about this order
                self.end()

    def end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            isolated_command("ggp.native.compile_process"),
            stdin=subprocess.PIPE,  # its end is that of the process
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=isolated_environment(),
            process_group=0,  # interrupts of a terminal are meant for this process
        )
        return self._process

    def _ended(self, process: subprocess.Popen[bytes], part: Part) -> CompileError:
        process.kill()  # unless it is over, it would wait for a reader of its answers
        code = process.wait()
        if process is not self._process:
            return CompileError(part, "ended", was_ended=True)
        if code == -getattr(signal, "SIGXCPU", 0):
            return CompileError(part, "out of its CPU seconds", is_out_of_budget=True)
        return CompileError(part, f"its process ended with code {code}")


def _locked_slot(folder: Path) -> BinaryIO | None:
    """A file that only this process has locked, until it is closed; None if files cannot be locked here.

    Not locked, if others have locked all of them for MAX_WAIT_SECONDS: those may be stopped.
    """
    end = time.monotonic() + MAX_WAIT_SECONDS
    with suppress(OSError):  # also of a file system without locks
        make_private_folder(folder)
        for slot in itertools.cycle(range(SLOTS)):
            file = (folder / f"compiling-{slot}.lock").open("wb")
            with suppress(BlockingIOError):
                if time.monotonic() < end:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file
            file.close()
            time.sleep(POLL_SECONDS)
    return None


CLIENT = CompileClient()
atexit.register(CLIENT.end)
# Threads, the process and the locked file stay with the parent of a fork.
os.register_at_fork(after_in_child=partial(CompileClient.__init__, CLIENT))
