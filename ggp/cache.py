"""Compiled games in the user's cache folder, so that a game seen before starts at once.

An entry is one file, named by a hash of the rules and of everything that shapes the result, and
holds a JSON header and arrays: a SHA-256 of the payload, then the payload. Nothing is unpickled: a
stranger's file can be wrong, but it cannot run. Files are written beside their place and moved
there in one step, so readers see whole files whatever other processes do; a file that does not check out
is removed and counts as absent. The oldest unused files go when the folder passes its size.

`$GGP_CACHE=off` switches the cache off; `$GGP_CACHE` may also name the folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gdl.grounding
from gdl.grounding import GroundProgram, ground
from gdl.printer import to_kif
from gdl.program import Program
from gdl.terms import Compound, Symbol, Term

FORMAT = 1
"""Raised whenever the same rules would give other contents."""

DEFAULT_MEBIBYTES = 1024

_SUFFIX = ".ground"
_DIGEST_BYTES = 32


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
    """Ground programs by the rules they come from.

    folder      made when it is first written to; None: nothing is kept
    mebibytes   size of all entries together
    """

    folder: Path | None
    mebibytes: int = DEFAULT_MEBIBYTES

    def load(self, program: Program) -> GroundProgram | None:
        """What was stored for these rules, or None. Never raises for a file that is broken."""
        place = self._place(program)
        if place is None:
            return None
        try:
            content = place.read_bytes()
        except OSError:
            return None
        try:
            ground = _decode(content)
        except Exception:  # whatever is wrong with the file: it is not an entry
            with contextlib.suppress(OSError):
                place.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(place)
        return ground

    def store(self, program: Program, ground: GroundProgram) -> None:
        """Keep `ground`, unless the disk objects or it is larger than the whole cache may be."""
        place = self._place(program)
        if place is None:
            return
        content = _encode(ground)
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

    def _place(self, program: Program) -> Path | None:
        return None if self.folder is None else self.folder / (rules_key(program) + _SUFFIX)

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


def ground_cached(program: Program, cache: GameCache, **options: Any) -> GroundProgram:
    """`gdl.grounding.ground` with these options, unless the cache knows the answer; raises what it raises."""
    known = cache.load(program)
    if known is not None:
        return known
    found = ground(program, **options)
    cache.store(program, found)
    return found


def rules_key(program: Program) -> str:
    """A hash of the rules (not of their layout) and of the code that grounds them."""
    digest = hashlib.sha256(_code_key().encode())
    for rule in program.rules:
        digest.update(to_kif(rule).encode())
        digest.update(b"\n")
    return digest.hexdigest()


@functools.cache
def _code_key() -> str:
    """Versions of what makes entries, and the text of the grounding modules, which change more often."""
    digest = hashlib.sha256(json.dumps([FORMAT, *map(_version, ("ggp-lanes", "clingo"))]).encode())
    folder = Path(gdl.grounding.__file__).parent
    for place in (*sorted(folder.glob("*.py")), folder.parent / "normalize.py"):
        with contextlib.suppress(OSError):
            digest.update(place.read_bytes())
    return digest.hexdigest()


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


class _TermTable:
    """Terms as numbers into a list where parts come before what they are part of."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._number: dict[Term, int] = {}

    def number(self, term: Term) -> int:
        known = self._number.get(term)
        if known is None:
            row = term.name if isinstance(term, Symbol) else [term.name, *map(self.number, _parts(term))]
            known = self._number[term] = len(self.rows)
            self.rows.append(row)
        return known

    @staticmethod
    def read(rows: Sequence[Any]) -> list[Term]:
        terms: list[Term] = []
        for row in rows:
            if isinstance(row, str):
                terms.append(Symbol(row))
            else:
                name, *parts = row
                terms.append(Compound(_text(name), tuple(terms[_below(part, len(terms))] for part in parts)))
        return terms


def _parts(term: Term) -> tuple[Term, ...]:
    assert isinstance(term, Compound), "ground programs hold no variables"
    return term.arguments


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a name is expected")
    return value


def _below(value: object, limit: int) -> int:
    if not isinstance(value, int) or not 0 <= value < limit:
        raise ValueError("a number out of range")
    return value


_ARRAYS = ("fluent_atom", "initial", "next_atom", "rule_head", "first_body", "body")
_ARRAYS_BY_ROLE = ("move_atom", "legal_atom")


def _encode(ground: GroundProgram) -> bytes:
    table = _TermTable()
    header = {
        "roles": [table.number(term) for term in ground.roles],
        "fluents": [table.number(term) for term in ground.fluents],
        "moves": [[table.number(term) for term in moves] for moves in ground.moves],
        "atom_count": ground.atom_count,
        "terminal_atom": ground.terminal_atom,
        "goals": ground.goals,
        "odd_goals": [[[table.number(term), atom] for term, atom in own] for own in ground.odd_goals],
        "percepts": [[[table.number(term), atom] for term, atom in own] for own in ground.percepts],
        "terms": table.rows,
    }
    arrays: dict[str, NDArray[Any]] = {name: getattr(ground, name) for name in _ARRAYS}
    for name in _ARRAYS_BY_ROLE:
        arrays |= {f"{name}_{role}": array for role, array in enumerate(getattr(ground, name))}
    text = json.dumps(header, separators=(",", ":")).encode()
    payload = io.BytesIO()
    np.savez(payload, allow_pickle=False, header=np.frombuffer(text, np.uint8), **arrays)
    return hashlib.sha256(payload.getvalue()).digest() + payload.getvalue()


def _decode(content: bytes) -> GroundProgram:
    """The ground program of a file; raises any exception where the file is not sound."""
    digest, payload = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if hashlib.sha256(payload).digest() != digest:
        raise ValueError("the checksum is wrong")
    with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
        header = json.loads(arrays["header"].tobytes())
        terms = _TermTable.read(header["terms"])
        found: dict[str, Any] = {name: arrays[name] for name in _ARRAYS}
        for name in _ARRAYS_BY_ROLE:
            found[name] = tuple(arrays[f"{name}_{role}"] for role in range(len(header["roles"])))
    ground = GroundProgram(
        roles=tuple(terms[index] for index in header["roles"]),
        fluents=tuple(terms[index] for index in header["fluents"]),
        moves=tuple(tuple(terms[index] for index in own) for own in header["moves"]),
        atom_count=header["atom_count"],
        terminal_atom=header["terminal_atom"],
        goals=tuple(tuple((value, atom) for value, atom in own) for own in header["goals"]),
        odd_goals=_term_pairs(header["odd_goals"], terms),
        percepts=_term_pairs(header["percepts"], terms),
        **found,
    )
    check_sound(ground)
    return ground


def _term_pairs(
    rows: Sequence[Sequence[tuple[int, int]]], terms: Sequence[Term]
) -> tuple[tuple[tuple[Term, int], ...], ...]:
    return tuple(tuple((terms[index], atom) for index, atom in own) for own in rows)


def check_sound(ground: GroundProgram) -> None:
    """Raise ValueError unless all shapes agree and every atom number is within range."""
    roles, fluents = len(ground.roles), len(ground.fluents)
    by_role: Mapping[str, Sequence[Any]] = {
        field.name: getattr(ground, field.name)
        for field in fields(ground)
        if field.name in ("moves", "move_atom", "legal_atom", "goals", "odd_goals", "percepts")
    }
    first = ground.first_body
    if (
        any(len(own) != roles for own in by_role.values())
        or any(array.shape != (fluents,) for array in (ground.fluent_atom, ground.initial, ground.next_atom))
        or any(
            atoms.shape != (len(own),)
            for arrays in (ground.move_atom, ground.legal_atom)
            for own, atoms in zip(ground.moves, arrays, strict=True)
        )
        or first.shape != (ground.rule_count + 1,)
        or first[0] != 0
        or first[-1] != len(ground.body)
        or (np.diff(first) < 0).any()
        or ground.initial.dtype != np.bool_
    ):
        raise ValueError("the shapes disagree")
    atoms = [ground.fluent_atom, ground.next_atom, ground.rule_head, np.abs(ground.body)]
    atoms += [*ground.move_atom, *ground.legal_atom, np.array([ground.terminal_atom])]
    pairs = [*ground.goals, *ground.odd_goals, *ground.percepts]
    atoms.append(np.array([atom for own in pairs for _, atom in own], np.int64))
    for array in atoms:
        if array.dtype.kind != "i" or (
            len(array) and not 0 <= array.min() <= array.max() <= ground.atom_count
        ):
            raise ValueError("an atom is out of range")
