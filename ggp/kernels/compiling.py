"""How kernels are compiled: without the GIL, and cached on disk across processes.

The cache lies in the user's cache folder, in a subfolder named after a digest of this package's sources:
numba looks only at the file of the function itself when it decides whether a cached caller is stale.
Numba keeps one entry per processor type, row width and choice of optional tables in it.

    GGP_KERNEL_CACHE    another folder for compiled kernels; empty: do not cache
    NUMBA_DISABLE_JIT   1: kernels run as plain Python (hundreds of times slower; for debugging)
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit

from ggp.kernels.quick_compiler import QuickCompiler, without_literals

_Function = TypeVar("_Function", bound=Callable[..., Any])
_logger = logging.getLogger("ggp.kernels")
_HERE = Path(__file__).parent
NOTICE_AFTER_SECONDS = 0.8
KEPT_VERSIONS = 4
IS_COMPILED: bool = not config.DISABLE_JIT  # type: ignore[attr-defined]
"""False where kernels run as plain Python."""
_FOR_KERNELS_ONLY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Python never calls the pieces of a kernel; not to prepare for it halves the time to compile."""


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
        if not folder.is_dir():
            folder.mkdir(parents=True)
            _drop_old(folder.parent)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _drop_old(parent: Path) -> None:
    """Keep only the newest few folders: each version of the sources leaves one behind."""
    folders = sorted(parent.iterdir(), key=lambda folder: folder.stat().st_mtime)
    for folder in folders[:-KEPT_VERSIONS]:
        shutil.rmtree(folder, ignore_errors=True)


CACHE_FOLDER = cache_folder()


def kernel(function: _Function) -> _Function:
    """Compile `function` on its first call (or load it from the cache); it runs without the GIL."""
    settings: Any = config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(CACHE_FOLDER or "")
    try:
        return _compiled(function, cache=CACHE_FOLDER is not None)
    finally:
        settings.CACHE_DIR = before


def inlined(function: _Function) -> _Function:
    """A piece of a kernel that is always compiled into its caller, so that rows stay in registers."""
    return _compiled(function, forceinline=True, **_FOR_KERNELS_ONLY)


def piece(function: _Function) -> _Function:
    """A piece of a kernel that runs rarely, or long: compiled once, called or inlined as LLVM sees fit."""
    return _compiled(function, **_FOR_KERNELS_ONLY)


def stage(function: _Function) -> _Function:
    """A large piece that a kernel calls once: Numba makes it part of its caller before it infers types.

    As an `inlined` piece, LLVM would optimize it, with all pieces in it, by itself and again in its caller.
    Not for the smallest pieces: with all of them in it, `search_tree` takes longer to compile, not shorter.
    """
    return _compiled(function, inline="always", **_FOR_KERNELS_ONLY)


def _compiled(function: _Function, **options: Any) -> _Function:
    if not IS_COMPILED:
        return function
    # Without numba's runtime nothing can be allocated, and arrays taken out of a NamedTuple cost no atomic
    # reference counts: in code that works lane by lane that is a factor of three to seven.
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, **options}
    compiled: _Function = without_literals(njit(pipeline_class=QuickCompiler, **settings)(function))
    return compiled


@contextmanager
def announced_compilation(announce: Callable[[str], None] | None = None) -> Iterator[None]:
    """Tell the user when calls in the `with` block take long because kernels are compiled.

    announce   gets one line of text; by default a warning of the logger `ggp.kernels`
    """
    where = f"; kept in {CACHE_FOLDER}" if CACHE_FOLDER else ""
    text = f"compiling kernels for this processor (once for each part, up to a minute{where}) ..."
    timer = threading.Timer(NOTICE_AFTER_SECONDS, announce or _logger.warning, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
