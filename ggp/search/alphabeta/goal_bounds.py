"""Goal bounds: the goals with which latches still allow a state to end.

Each literal of the goals' circuit gets two gates: whether it is *sure* to hold from now on, and whether it
may *possibly* hold at the end. A fluent is sure if it holds and is a latch, and impossible if it does not
hold and cannot come to hold any more. So a line is lost for good once the other side has a stone on it, and
a win with the last open line. `Latches` holds what is proven about the fluents; the rest follows as in
three-valued logic, so that every goal the rules can still give is among the possible ones.
"""

from __future__ import annotations

from dataclasses import replace

from ggp.circuit.circuit import FALSE_LITERAL, TRUE_LITERAL, Circuit, GateBuilder, Goal, cone_of
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.tables import circuit_of
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.engines.side_tables import SideTables, side_tables
from ggp.search.alphabeta.latches import Latches, latches_of_goals
from ggp.search.decisive.kept_circuits import with_goals
from ggp.search.protocol import NO_SUM

MAX_INPUTS = 4_000
"""Maximum gate inputs: beyond that, one settling costs about as much as the game's own circuit."""


@once_per_game
def goal_bounds(game: CompiledGame) -> SideTables | None:
    """The goal bounds of a game, made once.

    None if the circuit is too large or would never decide anything, or if it is not plain from the rules that
    the goals of two roles always have the same sum: a search that ends by bounds never sees that they do not.
    """
    if plain_goal_sum(game) is None:
        return None
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    circuit = replace(circuit, gates=as_tuples(circuit.gates))  # once: there may be many
    cone = _cone(circuit, [goal.literal for goal in circuit.goals if goal.role == 0])
    gates = as_tuples(circuit.gates)
    if sum(len(gates[node - circuit.gate0]) for node in cone if node >= circuit.gate0) > MAX_INPUTS // 2:
        return None
    made = bounds_circuit(circuit, latches_of_goals(game))
    if all(goal.literal == TRUE_LITERAL for goal in made.goals) or made.literal_count > MAX_INPUTS:
        return None
    return side_tables(game, made)


@once_per_game
def plain_goal_sum(game: CompiledGame) -> int | None:
    """The sum of both roles' goals if each goal of one has the literal of a goal of the other; else None.
    NO_SUM with one role."""
    if len(game.roles) == 1:
        return NO_SUM
    goals = circuit_of(game.tables, game.terms, game.exclusive).goals
    first, second = ({(each.literal, each.value) for each in goals if each.role == role} for role in (0, 1))
    for goal_sum in {value + other for literal, value in first for same, other in second if literal == same}:
        if {(literal, goal_sum - value) for literal, value in first} == second:
            return goal_sum
    return None


def bounds_circuit(circuit: Circuit, latches: Latches) -> Circuit:
    """A circuit with an output for each goal of role 0: whether the role may still end with it."""
    builder = GateBuilder(circuit.gate0)
    goals = [goal for goal in circuit.goals if goal.role == 0]
    gates = as_tuples(circuit.gates)
    sure, possible = {0: TRUE_LITERAL}, {0: TRUE_LITERAL}
    for node in _cone(circuit, [goal.literal for goal in goals]):
        if node >= circuit.gate0:
            inputs = gates[node - circuit.gate0]
            sure[node] = builder.conj((possible if x & 1 else sure)[x >> 1] ^ (x & 1) for x in inputs)
            possible[node] = builder.conj((sure if x & 1 else possible)[x >> 1] ^ (x & 1) for x in inputs)
        else:
            f = node - 1
            hindered = [2 * (1 + g) for g in latches.blockers.get(f, ())]
            open_to_it = FALSE_LITERAL if f in latches.gone else builder.disj(hindered) ^ 1
            sure[node] = 2 * node if f in latches.stays else FALSE_LITERAL
            possible[node] = builder.disj((2 * node, open_to_it))
    may_be = [(sure if g.literal & 1 else possible)[g.literal >> 1] ^ (g.literal & 1) for g in goals]
    return with_goals(
        circuit,
        tuple(builder.gates),
        tuple(Goal(0, g.value, literal) for g, literal in zip(goals, may_be, strict=True)),
    )


def _cone(circuit: Circuit, literals: list[int]) -> list[int]:
    gates = as_tuples(circuit.gates)
    return cone_of(literals, lambda node: gates[node - circuit.gate0] if node >= circuit.gate0 else ())
