"""Compile kernels in two processes at once: compiling holds the GIL, so threads would not help."""

from __future__ import annotations

import atexit
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llvmlite.binding import get_host_cpu_name

from ggp.jit.compiling import CACHE_FOLDER, IS_COMPILED
from ggp.processes.isolation import isolated_command, isolated_environment


class SecondProcess:
    """`python -m module` with `arguments`, which compiles kernels into the cache; ends with this process."""

    def __init__(self, module: str, arguments: tuple[str, ...], done: Path) -> None:
        """Start it. `done`: file that marks a success."""
        self._done = done
        self._process = subprocess.Popen(
            isolated_command(module, *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=isolated_environment(),
        )
        atexit.register(self.kill)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, successfully or not; a success is noted in the cache."""
        if self._process.poll() == 0:
            self._done.touch()
        return self._process.returncode is not None

    @property
    def has_succeeded(self) -> bool:
        """Whether it has ended and compiled everything."""
        return self.is_over and self._process.returncode == 0

    def wait(self) -> None:
        """Wait for its end, and note a success in the cache."""
        if self._process.wait() == 0:
            self._done.touch()

    def kill(self) -> None:
        """End it, if it has not ended yet."""
        self._process.kill()
        self._process.wait()
        atexit.unregister(self.kill)


def begin_second_process(
    module: str,
    *arguments: str,
    folder: Path | None = CACHE_FOLDER if IS_COMPILED else None,
    cores: int | None = None,
) -> SecondProcess | None:
    """Begin to run `python -m module` with `arguments`, which are words.

    The kernels are then loaded from the cache by their callers, or compiled there if the process failed.
    None without a cache, with a single core, or if it has succeeded before on this processor with these
    arguments.

    folder   of the cache; a file in it marks a success
    cores    None: those of this machine
    """
    done = None if folder is None else folder / f"{'-'.join((module, *arguments, get_host_cpu_name()))}.done"
    if done is None or done.exists() or (cores or os.cpu_count() or 1) < 2:
        return None
    return SecondProcess(module, arguments, done)


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
            process.wait()
    finally:
        if process is not None:
            process.kill()
