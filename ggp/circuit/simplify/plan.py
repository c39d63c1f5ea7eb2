"""Plan of simplification: which stages run, in which order, for how long.

Every stage takes a circuit and a deadline and returns a circuit that gives the same outputs in every
reachable state; one that runs out of time returns what it has. STAGES names them all; any may be
left out. They run in the order of PLAN or LARGE_PLAN, some more than once, since each uncovers work for
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from time import thread_time
from typing import NamedTuple, TypeAlias

import numpy as np

from ggp.circuit.circuit import Circuit, collection_paused, phase_gates
from ggp.circuit.packed_gates import PackedGates, packed
from ggp.circuit.simplify.constants import fold_constants
from ggp.circuit.simplify.counting import add_up
from ggp.circuit.simplify.exactly_one_move import merge_move_sets
from ggp.circuit.simplify.exclusive_facts import find_exclusive_facts
from ggp.circuit.simplify.factoring import factor, prepare_kernels
from ggp.circuit.simplify.implications import drop_implied
from ggp.circuit.simplify.joins import take_joins_apart
from ggp.circuit.simplify.rewriting import order_gates
from ggp.circuit.simplify.sharing import share

Stage: TypeAlias = Callable[[Circuit, float], Circuit]

STAGES: dict[str, Stage] = {
    "constants": fold_constants,
    "counting": add_up,
    "exactly_one_move": merge_move_sets,
    "exclusive_facts": find_exclusive_facts,
    "implications": drop_implied,
    "factoring": factor,
    "joins": take_joins_apart,
    "sharing": share,
    "gate_order": order_gates,
}
"""Every stage by name."""

PLAN: tuple[str, ...] = (
    *("counting", "factoring", "joins", "constants", "exactly_one_move", "factoring"),
    *("exactly_one_move", "factoring", "sharing", "implications", "exactly_one_move", "factoring"),
    *("exclusive_facts", "implications", "factoring", "sharing", "implications", "gate_order"),
)

LARGE_PLAN: tuple[str, ...] = ("counting", "factoring", "joins", "sharing", "factoring", *PLAN[3:])
"""The order for large circuits: first sharing, which pays most for its time, and what makes it quicker."""
LARGE_LITERALS = 300_000
"""Gate inputs, as built, from which a circuit is large."""
STAGE_SHARE = {
    "joins": 0.8,
    "sharing": 0.7,
    "implications": 0.35,
    "exclusive_facts": 0.3,
}
"""Share of the remaining time that a stage may take, if it is not half."""
SECONDS_PER_LITERAL = 2.0e-6
"""Time of a stage that changes nothing; with less, it is not started."""
READS_ARRAYS = ("counting", "factoring")
"""Stages that read packed gates directly."""
ESSENTIAL = "factoring"
ESSENTIAL_SECONDS_PER_LITERAL = 5.0e-6
"""Time that the first factoring always has: it pays most, a factor of seven in chess."""


class StageReport(NamedTuple):
    """A circuit after one stage.

    The first report, "rules", is of the circuit as built.

    gates, literals   per phase: LEGAL, GOAL, NEXT, SEES
    seconds           CPU time of the stage; 0 if there was too little to begin
    """

    stage: str
    gates: tuple[int, ...]
    literals: tuple[int, ...]
    seconds: float


def describe(stage: str, circuit: Circuit, seconds: float) -> StageReport:
    """The report on `circuit` as `stage` left it."""
    phases = phase_gates(circuit)
    width = np.diff(packed(circuit.gates).first)
    literals = tuple(int(width[phase].sum()) for phase in phases)
    return StageReport(stage, tuple(map(len, phases)), literals, seconds)


def simplify(
    circuit: Circuit,
    *,
    stages: Collection[str] = tuple(STAGES),
    seconds: float = 10.0,
    report: list[StageReport] | None = None,
) -> Circuit:
    """Make `circuit` small within about `seconds`; the first factoring may take longer.

    seconds  CPU time of this thread, so that a busy machine gets the same circuits, only later
    stages   names from STAGES; only these run
    report   gets one StageReport for the circuit as given and one per stage that runs or had no
             time to; a stage does not run again on a circuit that it returned

    Raises ValueError for an unknown stage.

    >>> from gdl.grounding import ground
    >>> from gdl.syntax.parser import parse
    >>> from ggp.circuit.construction import build
    >>> game = "(role a) (init p) (legal a go) (legal a stay) (<= (next p) (does a go))"
    >>> ends = "(<= terminal (true p) (true q)) (<= terminal (true p) (not (true q)))"
    >>> circuit = build(ground(parse(game + ends + "(<= (next q) (does a stay))")))
    >>> len(circuit.gates), len(simplify(circuit).gates)
    (3, 0)
    """
    unknown = sorted(set(stages) - set(STAGES))
    if unknown:
        raise ValueError(f"unknown stage: {', '.join(unknown)}; stages are {', '.join(STAGES)}")
    # Compiling kernels does not count against the circuit's time.
    prepare_kernels(circuit)
    end = thread_time() + seconds
    if report is not None:
        report.append(describe("rules", circuit, 0.0))
    done: dict[str, Circuit] = {}
    for stage in LARGE_PLAN if circuit.literal_count >= LARGE_LITERALS else PLAN:
        begin = thread_time()
        share = STAGE_SHARE.get(stage, 0.5) * (end - begin)
        if stage == ESSENTIAL and stage not in done:
            share = max(share, ESSENTIAL_SECONDS_PER_LITERAL * circuit.literal_count)
        if stage not in stages or done.get(stage) is circuit:
            continue
        if share < SECONDS_PER_LITERAL * circuit.literal_count:
            if report is not None:
                report.append(describe(stage, circuit, 0.0))
            continue
        with collection_paused():
            if stage not in READS_ARRAYS and isinstance(circuit.gates, PackedGates):
                circuit = replace(circuit, gates=circuit.gates.as_tuples())
            after = STAGES[stage](circuit, begin + share)
        # A stage that made nothing smaller leaves the circuit as it was, so that later runs need not look.
        is_smaller = _size(after) != _size(circuit)
        circuit = done[stage] = after if is_smaller or stage == "gate_order" else circuit
        if report is not None:
            report.append(describe(stage, circuit, thread_time() - begin))
    return circuit


def _size(circuit: Circuit) -> tuple[object, ...]:
    return circuit.literal_count, len(circuit.gates), circuit.gate0, circuit.exclusive
