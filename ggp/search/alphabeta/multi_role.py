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
Evaluation: TypeAlias = Callable[[Game[Any], Any], Values]
"""From a nonterminal state to an estimate of every role's goal."""

LOWEST, GREATEST_GOAL = 0.0, 100.0
MAX_DEPTH = 200
_CLOCK_NODES = 16


class _StoppedError(Exception):
    """The deadline has passed, or the nodes are used up."""


def goals_so_far(game: Game[Any], state: Any) -> Values:
    """The goals that the rules give in a state; 50 for roles without one, 0 for chance."""

    def of(role: Role) -> float:
        if role == RANDOM_ROLE:
            return 0.0
        try:
            return float(game.goal(state, role))
        except GameError:
            return 50.0

    return tuple(of(role) for role in game.roles)


def _mean_values(found: Sequence[Values]) -> Values:
    return tuple(sum(each) / len(found) for each in zip(*found, strict=True))


@dataclass
class MultiRoleSearch:
    """One role's search in one game. `nodes` counts states visited.

    method    "maxn" or "paranoid"
    star1     prune chance nodes; only with "paranoid", where it never changes the value
    prune     alpha-beta; only with "paranoid"
    members   indices of the roles of a coalition, with "paranoid"; None: the searching role alone. A role
              that is not a member searches for the side that minimizes the coalition's sum.
    error     probability, 0..1, of a random move of each role of the other side (with "maxn": of each other
              role); nothing is pruned below such moves
    is_cut    whether the latest search reached its horizon
    """

    game: Game[Any]
    role: Role
    method: str = "paranoid"
    star1: bool = True
    prune: bool = True
    evaluation: Evaluation = goals_so_far
    error: float = 0.0
    members: frozenset[int] | None = None
    nodes: int = 0
    is_cut: bool = False
    budget: Budget = NO_LIMIT

    def __post_init__(self) -> None:
        if self.method not in ("maxn", "paranoid"):
            raise ValueError(f"unknown search method {self.method!r}: expected maxn or paranoid")
        if not 0.0 <= self.error <= 1.0:
            raise ValueError(f"a probability of errors is from 0 to 1, not {self.error:g}")
        self._place = place = self.game.roles.index(self.role)
        self._members = frozenset({place}) if self.members is None else self.members
        self._highest = GREATEST_GOAL * len(self._members)
        self._sign = 1 if place in self._members else -1

        def turn_of(r: int) -> tuple[bool, bool, bool]:
            is_ally = (r in self._members) == (place in self._members)
            return self.game.roles[r] == RANDOM_ROLE, not is_ally, r != place

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
                rated = [(self._after(state, move, limit), move) for move in legal]
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
            return self._maxn(state, depth)
        worth = self._paranoid(state, depth, LOWEST, self._highest)
        return tuple(worth if r == self._place else 0.0 for r in range(len(self.game.roles)))

    def _after(self, state: Any, move: Move, depth: int) -> float:
        chosen = {self._place: move}
        if self.method == "maxn":
            return self._maxn_choose(state, depth, chosen, 1)[self._place]
        return self._paranoid_choose(state, depth, chosen, 1, LOWEST, self._highest)

    def _visit(self) -> None:
        self.nodes += 1
        is_spent = self.budget.nodes is not None and self.nodes > self.budget.nodes
        if is_spent or (self.nodes % _CLOCK_NODES == 0 and self.budget.is_over()):
            raise _StoppedError

    def _leaf(self, state: Any, depth: int) -> Values | None:
        """Values of a state that is not searched further, else None."""
        self._visit()
        if self.game.is_terminal(state):
            return goals_so_far(self.game, state)
        if depth == 0:
            self.is_cut = True
            return self.evaluation(self.game, state)
        return None

    def _maxn(self, state: Any, depth: int) -> Values:
        leaf = self._leaf(state, depth)
        return leaf if leaf is not None else self._maxn_choose(state, depth, {}, 0)

    def _maxn_choose(self, state: Any, depth: int, chosen: dict[int, Move], turn: int) -> Values:
        """The roles choose one after the other in `_order`, from `turn` on."""
        if turn == len(self._order):
            return self._maxn(self._next(state, chosen), depth - 1)
        r = self._order[turn]
        moves = self.game.legal_moves(state, self.game.roles[r])
        found = [self._maxn_choose(state, depth, {**chosen, r: move}, turn + 1) for move in moves]
        if self.game.roles[r] == RANDOM_ROLE:
            return _mean_values(found)
        best = max(found, key=lambda values: values[r])
        if r == self._place or not self.error:
            return best
        mean = _mean_values(found)
        return tuple(
            (1 - self.error) * aimed + self.error * drawn for aimed, drawn in zip(best, mean, strict=True)
        )

    def _paranoid(self, state: Any, depth: int, alpha: float, beta: float) -> float:
        leaf = self._leaf(state, depth)
        if leaf is not None:
            return sum(leaf[r] for r in self._members)
        return self._paranoid_choose(state, depth, {}, 0, alpha, beta)

    def _paranoid_choose(
        self, state: Any, depth: int, chosen: dict[int, Move], turn: int, alpha: float, beta: float
    ) -> float:
        if turn == len(self._order):
            return self._paranoid(self._next(state, chosen), depth - 1, alpha, beta)
        r = self._order[turn]
        moves = self.game.legal_moves(state, self.game.roles[r])
        if self.game.roles[r] == RANDOM_ROLE:
            return self._average(state, depth, chosen, turn, moves, alpha, beta)
        sign = 1 if r in self._members else -1
        if self.error and sign != self._sign:
            return self._against_errors(state, depth, chosen, turn, moves)
        best = -sign * float("inf")
        for move in moves:
            worth = self._paranoid_choose(state, depth, {**chosen, r: move}, turn + 1, alpha, beta)
            best = max(best, worth) if sign > 0 else min(best, worth)
            if self.prune:
                alpha, beta = (max(alpha, best), beta) if sign > 0 else (alpha, min(beta, best))
                if alpha >= beta:
                    break
        return best

    def _against_errors(
        self, state: Any, depth: int, chosen: dict[int, Move], turn: int, moves: Sequence[Move]
    ) -> float:
        """A move of the other side, at random with probability `error`: every reply counts."""
        r = self._order[turn]
        worths = [
            self._paranoid_choose(state, depth, {**chosen, r: move}, turn + 1, LOWEST, self._highest)
            for move in moves
        ]
        aimed = max(worths) if r in self._members else min(worths)
        return (1 - self.error) * aimed + self.error * sum(worths) / len(worths)

    def _average(
        self,
        state: Any,
        depth: int,
        chosen: dict[int, Move],
        turn: int,
        moves: Sequence[Move],
        alpha: float,
        beta: float,
    ) -> float:
        """A chance node. Star1: a child's window is what could still move the average into (alpha, beta)."""
        count, total, highest = len(moves), 0.0, self._highest
        r = self._order[turn]
        for done, move in enumerate(moves):
            low, high = LOWEST, highest
            if self.star1 and self.prune:
                left = count - done - 1
                low = max(LOWEST, count * alpha - total - left * highest)
                high = min(highest, count * beta - total - left * LOWEST)
                if low > highest or high < LOWEST:
                    return alpha if low > highest else beta
            worth = self._paranoid_choose(state, depth, {**chosen, r: move}, turn + 1, low, high)
            if self.star1 and self.prune:
                if worth <= low > LOWEST:
                    return (total + worth + left * highest) / count
                if worth >= high < highest:
                    return (total + worth + left * LOWEST) / count
            total += worth
        return total / count

    def _next(self, state: Any, chosen: dict[int, Move]) -> Any:
        return self.game.next_state(state, tuple(chosen[r] for r in range(len(self.game.roles))))
