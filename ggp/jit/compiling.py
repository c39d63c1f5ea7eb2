"""Compilation of kernels: without the GIL, cached on disk across processes.

Compiled code is kept in the user's cache folder, in a subfolder named by a digest of the sources of all
kernels, with one checked file per kernel, processor type and row width.

    GGP_KERNEL_CACHE    folder for compiled kernels instead of the default; empty: do not cache
    NUMBA_DISABLE_JIT   1: run kernels as plain Python (hundreds of times slower; for debugging)
"""

# mypy: disallow-untyped-calls=false
# numba is not typed.

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import os
import pickle
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
from numba import config, njit
from numba.core import event
from numba.core.caching import Cache, _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from ggp.files import PACKAGE, require_private_folder, user_cache_folder
from ggp.jit.checked_store import CheckedStore
from ggp.jit.quick_compiler import QuickCompiler, without_literals

_Function = TypeVar("_Function", bound=Callable[..., Any])
_logger = logging.getLogger("ggp.kernels")
NOTICE_AFTER_SECONDS = 0.8
POLL_SECONDS = 0.1
PROGRESS_SECONDS = 10.0
KEPT_VERSIONS = 4
IS_COMPILED: bool = not config.DISABLE_JIT  # type: ignore[attr-defined]
"""False if kernels run as plain Python."""
_NOT_IN_NAMES = re.compile(r"[^\w.]")
_VERSIONS = (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag)
_FOR_KERNELS_ONLY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Python never calls the pieces of a kernel; leaving out their wrappers halves the time to compile."""
_DEFINES_KERNELS = re.compile(r"^@(?:kernel|inlined|piece|stage)\b", re.MULTILINE)
_IMPORTS = re.compile(r"^ *(?:from|import) (ggp[\w.]*)(?: import (?:\(([^)]*)\)|(.*)))?", re.MULTILINE)


def kernel_sources(package: Path = PACKAGE) -> list[Path]:
    """Files that kernels are compiled from. Those that define kernels, and all of `ggp` that these import."""
    text = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    found = {path for path in text if path.parent.name == "jit" or _DEFINES_KERNELS.search(text[path])}
    waiting = list(found)
    while waiting:
        new = [path for path in _imported(text[waiting.pop()], package) if path in text and path not in found]
        found.update(new)
        waiting += new
    return sorted(found)


def _imported(text: str, package: Path) -> set[Path]:
    """Files that the imports in `text` may refer to, existing or not."""
    places = []
    for match in _IMPORTS.finditer(text):
        module = package.parent.joinpath(*match[1].split("."))
        places += [module, *(module / name for name in re.findall(r"\w+", match[2] or match[3] or ""))]
    return {path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")}


def _source_digest() -> str:
    digest = hashlib.sha256()
    for path in kernel_sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path | None:
    """Folder for compiled kernels.

    None if caching is switched off, there is no home folder, or the folder cannot be made or is another
    user's. One that cannot be written is read.
    """
    chosen = os.environ.get("GGP_KERNEL_CACHE")
    if chosen == "":
        return None
    base = user_cache_folder()
    kernels = Path(chosen) if chosen else base and base / "kernels"
    if kernels is None:
        return None
    folder = kernels / _source_digest()
    try:
        is_new = not folder.is_dir()
        require_private_folder(folder)
    except OSError:
        return None
    if is_new:
        with suppress(OSError):  # another process does the same
            _drop_old(folder.parent)
    return folder


def _drop_old(parent: Path) -> None:
    """Keep only the newest folders, one per version of the sources."""
    folders = sorted(parent.iterdir(), key=lambda folder: folder.stat().st_mtime)
    for folder in folders[:-KEPT_VERSIONS]:
        shutil.rmtree(folder, ignore_errors=True)


CACHE_FOLDER = cache_folder()


class KernelCache(_Cache):
    """The machine code of one kernel on disk, one entry for each signature and processor type.

    In place of numba's own cache, which unpickles what it finds without a check. Its index of a function's
    entries is one more file to be damaged, and two processes that add to it at once may give one file two
    meanings. Here each entry is a checked file, named by a digest of all that its machine code depends on.
    """

    is_required = False
    """True: the process ends with code 1 if an entry cannot be kept, because it works for the cache only."""

    def __init__(self, function: Callable[..., Any], store: CheckedStore) -> None:
        self._py_func = function
        self._store = store

    @property
    def cache_path(self) -> str:
        """The folder, for numba's statistics."""
        return str(self._store.folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel compiled for the signature `sig`, or None."""
        target_context.refresh()
        name = self._name(sig, target_context.codegen())
        content = self._store.load(name)
        if content is None:
            return None
        try:
            parts = pickle.loads(content)
            if parts[3].args != normalize_signature(sig)[0]:  # types of the same name
                return None
            return CompileResult._rebuild(target_context, *parts)
        except MemoryError:
            raise
        except Exception as error:  # whatever is wrong with the content, it is not an entry
            self._store.drop(name, f"{type(error).__name__}: {error}")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a kernel, unless its machine code contains addresses of this process."""
        if data.library.has_dynamic_globals:
            return
        is_kept = self._store.save(self._name(sig, data.codegen), dumps(data._reduce()))
        if self.is_required and not is_kept:
            raise SystemExit(1)

    def _name(self, sig: Any, codegen: Any) -> str:
        index_key: Any = Cache._index_key
        key = index_key(self, normalize_signature(sig)[0], codegen)
        of_file = _file_digest(inspect.getfile(self._py_func))
        digest = hashlib.sha256(repr((key, of_file, _VERSIONS)).encode()).hexdigest()
        function = f"{self._py_func.__module__}.{self._py_func.__qualname__}"
        return f"{_NOT_IN_NAMES.sub('', function)[-80:]}-{digest[:32]}.kernel"

    def enable(self) -> None:
        """Nothing: caching is switched off for all kernels or none."""

    disable = flush = enable


@functools.cache
def _file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def kernel(function: _Function) -> _Function:
    """Compile `function` on its first call, or load it from the cache. It runs without the GIL."""
    compiled: Any = _compiled(function)
    if IS_COMPILED and CACHE_FOLDER is not None:
        compiled._cache = KernelCache(function, CheckedStore(CACHE_FOLDER))
    found: _Function = compiled
    return found


def inlined(function: _Function) -> _Function:
    """Compile a piece of kernels into each of its callers. So rows stay in registers."""
    return _compiled(function, forceinline=True, **_FOR_KERNELS_ONLY)


def piece(function: _Function) -> _Function:
    """Compile a piece of kernels that runs rarely or long. It is compiled once, and called or inlined as LLVM
    decides."""
    return _compiled(function, **_FOR_KERNELS_ONLY)


def stage(function: _Function) -> _Function:
    """Compile a large piece that is called once into its caller, before numba infers types.

    As an `inlined` piece, LLVM would optimize it, with all pieces in it, by itself and again in its caller.
    Not for the smallest pieces: if all of them are stages, `search_tree` takes longer to compile, not
    shorter.
    """
    return _compiled(function, inline="always", **_FOR_KERNELS_ONLY)


def _compiled(function: _Function, **options: Any) -> _Function:
    if not IS_COMPILED:
        return function
    # Without numba's runtime nothing can be allocated, and arrays taken out of a NamedTuple need no atomic
    # reference counts: a factor of three to seven in code that works lane by lane.
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, **options}
    compiled: _Function = without_literals(njit(pipeline_class=QuickCompiler, **settings)(function))
    return compiled


class _CompilationWatch(event.Listener):
    """Counts compilations, which are nested: a kernel's pieces are compiled within its own.

    done      kernels compiled so far
    is_busy   whether something is being compiled
    """

    def __init__(self, on_change: Callable[[bool], None] = lambda is_busy: None) -> None:
        self._on_change = on_change
        self._depth = self.done = 0
        self._lock = threading.Lock()

    def on_start(self, event: object) -> None:
        self._count(1)

    def on_end(self, event: object) -> None:
        self._count(-1)

    @property
    def is_busy(self) -> bool:
        return self._depth > 0

    def _count(self, change: int) -> None:
        with self._lock:
            was_busy = self.is_busy
            self._depth += change
            if self.is_busy != was_busy:
                self.done += was_busy
                self._on_change(self.is_busy)


def watch_compilation(on_change: Callable[[bool], None]) -> None:
    """Call `on_change` with True when a compilation begins in any thread, with False when it has ended.

    A kernel that is loaded from the cache is not compiled; one that is compiled is stored just after the end.
    """
    event.register("numba:compile", _CompilationWatch(on_change))


def _report(say: Callable[[str], None], watch: _CompilationWatch, is_over: threading.Event) -> None:
    """Report the compilation of kernels until `is_over`: its start, its progress and the time taken."""
    begin = time.monotonic()
    if is_over.wait(NOTICE_AFTER_SECONDS):
        return
    busy_polls = 2 * watch.is_busy
    while busy_polls < 2:  # do not announce short compilations
        if is_over.wait(POLL_SECONDS):
            return
        busy_polls = busy_polls + 1 if watch.is_busy else 0
    global _is_explained
    how = f"once, up to a minute; kept in {CACHE_FOLDER}" if CACHE_FOLDER else "up to a minute; not kept"
    say(
        "compiling more kernels ..." if _is_explained else f"compiling kernels for this processor ({how}) ..."
    )
    _is_explained = True
    while not is_over.wait(PROGRESS_SECONDS):
        say(f"compiling kernels: {watch.done} done, {time.monotonic() - begin:.0f} s so far")
    noun = "kernel" if watch.done == 1 else "kernels"
    say(f"compiled {watch.done} {noun} in {time.monotonic() - begin:.0f} s")


_is_announced = False
_is_explained = False
"""Whether this process has said why kernels are compiled, and where they are kept."""


@contextmanager
def announced_compilation(announce: Callable[[str], None] | None = None) -> Iterator[None]:
    """Announce compilation if the calls in the `with` block compile for long, and its end.

    Blocks inside or next to an announced one are silent: one place reports what a user waits for.

    announce   called with one line of text; default: a warning of the logger `ggp.kernels`
    """
    global _is_announced
    if _is_announced:
        yield
        return
    watch, is_over = _CompilationWatch(), threading.Event()
    reporter = threading.Thread(
        target=_report, args=(announce or _logger.warning, watch, is_over), daemon=True
    )
    reporter.start()
    _is_announced = True
    try:
        with event.install_listener("numba:compile", watch):
            yield
    finally:
        _is_announced = False
        is_over.set()
        reporter.join()
