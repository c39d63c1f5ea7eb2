"""Decisive moves: immediate wins must be taken, and immediate losses blocked.

A move that ends the match with goal 100 for its player is as good as any, so nothing is lost if only such
moves are legal. If two roles play for a constant sum, nothing is lost either if moves after which the other
one wins at once are legal only when there are no others. The tree gets smaller, and playouts of every policy
neither miss a win in one nor allow it (Teytaud & Teytaud, "On the Huge Benefit of Decisive Moves in
Monte-Carlo Tree Search Algorithms", 2010). Playouts that take wins and do not stop them misjudge races, so
other games are left alone.

Whether a move wins is a function of the state, and so a piece of circuit: `terminal` and `goal`, read in the
next state, whose fluents are read from `next` with that move made. For most moves it folds to false, for the
others to a few gates, since much is known of a state in which it may be asked: it is not terminal, and the
move is legal. Read in the next state once more, the same gates show whether a move lets the other one win.
That takes games in which one role chooses at a time while the other one has a single move (`noop`).

    decisive_game   the game on a circuit with legality narrowed, if that is worth its gates
    Narrowing       makes that circuit, and one that shows which role has an immediate win or has lost
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from ggp.circuit.circuit import (
    FALSE_LITERAL,
    TRUE_LITERAL,
    Circuit,
    GateBuilder,
    Goal,
    cone_of,
    with_outputs,
    without_dead_gates,
)
from ggp.circuit.packed_gates import as_tuples
from ggp.circuit.simplify.plan import simplify
from ggp.engines.compilation import game_on
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.search.decisive.kept_circuits import (
    FIRST_HOPELESS,
    WINNING_GOAL,
    WatchedEnds,
    kept_circuit,
    with_goals,
)

LARGEST = 6_000
"""Maximum literals of a circuit: for larger ones it takes long, and playouts get slow."""

GROWTH_WHILE_BUILT, SPARE_WHILE_BUILT = 40, 10_000
"""Literals while building: at most GROWTH_WHILE_BUILT times those of the circuit, plus the spare ones."""

GROWTH, SMALL = 10, 10_000
"""Literals before simplification: at most GROWTH times those of the circuit, or SMALL in all. Not after it,
which would depend on how far simplification gets in its time."""

STAGES = ("factoring", "sharing", "implications", "gate_order")
"""Simplifications that keep fluents and moves as they are numbered."""

SIMPLIFY_SECONDS = 1.0

MOST_CHANGED = 2
"""Inputs of a gate that may gain for its own gain to be found."""

Gain: TypeAlias = dict[int, int]
"""Where a literal gets true: the OR of `cause` AND `rest`."""


@once_per_game
def decisive_game(game: CompiledGame) -> CompiledGame | None:
    """`game` in which immediate wins must be taken, and immediate losses avoided.

    States and moves are those of `game`. None if `watch_ends` finds the game unsuitable, no role wins by a
    move of its own, or the circuit is or gets too large.
    """
    circuit = kept_circuit(game, "decisive moves", LARGEST, _narrowed)
    return None if circuit is None else game_on(circuit, game.program, game.name, game.native.limit)


def _narrowed(circuit: Circuit, watched: WatchedEnds) -> Circuit | None:
    """The circuit with legality narrowed, simplified; None where that is not worth its gates."""
    most = GROWTH_WHILE_BUILT * circuit.literal_count + SPARE_WHILE_BUILT
    narrowed = Narrowing(circuit, watched, most).narrowed()
    if narrowed is None or narrowed.literal_count > max(SMALL, GROWTH * circuit.literal_count):
        return None
    return simplify(narrowed, stages=STAGES, seconds=SIMPLIFY_SECONDS)


class _TooLargeError(Exception):
    """More literals than allowed."""


class Narrowing:
    """Adds gates for winning moves and for safe moves to a circuit; literals are those of the new gates.

    most_literals   of all gates while they are made; if there are more, or none of the moves watched wins at
                    once, there is no circuit
    """

    def __init__(self, circuit: Circuit, watched: WatchedEnds, most_literals: int) -> None:
        self.circuit = circuit
        self.watched = watched
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
        self.by_gains = False

    def _copied(self, literal: int) -> int:
        return self._literal_of[literal >> 1] ^ (literal & 1)

    def narrowed(self) -> Circuit | None:
        """The circuit with legality narrowed to winning moves if there are any, else to safe ones."""
        roles = range(len(self.circuit.terms.roles))
        try:
            wins = [self._wins(role, self._goal(role, WINNING_GOAL)) for role in roles]
            winnable = [self._some_legal(of_role) for of_role in wins]
            if winnable == [FALSE_LITERAL, FALSE_LITERAL]:
                return None
            legal = list(self.legal)
            for role in roles:
                safe = self._safe(role, winnable[1 - role])
                must_stop = self._some_legal(safe)
                for move in self._moves(role):
                    may_wait = self.gates.disj((safe.get(move, FALSE_LITERAL), must_stop ^ 1))
                    quiet = self.gates.conj((winnable[role] ^ 1, may_wait))
                    may = self.gates.disj((wins[role].get(move, FALSE_LITERAL), quiet))
                    legal[move] = self.gates.conj((self.legal[move], may))
        except _TooLargeError:
            return None
        circuit = with_outputs(self.circuit, tuple(self.gates.gates), self._copied)
        return without_dead_gates(replace(circuit, legal=tuple(legal)))

    def early_ends(self, largest: int) -> Circuit | None:
        """A circuit with two goals of each role as outputs, 100 and 0: whether a legal move of the role wins
        at once, and whether it has to move and the other role wins at once after each of its moves.

        largest   literals up to which the second is asked
        """
        self.by_gains = True
        try:
            ends = [
                self.gates.conj((self._goal(role, WINNING_GOAL), self._goal(1 - role, 0))) for role in (0, 1)
            ]
            winning = [self._wins(role, ends[role]) for role in (0, 1)]
            wins = [self._some_legal(of_role) for of_role in winning]
        except _TooLargeError:
            return None
        if wins == [FALSE_LITERAL, FALSE_LITERAL]:
            return None
        self.most_literals = min(self.most_literals, largest)
        lost = [FALSE_LITERAL, FALSE_LITERAL]
        hopeless: list[dict[int, int]] = [{}, {}]
        with suppress(_TooLargeError):
            hopeless = [self._hopeless(role, winning[role], wins[1 - role]) for role in (0, 1)]
            lost = [self._loses(role, wins[role], hopeless[role]) for role in (0, 1)]
        goals = []
        for role in (0, 1):
            first = self.circuit.first_move[role]
            goals += [Goal(role, WINNING_GOAL, wins[role]), Goal(role, 0, lost[role])]
            goals += [
                Goal(role, FIRST_HOPELESS + move - first, hopeless[role].get(move, FALSE_LITERAL))
                for move in range(first, self.circuit.first_move[role + 1])
            ]
        return with_goals(self.circuit, tuple(self.gates.gates), tuple(goals))

    def _hopeless(self, role: int, winning: Mapping[int, int], win: int) -> dict[int, int]:
        """Literals, by move, that the match goes on afterwards and the other role wins at once, if `role` has
        no winning move.

        win   of the other role. Unlike `narrowed` this is a proof, so `role` must not have a choice again
              when the other one wins.
        """
        moves = [self.legal[move] for move in self._moves(role)]
        threat = self.gates.conj([win, *(x ^ 1 for x in moves)])
        return self._after(role, self._moves(role), threat, is_over=False, excluded=winning)

    def _loses(self, role: int, win: int, hopeless: Mapping[int, int]) -> int:
        """Whether `role` has to move, does not win at once, and each of its moves is hopeless."""
        moves = [self.legal[move] for move in self._moves(role)]
        safe = self._some_legal({move: literal ^ 1 for move, literal in hopeless.items()})
        may_wait = self.legal[self.watched.passive[role]]
        return self.gates.conj([self.gates.disj(moves), may_wait ^ 1, win ^ 1, safe ^ 1])

    def _moves(self, role: int) -> list[int]:
        first_move = self.circuit.first_move
        moves = range(first_move[role], first_move[role + 1])
        return [move for move in moves if move != self.watched.passive[role]]

    def _some_legal(self, literals: Mapping[int, int]) -> int:
        """Whether a legal move has its literal."""
        return self.gates.disj(self.gates.conj((self.legal[move], x)) for move, x in literals.items())

    def _wins(self, role: int, goal: int) -> dict[int, int]:
        """Literals, by move that was seen to win, that it ends the match with `goal` if it is legal."""
        return self._after(role, self.watched.winning.intersection(self._moves(role)), goal, is_over=True)

    def _safe(self, role: int, threat: int) -> dict[int, int]:
        """Literals, by move, that the match is over afterwards or there is no `threat`."""
        losing = self._after(role, self._moves(role), threat, is_over=False)
        return {move: literal ^ 1 for move, literal in losing.items()}

    def _after(
        self,
        role: int,
        moves: Iterable[int],
        literal: int,
        *,
        is_over: bool,
        excluded: Mapping[int, int] | None = None,
    ) -> dict[int, int]:
        """Literals, by move, that `literal` holds in the next state, and that this is terminal or is not.

        excluded   by move, what is known not to be true if it is legal
        """
        move0, gate0 = self.circuit.move0, self.circuit.gate0
        ends = self._cone((self.terminal, literal))
        changes = self._cone(self.next[node - 1] for node in ends if 1 <= node < move0)
        waiting = [move for r, move in enumerate(self.watched.passive) if r != role]
        found = {}
        for move in sorted(moves):
            alone = [self.legal[m] for m in waiting]
            known = self.known_live | self._implied([self.legal[move], *(alone if self.by_gains else ())])
            if excluded and move in excluded:
                inputs = [x for x in self._conjuncts(excluded[move]) if x not in known]
                known |= {x ^ 1 for x in inputs if len(inputs) == 1}
            made = {move0 + each for each in (move, *waiting)}
            leaves = {
                node: 2 * node if node < move0 else TRUE_LITERAL if node in made else FALSE_LITERAL
                for node in changes
                if node < gate0
            }
            now = self._values(changes, leaves, known)
            then = self._values(
                ends, {node: _read(now, self.next[node - 1]) for node in ends if node < gate0}, known
            )
            end, holds = _read(then, self.terminal) ^ (not is_over), _read(then, literal)
            if self.by_gains and end & 1 and holds ^ 1 in (self.gates.inputs(end) or ()):
                end = TRUE_LITERAL  # follows
            found[move] = self.gates.conj((end, holds, *alone))
            if self.gates.input_count > self.most_literals:
                raise _TooLargeError
        return found

    def _goal(self, role: int, value: int) -> int:
        """The literal of a goal; false if the role has none of this value."""
        found = (goal for goal in self.circuit.goals if goal.role == role and goal.value == value)
        return next((self._copied(goal.literal) for goal in found), FALSE_LITERAL)

    def _values(
        self, cone: Sequence[int], leaves: Mapping[int, int], known: Collection[int]
    ) -> dict[int, int]:
        """Literals, by node of a cone, with `leaves` for fluents and moves; `known` literals hold.

        With `by_gains`, of a node that is false now only what it gains matters: of a line with one more
        stone, the other stones alone.
        """
        values = {0: TRUE_LITERAL}
        gains: dict[int, Gain] = {TRUE_LITERAL: {}, FALSE_LITERAL: {}}
        falling = {TRUE_LITERAL, FALSE_LITERAL}
        for node in cone:
            if node >= self.circuit.gate0:
                self._note_gain_of_gate(node, values, gains)
                inputs = self._inputs(node)
                falling.update(2 * node for _ in inputs[:1] if falling.issuperset(inputs))
                falling.update(2 * node + 1 for _ in inputs[:1] if falling.issuperset(x ^ 1 for x in inputs))
                is_false = self.by_gains and 2 * node + 1 in known
                if is_false and 2 * node in falling:
                    value = FALSE_LITERAL
                elif is_false and 2 * node in gains:
                    value = self._sum(gains[2 * node])
                else:
                    value = self.gates.conj([_read(values, x) for x in self._inputs(node)])
            else:
                value = leaves[node]
                self._note_gain(2 * node, value, gains)
                falling.update(x ^ 1 for x in (2 * node, 2 * node + 1) if x in gains)
                falling.update(2 * node + x for x in (0, 1) if value ^ x == FALSE_LITERAL)
            values[node] = TRUE_LITERAL if value in known else FALSE_LITERAL if value ^ 1 in known else value
        return values

    def _sum(self, gain: Gain) -> int:
        return self.gates.disj([self.gates.conj(each) for each in gain.items()])

    def _note_gain(self, before: int, after: int, gains: dict[int, Gain]) -> None:
        """Note what a literal and its negation gain, where `after` shows that."""
        if after == before:
            gains[before] = gains[before ^ 1] = {}
        for x, y in ((before, after), (before ^ 1, after ^ 1)):
            inputs = self.gates.inputs(y) if y & 1 else None
            if inputs is not None and x ^ 1 in inputs:
                gains[x] = {self.gates.disj([z ^ 1 for z in inputs if z != x ^ 1]): TRUE_LITERAL}

    def _note_gain_of_gate(self, node: int, values: Mapping[int, int], gains: dict[int, Gain]) -> None:
        inputs = self._inputs(node)
        if all(x ^ 1 in gains for x in inputs):
            of_cause: dict[int, list[int]] = {}
            for x in inputs:
                for cause, rest in gains[x ^ 1].items():
                    of_cause.setdefault(cause, []).append(rest)
            gains[2 * node + 1] = {cause: self.gates.disj(rests) for cause, rests in of_cause.items()}
        changed = [x for x in inputs if gains.get(x) != {}]
        if all(x in gains for x in changed) and len(changed) <= MOST_CHANGED:
            gain: Gain = {}
            for x in changed:
                others = [_read(values, y) for y in inputs if y != x]
                if len(changed) == 1:
                    gain = {cause: self.gates.conj([rest, *others]) for cause, rest in gains[x].items()}
                else:
                    gain[self.gates.conj([self._sum(gains[x]), *others])] = TRUE_LITERAL
            gains[2 * node] = gain

    def _cone(self, literals: Iterable[int]) -> list[int]:
        return cone_of(literals, self._inputs)

    def _implied(self, literals: Iterable[int]) -> set[int]:
        """The literals that `literals` imply as inputs of conjunctions."""
        holding: set[int] = set()
        left = list(literals)
        while left:
            literal = left.pop()
            if literal not in holding:
                holding.add(literal)
                if not literal & 1:
                    left += self._inputs(literal >> 1)
        return holding

    def _conjuncts(self, literal: int) -> tuple[int, ...]:
        return (literal,) if literal & 1 else self._inputs(literal >> 1) or (literal,)

    def _inputs(self, node: int) -> tuple[int, ...]:
        return self.gates.inputs(2 * node) or ()


def _read(values: Mapping[int, int], literal: int) -> int:
    return values[literal >> 1] ^ (literal & 1)
