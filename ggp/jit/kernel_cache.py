"""KernelCache: machine code of a kernel on disk, in place of numba's own cache.

Numba unpickles what it finds without a check. Its index of a function's entries is one more file to be
damaged, and two processes that add to it at once may give one file two meanings. Here each entry is a
checked file, whose name is a digest of all that its machine code depends on.
"""

# mypy: disallow-untyped-calls=false
# numba is not typed.

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import Cache, _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from ggp.jit.checked_store import CheckedStore

_NOT_IN_NAMES = re.compile(r"[^\w.]")
_VERSIONS = (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag)


class KernelCache(_Cache):
    """The entries of one kernel, one for each signature and processor type."""

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
