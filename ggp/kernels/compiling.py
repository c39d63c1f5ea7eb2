"""How kernels are compiled: without the GIL, and cached on disk across processes.

The cache lies in the user's cache folder, in a subfolder named after a digest of this package's sources:
numba looks only at the file of the function itself when it decides whether a cached caller is stale.
Numba keeps one entry per processor type and row width in it.

    GGP_KERNEL_CACHE    another folder for compiled kernels; empty: do not cache
    NUMBA_DISABLE_JIT   1: kernels run as plain Python (hundreds of times slower; for debugging)
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core import config

_Function = TypeVar("_Function", bound=Callable[..., Any])
_logger = logging.getLogger("ggp.kernels")
_HERE = Path(__file__).parent
NOTICE_AFTER_SECONDS = 0.8


def _source_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(_HERE.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path | None:
    """Where compiled kernels are kept; None where nothing may be kept."""
    chosen = os.environ.get("GGP_KERNEL_CACHE")
    if chosen == "":
        return None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(chosen or os.path.join(base, "ggp-lanes", "kernels")) / _source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


CACHE_FOLDER = cache_folder()


def kernel(function: _Function) -> _Function:
    """Compile `function` on its first call (or load it from the cache); it runs without the GIL."""
    if config.DISABLE_JIT:
        return function
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER or "")
    try:
        compiled: _Function = njit(nogil=True, cache=CACHE_FOLDER is not None, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = before
    return compiled


def inlined(function: _Function) -> _Function:
    """A piece of a kernel that is always compiled into its caller, so that rows stay in registers."""
    return function if config.DISABLE_JIT else njit(nogil=True, forceinline=True)(function)  # type: ignore[no-any-return]


def piece(function: _Function) -> _Function:
    """A part of a kernel that has one caller or is large: compiled once, inlined where LLVM sees fit."""
    return function if config.DISABLE_JIT else njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


@contextmanager
def announced_compilation(announce: Callable[[str], None] | None = None) -> Iterator[None]:
    """Tell the user when calls in the `with` block take long because kernels are compiled.

    announce   gets one line of text; by default a warning of the logger `ggp.kernels`
    """
    where = f"; kept in {CACHE_FOLDER}" if CACHE_FOLDER else ""
    text = f"compiling kernels for this processor (once, some seconds{where}) ..."
    timer = threading.Timer(NOTICE_AFTER_SECONDS, announce or _logger.warning, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
