"""lane_circuit: a step of a depth-first search, in every lane its own, as one Boolean circuit.

Whatever a lane keeps is a row: the facts of its state, when each came about, its depth, the last move tried
at each depth. So what a step makes of them is a circuit whose fluents are these rows, made of the gates of
the game and of its hopeless moves, and machine code writes the next values in place.

Two roles take turns, and all facts but those of whose turn it is stay once they hold. They are taken back by
their *age*, the depth at which they came, in binary digits; facts that exclude one another share one. A lane
returns to the nearest state above whose mover has to try another move: one or two plies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gdl.terms import Symbol
from ggp.circuit.circuit import FALSE_LITERAL, TRUE_LITERAL, Circuit, CircuitTerms, GateBuilder
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.tables import circuit_of, tabulate
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.engines.point_of_view import PointOfView, find_point_of_view
from ggp.jit.rows import make_rows
from ggp.lanes.keys.state_code import StateCode
from ggp.lanes.layout import WIDTH_COUNT
from ggp.native.background import NativeCode
from ggp.native.parts import NO_TURNS, Layout, Part
from ggp.search.alphabeta.latches import latches_of_goals
from ggp.search.decisive.immediate_wins import early_ends_circuit
from ggp.search.decisive.kept_circuits import FIRST_HOPELESS
from ggp.search.proof_numbers.kernels.arrays import DIGITS, TASK_WORDS, LaneMemory
from ggp.search.proof_numbers.kernels.lane_search import ANSWER, DEEP, DONE, LIVE, TAKEN, WANTED
from ggp.search.proof_numbers.threats import promising_moves

DEPTHS = 1 << DIGITS
LARGEST = 5_000
"""Literals of a game's circuit at most."""
SPARE_ROWS = 1024
"""For values between functions of the machine code."""


class LaneCircuit:
    """Builds the circuit; literals are of the rows, whose numbers begin with 1, and of the new gates.

    ends       hopeless moves: see `ggp.search.decisive.immediate_wins.early_ends`; None: not known
    promises   moves to try first: see `ggp.search.proof_numbers.threats.promising_moves`
    view       how role 1 sees the game as role 0; None: not at all
    """

    def __init__(
        self,
        game: CompiledGame,
        ends: Circuit | None,
        promises: Circuit | None,
        view: PointOfView | None,
    ) -> None:
        self.game = circuit_of(game.tables, game.terms, game.exclusive)
        self.turns = game.lane_tables.turns
        self.ends, self.promises, self.view = ends, promises, view
        self.goals = [goal for goal in self.game.goals if goal.role == 0]
        self.fact0 = WANTED + len(self.goals)
        self.facts = [2 * (self.fact0 + f) for f in range(self.game.fluent_count)]
        self.end = self.fact0 + self.game.fluent_count
        clock = {(x >> 1) - 1 for x in self.turns.literal.tolist()}
        stays = (f for f in range(self.game.fluent_count) if f not in clock)
        self.aged = _exclusive_parts(stays, game.exclusive)
        self.age = [self._rows(DIGITS) for _ in self.aged]
        self.depth = self._rows(DIGITS)
        self.moves = _moves_in_order(game, view)
        self.digits = len(self.moves[0]).bit_length()
        self.last = [self._rows(self.digits) for _ in range(DEPTHS - 1)]
        self.open = self._rows(DEPTHS - 1)
        self.gates = GateBuilder(self.end)
        self.following = {row: 2 * row for row in range(1, self.end)}
        self.implied: dict[int, frozenset[int]] = {}

    def _rows(self, count: int) -> list[int]:
        """Literals of new rows."""
        self.end += count
        return [2 * row for row in range(self.end - count, self.end)]

    def circuit(self) -> Circuit:
        """The rows as fluents, and their values after a step as `next`."""
        both, either = self.gates.conj, self.gates.disj
        now = self._copied(self.game, self.facts)
        second = _read([TRUE_LITERAL, *self.facts], int(self.turns.literal[1]))
        ended = both((_read(now, self.game.terminal), 2 * LIVE))
        searching = both((2 * LIVE, ended ^ 1, both(self.depth) ^ 1))
        at = [both(x ^ (~d >> k & 1) for k, x in enumerate(self.depth)) for d in range(DEPTHS)]
        chosen = self._choose(at, searching, second)
        taken = self.following[TAKEN] = either(chosen)
        failed = both((searching, taken ^ 1))
        decided = either((ended, failed))
        won = either(both((_read(now, goal.literal), 2 * (WANTED + q))) for q, goal in enumerate(self.goals))
        yes = either((both((ended, won)), both((failed, second))))
        self._move_in_depth(at, taken, decided, yes, self._where(second, yes ^ 1, yes))
        then = self._copied(self.game, self.facts, self._made(chosen, second))
        self._change_facts([_read(then, x) for x in self.game.next], taken, decided, yes)
        return Circuit(
            terms=CircuitTerms((), tuple(Symbol(str(row)) for row in range(1, self.end)), (), ()),
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
        values = [TRUE_LITERAL, *facts, *(moves or [FALSE_LITERAL] * (circuit.gate0 - circuit.move0))]
        for gate in as_tuples(circuit.gates):
            values.append(self.gates.conj([_read(values, x) for x in gate]))
        return values

    def _where(self, lanes: int, x: int, y: int) -> int:
        """x in `lanes`, y elsewhere."""
        if x == y:
            return x
        return self.gates.disj((self.gates.conj((lanes, x)), self.gates.conj((lanes ^ 1, y))))

    def _choose(self, at: Sequence[int], searching: int, second: int) -> list[int]:
        """The lanes that make each pair of moves as their first untried one; note it at their depth."""
        both, either = self.gates.conj, self.gates.disj
        # At a depth that a lane has just come to stands what it tried there before.
        tried = [
            both(
                (
                    2 * TAKEN + 1,
                    either(both((here, last[p])) for here, last in zip(at[:-1], self.last, strict=True)),
                )
            )
            for p in range(self.digits)
        ]
        chosen, more = self._first_of(*self._moves_to_try(second), tried, searching)
        going = [both((here, either(chosen))) for here in at[:-1]]
        for here, row in zip(going, self.open, strict=True):
            self.following[row >> 1] = self._where(here, more, row)
        for p in range(self.digits):
            number = either(x for i, x in enumerate(chosen) if i + 1 >> p & 1)
            for here, last in zip(going, self.last, strict=True):
                self.following[last[p] >> 1] = self._where(here, number, last[p])
        return chosen

    def _first_of(
        self, may: Sequence[int], comes_early: Sequence[int], tried: Sequence[int], searching: int
    ) -> tuple[list[int], int]:
        """The first move of those that may be made, early ones before the others, after the one whose number
        has the digits `tried`; 0: none. And whether there are more."""
        both, either = self.gates.conj, self.gates.disj
        same = [both(x ^ (~i >> p & 1) for p, x in enumerate(tried)) for i in range(len(may) + 1)]
        was_early = either((same[0], *(both(each) for each in zip(same[1:], comes_early, strict=True))))
        early, late = [], []
        passed = same[0]
        for i, comes in enumerate(comes_early):
            early.append(both((may[i], comes, was_early, passed)))
            late.append(both((may[i], comes ^ 1, either((was_early, passed)))))
            passed = either((passed, same[i + 1]))
        none_early, taken, chosen = either(early) ^ 1, FALSE_LITERAL, []
        found = more = FALSE_LITERAL
        for candidates in zip(early, late, strict=True):
            can = both((candidates[0], searching)), both((candidates[1], none_early, searching))
            chosen.append(both((either(can), taken ^ 1)))
            taken = either((taken, *can))
            more = either((more, both((found, either(candidates)))))
            found = either((found, *candidates))
        return chosen, more

    def _moves_to_try(self, second: int) -> tuple[list[int], list[int]]:
        """Whether each pair of moves may be made, and whether it comes early."""
        if self.view is None:
            sides = [self._side(role, self.facts) for role in (0, 1)]
            both = [
                [self._where(second, y, x) for x, y in zip(*each, strict=True)]
                for each in zip(*sides, strict=True)
            ]
            return both[0], both[1]
        seen = zip(self.facts, self.view.fluent.tolist(), strict=True)
        return self._side(0, [self._where(second, self.facts[g], x) for x, g in seen])

    def _side(self, role: int, facts: Sequence[int]) -> tuple[list[int], list[int]]:
        """Where a role has its turn: whether each move is legal and not hopeless; whether it comes early."""
        facts = list(facts)
        for other, x in enumerate(self.turns.literal.tolist()):
            facts[(x >> 1) - 1] = x & 1 ^ (other != role)
        values, first = self._copied(self.game, facts), self.game.first_move[role]
        hopeless, promising = self._goals(self.ends, role, facts), self._goals(self.promises, role, facts)
        may, early = [], []
        for m in self.moves[role]:
            is_legal = FALSE_LITERAL if m is None else _read(values, self.game.legal[first + m])
            is_hopeless = FALSE_LITERAL if m is None else hopeless.get(FIRST_HOPELESS + m, FALSE_LITERAL)
            may.append(self.gates.conj((is_legal, is_hopeless ^ 1)))
            early.append(FALSE_LITERAL if m is None else promising.get(m, FALSE_LITERAL))
        return may, early

    def _goals(self, circuit: Circuit | None, role: int, facts: Sequence[int]) -> dict[int, int]:
        """The literals of goals of a role by value."""
        if circuit is None:
            return {}
        values = self._copied(circuit, facts)
        return {goal.value: _read(values, goal.literal) for goal in circuit.goals if goal.role == role}

    def _made(self, chosen: Sequence[int], second: int) -> list[int]:
        """Literals by move: the chosen ones, and that of the role that waits."""
        first_move = self.game.first_move
        made = [FALSE_LITERAL] * first_move[-1]
        for role in (0, 1):
            turn, waiting = second ^ (role == 0), int(self.turns.waiting[role])
            for m, can in zip(self.moves[role], chosen, strict=True):
                if m is not None:
                    made[first_move[role] + m] = self.gates.conj((can, turn))
            made[waiting] = self.gates.disj((made[waiting], turn ^ 1))
        return made

    def _move_in_depth(self, at: Sequence[int], taken: int, decided: int, yes: int, is_own: int) -> None:
        """Let lanes descend by a ply, or return; note tasks that are done.

        is_own   whether the answer is what the mover wants, so that the one before has to try another move;
                 where there is none, its state is decided, too, and the same role tries one two plies above
        """
        both, either = self.gates.conj, self.gates.disj
        one, two = both((decided, is_own)), both((decided, is_own ^ 1))
        at, none = [*at, FALSE_LITERAL], FALSE_LITERAL
        seeking = [none, none]
        come = [none] * DEPTHS
        for d in range(DEPTHS - 2, -1, -1):
            here = either((both((at[d + 1], one)), both((at[d + 2], two)), seeking.pop(0)))
            come[d] = either((both((here, self.open[d])), both((at[d - 1], taken)) if d else none))
            seeking.append(both((here, self.open[d] ^ 1)))
        come[-1] = both((at[DEPTHS - 2], taken))
        done = either((both((at[0], decided)), both((at[1], two)), *seeking))
        stay = both((taken ^ 1, decided ^ 1))
        for k, digit in enumerate(self.depth):
            arrived = either(x for d, x in enumerate(come) if d >> k & 1)
            self.following[digit >> 1] = either((arrived, both((digit, stay))))
        self.following[LIVE] = both((2 * LIVE, done ^ 1))
        self.following[DONE] = either((2 * DONE, done))
        self.following[ANSWER] = self._where(done, yes, 2 * ANSWER)
        self.following[DEEP] = both(self.following[x >> 1] for x in (2 * LIVE, *self.depth))

    def _change_facts(self, following: Sequence[int], taken: int, decided: int, yes: int) -> None:
        """Of facts that stay, lanes that descend get new ones, and lanes that return lose those that came
        below where they arrive. It is the turn of role 1 there if the answer is yes."""
        both, either = self.gates.conj, self.gates.disj
        depth = [self.following[digit >> 1] for digit in self.depth]
        for part, age in zip(self.aged, self.age, strict=True):
            later = FALSE_LITERAL
            for digit, other in zip(age, depth, strict=True):
                later = either((both((digit, other ^ 1)), both((either((digit, other ^ 1)), later))))
            came = {f: self._came(self.facts[f], following[f], taken) for f in part}
            for f, coming in came.items():
                self.following[self.fact0 + f] = either((coming, both((self.facts[f], later ^ 1))))
            any_came = either(came.values())
            for digit, other in zip(age, depth, strict=True):
                self.following[digit >> 1] = self._where(any_came, other, digit)
        for role, x in enumerate(self.turns.literal.tolist()):
            f = (x >> 1) - 1
            holds = yes ^ (role == 0) ^ (x & 1)
            kept = self._where(decided, holds, self.facts[f])
            self.following[self.fact0 + f] = self._where(taken, following[f], kept)

    def _came(self, fact: int, following: int, taken: int) -> int:
        """Whether a fact that stays does not hold yet but does after the moves taken."""
        inputs = self.gates.inputs(following) if following & 1 else None
        if inputs is not None and fact ^ 1 in inputs:
            following = self.gates.disj(x ^ 1 for x in inputs if x != fact ^ 1)
        return self.gates.conj((following, *({fact ^ 1, taken} - self._implied(following))))

    def _implied(self, literal: int) -> frozenset[int]:
        """Some of the literals that hold wherever `literal` does."""
        pending = [] if literal in self.implied else [literal]  # circuits may be deeper than Python's stack
        while pending:
            latest = pending[-1]
            inputs = [x ^ (latest & 1) for x in self.gates.inputs(latest) or ()]
            missing = [x for x in inputs if x not in self.implied]
            if not missing:
                parts = [self.implied[x] for x in inputs]
                joined = frozenset.intersection if latest & 1 else frozenset.union
                self.implied[latest] = (joined(*parts) if parts else frozenset()) | {latest}
                pending.pop()
            pending += missing
        return self.implied[literal]


def _read(values: Sequence[int], literal: int) -> int:
    return values[literal >> 1] ^ (literal & 1)


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
    order: list[list[int | None]] = [
        [
            *sorted(range(len(moves)), key=lambda m: abs(2 * m - len(moves) + 1)),
            *[None] * (widest - len(moves)),
        ]
        for moves in game.moves
    ]
    if view is not None:
        order[1] = [view.move.tolist()[m] for m in order[0]]
    return order


def _is_suited(game: CompiledGame) -> bool:
    """Whether two roles take turns one by one and all other facts stay once they hold."""
    turns, following = game.lane_tables.turns, game.tables.next.tolist()
    clock = turns.literal.tolist()
    if len(game.roles) != 2 or turns.first.tolist() != [0, 1, 2] or not turns.is_exact:
        return False
    alternates = all(following[(x >> 1) - 1] ^ x & 1 == y for x, y in zip(clock, clock[::-1], strict=True))
    others = set(range(len(following))) - {(x >> 1) - 1 for x in clock}
    is_small = len(game.tables.input) <= LARGEST and min(turns.waiting) >= 0
    return is_small and alternates and others <= latches_of_goals(game).stays


class LaneCode:
    """The circuit of a step for a game that is suited, and its machine code.

    entry   int64[WIDTH_COUNT + 1]: addresses by the logarithm of the words of a row; 0: none (yet)
    """

    def __init__(self, game: CompiledGame) -> None:
        turns = game.lane_tables.turns
        # What is hopeless is so where the mover has no winning move, which a pass may leave it.
        may_pass = np.isin(turns.waiting, turns.leaf_move).any()
        ends = None if may_pass else early_ends_circuit(game)
        self.built = LaneCircuit(game, ends, promising_moves(game), find_point_of_view(game))
        self.tables, none = tabulate(self.built.circuit()), np.zeros(0, np.int32)
        rows = self.tables.gate0
        self.row_count = rows + SPARE_ROWS
        self.layout = Layout(
            NO_TURNS, np.arange(rows, dtype=np.int32), rows, self.row_count, none, none, none, 0, 0
        )
        addresses = np.zeros((len(Part), WIDTH_COUNT + 1), np.int64)
        self.entry = addresses[Part.AFTER_DRAW]
        self.native = NativeCode(
            self.tables,
            self.layout,
            addresses,
            parts=(Part.AFTER_DRAW,),
            limit=game.native.limit,
            name=game.name,
        )


@once_per_game
def lane_code(game: CompiledGame) -> LaneCode | None:
    """The circuit of a step; None for games that are not suited."""
    return LaneCode(game) if _is_suited(game) else None


def lane_memory(game: CompiledGame, code: StateCode) -> LaneMemory:
    """Memory of lanes without a task. Compiling begins; a game that is not suited has no machine code."""
    lanes, facts = lane_code(game), len(game.terms.fluents)
    rows = make_rows(lanes.row_count if lanes else WANTED, TASK_WORDS)
    rows.view(np.uint64)[:TASK_WORDS] = ~np.uint64(0)
    if lanes:
        lanes.native.begin(TASK_WORDS)
    return LaneMemory(
        rows=rows,
        fresh=make_rows(1 + facts, TASK_WORDS),
        keys=make_rows(64 * code.word_count, TASK_WORDS),
        code=code,
        first_fact=lanes.built.fact0 if lanes else 0,
        end_state=lanes.tables.gate0 if lanes else 0,
        goal_value=np.array([goal.value for goal in lanes.built.goals] if lanes else [], np.int32),
        entry=lanes.entry if lanes else np.zeros(WIDTH_COUNT + 1, np.int64),
    )
