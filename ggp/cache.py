"""Compiled games in the user's cache folder, so that a game seen before starts at once.

An entry is one file, named by a hash of the rules and of everything that shapes the result, and
holds a simplified circuit as `ggp.circuit_file` writes it. Nothing is unpickled: a stranger's file can
be wrong, but it cannot run. Files are written beside their place and moved
there in one step, so readers see whole files whatever other processes do; a file that does not check out
is removed and counts as absent. The oldest unused files go when the folder passes its size.

`$GGP_CACHE=off` switches the cache off; `$GGP_CACHE` may also name the folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import gdl.grounding
from gdl.printer import to_kif
from gdl.program import Program
from ggp.circuit_file import CompiledCircuit, decode, encode

FORMAT = 2
"""Raised whenever the same rules would give other contents."""

DEFAULT_MEBIBYTES = 1024

_SUFFIX = ".circuit"
_CONSTRUCTION = (
    "circuit",
    "circuit_construction",
    "fixpoint",
    "packed_gates",
    "kernels/construction",
    "kernels/cube_factoring",
    "kernels/cube_pool",
    "kernels/factoring",
    "kernels/gate_table",
)
"""The modules that shape a circuit, the packages of grounding and of simplification apart."""


def cache_folder() -> Path | None:
    """Where entries are kept; None where the cache is switched off or there is no home."""
    chosen = os.environ.get("GGP_CACHE", "")
    if chosen.lower() in ("off", "0", "no"):
        return None
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "ggp-lanes" if base and os.path.isabs(base) else None


@dataclass(frozen=True, slots=True)
class GameCache:
    """Simplified circuits by the rules they come from.

    folder      made when it is first written to; None: nothing is kept
    mebibytes   size of all entries together
    """

    folder: Path | None
    mebibytes: int = DEFAULT_MEBIBYTES

    def load(self, program: Program, variant: str = "") -> CompiledCircuit | None:
        """What was stored for these rules, or None. Never raises for a file that is broken."""
        place = self._place(program, variant)
        if place is None:
            return None
        try:
            content = place.read_bytes()
        except OSError:
            return None
        try:
            found = decode(content)
        except Exception:  # whatever is wrong with the file: it is not an entry
            with contextlib.suppress(OSError):
                place.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(place)
        return found

    def store(self, program: Program, compiled: CompiledCircuit, variant: str = "") -> None:
        """Keep `compiled`, unless the disk objects or it is larger than the whole cache may be."""
        place = self._place(program, variant)
        if place is None:
            return
        content = encode(compiled)
        if len(content) > self.mebibytes << 20:
            return
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            _write_at_once(place, content)
            self._shrink(place)

    def clear(self) -> int:
        """Remove every entry; how many there were."""
        removed = 0
        for place in self._entries():
            with contextlib.suppress(OSError):
                place.unlink()
                removed += 1
        return removed

    def _place(self, program: Program, variant: str) -> Path | None:
        return None if self.folder is None else self.folder / (rules_key(program, variant) + _SUFFIX)

    def _entries(self) -> list[Path]:
        return [] if self.folder is None else list(self.folder.glob("*" + _SUFFIX))

    def _shrink(self, newest: Path) -> None:
        """Remove the entries that were used longest ago until the rest fit."""
        known: list[tuple[float, int, Path]] = []
        for place in self._entries():
            with contextlib.suppress(OSError):
                found = place.stat()
                known.append((found.st_mtime, found.st_size, place))
        total = sum(size for _, size, _ in known)
        for _, size, place in sorted(known):
            if total <= self.mebibytes << 20:
                break
            if place != newest:
                with contextlib.suppress(OSError):
                    place.unlink()
                total -= size


def rules_key(program: Program, variant: str = "") -> str:
    """A hash of the rules (not of their layout), of `variant` and of the code that compiles them."""
    digest = hashlib.sha256(json.dumps([_code_key(), variant]).encode())
    for rule in program.rules:
        digest.update(to_kif(rule).encode())
        digest.update(b"\n")
    return digest.hexdigest()


@functools.cache
def _code_key() -> str:
    """Versions of what makes entries, and the text of the modules that do, which change more often."""
    digest = hashlib.sha256(json.dumps([FORMAT, *map(_version, ("ggp-lanes", "clingo"))]).encode())
    for module in code_modules():
        # Where modules are not files, there is the version.
        with contextlib.suppress(OSError):
            digest.update(module.read_bytes())
    return digest.hexdigest()


def code_modules() -> list[Path]:
    """The files of the modules that make entries."""
    grounding, play = Path(gdl.grounding.__file__).parent, Path(__file__).parent
    modules = [*sorted(grounding.glob("*.py")), *sorted((play / "simplify").glob("*.py"))]
    modules += [grounding.parent / "normalize.py", grounding.parent / "slices.py"]
    return modules + [play / f"{name}.py" for name in _CONSTRUCTION]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _write_at_once(place: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".new-", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
