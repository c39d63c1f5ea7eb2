"""Dead and dominated moves: what good players never choose, and what is never better than another move.

A decision is compared move by move: every legal move of one role is made against the same moves of the
others, and the state that follows is worth its exact value if the game is solved or over, else the mean of a
small search of its own. With simultaneous moves this is the dominance of game theory.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.engines.many_states import ManyStates
from ggp.game_evaluation.figures import DECISIONS, EQUAL, Figure
from ggp.game_evaluation.measuring import players_of
from ggp.game_evaluation.replaying import BoolArray, replayed
from ggp.search.forest.forest import Forest
from ggp.search.forest.self_play import SelfPlay
from ggp.search.tree.options import MctsOptions
from ggp.solver import Solution

MIN_DECISIONS = 20
"""Minimum number of decisions in which a move must be legal to be judged."""
MAX_DECISIONS = 400
MAX_SUCCESSORS = 8192
"""Maximum number of successors compared, each by a search unless it is solved or terminal."""
SHARE_OF_PLAYOUTS = 8
"""A move is searched by this fraction of the playouts of a decision, and not by fewer than..."""
MIN_PLAYOUTS = 16
SURE = 4.0
"""Standard errors beyond which a difference counts; large because many are compared."""
DEVIATION = 50.0
"""Largest possible standard deviation of goals from 0 to 100."""

Int64Array = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def unchosen_of(game: CompiledGame, found: SelfPlay) -> list[Figure]:
    """The share of moves that were legal in enough decisions of equal searches, and that none of them chose.

    The interval reaches down to 0, because more matches can only choose more of these moves.
    """
    seen, chosen = (np.zeros(int(game.tables.first_move[-1]), np.int64) for _ in range(2))
    many, first = ManyStates(game), game.tables.first_move
    for step, (matches, states) in enumerate(replayed(game, found)):
        going = found.length[matches] > step
        if not going.any():
            continue
        matches, legal = matches[going], many.settle(states[going]).legal
        for r in players_of(game):
            decides = found.choices[matches, step, r] > 1
            moves = slice(int(first[r]), int(first[r + 1]))
            seen[moves] += legal[decides, moves].sum(axis=0)
            np.add.at(chosen[moves], found.moves[matches[decides], step, r], 1)
    known = seen >= MIN_DECISIONS
    if not known.any():
        return []
    dead = float((chosen[known] == 0).mean())
    return [Figure("unchosen", dead, 0.0, dead, int(known.sum()), EQUAL)]


def dominated_of(game: CompiledGame, found: SelfPlay, worth: Worth, *, seed: int = 0) -> list[Figure]:
    """The share of moves to which another one was never inferior, and on the whole superior.

    Compared are the moves of at most `MAX_DECISIONS` decisions of the matches `found`. A dominating move was
    legal in every decision in which the dominated one was. More decisions can refute it, so that the
    interval begins at 0; it ends at the share of moves to which another was never inferior.

    >>> import ggp
    >>> from ggp.search.forest.self_play import self_play
    >>> game = ggp.load("prisoners_dilemma", engine="lanes")
    >>> dominated_of(game, self_play(game, 0, 100), Worth(game, None, 64))[0].value   # silence, of two moves
    0.5
    """
    first = game.tables.first_move
    match, step, role = _drawn(game, found, np.random.default_rng((seed & (2**64 - 1), 29)))
    states = np.zeros((len(match), len(game.terms.fluents)), np.bool_)
    for number, (matches, at_step) in enumerate(replayed(game, found)):
        wanted = np.flatnonzero(step == number)
        states[wanted] = at_step[np.searchsorted(matches, match[wanted])]
    legal = worth.many.settle(states).legal
    of_role = np.arange(int(first[-1]))[None, :]
    origin, move = np.nonzero(
        legal & (of_role >= first[role][:, None]) & (of_role < first[role + 1][:, None])
    )
    joint_moves = found.moves[match[origin], step[origin]].copy()
    joint_moves[np.arange(len(origin)), role[origin]] = move - first[role[origin]]
    following = worth.many.following(states[origin], joint_moves)[0]
    value, error = np.full((2, *legal.shape), np.nan)
    value[origin, move], error[origin, move] = worth.of(following, role[origin])
    verdicts: list[str] = []
    for r in players_of(game):
        of_player = role == r, slice(int(first[r]), int(first[r + 1]))
        verdicts += _verdicts(value[of_player], error[of_player])
    if not verdicts:
        return []
    known, dominated = len(verdicts), verdicts.count("dominated")
    highest = (known - verdicts.count("free")) / known
    return [Figure("dominated", dominated / known, 0.0, highest, len(role), DECISIONS)]


def _drawn(
    game: CompiledGame, found: SelfPlay, rng: np.random.Generator
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """int64[D] matches, steps and roles of decisions that do not have too many moves together."""
    is_player = np.isin(np.arange(len(game.roles)), players_of(game))
    match, step, role = np.nonzero((found.choices > 1) & is_player)
    order = rng.permutation(len(match))[:MAX_DECISIONS]
    successors = np.cumsum(found.choices[match[order], step[order], role[order]])
    order = np.sort(order[successors <= MAX_SUCCESSORS])
    return match[order], step[order], role[order]


class Worth:
    """What states are worth: exact values, else means of small searches.

    simulations   playouts of a decision; a state gets an eighth of them
    """

    def __init__(
        self,
        game: CompiledGame,
        solution: Solution | None,
        simulations: int,
        *,
        seed: int = 0,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._game, self._solution, self._seed, self._is_over = game, solution, seed, is_over
        self._simulations = max(MIN_PLAYOUTS, simulations // SHARE_OF_PLAYOUTS)
        self.many = ManyStates(game)

    def of(self, states: BoolArray, role: Int64Array) -> tuple[FloatArray, FloatArray]:
        """float64[N] goals of a role in each state, and their standard errors; NaN: the rules give none, or
        time is up."""
        legal, is_over, goals = self.many.settle(states)
        value, error = np.full(len(states), np.nan), np.zeros(len(states))
        at = np.arange(len(states))
        has_goal = is_over & (goals[at, role] >= 0)
        value[has_goal] = goals[at, role][has_goal]
        first = self._game.tables.first_move
        can_move = [legal[:, first[r] : first[r + 1]].any(axis=1) for r in range(goals.shape[1])]
        rest = np.flatnonzero(~is_over & np.logical_and.reduce(can_move))
        if self._solution is not None and len(rest):
            number = self._solution.space.number(states[rest])
            value[rest[number >= 0]] = self._solution.value[number, role[rest]][number >= 0]
            return value, error
        forest = Forest(self._game, seed=self._seed, stream=29, options=MctsOptions())
        for begin in range(0, len(rest), forest.lane_count):
            part = rest[begin : begin + forest.lane_count]
            if not forest.search(states[part], np.full(len(part), self._simulations), self._is_over):
                break
            value[part] = forest.root_values()[np.arange(len(part)), role[part]]
            error[part] = np.where(forest.root_proofs() >= 0, 0.0, DEVIATION / np.sqrt(self._simulations))
        return value, error


def _verdicts(value: FloatArray, error: FloatArray) -> list[str]:
    """By move that was legal in enough decisions: "dominated", "open" or "free".

    value, error   float64[D, M]
    """
    legal = ~np.isnan(value)
    verdicts = []
    for move in np.flatnonzero(legal.sum(axis=0) >= MIN_DECISIONS):
        there = legal[:, move]
        rivals = np.flatnonzero(legal[there].all(axis=0))
        rivals = rivals[rivals != move]
        gain = value[there][:, rivals] - value[there, move][:, None]
        spread = np.sqrt(error[there][:, rivals] ** 2 + error[there, move][:, None] ** 2)
        never_worse = (gain >= -SURE * spread - 1e-6).all(axis=0)
        total, doubt = gain.sum(axis=0), SURE * np.sqrt((spread**2).sum(axis=0))
        better = never_worse & (total > doubt + 1e-6)
        verdicts.append("dominated" if better.any() else "open" if never_worse.any() else "free")
    return verdicts
