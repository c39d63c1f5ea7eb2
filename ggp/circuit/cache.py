"""Cache of compiled games, so that a known game starts at once.

An entry is one file, named by a hash of the rules and of everything else that affects the result. It holds a
simplified circuit as `ggp.circuit.file` writes it, in a `CheckedStore`. Nothing is unpickled: a file from a
stranger may be wrong, but it cannot run code. A file that fails its checks is removed and counts as absent.
If the folder exceeds its size, the least recently used files are removed.

    GGP_CACHE    folder of the cache instead of the default; off: no cache
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gdl.program import Program
from gdl.syntax.printer import to_kif
from ggp.circuit.file import CompiledCircuit, decode, encode
from ggp.files import PACKAGE, user_cache_folder
from ggp.jit.checked_store import CheckedStore

FORMAT = 2
"""Increased whenever the same rules would give different contents."""

DEFAULT_MEBIBYTES = 1024

_SUFFIX = ".circuit"


def cache_folder() -> Path | None:
    """Folder of the entries. None if the cache is switched off or there is no home folder."""
    chosen = os.environ.get("GGP_CACHE", "")
    if chosen.lower() in ("off", "0", "no"):
        return None
    return Path(chosen) if chosen else user_cache_folder()


@dataclass(frozen=True, slots=True)
class GameCache:
    """Simplified circuits by the rules they were made from.

    folder      created on the first write; None: nothing is kept
    mebibytes   limit on the size of all entries together
    """

    folder: Path | None
    mebibytes: int = DEFAULT_MEBIBYTES

    def load(self, program: Program, variant: str = "") -> CompiledCircuit | None:
        """The circuit stored for these rules, or None. Never raises for a broken file."""
        name = rules_key(program, variant) + _SUFFIX
        store = CheckedStore(self.folder)
        content = store.load(name)
        if content is None or self.folder is None:
            return None
        try:
            found = decode(content)
        except MemoryError:
            raise
        except Exception as error:  # whatever is wrong with the file, it is not an entry
            store.drop(name, str(error))
            return None
        store.touch(name)
        return found

    def store(self, program: Program, compiled: CompiledCircuit, variant: str = "") -> None:
        """Store `compiled`, unless writing fails or it is larger than the whole cache may be."""
        if self.folder is None:
            return
        content = encode(compiled)
        if len(content) > self.mebibytes << 20:
            return
        name = rules_key(program, variant) + _SUFFIX
        store = CheckedStore(self.folder)
        if store.save(name, content):
            store.shrink(_SUFFIX, self.mebibytes << 20, newest=name)


def rules_key(program: Program, variant: str = "") -> str:
    """Name of the entry for these rules, without its suffix.

    A hash of the rules (not of their layout), of `variant` and of the code that compiles them.
    """
    digest = hashlib.sha256(json.dumps([_code_key(), variant]).encode())
    for rule in program.rules:
        digest.update(to_kif(rule).encode())
        digest.update(b"\n")
    return digest.hexdigest()


@functools.cache
def _code_key() -> str:
    """Hash of everything that makes entries. Versions, and the text of modules, which changes more often."""
    digest = hashlib.sha256(json.dumps([FORMAT, *map(_version, ("ggp-lanes", "clingo"))]).encode())
    for module in code_modules():
        # If modules are not files, the version has to do.
        with contextlib.suppress(OSError):
            digest.update(module.read_bytes())
    return digest.hexdigest()


def code_modules() -> list[Path]:
    """The files of the modules that make entries: grounding, construction and simplification."""
    language = PACKAGE.parent / "gdl"
    modules = [language / "normalize.py", language / "slices.py"]
    for folder in (language / "grounding", PACKAGE / "circuit"):
        modules += sorted(folder.rglob("*.py"))
    return modules


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
