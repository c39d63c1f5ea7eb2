"""Compile kernels in two processes at once: compiling holds the GIL, so threads would not help."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llvmlite.binding import get_host_cpu_name

from ggp.files import PACKAGE
from ggp.jit.compiling import CACHE_FOLDER, IS_COMPILED


@contextmanager
def compiled_beside(
    module: str,
    *arguments: str,
    folder: Path | None = CACHE_FOLDER if IS_COMPILED else None,
    cores: int | None = None,
) -> Iterator[None]:
    """Run `python -m module` with `arguments` during the `with` block, and wait for it at the end.

    Whoever calls next what it compiles loads that from the cache, or compiles it, should it have failed.
    It is not run where there is no cache or a single core, nor if it once came to its end on this processor
    with these arguments, which are words.

    folder   of the cache; a file in it says that the module came to its end
    cores    None: those of this machine
    """
    done = None if folder is None else folder / f"{'-'.join((module, *arguments, get_host_cpu_name()))}.done"
    if done is None or done.exists() or (cores or os.cpu_count() or 1) < 2:
        yield
        return
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    try:
        yield
        if process.wait() == 0:
            done.touch()
    finally:
        process.kill()
        process.wait()
