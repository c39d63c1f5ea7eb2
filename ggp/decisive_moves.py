"""Decisive moves: a game in which whoever can win at once has no other moves.

A move that ends the match with goal 100 for who makes it is as good as any, so nothing is lost where only
such moves are legal. The tree gets smaller, and playouts, whatever their policy, do not pass by a win in one
(Teytaud & Teytaud, "On the Huge Benefit of Decisive Moves in Monte-Carlo Tree Search Algorithms", 2010).

Whether a move wins is a function of the state, and so a piece of circuit: `terminal` and `goal`, read in the
next state, whose fluents are read from `next` with that move made. For most moves it folds to false, for the
others to a few gates, since much is known of a state in which it may be asked: it is not terminal, and the
move is legal. That takes games in which one role chooses at a time while every other one has a single move
(`noop`).

    decisive_game        the game on a circuit with legality narrowed, if that is worth its gates
    passive_moves        the single moves of roles that wait, found in random playouts
    decisive_circuit     the circuit with legality narrowed
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np

from ggp.circuit import (
    FALSE_LITERAL,
    TRUE_LITERAL,
    Circuit,
    GateBuilder,
    with_outputs,
    without_dead_gates,
)
from ggp.compilation import game_on
from ggp.compiled_game import CompiledGame
from ggp.lanes import Lanes
from ggp.packed_gates import as_tuples
from ggp.simplify import simplify
from ggp.tables import Phase, circuit_of

WINNING_GOAL = 100

WATCHED_TICKS = 256
"""Joint moves of the playouts (64 at a time) in which passive moves are looked for."""

LARGEST = 20_000
"""Literals of circuits that are not looked at: it would take long, and they gain nothing but size."""

GROWTH_WHILE_BUILT = 16
SPARE_LITERALS = 10_000
"""Literals while building: at most so many times those of the circuit, and so many more."""

GROWTH = 5
"""Literals of the simplified circuit: at most so many times those of the game's own."""

STAGES = ("factoring", "refactoring", "sharing", "implications", "gate_order")
"""Simplifications that keep fluents and moves as they are numbered."""

SIMPLIFY_SECONDS = 1.0


_KNOWN: WeakKeyDictionary[CompiledGame, CompiledGame | None] = WeakKeyDictionary()


def decisive_game(game: CompiledGame) -> CompiledGame | None:
    """`game` with no other legal moves where there is one that wins at once.

    States and moves are those of `game`. None where roles choose at the same time, nobody can win by a move
    of his own, or the circuit is or gets too large. Made once per game.
    """
    if game not in _KNOWN:
        _KNOWN[game] = _make_decisive(game)
    return _KNOWN[game]


def _make_decisive(game: CompiledGame) -> CompiledGame | None:
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    passive = passive_moves(game) if circuit.literal_count <= LARGEST else None
    if passive is None:
        return None
    most = GROWTH_WHILE_BUILT * circuit.literal_count + SPARE_LITERALS
    narrowed = decisive_circuit(circuit, passive, most)
    if narrowed is None:
        return None
    small = simplify(without_dead_gates(narrowed), stages=STAGES, seconds=SIMPLIFY_SECONDS)
    if small.literal_count > GROWTH * circuit.literal_count:
        return None
    return game_on(small, game.program, game.name)


def passive_moves(game: CompiledGame, seed: int = 0) -> tuple[int, ...] | None:
    """By role the move (counted over all roles) that it has while another one chooses.

    None where two roles were seen to choose at the same time, or one with several such moves, or with none.
    """
    lanes = Lanes(game.lane_tables, words=1, seed=seed)
    stretches = list(pairwise(game.tables.first_move.tolist()))
    lanes.begin(game.unpack(game.initial_state()))
    found: list[set[int]] = [set() for _ in game.roles]
    for _ in range(WATCHED_TICKS):
        lanes.settle(Phase.LEGAL, Phase.LEGAL)
        live = ~lanes.read(np.array([game.lane_tables.terminal], np.int32), lanes.lane_count)[0]
        legal = lanes.read(game.legal_literals, lanes.lane_count)[:, live]
        counts = np.array([legal[begin:end].sum(axis=0) for begin, end in stretches])
        choosers = (counts > 1).sum(axis=0)
        if (choosers > 1).any():
            return None
        for role, (begin, end) in enumerate(stretches):
            waits = (choosers == 1) & (counts[role] == 1)
            found[role].update((begin + np.flatnonzero(legal[begin:end][:, waits].any(axis=1))).tolist())
        lanes.play(1)
    if any(len(moves) != 1 for moves in found):
        return None
    return tuple(moves.pop() for moves in found)


def decisive_circuit(circuit: Circuit, passive: Sequence[int], most_literals: int) -> Circuit | None:
    """`circuit` with legality narrowed to winning moves where there are any.

    passive         by role the move (counted over all roles) that it makes while another one chooses
    most_literals   of all gates while they are made
    None where no move ever wins at once, or there are more literals.
    """
    return _Narrowing(circuit, passive, most_literals).narrowed()


class _TooLargeError(Exception):
    """More literals than allowed."""


class _Narrowing:
    """Adds the gates that tell which moves win; all literals here are those of the new gates."""

    def __init__(self, circuit: Circuit, passive: Sequence[int], most_literals: int) -> None:
        self.circuit = circuit
        self.passive = passive
        self.most_literals = most_literals
        self.gates = GateBuilder(circuit.gate0)
        literal_of = [2 * node for node in range(circuit.gate0)]
        for gate in as_tuples(circuit.gates):
            literal_of.append(self.gates.conj(literal_of[x >> 1] ^ (x & 1) for x in gate))
        self._literal_of = literal_of
        self.terminal = self._copied(circuit.terminal)
        self.legal = [self._copied(x) for x in circuit.legal]
        self.next = [self._copied(x) for x in circuit.next]
        self.known_live = self._implied([self.terminal ^ 1])

    def _copied(self, literal: int) -> int:
        return self._literal_of[literal >> 1] ^ (literal & 1)

    def narrowed(self) -> Circuit | None:
        first_move = self.circuit.first_move
        legal = list(self.legal)
        has_wins = False
        try:
            for role in range(len(self.circuit.terms.roles)):
                moves = range(first_move[role], first_move[role + 1])
                wins = self._wins(role, [m for m in moves if m != self.passive[role]])
                if not wins:
                    continue
                has_wins = True
                winnable = self.gates.disj(self.gates.conj((self.legal[m], win)) for m, win in wins.items())
                for m in moves:
                    may = self.gates.disj((wins.get(m, FALSE_LITERAL), winnable ^ 1))
                    legal[m] = self.gates.conj((self.legal[m], may))
        except _TooLargeError:
            return None
        if not has_wins:
            return None
        circuit = with_outputs(self.circuit, tuple(self.gates.gates), self._copied)
        return replace(circuit, legal=tuple(legal))

    def _wins(self, role: int, moves: Iterable[int]) -> dict[int, int]:
        """By move the literal that says, where the move is legal, that it wins; none where it never does."""
        goal = self._goal(role)
        ends = self._cone((self.terminal, goal))
        changes = self._cone(self.next[node - 1] for node in ends if 1 <= node < self.circuit.move0)
        waiting = [move for r, move in enumerate(self.passive) if r != role]
        wins = {}
        for move in moves:
            win = self._win(goal, move, waiting, changes, ends)
            if win != FALSE_LITERAL:
                wins[move] = win
            if self.gates.input_count > self.most_literals:
                raise _TooLargeError
        return wins

    def _win(
        self, goal: int, move: int, waiting: Sequence[int], changes: Sequence[int], ends: Sequence[int]
    ) -> int:
        """The literal that says that `move` leads to a terminal state with `goal`.

        changes   the nodes behind the next values of fluents, as far as ...
        ends      ... the nodes behind `terminal` and `goal` read them
        """
        known = self.known_live | self._implied([self.legal[move]])
        made = {self.circuit.move0 + m for m in (move, *waiting)}
        now = self._values(changes, lambda node: self._chosen(node, made), known)
        then = self._values(ends, lambda node: _read(now, self.next[node - 1]), known)
        alone = (self.legal[m] for m in waiting if self.legal[m] not in known)
        return self.gates.conj((_read(then, self.terminal), _read(then, goal), *alone))

    def _goal(self, role: int) -> int:
        """The literal of the goal that wins; false where the role has none."""
        found = (goal for goal in self.circuit.goals if goal.role == role and goal.value == WINNING_GOAL)
        return next((self._copied(goal.literal) for goal in found), FALSE_LITERAL)

    def _chosen(self, node: int, made: Collection[int]) -> int:
        """A fluent as it is; a move is made or not."""
        if node < self.circuit.move0:
            return 2 * node
        return TRUE_LITERAL if node in made else FALSE_LITERAL

    def _values(
        self, cone: Sequence[int], leaf: Callable[[int], int], known: Collection[int]
    ) -> dict[int, int]:
        """By node of a cone its literal, once `leaf` stands for fluents and moves; `known` literals hold."""
        values = {0: TRUE_LITERAL}
        for node in cone:
            if node >= self.circuit.gate0:
                value = self.gates.conj([_read(values, x) for x in self._inputs(node)])
            else:
                value = leaf(node)
            values[node] = TRUE_LITERAL if value in known else FALSE_LITERAL if value ^ 1 in known else value
        return values

    def _cone(self, literals: Iterable[int]) -> list[int]:
        """The nodes that literals depend on, inputs first, without the constant."""
        nodes: set[int] = {0}
        left = [literal >> 1 for literal in literals]
        while left:
            node = left.pop()
            if node not in nodes:
                nodes.add(node)
                left += [x >> 1 for x in self._inputs(node)]
        return sorted(nodes - {0})

    def _implied(self, literals: Iterable[int]) -> set[int]:
        """The literals that hold where all of `literals` do, as far as they are inputs of conjunctions."""
        holding: set[int] = set()
        left = list(literals)
        while left:
            literal = left.pop()
            if literal not in holding:
                holding.add(literal)
                if not literal & 1:
                    left += self._inputs(literal >> 1)
        return holding

    def _inputs(self, node: int) -> tuple[int, ...]:
        return self.gates.inputs(2 * node) or ()


def _read(values: Mapping[int, int], literal: int) -> int:
    return values[literal >> 1] ^ (literal & 1)
