"""Cache of compiled games, so that a known game starts at once.

An entry is one file, named by a hash of the rules and of everything else that affects the result. It holds a
simplified circuit, arrays and a JSON header, in a `CheckedStore`. Nothing is unpickled: a file from a
stranger may be wrong, but it cannot run code. A file that fails its checks is removed and counts as absent.
If the folder exceeds its size, the least recently used files are removed.

    GGP_CACHE    folder of the cache instead of the default; off: no cache
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.program import Program
from gdl.syntax.printer import to_kif
from gdl.terms import Compound, Symbol, Term
from ggp.circuit.circuit import Circuit, CircuitTerms, Goal, Percept
from ggp.circuit.packed_gates import packed
from ggp.circuit.simplify.plan import StageReport
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


@dataclass(slots=True)
class CompilationReport:
    """Times and sizes of one compilation, with a report per stage.

    ground_seconds, build_seconds, simplify_seconds   CPU time, gringo's included
    ground_rules, atoms   size of the ground program
    """

    ground_seconds: float = 0.0
    build_seconds: float = 0.0
    simplify_seconds: float = 0.0
    ground_rules: int = 0
    atoms: int = 0
    stages: list[StageReport] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CompiledCircuit:
    """A circuit, as built or simplified, and the report on its compilation."""

    circuit: Circuit
    report: CompilationReport


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


def encode(compiled: CompiledCircuit) -> bytes:
    """Turn `compiled` into bytes."""
    circuit, report = compiled.circuit, compiled.report
    terms = circuit.terms
    table = _TermTable()
    header = {
        "roles": table.numbers(terms.roles),
        "fluents": table.numbers(terms.fluents),
        "moves": [table.numbers(moves) for moves in terms.moves],
        "percepts": table.numbers(terms.percepts),
        "terminal": circuit.terminal,
        "seconds": [report.ground_seconds, report.build_seconds, report.simplify_seconds],
        "sizes": [report.ground_rules, report.atoms],
        "stages": report.stages,
        "terms": table.rows,
    }
    gates, exclusive = packed(circuit.gates), packed(circuit.exclusive)
    arrays: dict[str, NDArray[Any]] = {
        "initial": np.array(circuit.initial, np.bool_),
        "legal": np.array(circuit.legal, np.int64),
        "next": np.array(circuit.next, np.int64),
        "goals": np.array(circuit.goals, np.int64).ravel(),
        "percept_literals": np.array(circuit.percepts, np.int64).ravel(),
        "first_input": gates.first,
        "input": gates.input,
        "first_exclusive": exclusive.first,
        "exclusive": exclusive.input,
        "header": np.frombuffer(json.dumps(header, separators=(",", ":")).encode(), np.uint8),
    }
    payload = io.BytesIO()
    np.savez(payload, allow_pickle=False, **arrays)
    return payload.getvalue()


def decode(content: bytes) -> CompiledCircuit:
    """Restore what `encode` wrote. Raises an exception of any kind if the bytes are not sound."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        found: dict[str, Any] = {name: arrays[name].tolist() for name in arrays.files if name != "header"}
        header = json.loads(arrays["header"].tobytes())
    terms = _TermTable.read(header["terms"])

    def pick(numbers: Sequence[int]) -> tuple[Term, ...]:
        return tuple(terms[_below(number, len(terms))] for number in numbers)

    circuit = Circuit(
        terms=CircuitTerms(
            roles=pick(header["roles"]),
            fluents=pick(header["fluents"]),
            moves=tuple(pick(moves) for moves in header["moves"]),
            percepts=pick(header["percepts"]),
        ),
        initial=tuple(found["initial"]),
        gates=_lists(found["first_input"], found["input"]),
        legal=tuple(found["legal"]),
        terminal=header["terminal"],
        goals=tuple(Goal(*row) for row in _rows(found["goals"], 3)),
        next=tuple(found["next"]),
        percepts=tuple(Percept(*row) for row in _rows(found["percept_literals"], 2)),
        exclusive=_lists(found["first_exclusive"], found["exclusive"]),
    )
    check_sound(circuit)
    stages = [
        StageReport(name, tuple(gates), tuple(literals), seconds)
        for name, gates, literals, seconds in header["stages"]
    ]
    grounding, building, simplifying = header["seconds"]
    rules, atoms = header["sizes"]
    report = CompilationReport(grounding, building, simplifying, rules, atoms, stages)
    return CompiledCircuit(circuit, report)


def check_sound(circuit: Circuit) -> None:
    """Raise ValueError unless shapes agree, gates read only earlier nodes, and all numbers are in range."""
    fluents, roles = circuit.fluent_count, len(circuit.terms.roles)
    if (
        len(circuit.initial) != fluents
        or len(circuit.next) != fluents
        or len(circuit.legal) != circuit.first_move[-1]
        or len(circuit.terms.moves) != roles
        or len(circuit.percepts) != len(circuit.terms.percepts)
        or any(not 0 <= role < roles for role, *_ in (*circuit.goals, *circuit.percepts))
        or any(not 0 <= fluent < fluents for group in circuit.exclusive for fluent in group)
    ):
        raise ValueError("array shapes disagree")
    for gate, inputs in enumerate(circuit.gates):
        if len(inputs) < 2 or not 0 <= min(inputs) <= max(inputs) < 2 * (circuit.gate0 + gate):
            raise ValueError(f"gate {gate} has fewer than two inputs or reads a later node")
    limit = 2 * (circuit.gate0 + len(circuit.gates))
    if any(not 0 <= literal < limit for literal in circuit.all_outputs()):
        raise ValueError("literal out of range")


class _TermTable:
    """Terms as indices into a list in which the parts of a term come before it."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._number: dict[Term, int] = {}

    def numbers(self, terms: Sequence[Term]) -> list[int]:
        return [self.number(term) for term in terms]

    def number(self, term: Term) -> int:
        known = self._number.get(term)
        if known is None:
            row: str | list[Any] = term.name
            if not isinstance(term, Symbol):
                assert isinstance(term, Compound), "circuits hold no variables"
                row = [term.name, *map(self.number, term.arguments)]
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
                if not isinstance(name, str):
                    raise ValueError("expected a name")
                terms.append(Compound(name, tuple(terms[_below(part, len(terms))] for part in parts)))
        return terms


def _below(value: object, limit: int) -> int:
    if not isinstance(value, int) or not 0 <= value < limit:
        raise ValueError("number out of range")
    return value


def _lists(offsets: list[int], items: list[int]) -> tuple[tuple[int, ...], ...]:
    if offsets[0] != 0 or offsets[-1] != len(items) or any(a > b for a, b in pairwise(offsets)):
        raise ValueError("invalid offsets")
    return tuple(tuple(items[a:b]) for a, b in pairwise(offsets))


def _rows(items: list[int], width: int) -> list[tuple[int, ...]]:
    if len(items) % width:
        raise ValueError("incomplete row")
    return [tuple(items[i : i + width]) for i in range(0, len(items), width)]
