"""lane_circuit: a step of a depth-first search, in every lane its own, as one Boolean circuit.

Whatever a lane keeps is a row: the facts of its state, when each came about, its depth, the last move tried
at each depth. So what a step makes of them is a circuit whose fluents are these rows, made of the gates of
the game and of its hopeless moves, and machine code writes the next values in place.

Facts that stay once they hold (`ggp.search.alphabeta.latches`) are taken back by their *age*, the depth at
which they came, in binary digits; facts that exclude one another share one. Other facts are saved at each
depth, so they have to be few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gdl.terms import Symbol
from ggp.circuit.circuit import FALSE_LITERAL, TRUE_LITERAL, Circuit, CircuitTerms, GateBuilder
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.tables import CircuitTables, circuit_of, tabulate
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.env.actions import PointOfView, find_point_of_view
from ggp.native.parts import NO_TURNS, Layout
from ggp.search.alphabeta.latches import latches_of_goals
from ggp.search.decisive.immediate_wins import early_ends_circuit
from ggp.search.decisive.kept_circuits import FIRST_HOPELESS
from ggp.search.proof_numbers.kernels.arrays import DEPTHS, DIGITS
from ggp.search.proof_numbers.kernels.lane_search import ANSWER, DEEP, DONE, LIVE, TAKEN, WANTED

MOST_LOOSE = 16
"""Facts that lanes save at each depth, at most."""
SPARE_ROWS = 1024
"""For values between functions of the machine code."""


class LaneCircuit:
    """Builds the circuit; literals are of the rows, whose numbers begin with 1, and of the new gates."""

    def __init__(self, game: CompiledGame, ends: Circuit | None, view: PointOfView | None = None) -> None:
        self.game = circuit_of(game.tables, game.terms, game.exclusive)
        self.turns = game.lane_tables.turns
        self.goals = [goal for goal in self.game.goals if goal.role == 0]
        self.fact0 = WANTED + len(self.goals)
        self.end = self.fact0 + self.game.fluent_count
        stays, self.loose = kinds_of_facts(game)
        self.aged = _exclusive_parts(stays, game.exclusive)
        self.age = [self._rows(DIGITS) for _ in self.aged]
        self.at = [*self._rows(DEPTHS - 1), DEEP]
        self.saved = [self._rows(DEPTHS - 1) for _ in self.loose]
        self.moves = _moves_in_order(game, view)
        self.digits = len(self.moves[0]).bit_length()
        self.last = [self._rows(self.digits) for _ in range(DEPTHS - 1)]
        self.gates = GateBuilder(self.end)
        self.implied: dict[int, frozenset[int]] = {}
        self.following = {row: 2 * row for row in range(1, self.end)}
        self.hopeless = ends
        self.view = view

    def _rows(self, count: int) -> list[int]:
        self.end += count
        return list(range(self.end - count, self.end))

    def circuit(self) -> Circuit:
        """The rows as fluents, and their values after a step as `next`."""
        fact = [2 * (self.fact0 + f) for f in range(self.game.fluent_count)]
        now = self._copied(self.game, fact)
        second = self._second(fact)
        live = 2 * LIVE
        ended = self.gates.conj((_read(now, self.game.terminal), live))
        searching = self.gates.conj((live, ended ^ 1, 2 * DEEP ^ 1))
        chosen, number = self._choose(searching, second)
        taken = self.gates.disj(chosen)
        failed = self.gates.conj((searching, taken ^ 1))
        won = [
            self.gates.conj((_read(now, goal.literal), 2 * (WANTED + q))) for q, goal in enumerate(self.goals)
        ]
        yes = self.gates.disj(
            (self.gates.conj((ended, self.gates.disj(won))), self.gates.conj((failed, second)))
        )
        decided = self.gates.disj((ended, failed))
        arrived = self._move_in_depth(taken, decided, yes, number)
        then = self._copied(self.game, fact, self._made(chosen, second))
        self._change_facts([_read(then, x) for x in self.game.next], taken, decided, arrived)
        self.following[TAKEN] = taken
        return Circuit(
            terms=CircuitTerms((), tuple(map(Symbol, map(str, range(1, self.end)))), (), ()),
            initial=(False,) * (self.end - 1),
            gates=tuple(self.gates.gates),
            legal=(),
            terminal=FALSE_LITERAL,
            goals=(),
            next=tuple(self.following[row] for row in range(1, self.end)),
            percepts=(),
        )

    def _copied(
        self, circuit: Circuit, facts: Sequence[int], moves: Sequence[int] | None = None
    ) -> Sequence[int]:
        """Literals by node of a circuit with the game's facts, given literals of facts and of moves."""
        count = circuit.gate0 - circuit.move0
        values = [TRUE_LITERAL, *facts, *(moves or [FALSE_LITERAL] * count)]
        for gate in as_tuples(circuit.gates):
            values.append(self.gates.conj([values[x >> 1] ^ (x & 1) for x in gate]))
        return values

    def _second(self, fact: Sequence[int]) -> int:
        """Whether it is the turn of role 1, given literals of the facts."""
        first, end = self.turns.first[1:3]
        values = [TRUE_LITERAL, *fact]
        return self.gates.disj(_read(values, x) for x in self.turns.literal[first:end].tolist())

    def _where(self, lanes: int, x: int, y: int) -> int:
        """x in `lanes`, y elsewhere."""
        if x == y:
            return x
        return self.gates.disj((self.gates.conj((lanes, x)), self.gates.conj((lanes ^ 1, y))))

    def _choose(self, searching: int, second: int) -> tuple[list[int], list[int]]:
        """The lanes that make each pair of moves as their first untried one, and the digits of its number."""
        tried = [
            self.gates.disj(self.gates.conj((2 * at, 2 * last[p])) for at, last in zip(self.at, self.last))
            for p in range(self.digits)
        ]
        if self.view is None:
            sides = [self._side(role) for role in (0, 1)]
            may = [self._where(second, y, x) for x, y in zip(*sides, strict=True)]
        else:
            fact = [2 * (self.fact0 + f) for f in range(self.game.fluent_count)]
            may = self._side(0, [self._where(second, fact[g], fact[f]) for f, g in enumerate(self.view.fluent.tolist())])
        passed = self.gates.conj(x ^ 1 for x in tried)
        taken = FALSE_LITERAL
        chosen = []
        for i in range(len(self.moves[0])):
            can = self.gates.conj((may[i], passed, searching, taken ^ 1))
            chosen.append(can)
            taken = self.gates.disj((taken, can))
            same = self.gates.conj(x ^ (~(i + 1) >> p & 1) for p, x in enumerate(tried))
            passed = self.gates.disj((passed, same))
        return chosen, [
            self.gates.disj(x for i, x in enumerate(chosen) if (i + 1) >> p & 1) for p in range(self.digits)
        ]

    def _side(self, role: int, facts: Sequence[int] | None = None) -> list[int]:
        """Whether each move of a role is legal and not hopeless, if it is its turn."""
        fact = list(facts or [2 * (self.fact0 + f) for f in range(self.game.fluent_count)])
        first, end = self.turns.first[role : role + 2].tolist()
        if self.turns.is_exact and end == first + 1:
            for i, x in enumerate(self.turns.literal.tolist()):
                fact[(x >> 1) - 1] = x & 1 ^ (i != first)
        values = self._copied(self.game, fact)
        lost = {}
        if self.hopeless is not None:
            then = self._copied(self.hopeless, fact)
            lost = {
                goal.value - FIRST_HOPELESS: _read(then, goal.literal)
                for goal in self.hopeless.goals
                if goal.role == role and goal.value >= FIRST_HOPELESS
            }
        first_move = self.game.first_move[role]
        return [
            FALSE_LITERAL
            if m is None
            else self.gates.conj((_read(values, self.game.legal[first_move + m]), lost.get(m, FALSE_LITERAL) ^ 1))
            for m in self.moves[role]
        ]

    def _made(self, chosen: Sequence[int], second: int) -> list[int]:
        """Literals by move: the chosen ones, and those of the roles that wait."""
        first_move = self.game.first_move
        made = [FALSE_LITERAL] * first_move[-1]
        for role in (0, 1):
            turn = second ^ (role == 0)
            for m, can in zip(self.moves[role], chosen, strict=True):
                if m is not None:
                    made[first_move[role] + m] = self.gates.conj((can, turn))
            waiting = int(self.turns.waiting[role])
            made[waiting] = self.gates.disj((made[waiting], turn ^ 1))
        return made

    def _move_in_depth(
        self, taken: int, decided: int, yes: int, number: Sequence[int]
    ) -> list[int]:
        """Let lanes descend by a ply, or return to where another move has to be tried; note tasks that are
        done. Return the lanes that come to each depth."""
        gates, fact0 = self.gates, self.fact0
        none = FALSE_LITERAL
        seeking, loose_now = none, [2 * (fact0 + f) for f in self.loose]
        fact = [2 * (fact0 + f) for f in range(self.game.fluent_count)]
        restored: list[list[int]] = [[] for _ in self.loose]
        here_at = [none] * DEPTHS
        self._descended = [none] * DEPTHS
        for depth in range(DEPTHS - 1, -1, -1):
            at = 2 * self.at[depth]
            above = gates.conj((2 * self.at[depth - 1], taken)) if depth else none
            here = none
            if depth < DEPTHS - 1:
                then = list(fact)
                for j, f in enumerate(self.loose):
                    then[f] = 2 * self.saved[j][depth]
                second = self._second(then)
                here = gates.conj((seeking, self._where(second, yes, yes ^ 1)))
                going = gates.conj((at, taken))
                for p, row in enumerate(self.last[depth]):
                    kept = gates.conj((2 * row, above ^ 1))
                    self.following[row] = self._where(going, number[p], kept)
                for j, now in enumerate(loose_now):
                    row = self.saved[j][depth]
                    self.following[row] = self._where(going, now, 2 * row)
                    restored[j].append(gates.conj((here, 2 * row)))
            self.following[self.at[depth]] = gates.disj(
                (gates.conj((at, decided ^ 1, taken ^ 1)), here, above)
            )
            seeking = gates.disj((gates.conj((seeking, here ^ 1)), gates.conj((at, decided))))
            here_at[depth], self._descended[depth] = here, above
        self._restored = [gates.disj(each) for each in restored]
        self.following[LIVE] = gates.conj((2 * LIVE, seeking ^ 1))
        self.following[DONE] = gates.disj((2 * DONE, seeking))
        self.following[ANSWER] = self._where(seeking, yes, 2 * ANSWER)
        return here_at

    def _change_facts(
        self, following: Sequence[int], taken: int, decided: int, arrived: Sequence[int]
    ) -> None:
        """Of facts that stay, lanes that descend get new ones, and lanes that return lose the ones that came
        below where they arrive."""
        gates = self.gates
        depth = [gates.disj(x for d, x in enumerate(arrived) if d >> k & 1) for k in range(DIGITS)]
        # Nothing is older than the greatest depth.
        depth = [gates.disj((x, decided ^ 1)) for x in depth]
        new = [gates.disj(x for d, x in enumerate(self._descended) if d >> k & 1) for k in range(DIGITS)]
        for part, age in zip(self.aged, self.age, strict=True):
            later = FALSE_LITERAL
            for k in range(DIGITS):
                digit = 2 * age[k]
                later = gates.disj(
                    (
                        gates.conj((digit, depth[k] ^ 1)),
                        gates.conj((gates.disj((digit, depth[k] ^ 1)), later)),
                    )
                )
            came_any = []
            for f in part:
                fact = 2 * (self.fact0 + f)
                came = self._came(fact, following[f], taken)
                came_any.append(came)
                self.following[self.fact0 + f] = gates.disj((came, gates.conj((fact, later ^ 1))))
            came = gates.disj(came_any)
            for k in range(DIGITS):
                self.following[age[k]] = self._where(came, new[k], 2 * age[k])
        for j, f in enumerate(self.loose):
            fact = 2 * (self.fact0 + f)
            stay = gates.conj((fact, taken ^ 1, decided ^ 1))
            self.following[self.fact0 + f] = gates.disj(
                (gates.conj((taken, following[f])), self._restored[j], stay)
            )

    def _came(self, fact: int, following: int, taken: int) -> int:
        """Whether a fact that stays does not hold yet but does after the moves taken."""
        inputs = self.gates.inputs(following) if following & 1 else None
        if inputs is not None and fact ^ 1 in inputs:
            following = self.gates.disj(x ^ 1 for x in inputs if x != fact ^ 1)
        implied = self._implied(following)
        return self.gates.conj([following, *({fact ^ 1, taken} - implied)])

    def _implied(self, literal: int) -> frozenset[int]:
        """Some of the literals that hold wherever `literal` does."""
        known = self.implied.get(literal)
        if known is None:
            inputs = self.gates.inputs(literal) or ()
            parts = [self._implied(x ^ (literal & 1)) for x in inputs]
            joined = frozenset.intersection if literal & 1 else frozenset.union
            known = self.implied[literal] = (joined(*parts) if parts else frozenset()) | {literal}
        return known


def _read(values: Sequence[int], literal: int) -> int:
    return values[literal >> 1] ^ (literal & 1)


def kinds_of_facts(game: CompiledGame) -> tuple[list[int], list[int]]:
    """Facts that stay, and the others."""
    stays = latches_of_goals(game).stays
    return sorted(stays), sorted(set(range(len(game.terms.fluents))) - stays)


def _exclusive_parts(facts: Iterable[int], exclusive: Iterable[Sequence[int]]) -> list[list[int]]:
    """Facts in parts of which at most one member holds."""
    left, parts = dict.fromkeys(facts), []
    for group in sorted(exclusive, key=len, reverse=True):
        part = [f for f in group if f in left]
        if len(part) > 1:
            parts.append(part)
            for f in part:
                del left[f]
    return parts + [[f] for f in left]


def _moves_in_order(game: CompiledGame, view: PointOfView | None) -> list[list[int | None]]:
    """Moves of both roles, those in the middle of their list first; None after the last one of a role."""
    widest = max(map(len, game.moves))
    order = [
        [*sorted(range(len(moves)), key=lambda m: abs(2 * m - len(moves) + 1)), *[None] * (widest - len(moves))]
        for moves in game.moves
    ]
    if view is not None:
        order[1] = [view.move.tolist()[m] for m in order[0]]
    return order


@once_per_game
def lane_circuit(game: CompiledGame) -> LaneCircuit | None:
    """What builds the circuit of a step; None for games that are not suited."""
    _, loose = kinds_of_facts(game)
    if len(game.roles) != 2 or not len(game.lane_tables.turns.literal) or len(loose) > MOST_LOOSE:
        return None
    return LaneCircuit(game, early_ends_circuit(game), find_point_of_view(game))


@once_per_game
def lane_tables(game: CompiledGame) -> CircuitTables | None:
    made = lane_circuit(game)
    return None if made is None else tabulate(made.circuit())


def lane_layout(tables: CircuitTables) -> Layout:
    """Where the rows of the circuit lie: as they are numbered, and spare ones behind."""
    none = np.zeros(0, np.int32)
    rows = tables.gate0
    return Layout(NO_TURNS, np.arange(rows, dtype=np.int32), rows, rows + SPARE_ROWS, none, none, none, 0, 0)
