"""Matches played in batches by the tree search: one search for each decision of each match."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggp.circuit.tables import Int32Array, Phase
from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Game, GameError, hides_information
from ggp.integers import to_integer, to_integer_array
from ggp.lanes.engine import Lanes
from ggp.search.forest.forest import Forest
from ggp.search.tree.kernels.arrays import Float64Array
from ggp.search.tree.options import MctsOptions

STEP_LIMIT = 1000
"""Default maximum of joint moves; then the match is cut."""

WORDS = 8
MATCHES_AT_ONCE = 64 * WORDS

BoolArray = NDArray[np.bool_]
Int64Array = NDArray[np.int64]


@dataclass(frozen=True)
class SelfPlay:
    """Matches of one game, N of them, P joint moves at most.

    is_finished  bool[N]: the match came to an end of the rules. False: cut by the step limit, left without a
                 legal move, without a goal, or not played to its end because play was stopped
    goals        int32[N, R]: of finished matches; 0 of others
    length       int32[N]: joint moves
    moves        int32[N, P, R], counted within the role (`game.moves[r]`); -1 after the end
    choices      int32[N, P, R]: legal moves
    value        float64[N, P, R]: the mean goal that the search expected of the move; NaN where it made none

    >>> import ggp
    >>> found = self_play(ggp.load("tictactoe"), 100, 8)
    >>> found.moves.shape == found.value.shape == (8, found.length.max(), 2)
    True
    """

    is_finished: BoolArray
    goals: Int32Array
    length: Int32Array
    moves: Int32Array
    choices: Int32Array
    value: Float64Array

    def __repr__(self) -> str:
        return f"<SelfPlay: {len(self.length)} matches, {int(self.is_finished.sum())} finished>"


def self_play(
    game: Game[Any],
    simulations: ArrayLike,
    matches: int = 100,
    *,
    seed: int = 0,
    options: MctsOptions | None = None,
    step_limit: int = STEP_LIMIT,
    threads: int | None = None,
    is_over: Callable[[int], bool] | None = None,
) -> SelfPlay:
    """Play matches of a compiled game side by side, each decision by a UCT search as of the player `uct`.

    simulations  per decision: a number, or one for each role (int[R]), or for each match and role
                 (int[N, R]); 0: moves uniformly at random
    seed         the same seed gives the same matches on every machine, whatever `threads`
    options      those of UCT: exploration, solver. ValueError for policies that learn about moves
    threads      None: as many as there are processors
    is_over      asked often, with the number of matches that have ended; True ends play with what there is

    >>> import ggp
    >>> found = ggp.self_play(ggp.load("tictactoe"), 200, 20, seed=1)
    >>> found, found.moves.shape[2], bool(found.goals.sum(axis=1).max() == 100)
    (<SelfPlay: 20 matches, 20 finished>, 2, True)

    Raises GameError for games that are not compiled, and for searches where information is hidden: they would
    know the whole state.
    """
    compiled = require_compiled(game)
    each = playouts_of(simulations, matches, len(game.roles))
    seed, step_limit = to_integer(seed, "seed"), to_integer(step_limit, "step_limit", 1)
    if each.any() and hides_information(compiled):
        raise GameError(f"{game.name} hides information, and searches side by side know the whole state")
    context = MatchContext(compiled, seed, options, step_limit, EndedMatches(is_over))
    return play_batches(context, each, MatchBatch, threads)


def playouts_of(simulations: ArrayLike, matches: int, roles: int) -> Int64Array:
    """int64[N, R] playouts per decision from a number, one for each role, or one for each match and role.

    >>> playouts_of([100, 0], 2, 2).tolist()
    [[100, 0], [100, 0]]

    Raises TypeError for what is not integers, ValueError for negative numbers and other shapes.
    """
    numbers = to_integer_array(simulations, "simulations")
    if numbers.size and numbers.min() < 0:
        raise ValueError(f"the number of simulations must be at least 0, not {numbers.min()}")
    return np.broadcast_to(numbers, (to_integer(matches, "matches", 0), roles))


def play_batches(
    context: MatchContext,
    simulations: Int64Array,
    make_batch: Callable[[MatchContext, int, Int64Array], MatchBatch],
    threads: int | None = None,
) -> SelfPlay:
    """Play matches in batches, each in a thread.

    simulations   int64[N, R]
    make_batch    from the context, the number of the first match and the playouts of all
    threads       None: as many as there are processors
    """
    matches = len(simulations)
    # At least two batches if there are enough matches, so that two cores share the work.
    batches = max(-(-matches // MATCHES_AT_ONCE), 2 if matches >= MATCHES_AT_ONCE // 4 else 1)
    size = max(1, -(-matches // batches))
    parts = [slice(first, min(first + size, matches)) for first in range(0, max(matches, 1), size)]
    workers = os.cpu_count() or 1 if threads is None else to_integer(threads, "threads", 1)
    with ThreadPoolExecutor(workers) as pool:
        try:
            played = list(
                pool.map(lambda part: make_batch(context, part.start, simulations[part]).play(), parts)
            )
        except BaseException:
            context.ended.stop()  # or Ctrl-C would wait for the matches
            raise
    return joined(played)


class EndedMatches:
    """Counts the finished matches of all threads, and asks whether play is over."""

    def __init__(self, is_over: Callable[[int], bool] | None = None) -> None:
        self._is_over = is_over or (lambda ended: False)
        self._count = 0
        self._lock = threading.Lock()

    def add(self, count: int) -> None:
        with self._lock:
            self._count += count

    def stop(self) -> None:
        self._is_over = lambda ended: True

    def is_stopped(self) -> bool:
        with self._lock:
            return self._is_over(self._count)


@dataclass(frozen=True)
class MatchContext:
    """Shared data of all batches of matches; `options` are those of the search."""

    game: CompiledGame
    seed: int
    options: MctsOptions | None
    step_limit: int
    ended: EndedMatches


class MatchBatch:
    """The matches of one batch of lanes. Arrays are as in SelfPlay, with a row for each joint move."""

    def __init__(
        self,
        context: MatchContext,
        first: int,
        simulations: Int64Array,
        forests: Sequence[Forest] = (),
        searcher: Int32Array | None = None,
    ) -> None:
        """Set the matches up.

        first        number of the first match, which decides what is random
        simulations  int64[N, R] per decision
        forests      that search; none: one with uniform playouts
        searcher     int32[N, R]: which of them; None: the first
        """
        self._context = context
        self._game = game = context.game
        self._simulations = simulations
        count, self._roles = simulations.shape
        # Idle lanes cost next to nothing; every other width would be a kernel of its own.
        self._lanes = Lanes(game.lane_tables, words=WORDS)
        game.native.begin(WORDS)
        self._forests = forests or (
            Forest(game, words=WORDS, seed=context.seed, stream=first, options=context.options),
        )
        self._searcher = np.zeros(simulations.shape, np.int32) if searcher is None else searcher
        self._rng = np.random.default_rng((context.seed & (2**64 - 1), first))
        self._first_move = game.tables.first_move
        self._states = np.repeat(game.unpack(game.initial_state())[None], count, axis=0)
        self._is_random = np.array([role == RANDOM_ROLE for role in game.roles]) | (simulations == 0)
        self._is_running = np.ones(count, np.bool_)
        self._is_finished = np.zeros(count, np.bool_)
        self._goals = np.zeros((count, self._roles), np.int32)
        self._length = np.zeros(count, np.int32)
        self._trees = {forest: forest.lane_count for forest in self._forests}
        self._steps: list[tuple[Int32Array, Int32Array, Float64Array]] = []

    def play(self) -> SelfPlay:
        """Play all matches to their ends."""
        context = self._context
        while len(self._steps) < context.step_limit and not context.ended.is_stopped():
            running = np.flatnonzero(self._is_running)
            legal = self._look(running)
            going = self._is_running[running]
            if not going.any() or not self._step(running[going], legal[:, going]):
                break
        running = np.flatnonzero(self._is_running)
        if len(running) and len(self._steps) == context.step_limit:
            self._look(running)  # those that the last step allowed has ended
        shape = (len(self._length), self._roles)
        nothing = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape)
        steps = zip(nothing, *self._steps, strict=True)
        moves, choices, value = (np.stack(arrays, axis=1)[:, 1:] for arrays in steps)
        return SelfPlay(self._is_finished, self._goals, self._length, moves, choices, value)

    def _look(self, running: Int64Array) -> BoolArray:
        """End the matches that are over; bool[M, N]: the legal moves of all that were running."""
        game, lanes, count = self._game, self._lanes, len(running)
        lanes.set_states(self._states[running].T)
        lanes.settle(Phase.LEGAL, Phase.GOAL)
        (is_terminal,) = lanes.read(np.array([game.lane_tables.terminal], np.int32), count)
        legal = lanes.read(game.legal_literals, count)
        goals = game.goals_of(lanes.read(game.lane_tables.goal_literal, count))
        is_stuck = (self._counts(legal) == 0).any(axis=1) & ~is_terminal
        players = [r for r, role in enumerate(game.roles) if role != RANDOM_ROLE]
        is_finished = is_terminal & (goals[:, players] >= 0).all(axis=1)
        ends = is_terminal | is_stuck
        self._is_running[running[ends]] = False
        self._is_finished[running] = is_finished
        self._goals[running[is_finished]] = np.maximum(goals[is_finished], 0)
        self._context.ended.add(int(ends.sum()))
        return legal

    def _counts(self, legal: BoolArray) -> Int32Array:
        first = self._first_move
        of_roles = [legal[first[r] : first[r + 1]].sum(axis=0) for r in range(self._roles)]
        return np.stack(of_roles, axis=1).astype(np.int32)

    def _step(self, running: Int64Array, legal: BoolArray) -> bool:
        """Make one joint move in the matches `running`; return False if play was stopped."""
        game, lanes, count = self._game, self._lanes, len(running)
        choices = self._counts(legal)
        chosen = np.stack(
            [self._any_move(legal, r, self._is_random[running, r]) for r in range(self._roles)], axis=1
        )
        value = np.full(chosen.shape, np.nan)
        if not self._search(running, choices, chosen, value):
            return False
        selected = np.zeros((int(self._first_move[-1]), count), np.bool_)
        for r in range(self._roles):
            selected[self._first_move[r] + chosen[:, r], np.arange(count)] = True
        lanes.set_states(self._states[running].T)
        lanes.set_moves(selected)
        lanes.settle(Phase.LEGAL, Phase.NEXT)
        self._states[running] = lanes.read(game.lane_tables.next, count).T
        self._length[running] += 1
        shape = self._searcher.shape
        step = np.full(shape, -1, np.int32), np.zeros(shape, np.int32), np.full(shape, np.nan)
        for whole, part in zip(step, (chosen, choices, value), strict=True):
            whole[running] = part
        self._steps.append(step)
        return True

    def _any_move(self, legal: BoolArray, role: int, is_random: BoolArray) -> Int32Array:
        """int32[N]: a random legal move of a role where bool[N] is true, else its first one."""
        of_role = legal[self._first_move[role] : self._first_move[role + 1]]
        weight = np.where(is_random, self._rng.random(of_role.shape), 1.0) if is_random.any() else 1.0
        chosen: Int32Array = np.where(of_role, weight, -1.0).argmax(axis=0).astype(np.int32)
        return chosen

    def _search(
        self, running: Int64Array, choices: Int32Array, chosen: Int32Array, value: Float64Array
    ) -> bool:
        """Search for every role that has a choice; return False if play was stopped."""
        places, roles = np.nonzero((choices > 1) & ~self._is_random[running])
        searcher = self._searcher[running[places], roles]
        for number, forest in enumerate(self._forests):
            mine = searcher == number
            found = self._search_by(forest, running, places[mine], roles[mine])
            if found is None:
                return False
            at, is_known = (places[mine], roles[mine]), found[0] >= 0
            chosen[at] = np.where(is_known, found[0], chosen[at])
            value[at] = np.where(is_known, found[1], np.nan)
        return True

    def _search_by(
        self, forest: Forest, running: Int64Array, places: Int64Array, roles: Int64Array
    ) -> tuple[Int32Array, Float64Array] | None:
        """Moves, -1 where none is known, and mean goals for roles at places of `running`; None if stopped."""
        matches = running[places]
        simulations = self._simulations[matches, roles]
        move, mean = np.full(len(places), -1, np.int32), np.full(len(places), np.nan)
        order = np.argsort(-simulations, kind="stable")
        searched = 0
        for part in self._search_in_parts(forest, self._states[matches[order]], simulations[order]):
            batch, searched = order[part], part.stop
            for role in range(self._roles):
                is_role = roles[batch] == role
                if is_role.any():
                    found = self.moves_of(forest, role, matches[batch], is_role)
                    move[batch[is_role]], mean[batch[is_role]] = (each[is_role] for each in found)
        return (move, mean) if searched == len(order) else None

    def _search_in_parts(self, forest: Forest, states: BoolArray, simulations: Int64Array) -> Iterator[slice]:
        """Search bool[T, F] states, as many at a time as there are lanes and memory; after each part, which.

        Ends before the last part if play was stopped. A part whose trees had no room is searched again in
        smaller ones: a tree that stops growing would play worse than its simulations suggest.
        """
        begin = 0
        while begin < len(states):
            part = slice(begin, min(begin + self._trees[forest], len(states)))
            count = part.stop - begin
            is_searched = self.search_states(forest, states[part], simulations[part])
            if self.lacks_room(forest, count):
                self._trees[forest] = count // 2
            elif is_searched:
                yield part
                begin = part.stop
            else:
                return

    def lacks_room(self, forest: Forest, count: int) -> bool:
        """Whether the last search, of `count` states, would have had more memory for fewer."""
        return count > 1 and forest.is_full

    def search_states(self, forest: Forest, states: BoolArray, simulations: Int64Array) -> bool:
        """Search bool[B, F] states; return False if play was stopped or memory is too small."""
        is_over = self._context.ended.is_stopped
        return forest.search(states, simulations, lambda: is_over() or self.lacks_room(forest, len(states)))

    def moves_of(
        self, forest: Forest, role: int, matches: Int64Array, is_role: BoolArray
    ) -> tuple[Int32Array, Float64Array]:
        """A move of the role in each state searched last, int32[B], and its mean goal.

        matches  int64[B]: to which the states belong; is_role bool[B]: where the move will be made
        """
        return forest.root_moves(role).best()


def joined(parts: Sequence[SelfPlay]) -> SelfPlay:
    """Join matches of one game, padded to the longest. At least one part.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> joined([self_play(game, 0, 3), self_play(game, 0, 4)])
    <SelfPlay: 7 matches, 7 finished>
    """
    longest = max(part.moves.shape[1] for part in parts)
    gaps = {"moves": -1, "choices": 0, "value": np.nan}

    def of_all(name: str) -> NDArray[Any]:
        arrays = [getattr(part, name) for part in parts]
        if name in gaps:
            widths = [((0, 0), (0, longest - array.shape[1]), (0, 0)) for array in arrays]
            arrays = [np.pad(a, w, constant_values=gaps[name]) for a, w in zip(arrays, widths, strict=True)]
        return np.concatenate(arrays)

    return SelfPlay(*(of_all(each.name) for each in fields(SelfPlay)))
