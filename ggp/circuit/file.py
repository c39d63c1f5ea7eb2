"""Compiled circuits as bytes, for the cache. Arrays and a JSON header; nothing is pickled."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Compound, Symbol, Term
from ggp.circuit.circuit import Circuit, CircuitTerms, Goal, Percept
from ggp.circuit.packed_gates import packed
from ggp.circuit.simplify.plan import StageReport


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
