"""From a program to a compiled game: ground, build the circuit, make it small, lay it out for lanes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from gdl.grounding import ground
from gdl.normalize import normalize
from gdl.program import Program
from gdl.validation import require_valid
from ggp.cache import GameCache, cache_folder
from ggp.circuit import Circuit
from ggp.circuit_construction import build, prepare_kernels
from ggp.circuit_file import CompilationReport, CompiledCircuit
from ggp.simplify import STAGES, simplify
from ggp.tables import tabulate

Progress: TypeAlias = Callable[[str], None]

if TYPE_CHECKING:
    from ggp.compiled_game import CompiledGame

LEAST_SIMPLIFY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class CompilationLimits:
    """What compiling may cost.

    seconds, mebibytes   wall time and address space of grounding
    simplify_seconds     time for making the circuit small; it is correct wherever that stops. None: what
                         `simplify_budget` allows
    stages               which simplifications run, see `ggp.simplify.STAGES`
    """

    seconds: float = 60.0
    mebibytes: int = 4096
    simplify_seconds: float | None = None
    stages: Collection[str] = tuple(STAGES)


def simplify_budget(ground_seconds: float, build_seconds: float) -> float:
    """Seconds for simplification such that building, it and tabulating take what grounding took and a second.

    A tenth is kept back for tables and for stages that end a little late.
    """
    return max(LEAST_SIMPLIFY_SECONDS, 0.9 * (ground_seconds + 1.0) - build_seconds)


def compile_circuit(
    program: Program,
    limits: CompilationLimits | None = None,
    *,
    cache: GameCache | None = None,
    progress: Progress | None = None,
) -> CompiledCircuit:
    """The simplified circuit of a program, from `cache` where it is known there.

    progress   gets a few words on what is being done, again and again

    Raises GdlValidationError, GroundingError, CircuitError.
    """
    limits = limits or CompilationLimits()
    variant = " ".join(sorted(limits.stages))
    known = cache.load(program, variant) if cache else None
    if known is not None:
        return known
    require_valid(normalize(program))
    report = CompilationReport()
    started = monotonic()
    tell = progress or (lambda _: None)
    grounded = ground(
        program,
        seconds=limits.seconds,
        mebibytes=limits.mebibytes,
        progress=lambda rules, _: tell(f"grounding: {rules:,} rules"),
    )
    report.ground_seconds = monotonic() - started
    report.ground_rules, report.atoms = len(grounded.rule_head), grounded.atom_count
    tell(f"building a circuit from {report.ground_rules:,} rules")
    prepare_kernels(grounded)
    started = monotonic()
    circuit = build(grounded)
    report.build_seconds = monotonic() - started
    tell(f"making a circuit of {circuit.literal_count:,} literals smaller")
    started = monotonic()
    seconds = limits.simplify_seconds
    if seconds is None:
        seconds = simplify_budget(report.ground_seconds, report.build_seconds)
    circuit = simplify(circuit, stages=limits.stages, seconds=seconds, report=report.stages)
    report.simplify_seconds = monotonic() - started
    compiled = CompiledCircuit(circuit, report)
    if cache:
        cache.store(program, compiled, variant)
    return compiled


def compile_game(
    program: Program,
    name: str = "game",
    limits: CompilationLimits | None = None,
    *,
    use_cache: bool = True,
    progress: Progress | None = None,
) -> CompiledGame:
    """`program` as a game on lanes. Raises GdlValidationError, GroundingError, CircuitError."""
    cache = GameCache(cache_folder()) if use_cache else None
    return game_on(compile_circuit(program, limits, cache=cache, progress=progress).circuit, program, name)


def game_on(circuit: Circuit, program: Program, name: str = "game") -> CompiledGame:
    """`program` as a game on lanes, its circuit being at hand."""
    from ggp.compiled_game import CompiledGame

    return CompiledGame(program, tabulate(circuit), circuit.terms, name, exclusive=circuit.exclusive)
