"""Compile kernels in two processes at once: compiling holds the GIL, so threads would not help.

`python -m ggp.jit.second_process LOCK DONE MODULE [ARGUMENT]...` is the second one: it runs MODULE once no
other process does, and creates the file DONE. LOCK is the descriptor of a lock file.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from llvmlite.binding import get_host_cpu_name
from numba.core import event

from ggp.jit.compiling import CACHE_FOLDER, IS_COMPILED, KernelCache
from ggp.processes.isolation import isolated_command, isolated_environment

BACKGROUND_NICENESS = 10
_LOCK_BYTES = b" " * 4096
"""A disk without room for these has none for kernels either."""


class SecondProcess:
    """`python -m module` with `arguments`, which compiles kernels into the cache; ends with this process."""

    def __init__(self, module: str, arguments: tuple[str, ...], done: Path, lock: BinaryIO) -> None:
        """Start it. `done`: file that marks a success; `lock`: file that is locked while it runs."""
        self._is_first = _lock(lock, may_wait=False)
        self._process = subprocess.Popen(
            isolated_command(__name__, str(lock.fileno()), str(done), module, *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=isolated_environment(),
            pass_fds=(lock.fileno(),) if fcntl else (),
        )
        atexit.register(self.kill)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, successfully or not; a success is noted in the cache."""
        return self._process.poll() is not None

    @property
    def has_succeeded(self) -> bool:
        """Whether it has ended and compiled everything."""
        return self.is_over and self._process.returncode == 0

    def wait(self) -> None:
        """Wait for its end."""
        self._process.wait()

    def leave(self) -> bool:
        """Let it outlive this process, with low priority, unless it is over or waits for another process that
        compiles the same kernels; return whether it does."""
        if self.is_over or not self._is_first:
            self.kill()
            return False
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, BACKGROUND_NICENESS)
        atexit.unregister(self.kill)
        return True

    def kill(self) -> None:
        """End it, if it has not ended yet."""
        self._process.kill()
        self._process.wait()
        atexit.unregister(self.kill)


def _lock(file: BinaryIO | int, *, may_wait: bool) -> bool:
    """Lock `file` until its last descriptor in any process is closed; return whether that succeeded."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX if may_wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked by another process, or a file system without locks
        return False
    return True


def begin_second_process(
    module: str,
    *arguments: str,
    folder: Path | None = CACHE_FOLDER if IS_COMPILED else None,
    cores: int | None = None,
) -> SecondProcess | None:
    """Start `python -m module` with `arguments`, which are words.

    The kernels are then loaded from the cache by their callers, or compiled there if the process failed.
    None without a cache that can be written, with a single core, or if it has succeeded before on this
    processor with these arguments.

    folder   of the cache; a file in it marks a success
    cores    None: those of this machine
    """
    if folder is None or (cores or os.cpu_count() or 1) < 2:
        return None
    done = folder / f"{'-'.join((module, *arguments, get_host_cpu_name()))}.done"
    if done.exists():
        return None
    try:
        with (folder / f"{module}.lock").open("wb", buffering=0) as lock:
            if lock.write(_LOCK_BYTES) == len(_LOCK_BYTES):
                return SecondProcess(module, arguments, done, lock)
    except OSError:  # the folder is full or cannot be written, or there are too many processes
        pass
    return None


@contextmanager
def compiled_beside(
    module: str,
    *arguments: str,
    folder: Path | None = CACHE_FOLDER if IS_COMPILED else None,
    cores: int | None = None,
) -> Iterator[None]:
    """Run `begin_second_process` during the `with` block, and wait for its end."""
    process = begin_second_process(module, *arguments, folder=folder, cores=cores)
    try:
        yield
        if process is not None:
            with event.trigger_event("numba:compile"):  # what watches compilations counts this one, too
                process.wait()
    finally:
        if process is not None:
            process.kill()


def _run(lock: int, done: Path, module: str, arguments: list[str]) -> None:
    """The main function of the second process, which its parent ends, not the terminal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _lock(lock, may_wait=True)
    if done.exists():
        return
    KernelCache.is_required = True
    sys.argv[1:] = arguments
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            raise
    with suppress(OSError):
        done.touch()


if __name__ == "__main__":
    _run(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
