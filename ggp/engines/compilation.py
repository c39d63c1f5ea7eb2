"""From a program to a compiled game: ground, build, simplify, lay out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, TypeAlias

from gdl.grounding import ground
from gdl.normalize import normalize
from gdl.program import Program
from gdl.validation import require_valid
from ggp.circuit.cache import CompilationReport, CompiledCircuit, GameCache, cache_folder
from ggp.circuit.circuit import Circuit
from ggp.circuit.construction import build, prepare_kernels
from ggp.circuit.packed_gates import packed
from ggp.circuit.simplify.plan import LARGE_LITERALS, STAGES, StageReport, simplify
from ggp.circuit.tables import tabulate
from ggp.integers import check_integers
from ggp.native.compile_limit import CompileLimit
from ggp.processes.isolation import result_of_process

Progress: TypeAlias = Callable[[str], None]

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame

MIN_SIMPLIFY_SECONDS = 0.5
BACKGROUND_SECONDS_PER_LITERAL = 1.2e-5
"""CPU time to simplify a large circuit in the background: amazons shrinks by 40 % instead of 2 %."""
MIN_LITERALS_OF_PROCESS = 30_000
"""Gate inputs, as built, from which a thread that simplifies would hold up a search noticeably."""


@dataclass(frozen=True, slots=True)
class CompilationLimits:
    """Limits on the cost of compiling a game.

    seconds, mebibytes   CPU time and address space of grounding
    simplify_seconds     CPU time for simplifying the circuit, which is correct wherever that stops. None:
                         what `simplify_budget` allows
    stages               simplifications to run, see `ggp.circuit.simplify.plan.STAGES`

    >>> CompilationLimits(seconds=5.0).mebibytes
    4096
    """

    seconds: float = 60.0
    mebibytes: int = 4096
    simplify_seconds: float | None = None
    stages: Collection[str] = tuple(STAGES)

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError for numbers that are not integers or too small."""
        check_integers(self, mebibytes=1)

    @property
    def variant(self) -> str:
        """The limits as part of a cache entry's name."""
        return " ".join(sorted(self.stages))


def simplify_budget(ground_seconds: float, build_seconds: float) -> float:
    """CPU seconds for simplification, so that all steps after grounding take about as long as it.

    Building, simplifying and tabulating together get the time of grounding plus one second. A tenth is kept
    back for tables and for stages that end a little late.

    >>> simplify_budget(ground_seconds=9.0, build_seconds=2.0), simplify_budget(0.0, 3.0)
    (7.0, 0.5)
    """
    return max(MIN_SIMPLIFY_SECONDS, 0.9 * (ground_seconds + 1.0) - build_seconds)


def compile_circuit(
    program: Program,
    limits: CompilationLimits | None = None,
    *,
    cache: GameCache | None = None,
    progress: Progress | None = None,
) -> CompiledCircuit:
    """The simplified circuit of a program, from `cache` if it is stored there.

    progress   called with a few words on the current step, repeatedly

    Raises GdlValidationError, GroundingError, CircuitError.
    """
    limits = limits or CompilationLimits()
    known = cache.load(program, limits.variant) if cache else None
    if known is not None:
        return known
    start = build_circuit(program, limits, progress=progress)
    if progress is not None:
        progress(f"simplifying a circuit of {start.circuit.literal_count:,} literals")
    return simplify_circuit(program, start, limits, cache=cache)


def build_circuit(
    program: Program, limits: CompilationLimits | None = None, *, progress: Progress | None = None
) -> CompiledCircuit:
    """The circuit that the ground rules spell out; arguments and errors as in `compile_circuit`."""
    limits = limits or CompilationLimits()
    announce = progress or (lambda _: None)
    require_valid(normalize(program))
    report = CompilationReport()
    gringo_seconds = 0.0

    def listen(rules: int, seconds: float) -> None:
        nonlocal gringo_seconds
        gringo_seconds = seconds
        announce(f"grounding: {rules:,} rules")

    started = thread_time()
    grounded = ground(program, seconds=limits.seconds, mebibytes=limits.mebibytes, progress=listen)
    report.ground_seconds = thread_time() - started + gringo_seconds
    report.ground_rules, report.atoms = len(grounded.rule_head), grounded.atom_count
    announce(f"building a circuit from {report.ground_rules:,} rules")
    prepare_kernels(grounded)
    started = thread_time()
    circuit = build(grounded)
    report.build_seconds = thread_time() - started
    return CompiledCircuit(circuit, report)


def simplify_circuit(
    program: Program,
    built: CompiledCircuit,
    limits: CompilationLimits | None = None,
    *,
    cache: GameCache | None = None,
    in_background: bool = False,
) -> CompiledCircuit:
    """Simplify the circuit that `build_circuit` made of `program`, and store it in `cache`.

    in_background   no caller is waiting: large circuits get more time
    """
    limits = limits or CompilationLimits()
    seconds = limits.simplify_seconds
    if seconds is None:
        seconds = simplify_budget(built.report.ground_seconds, built.report.build_seconds)
        if in_background and built.circuit.literal_count >= LARGE_LITERALS:
            seconds = max(seconds, BACKGROUND_SECONDS_PER_LITERAL * built.circuit.literal_count)
    stages: list[StageReport] = []
    started = thread_time()
    circuit = simplify(built.circuit, stages=limits.stages, seconds=seconds, report=stages)
    report = replace(built.report, simplify_seconds=thread_time() - started, stages=stages)
    compiled = CompiledCircuit(circuit, report)
    if cache:
        cache.store(program, compiled, limits.variant)
    return compiled


def compile_game(
    program: Program,
    name: str = "game",
    limits: CompilationLimits | None = None,
    *,
    use_cache: bool = True,
    quick: bool = False,
    progress: Progress | None = None,
) -> CompiledGame:
    """Compile `program` for lanes. Raises GdlValidationError, GroundingError, CircuitError.

    quick   return a `ggp.engines.compiled.QuickGame` that plays on the circuit as built, unless the
            simplified one is in the cache
    """
    cache = GameCache(cache_folder()) if use_cache else None
    if not quick:
        return game_on(
            compile_circuit(program, limits, cache=cache, progress=progress).circuit, program, name
        )
    limits = limits or CompilationLimits()
    known = cache.load(program, limits.variant) if cache else None
    if known is not None:
        return game_on(known.circuit, program, name)
    from ggp.engines.compiled import QuickGame

    start = build_circuit(program, limits, progress=progress)

    def simplified() -> Circuit:
        compact = replace(start, circuit=replace(start.circuit, gates=packed(start.circuit.gates)))
        call = partial(simplify_circuit, program, compact, limits, cache=cache, in_background=True)
        is_large = start.circuit.literal_count >= MIN_LITERALS_OF_PROCESS
        return (result_of_process(call) if is_large else call()).circuit

    return QuickGame(program, start.circuit, name, simplified)


def game_on(
    circuit: Circuit, program: Program, name: str = "game", compile_limit: CompileLimit | None = None
) -> CompiledGame:
    """The compiled game of `program`, given its circuit."""
    from ggp.engines.compiled import CompiledGame

    return CompiledGame(
        program,
        tabulate(circuit),
        circuit.terms,
        name,
        exclusive=circuit.exclusive,
        compile_limit=compile_limit,
    )
