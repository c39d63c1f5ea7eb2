"""threat_circuit: how many facts each role lacks one of which would reach its goal, as a circuit.

A fact is a *threat* if the goal fails for want of it alone and it may still come to hold, now or later. In
connect four it is an empty cell that completes a line (counted so by Pons, "Solving connect four", 2015).
Finding them goes through the formula of the goal distance from the goal to the facts, as reverse
differentiation does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product

from ggp.circuit.circuit import FALSE_LITERAL, TRUE_LITERAL, Circuit, GateBuilder, Goal, cone_of
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.tables import circuit_of
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.engines.side_tables import SideTables, side_tables
from ggp.search.alphabeta.goal_distance import order_formula
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.decisive.kept_circuits import with_goals
from ggp.search.proof_numbers.kernels.arrays import THREAT_PLANES

MAX_LINE = 6
"""Facts that a goal may take if children are ordered by threats; to connect two sides takes more."""
MOST_LINES = 500
"""Sets of facts that reach a goal, if lanes order moves by them."""


@once_per_game
def threat_circuit(game: CompiledGame) -> SideTables | None:
    """A circuit in which "goal" p of a role is digit p of the number of its threats in a state that is not
    terminal. None with one role, or if a goal takes too many facts, or there is no formula for it."""
    formula = order_formula(game)
    if formula is None or len(game.roles) != 2 or not 0 < most_facts(formula) <= MAX_LINE:
        return None
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    builder = GateBuilder(circuit.gate0)
    goals = [
        Goal(role, p, digit)
        for role, threats in enumerate(_threats(builder, formula))
        for p, digit in enumerate(_count(builder, threats)[:THREAT_PLANES])
    ]
    return side_tables(game, with_goals(circuit, tuple(builder.gates), tuple(goals)))


@once_per_game
def promising_moves(game: CompiledGame) -> Circuit | None:
    """A circuit in which "goal" m of a role is that its move m, if legal, promises a threat.

    That is, a fact comes with it that is in a line of which all facts but two hold and none is blocked.

    A line is a least set of facts that reaches the role's goal. This is much cheaper than counting threats
    after each move, and nearly as good an order. None where threats are not counted.
    """
    formula = order_formula(game)
    if formula is None or threat_circuit(game) is None:
        return None
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    builder, gates = GateBuilder(circuit.gate0), as_tuples(circuit.gates)
    leaves, blockers = formula.leaf.tolist(), _nearest_blockers(game, formula)
    goals = []
    for role, (first, end) in enumerate(pairwise(game.tables.first_move.tolist())):
        promises = _promises(builder, formula, blockers, role)
        read = [circuit.next[leaf >> 1] ^ (leaf & 1) for leaf in leaves]
        cone = cone_of(read, lambda node: gates[node - circuit.gate0] if node >= circuit.gate0 else ())
        for move in range(first, end):
            value = {0: TRUE_LITERAL}
            for node in cone:
                if node >= circuit.gate0:
                    value[node] = builder.conj(value[x >> 1] ^ (x & 1) for x in gates[node - circuit.gate0])
                else:
                    is_made = node == circuit.move0 + move
                    value[node] = 2 * node if node < circuit.move0 else TRUE_LITERAL ^ (not is_made)
            comes = [
                builder.conj((_gained(builder, leaf + 2, value[x >> 1] ^ (x & 1)), promise))
                for leaf, x, promise in zip(leaves, read, promises, strict=True)
            ]
            goals.append(Goal(role, move - first, builder.disj(comes)))
    return with_goals(circuit, tuple(builder.gates), tuple(goals))


def _gained(builder: GateBuilder, before: int, after: int) -> int:
    """Where `after` holds and `before` does not."""
    inputs = (builder.inputs(after) or ()) if after & 1 else ()
    if before ^ 1 in inputs:
        after = builder.disj(x ^ 1 for x in inputs if x != before ^ 1)
    return after if before ^ 1 in (builder.inputs(after) or ()) else builder.conj((after, before ^ 1))


def _nearest_blockers(game: CompiledGame, formula: GoalFormula) -> list[list[int]]:
    """By leaf the facts that exclude it, or else all that keep it from holding.

    A full column blocks all of its cells, too, but each of them is blocked by its own disc.
    """
    first, found = formula.first_blocker.tolist(), []
    for v, leaf in enumerate(formula.leaf.tolist()):
        given = formula.blocker[first[v] : first[v + 1]].tolist()
        groups = [group for group in game.exclusive if leaf >> 1 in group]
        found.append([f for f in given if any(f in group for group in groups)] or given)
    return found


def _promises(
    builder: GateBuilder, formula: GoalFormula, blocker: Sequence[Sequence[int]], role: int
) -> list[int]:
    """For each leaf the literal that it is in a line of a role of which all but two hold, none blocked."""
    found: list[list[int]] = [[] for _ in formula.leaf]
    for line in _lines(formula, role):
        blockers = {f for v in line for f in blocker[v]}
        enough = _at_least(builder, len(line) - 2, [int(formula.leaf[v]) + 2 for v in sorted(line)])
        promise = builder.conj((enough, builder.disj(2 * (1 + f) for f in blockers) ^ 1))
        for v in line:
            found[v].append(promise)
    return [builder.disj(each) for each in found]


def _lines(formula: GoalFormula, role: int) -> list[frozenset[int]]:
    """The sets of leaves that reach a role's goal; none if there are more than MOST_LINES."""
    lines = [{frozenset([v])} for v in range(len(formula.leaf))]
    for inputs, is_any in zip(_inputs(formula), formula.is_any, strict=True):
        parts = [lines[i] for i in inputs]
        size = sum(map(len, parts)) if is_any else math.prod(map(len, parts))
        if size > MOST_LINES:
            lines.append(set())
        elif is_any:
            lines.append(set[frozenset[int]]().union(*parts))
        else:
            lines.append({frozenset[int]().union(*each) for each in product(*parts)})
    return sorted(lines[formula.wanted[role]], key=sorted)


def _at_least(builder: GateBuilder, count: int, literals: Sequence[int]) -> int:
    """Whether `count` of the literals hold; three of them are one operation of the machine."""
    if count <= 0 or len(literals) < count:
        return TRUE_LITERAL if count <= 0 else FALSE_LITERAL
    if len(literals) == 1:
        return literals[0]
    half = min(3, len(literals) - 1)
    return builder.disj(
        builder.conj((_at_least(builder, k, literals[:half]), _at_least(builder, count - k, literals[half:])))
        for k in range(count + 1)
    )


def most_facts(formula: GoalFormula) -> int:
    """The number of facts in the longest way to reach a goal that a role wants; 0 without a formula.

    >>> import ggp
    >>> [most_facts(order_formula(ggp.load(name))) for name in ("tictactoe", "connectfour")]
    [3, 4]
    """
    facts = [1] * len(formula.leaf)
    for inputs, is_any in zip(_inputs(formula), formula.is_any, strict=True):
        taken = [facts[i] for i in inputs]
        facts.append(max(taken) if is_any else sum(taken))
    return max((facts[wanted] for wanted in formula.wanted if wanted >= 0), default=0)


def _inputs(formula: GoalFormula) -> list[list[int]]:
    first = formula.first_input.tolist()
    return [formula.input[first[g] : first[g + 1]].tolist() for g in range(len(formula.is_any))]


def _threats(builder: GateBuilder, formula: GoalFormula) -> list[list[int]]:
    """For each role the literals of its threats, one of which belongs to each leaf of the formula."""
    holds = [int(leaf) + 2 for leaf in formula.leaf]  # node 1 + f is fluent f
    gates = list(zip(_inputs(formula), formula.is_any.tolist(), strict=True))
    for inputs, is_any in gates:
        literals = [holds[i] for i in inputs]
        holds.append(builder.disj(literals) if is_any else builder.conj(literals))
    leaves, first = len(formula.leaf), formula.first_blocker.tolist()
    found = []
    for wanted in formula.wanted.tolist():
        decisive: list[list[int]] = [[] for _ in holds]
        decisive[wanted] = [TRUE_LITERAL]
        for (inputs, is_any), part in reversed(list(zip(gates, range(leaves, len(holds)), strict=True))):
            here = builder.disj(decisive[part])
            for i in inputs:
                others = [] if is_any else [holds[j] for j in inputs if j != i]
                decisive[i].append(builder.conj([here, holds[i] ^ 1, *others]))
        threats = []
        for v in range(leaves):
            blockers = formula.blocker[first[v] : first[v + 1]].tolist()
            open_to_it = [2 * (1 + f) ^ 1 for f in blockers]
            threats.append(builder.conj([builder.disj(decisive[v]), *open_to_it]))
        found.append([each for each in threats if each != FALSE_LITERAL])
    return found


def _count(builder: GateBuilder, literals: Sequence[int]) -> list[int]:
    """The digits, lowest first, of how many of `literals` hold: by full adders, one column after another."""
    digits, column = [], list(literals)
    while column:
        carries = []
        while len(column) > 1:
            a, b, *column = column
            c = column.pop(0) if column else FALSE_LITERAL
            half = _differ(builder, a, b)
            column.append(_differ(builder, half, c))
            both = builder.conj([a, b])
            carries.append(builder.disj([both, builder.conj([half, c])]))
        digits += column
        column = carries
    return digits


def _differ(builder: GateBuilder, a: int, b: int) -> int:
    return builder.conj([builder.conj([a, b]) ^ 1, builder.disj([a, b])])
