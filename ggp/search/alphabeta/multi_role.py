"""Search of games that alpha-beta cannot search: chance, three and more roles, simultaneous moves.

    max^n       every role maximizes its own goal; values are tuples (Luckhardt and Irani, 1986)
    paranoid    all others minimize the goal of one role, so alpha-beta prunes (Sturtevant and Korf, 2000)
    coalition   its roles maximize the sum of their goals, all others minimize it; alone a role is paranoid

    errors      with some probability the other side moves at random instead (expectimax against a model of
                the opponent, as in Michie, Game-playing and game-learning automata, 1966): a trap that a
                perfect opponent avoids is worth something

Chance nodes are averaged (expectimax, expectiminimax); Star1 prunes them by the least and the greatest goal
of each member (Ballard, 1983). Roles that move at the same time choose one after the other, the searching
role first, then the rest of its side: the result is what they can secure, not an equilibrium.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ggp.game import RANDOM_ROLE, Game, GameError, Move, Role
from ggp.search.alphabeta.estimate import SCALE
from ggp.search.alphabeta.events import Event, EventKind, Listener, StoppedError, ValueTree
from ggp.search.budget import NO_LIMIT, Budget

Values: TypeAlias = tuple[float, ...]
_Worth: TypeAlias = Callable[[Move, float, float], float]

LOWEST, GREATEST_GOAL = 0.0, 100.0
MAX_DEPTH = 200
_CLOCK_NODES = 16


@dataclass
class MultiRoleSearch:
    """One role's search in one game. `nodes` counts states visited.

    error     probability, 0..1, of a random move of each role of the other side (with "maxn": of each other
              role); nothing is pruned below such moves
    members   indices of the roles of a coalition, with "paranoid"; None: the searching role alone. A role
              that is not a member searches for the side that minimizes the coalition's sum.
    evaluate  state at the horizon → the goal that the first player may expect, the second one's being the
              rest of 100; None: the goals that the rules give there
    listener  called with an event per step of a node at which a role chooses, or none has a choice; with
              "paranoid" the role of a member is the mover that maximizes, and so is chance
    """

    game: Game[Any]
    role: Role
    method: str = "paranoid"  # "maxn" or "paranoid"
    error: float = 0.0
    members: frozenset[int] | None = None
    nodes: int = 0
    is_cut: bool = False  # whether the latest search reached its horizon
    budget: Budget = NO_LIMIT
    listener: Listener | None = None
    evaluate: Callable[[Any], float] | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.error <= 1.0:
            raise ValueError(f"a probability of errors is from 0 to 1, not {self.error:g}")
        self._place = place = self.game.roles.index(self.role)
        self._members = frozenset({place}) if self.members is None else self.members
        goals = self.game.possible_goals if isinstance(self.game, ValueTree) else (LOWEST, GREATEST_GOAL)
        self._lowest, self._highest = (len(self._members) * goal for goal in (goals[0], goals[-1]))
        self._sign = 1 if place in self._members else -1
        self._line: list[tuple[int, Move]] = []  # for the listener: the choices that lead to the node

        def turn_of(r: int) -> tuple[bool, bool, bool]:
            is_ally = (r in self._members) == (place in self._members)
            return self.game.roles[r] == RANDOM_ROLE, not is_ally, r != place

        # The searching role comes first, chance last.
        self._order = sorted(range(len(self.game.roles)), key=turn_of)

    def best_move(
        self, state: Hashable, budget: Budget = NO_LIMIT, *, depth: int | None = None
    ) -> tuple[Move, float]:
        """The best move by iterative deepening, and its value: the role's goal, or the coalition's sum."""
        legal = self.game.legal_moves(state, self.role)
        best, worth = legal[0], (self._lowest + self._highest) / 2
        self.budget, self.nodes = budget, 0
        for limit in range(1, (depth or MAX_DEPTH) + 1):
            self.is_cut = False
            try:
                rated = [(self._own_value(state, limit, {self._place: move}), move) for move in legal]
            except StoppedError:
                break
            worth, best = max(rated, key=lambda each: self._sign * each[0])
            legal = tuple(move for _, move in sorted(rated, key=lambda each: -self._sign * each[0]))
            if not self.is_cut:
                break
        return best, worth

    def value(self, state: Hashable, depth: int = MAX_DEPTH, budget: Budget = NO_LIMIT) -> Values:
        """The value of a state, `depth` joint moves deep. With "paranoid" it stands at the role's own place:
        the goal it can secure, or the coalition's sum. Raises StoppedError at the end of the budget."""
        self.nodes, self.budget, self.is_cut = 0, budget, False
        if self.method == "maxn":
            return self._maxn(state, depth, {})
        worth = self._own_value(state, depth, {})
        return tuple(worth if r == self._place else 0.0 for r in range(len(self.game.roles)))

    def _own_value(self, state: Any, depth: int, chosen: dict[int, Move]) -> float:
        if self.method == "maxn":
            return self._maxn(state, depth, chosen)[self._place]
        return self._paranoid(state, depth, chosen, self._lowest, self._highest)

    def _leaf(self, state: Any, depth: int) -> Values | None:
        """Visit a state; its goals if it is not searched further: terminal, or at the horizon."""
        self.nodes += 1
        is_spent = self.budget.nodes is not None and self.nodes > self.budget.nodes
        if is_spent or (self.nodes % _CLOCK_NODES == 0 and self.budget.is_over()):
            raise StoppedError
        if not self.game.is_terminal(state):
            if depth > 0:
                return None
            self.is_cut = True
        goals = self._goals(state)
        if self.listener is not None and self._line:
            self._show(EventKind.LEAF, state, depth, self._line[-1][0], values=goals)
        return goals

    def _goals(self, state: Any) -> Values:
        if self.evaluate is None or self.game.is_terminal(state):
            return tuple(self._goal_so_far(state, role) for role in self.game.roles)
        worth = self.evaluate(state)
        shares = iter((worth, GREATEST_GOAL - worth))
        return tuple(0.0 if role == RANDOM_ROLE else next(shares) for role in self.game.roles)

    def _goal_so_far(self, state: Any, role: Role) -> float:
        """The goal that the rules give in a state; 50 without one, 0 for chance."""
        try:
            return 0.0 if role == RANDOM_ROLE else float(self.game.goal(state, role))
        except GameError:
            return 50.0

    def _next(self, state: Any, chosen: dict[int, Move]) -> Any:
        return self.game.next_state(state, tuple(chosen[r] for r in range(len(self.game.roles))))

    def _is_shown(self, state: Any, r: int, chosen: dict[int, Move]) -> bool:
        """Whether a listener is shown the choice of role r: one of several moves, or the only way on."""
        if self.listener is None:
            return False
        counts = [len(self.game.legal_moves(state, role)) for role in self.game.roles]
        return counts[r] > 1 or (not chosen and max(counts) == 1)

    def _show(
        self,
        kind: EventKind,
        state: Any,
        depth: int,
        mover: int,
        *,
        window: tuple[float, float] = (-math.inf, math.inf),
        values: Values | None = None,
        worth: float | None = None,
    ) -> None:
        """Show a step of the node at the end of the line, of a leaf its parent's; `worth` is the members'."""
        assert self.listener is not None
        sign = 1
        if self.method == "maxn":
            worth = None if values is None else values[mover]
        else:
            sign = 1 if mover in self._members or self.game.roles[mover] == RANDOM_ROLE else -1
            worth = sum(values[r] for r in self._members) if values is not None else worth
        if kind is EventKind.LEAVE and not self._line:
            window = -math.inf, math.inf  # the root's was all that is possible, so that its value is exact
        low, high = sorted(sign * SCALE * each for each in window)
        score = None if worth is None else sign * SCALE * worth
        ply = len(self._line) - (kind is EventKind.LEAF)
        move = self._line[-1][1] if self._line else None
        self.listener(Event(kind, ply, depth, low, high, mover, move, score, state, values))

    def _maxn(self, state: Any, depth: int, chosen: dict[int, Move]) -> Values:
        """Values once the first roles of `_order` have chosen; the others follow one after the other."""
        if len(chosen) == len(self._order):
            return self._maxn(self._next(state, chosen), depth - 1, {})
        if not chosen and (leaf := self._leaf(state, depth)) is not None:
            return leaf
        r = self._order[len(chosen)]
        moves = self.game.legal_moves(state, self.game.roles[r])
        is_shown = self._is_shown(state, r, chosen)
        if is_shown:
            self._show(EventKind.ENTER, state, depth, r)
        found: list[Values] = []
        for move in moves:
            self._line += [(r, move)] * is_shown
            found.append(self._maxn(state, depth, {**chosen, r: move}))
            del self._line[len(self._line) - is_shown :]
        values = self._chosen(state, r, found)
        if is_shown:
            self._show(EventKind.LEAVE, state, depth, r, values=values)
        return values

    def _chosen(self, state: Any, r: int, found: list[Values]) -> Values:
        """Values of the best move of role r, mixed with the mean of its moves as far as it errs."""
        best = max(found, key=lambda values: values[r])
        is_chance = self.game.roles[r] == RANDOM_ROLE
        error = 1.0 if is_chance else 0.0 if r == self._place else self.error
        weights = self._weights(state, len(found)) if is_chance else (1,) * len(found)
        drawn = (
            sum(weight * value for weight, value in zip(weights, each, strict=True)) / sum(weights)
            for each in zip(*found, strict=True)
        )
        return tuple((1 - error) * a + error * b for a, b in zip(best, drawn, strict=True))

    def _weights(self, state: Any, count: int) -> Sequence[int]:
        """The weights of the moves of chance: alike, by the rules of GDL."""
        return self.game.chance_weights(state) if isinstance(self.game, ValueTree) else (1,) * count

    def _paranoid(self, state: Any, depth: int, chosen: dict[int, Move], alpha: float, beta: float) -> float:
        """The sum of the members' goals within the window; `chosen` as for `_maxn`."""
        if len(chosen) == len(self._order):
            return self._paranoid(self._next(state, chosen), depth - 1, {}, alpha, beta)
        if not chosen and (leaf := self._leaf(state, depth)) is not None:
            return sum(leaf[r] for r in self._members)
        r = self._order[len(chosen)]
        moves = self.game.legal_moves(state, self.game.roles[r])
        is_shown = self._is_shown(state, r, chosen)
        if is_shown:
            self._show(EventKind.ENTER, state, depth, r, window=(alpha, beta))

        def worth(move: Move, low: float, high: float) -> float:
            self._line += [(r, move)] * is_shown
            found = self._paranoid(state, depth, {**chosen, r: move}, low, high)
            del self._line[len(self._line) - is_shown :]
            return found

        if self.game.roles[r] == RANDOM_ROLE:
            found = self._average(
                list(zip(moves, self._weights(state, len(moves)), strict=True)), worth, alpha, beta
            )
        else:
            found = self._best(moves, worth, r, (alpha, beta))
        for kind in (EventKind.CUTOFF, EventKind.LEAVE) if is_shown else ():
            if kind is EventKind.LEAVE or not alpha < found < beta:
                self._show(kind, state, depth, r, window=(alpha, beta), worth=found)
        return found

    def _best(self, moves: Sequence[Move], worth: _Worth, r: int, window: tuple[float, float]) -> float:
        """A node of role r: the best of its moves for its side, or that mixed with their mean if it errs."""
        alpha, beta = window
        sign = 1 if r in self._members else -1
        if self.error and sign != self._sign:
            worths = [worth(move, self._lowest, self._highest) for move in moves]
            aimed = max(worths) if sign > 0 else min(worths)
            return (1 - self.error) * aimed + self.error * sum(worths) / len(worths)
        best = -sign * float("inf")
        for move in moves:
            found = worth(move, alpha, beta)
            best = max(best, found) if sign > 0 else min(best, found)
            alpha, beta = (max(alpha, best), beta) if sign > 0 else (alpha, min(beta, best))
            if alpha >= beta:
                break
        return best

    def _average(self, moves: Sequence[tuple[Move, int]], worth: _Worth, alpha: float, beta: float) -> float:
        """A chance node, its moves with weights. Star1: a child's window is what could still move the average
        into (alpha, beta)."""
        count, total, lowest, highest = sum(weight for _, weight in moves), 0.0, self._lowest, self._highest
        left = count
        for move, weight in moves:
            left -= weight
            low = max(lowest, (count * alpha - total - left * highest) / weight)
            high = min(highest, (count * beta - total - left * lowest) / weight)
            if low > highest or high < lowest:
                return alpha if low > highest else beta
            found = worth(move, low, high)
            if found <= low > lowest:
                return (total + weight * found + left * highest) / count
            if found >= high < highest:
                return (total + weight * found + left * lowest) / count
            total += weight * found
        return total / count
