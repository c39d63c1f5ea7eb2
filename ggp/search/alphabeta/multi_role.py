"""Search of games that alpha-beta cannot search: chance, three and more roles, simultaneous moves.

    max^n       every role maximizes its own goal; values are tuples (Luckhardt and Irani, 1986)
    paranoid    all others minimize the goal of one role, so alpha-beta prunes (Sturtevant and Korf, 2000)
    coalition   its roles maximize the sum of their goals, all others minimize it; alone a role is paranoid

    errors      with some probability the other side moves at random instead (expectimax against a model of
                the opponent, as in Michie, Game-playing and game-learning automata, 1966): a trap that a
                perfect opponent avoids is worth something

Chance nodes are averaged (expectimax, expectiminimax); Star1 prunes them by the bounds 0 and 100 for each
member (Ballard, 1983). Roles that move at the same time choose one after the other, the searching role first,
then the rest of its side: the result is what they can secure, not an equilibrium.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ggp.game import RANDOM_ROLE, Game, GameError, Move, Role
from ggp.search.budget import NO_LIMIT, Budget

Values: TypeAlias = tuple[float, ...]

LOWEST, GREATEST_GOAL = 0.0, 100.0
MAX_DEPTH = 200
_CLOCK_NODES = 16


class _StoppedError(Exception):
    """The deadline has passed, or the nodes are used up."""


@dataclass
class MultiRoleSearch:
    """One role's search in one game. `nodes` counts states visited.

    error     probability, 0..1, of a random move of each role of the other side (with "maxn": of each other
              role); nothing is pruned below such moves
    members   indices of the roles of a coalition, with "paranoid"; None: the searching role alone. A role
              that is not a member searches for the side that minimizes the coalition's sum.
    """

    game: Game[Any]
    role: Role
    method: str = "paranoid"  # "maxn" or "paranoid"
    error: float = 0.0
    members: frozenset[int] | None = None
    nodes: int = 0
    is_cut: bool = False  # whether the latest search reached its horizon
    budget: Budget = NO_LIMIT

    def __post_init__(self) -> None:
        if not 0.0 <= self.error <= 1.0:
            raise ValueError(f"a probability of errors is from 0 to 1, not {self.error:g}")
        self._place = place = self.game.roles.index(self.role)
        self._members = frozenset({place}) if self.members is None else self.members
        self._highest = GREATEST_GOAL * len(self._members)
        self._sign = 1 if place in self._members else -1

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
        best, worth = legal[0], self._highest / 2
        self.budget, self.nodes = budget, 0
        for limit in range(1, (depth or MAX_DEPTH) + 1):
            self.is_cut = False
            try:
                rated = [(self._own_value(state, limit, {self._place: move}), move) for move in legal]
            except _StoppedError:
                break
            worth, best = max(rated, key=lambda each: self._sign * each[0])
            legal = tuple(move for _, move in sorted(rated, key=lambda each: -self._sign * each[0]))
            if not self.is_cut:
                break
        return best, worth

    def value(self, state: Hashable, depth: int = MAX_DEPTH) -> Values:
        """The value of a state, `depth` joint moves deep. With "paranoid" it stands at the role's own place:
        the goal it can secure, or the coalition's sum."""
        self.nodes, self.budget, self.is_cut = 0, NO_LIMIT, False
        if self.method == "maxn":
            return self._maxn(state, depth, {})
        worth = self._own_value(state, depth, {})
        return tuple(worth if r == self._place else 0.0 for r in range(len(self.game.roles)))

    def _own_value(self, state: Any, depth: int, chosen: dict[int, Move]) -> float:
        if self.method == "maxn":
            return self._maxn(state, depth, chosen)[self._place]
        return self._paranoid(state, depth, chosen, LOWEST, self._highest)

    def _leaf(self, state: Any, depth: int) -> Values | None:
        """Visit a state; its goals if it is not searched further: terminal, or at the horizon."""
        self.nodes += 1
        is_spent = self.budget.nodes is not None and self.nodes > self.budget.nodes
        if is_spent or (self.nodes % _CLOCK_NODES == 0 and self.budget.is_over()):
            raise _StoppedError
        if not self.game.is_terminal(state):
            if depth > 0:
                return None
            self.is_cut = True
        return tuple(self._goal_so_far(state, role) for role in self.game.roles)

    def _goal_so_far(self, state: Any, role: Role) -> float:
        """The goal that the rules give in a state; 50 without one, 0 for chance."""
        try:
            return 0.0 if role == RANDOM_ROLE else float(self.game.goal(state, role))
        except GameError:
            return 50.0

    def _next(self, state: Any, chosen: dict[int, Move]) -> Any:
        return self.game.next_state(state, tuple(chosen[r] for r in range(len(self.game.roles))))

    def _maxn(self, state: Any, depth: int, chosen: dict[int, Move]) -> Values:
        """Values once the first roles of `_order` have chosen; the others follow one after the other."""
        if len(chosen) == len(self._order):
            return self._maxn(self._next(state, chosen), depth - 1, {})
        if not chosen and (leaf := self._leaf(state, depth)) is not None:
            return leaf
        r = self._order[len(chosen)]
        moves = self.game.legal_moves(state, self.game.roles[r])
        found = [self._maxn(state, depth, {**chosen, r: move}) for move in moves]
        best = max(found, key=lambda values: values[r])
        error = 1.0 if self.game.roles[r] == RANDOM_ROLE else 0.0 if r == self._place else self.error
        drawn = (sum(each) / len(found) for each in zip(*found, strict=True))
        return tuple((1 - error) * a + error * b for a, b in zip(best, drawn, strict=True))

    def _paranoid(self, state: Any, depth: int, chosen: dict[int, Move], alpha: float, beta: float) -> float:
        """The sum of the members' goals within the window; `chosen` as for `_maxn`."""
        if len(chosen) == len(self._order):
            return self._paranoid(self._next(state, chosen), depth - 1, {}, alpha, beta)
        if not chosen and (leaf := self._leaf(state, depth)) is not None:
            return sum(leaf[r] for r in self._members)
        r = self._order[len(chosen)]
        moves = self.game.legal_moves(state, self.game.roles[r])

        def worth(move: Move, low: float, high: float) -> float:
            return self._paranoid(state, depth, {**chosen, r: move}, low, high)

        if self.game.roles[r] == RANDOM_ROLE:
            return self._average(moves, worth, alpha, beta)
        sign = 1 if r in self._members else -1
        if self.error and sign != self._sign:
            worths = [worth(move, LOWEST, self._highest) for move in moves]
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

    def _average(
        self, moves: Sequence[Move], worth: Callable[[Move, float, float], float], alpha: float, beta: float
    ) -> float:
        """A chance node. Star1: a child's window is what could still move the average into (alpha, beta)."""
        count, total, highest = len(moves), 0.0, self._highest
        for left, move in zip(range(count - 1, -1, -1), moves, strict=True):
            low = max(LOWEST, count * alpha - total - left * highest)
            high = min(highest, count * beta - total - left * LOWEST)
            if low > highest or high < LOWEST:
                return alpha if low > highest else beta
            found = worth(move, low, high)
            if found <= low > LOWEST:
                return (total + found + left * highest) / count
            if found >= high < highest:
                return (total + found + left * LOWEST) / count
            total += found
        return total / count
