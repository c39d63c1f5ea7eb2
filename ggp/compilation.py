"""From a program to a compiled game: ground, build the circuit, make it small, lay it out for lanes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from gdl.grounding import GroundProgram, ground
from gdl.normalize import normalize
from gdl.program import Program
from gdl.validation import require_valid
from ggp.circuit import Circuit, build
from ggp.simplify import STAGES, StageReport, simplify
from ggp.tables import tabulate

if TYPE_CHECKING:
    from ggp.compiled_game import CompiledGame


@dataclass(slots=True)
class CompilationReport:
    """What compiling one game took.

    ground_seconds, build_seconds, simplify_seconds   wall time
    stages    the circuit before and after each simplification
    """

    ground_seconds: float = 0.0
    build_seconds: float = 0.0
    simplify_seconds: float = 0.0
    ground_rules: int = 0
    atoms: int = 0
    stages: list[StageReport] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CompilationLimits:
    """What compiling may cost.

    seconds, mebibytes   wall time and address space of grounding
    simplify_seconds     time for making the circuit small; it is correct wherever that stops
    stages               which simplifications run, see `ggp.simplify.STAGES`
    """

    seconds: float = 60.0
    mebibytes: int = 4096
    simplify_seconds: float = 10.0
    stages: Collection[str] = tuple(STAGES)


def compile_circuit(
    program: Program,
    limits: CompilationLimits | None = None,
    report: CompilationReport | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Circuit:
    """The simplified circuit of a program.

    Raises GdlValidationError, GroundingError, CircuitError.
    """
    limits = limits or CompilationLimits()
    report = report or CompilationReport()
    require_valid(normalize(program))
    started = monotonic()
    grounded: GroundProgram = ground(
        program, seconds=limits.seconds, mebibytes=limits.mebibytes, progress=progress
    )
    report.ground_seconds = monotonic() - started
    report.ground_rules, report.atoms = len(grounded.rule_head), grounded.atom_count
    started = monotonic()
    circuit = build(grounded)
    report.build_seconds = monotonic() - started
    started = monotonic()
    circuit = simplify(circuit, stages=limits.stages, seconds=limits.simplify_seconds, report=report.stages)
    report.simplify_seconds = monotonic() - started
    return circuit


def compile_game(
    program: Program,
    name: str = "game",
    limits: CompilationLimits | None = None,
    report: CompilationReport | None = None,
    *,
    use_cache: bool = True,
) -> CompiledGame:
    """`program` as a game on lanes. Raises GdlValidationError, GroundingError, CircuitError."""
    from ggp.compiled_game import CompiledGame

    circuit = compile_circuit(program, limits, report)
    return CompiledGame(program, tabulate(circuit), circuit.terms, name, exclusive=circuit.exclusive)
