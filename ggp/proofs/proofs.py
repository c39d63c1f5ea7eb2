"""Alpha-beta on the current state of one match: two lines of proof that take turns, in slices.

Iterative deepening finds short wins. A search straight to the end needs far fewer positions if the end of
every line of play is in reach. It is not known in advance which of them will prove a state, but both forecast
their end, and the one with the better forecast gets more of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move
from ggp.search.alphabeta.estimate import Estimate
from ggp.search.alphabeta.goal_distance import order_formula
from ggp.search.alphabeta.kernels.arrays import MAX_PLIES, PAUSED, UNLIMITED
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError
from ggp.search.alphabeta.symmetry import identity_image

SLICE_SECONDS = 0.005
"""Target duration of one slice of alpha-beta, during which nothing can stop it."""
FIRST_MEBIBYTES = 8
TABLE_GROWTH = 4
FULL = 0.5
"""Fill level at which a transposition table is replaced by a larger one."""
COPY_SECONDS, COPY_SHARE = 2e-7, 0.2
"""Seconds to copy each slot of the smaller table, and the maximum share of the time left."""
TABLE_SHARE = 0.25
"""Of the memory, for each table: the states of an enumeration are dropped before alpha-beta begins, but not
at once."""
IN_REACH = 20.0
"""The end is in reach up to this multiple of the time left: later states need less."""
BETTER = 8.0
"""A forecast is better if the other one asks for at least this multiple."""
BETTER_WEIGHT, FAR_WEIGHT = 8.0, 0.15
"""Seconds for the straight line, for each second of deepening, if its forecast is better or hopeless."""
BROKEN = 4.0
"""A promise is broken if a proof takes this multiple of what its lowest forecast asked for."""
DISTRUST, FORGIVEN = 4.0, 0.5
"""Factor of all forecasts after a broken promise, and how much of the factor is left one state later."""
LONGER = 1.5
"""Best play lasts longer than random playouts do, which end by blunders."""
KNOWN_FROM, MAX_POSITIONS = 4, 1e15
"""Iterations before deepening has a forecast, and positions out of any reach."""
FIRST_FORECAST = 200
"""The progress of the straight line is trusted after this many positions."""
STUCK, MIN_GAIN = 5.0, 0.1
"""It is expected to stay stuck for this multiple of the positions since its latest gain, which took at least
this share off the rest."""

NO_EVALUATION = Estimate(goal_weight=0, mobility_weight=0)
"""A position at the horizon counts as even: nothing is spent on telling unproven positions apart."""


@dataclass(frozen=True)
class Proven:
    """The proven value of a state.

    goal   of the first role
    move   of the role that chooses: it keeps the value, to win fast or to lose slowly; None if no role has a
           choice, or if every move gives the worst goal and it is unknown which of them lasts longest
    """

    goal: int
    move: Move | None


class ProofLine:
    """A search for the value of the current state, with a transposition table for the whole match.

    depth           of the current iteration, in plies
    sizes           positions expanded by each finished iteration
    proven          the proof, if there is one
    unrefuted       the best move of the latest finished iteration in which it did not lose
    root_goals      move of the role that chooses → goal of the first role behind it, if proven
    is_over         whether there is a proof, or nothing left to do
    spent_seconds   for the current state
    seconds_per_node, seconds_per_pass   by the latest slices; 0: unknown
    distrust        factor of its forecasts, at least 1: a search can appear close to its end indefinitely
    """

    first_depth = 1

    def __init__(self, game: CompiledGame, mebibytes: int, estimate: Estimate = NO_EVALUATION) -> None:
        """mebibytes: at most, for the transposition table. Raises AlphaBetaError if the game is of another
        kind, and MemoryError."""
        self._most_mebibytes = mebibytes
        self._mebibytes = min(FIRST_MEBIBYTES, mebibytes)
        # One word for all games, so that kernels are compiled once: wide positions take several passes.
        # No symmetries: finding them grounds the rules again, for which a start clock may be too short.
        images = identity_image(game)
        self.search = AlphaBeta(game, estimate, mebibytes=self._mebibytes, images=images, words=1)
        self.search.forget()  # maps the memory of the table
        self.seconds_per_node = self.seconds_per_pass = 0.0
        self.distrust = 1.0
        self.leave()

    def leave(self) -> None:
        """Forget the current state and its proofs."""
        self.depth = self.first_depth
        self.sizes: list[int] = []
        self.proven: Proven | None = None
        self.unrefuted: Move | None = None
        self.root_goals: dict[Move, int] = {}
        self.is_over = True
        self.spent_seconds = 0.0
        self._promised_seconds = inf

    def move_to(self, state: PackedState) -> None:
        """Prove `state`, which is not terminal, from now on."""
        self.leave()
        self.is_over = False
        self.distrust = max(1.0, FORGIVEN * self.distrust)
        self.search.put_root(state)

    @property
    def nodes(self) -> int:
        """Positions expanded for the current state."""
        return self.search.nodes

    def advance(self, nodes: int, passes: int | None = None) -> bool:
        """Expand about `nodes` more positions; return whether an iteration or the search ended.

        passes   of lanes, at most; see `AlphaBeta.advance`
        Raises AlphaBetaError if the game turns out to be of another kind.
        """
        if self.is_over:
            return True
        search = self.search
        tried = int(search.frames.tried[0])
        score = search.advance(self.depth, nodes, passes)
        if score is not None:
            if search.is_proven:
                move = self.unrefuted if score <= search.window[0] else search.best_move
                self.proven = Proven(search.goal_of(score), move)
            else:
                self.unrefuted = search.best_move
            self.sizes.append(self.nodes - sum(self.sizes))
            self.depth += 1
            self.is_over = self.proven is not None or self.depth > MAX_PLIES
        if score is not None or int(search.frames.tried[0]) != tried:
            self.root_goals |= search.proven_goals()
        return score is not None

    def needed_positions(self, length: float | None) -> float | None:
        """About how many positions are still to be expanded; None while nothing is known, inf if too many."""
        raise NotImplementedError

    def needed_seconds(self, length: float | None) -> float | None:
        """The forecast; None if there is none yet. length: mean joint moves of playouts, None before any."""
        positions = self.needed_positions(length)
        if positions is None or not self.seconds_per_node:
            return None
        return positions * self.seconds_per_node * self.distrust

    def slice(self, length: float | None) -> None:
        """Search for SLICE_SECONDS; length: see `needed_seconds`. Raises AlphaBetaError."""
        nodes, passes = (
            max(1, int(SLICE_SECONDS / seconds)) if seconds else 1
            for seconds in (self.seconds_per_node, self.seconds_per_pass)
        )
        before, passes_before, begin = self.nodes, self.search.passes, time.perf_counter()
        self.advance(nodes, passes)
        seconds = time.perf_counter() - begin
        self.spent_seconds += seconds
        self.seconds_per_node = _share(seconds, self.nodes - before, self.seconds_per_node)
        self.seconds_per_pass = _share(seconds, self.search.passes - passes_before, self.seconds_per_pass)
        self.note_promise(length)

    def note_promise(self, length: float | None) -> None:
        """Compare the time spent with the lowest forecast, and distrust later ones if it was broken."""
        needed = self.needed_seconds(length)
        if needed is None:
            return
        self._promised_seconds = min(self._promised_seconds, self.spent_seconds + needed / self.distrust)
        if self.spent_seconds > BROKEN * self._promised_seconds:
            self.distrust *= DISTRUST
            self._promised_seconds = inf

    def enlarge_table(self, left: float = inf, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Use a larger table once this one fills up: small ones are quicker to map and to reach.

        left         seconds of the whole search: if copying takes too much of them, this table is used on
        is_stopped   asked every few milliseconds: then this table is used until the next call
        """
        larger = TABLE_GROWTH * self._mebibytes
        may_copy = COPY_SECONDS * self.search.table_slots <= COPY_SHARE * left
        if self.search.table_fill >= FULL and larger <= self._most_mebibytes and may_copy:
            try:
                if self.search.replace_table(larger, is_stopped):
                    self._mebibytes = larger
            except MemoryError:
                self._mebibytes = self._most_mebibytes


class Deepening(ProofLine):
    """Iterative deepening: a win that is found is the fastest one, and the last move that was not yet refuted
    the longest defence, but for what the table knows of lines that reach a position later."""

    def needed_positions(self, length: float | None) -> float | None:
        if length is None:
            return None
        under_way = self.nodes - sum(self.sizes)
        is_longest = self.sizes and under_way > self.sizes[-1]
        return positions_to_proof([*self.sizes, under_way] if is_longest else self.sizes, length)


class Straight(ProofLine):
    """A search without a horizon, to the end at once, moves in the order of the goal distance alone.

    If every line ends before long, as on a board that fills up, it needs a quarter of the positions of
    deepening or fewer; if one side can prolong the game, it gets lost. How far it has come shows which of the
    two is the case. The proof's move is None if every move gives the worst goal.
    """

    first_depth = UNLIMITED

    def __init__(self, game: CompiledGame, mebibytes: int) -> None:
        estimate = replace(NO_EVALUATION, formula=order_formula(game), is_for_order=True)
        super().__init__(game, mebibytes, estimate)

    def leave(self) -> None:
        super().leave()
        self._left = self._gained_left = 1.0
        self._gained_at = 0

    def advance(self, nodes: int, passes: int | None = None) -> bool:
        is_finished = super().advance(nodes, passes)
        if not is_finished:
            self._left = 1.0 - self.progress
            if self._left < (1.0 - MIN_GAIN) * self._gained_left:
                self._gained_left, self._gained_at = self._left, self.nodes
        return is_finished

    @property
    def progress(self) -> float:
        """The share of the search that is done, from 0 to 1.

        Of a node's children each counts half as much as the one before, since the first is searched with the
        widest window and fills the table for the others. (On connect four this is mostly within a factor of
        three from a fiftieth of the search on; equal weights are a factor of 100 too low.)
        """
        frames = self.search.frames
        ply = int(self.search.counter[PAUSED]) - 1
        if ply < 1:
            return 0.0
        late = frames.tried[:ply].astype(np.float64) - 1.0
        whole = 1.0 - 0.5 ** np.maximum(frames.children[:ply], 1)
        before = (1.0 - 0.5**late) / whole
        weights = 0.5 ** (late + 1.0) / whole
        above = np.concatenate(([1.0], np.cumprod(weights)[:-1]))
        return float(before @ above)

    def needed_positions(self, length: float | None = None) -> float | None:
        """By its progress; a search that is stuck is expected to stay so for STUCK times as long."""
        if self.nodes < FIRST_FORECAST:
            return None
        done = 1.0 - self._left
        if done <= 0.0:
            return inf
        return max(self.nodes * self._left / done, STUCK * (self.nodes - self._gained_at))


def positions_to_proof(sizes: Sequence[int], length: float) -> float | None:
    """About how many positions iterative deepening still expands until it has reached the end.

    Right only within an order of magnitude: it decides between a small share of the time and a large one.

    sizes    positions expanded by the iterations of depth 1, 2, ... so far
    length   mean number of joint moves from the root to the end in random playouts
    None while there are too few iterations; inf if the number is out of any reach.

    >>> positions_to_proof([1, 2, 4, 8, 16, 32], length=4.0)  # the end is near: one more iteration
    64.0
    >>> positions_to_proof([1, 2, 4, 8, 16, 32], length=6.0)  # to depth 9
    448.0
    """
    if len(sizes) < KNOWN_FROM:
        return None
    # Over two plies, because the sides may have moves in different numbers.
    growth = max(1.0, (sizes[-1] / max(1, sizes[-3])) ** 0.5)
    work, size = 0.0, float(sizes[-1])
    for _ in range(max(1, round(LONGER * length) - len(sizes))):
        size *= growth
        work += size
        if work > MAX_POSITIONS:
            return inf
    return work


def _share(seconds: float, count: int, known: float) -> float:
    """The seconds of one of `count` that took `seconds`, given what was known before (0: nothing)."""
    if count <= 0:
        return known
    latest = seconds / count
    # Short slices are mostly overhead: believe at once that it goes faster, slowly that it does not.
    return min(latest, 0.8 * known + 0.2 * latest) if known else latest


class MatchProofs:
    """Both lines of proof of one match. Belongs to one thread at a time.

    root_goals   those of both lines; another object after news, so that other threads may read it
    """

    def __init__(self, game: CompiledGame, *, mebibytes: int) -> None:
        """mebibytes: of all that is proved in the match. Raises as `ProofLine` does."""
        most = max(1, int(TABLE_SHARE * mebibytes))
        self.deepening, self.straight = Deepening(game, most), Straight(game, most)
        self.lines = self.deepening, self.straight
        self.root_goals: dict[Move, int] = {}

    def leave(self) -> None:
        """Forget the current state and its proofs."""
        self.root_goals = {}
        for line in self.lines:
            line.leave()

    def move_to(self, state: PackedState) -> None:
        """Prove `state`, which is not terminal, from now on."""
        self.root_goals = {}
        for line in self.lines:
            line.move_to(state)

    @property
    def proven(self) -> Proven | None:
        """The proof of the current state, if there is one: the one with the fastest win, if there are two."""
        first, second = self.deepening.proven, self.straight.proven
        if first is None and second is not None and second.move is None:
            return replace(second, move=self.deepening.unrefuted)
        return first or second

    @property
    def is_over(self) -> bool:
        """Whether there is a proof, or nothing left to do. In a lost position deepening goes on, which finds
        the longest defence."""
        straight = self.straight.proven
        is_decided = straight is not None and straight.move is not None
        return is_decided or self.deepening.proven is not None or all(line.is_over for line in self.lines)

    @property
    def spent_seconds(self) -> float:
        """Time taken for the current state."""
        return sum(line.spent_seconds for line in self.lines)

    @property
    def goal_sum(self) -> int:
        """The sum of both roles' goals at the ends; negative as long as it is not known."""
        return max(line.search.goal_sum for line in self.lines)

    def needed_seconds(self, length: float | None) -> tuple[float, bool]:
        """The better forecast (inf if there is none), and whether both lines have one."""
        forecasts = [line.needed_seconds(length) for line in self.lines if not line.is_over]
        known = [each for each in forecasts if each is not None]
        return min(known, default=inf), len(known) == len(forecasts)

    def slice(
        self, left: float, length: float | None, is_stopped: Callable[[], bool] = lambda: False
    ) -> None:
        """Let the line whose turn it is search for SLICE_SECONDS. Raises AlphaBetaError.

        left     seconds of the whole search
        length   mean number of joint moves of playouts; None before the first one
        is_stopped   see `ProofLine.enlarge_table`
        """
        line = self._next_line(left, length)
        line.slice(length)
        line.enlarge_table(left, is_stopped)
        self._note(line)

    def interrupt(self) -> None:
        """End the slice under way in another thread, unless it has just begun; the next one resumes there."""
        for line in self.lines:
            line.search.interrupt()

    def advance_counted(self, nodes: int) -> None:
        """Expand `nodes` positions, half of them in each line, unless there is a proof before."""
        half = max(1, nodes // 2)
        for line in self.lines:
            while not self.is_over and not line.is_over and line.nodes < half:
                line.advance(half - line.nodes)
                line.enlarge_table()
            self._note(line)

    def _next_line(self, left: float, length: float | None) -> ProofLine:
        deepening, straight = self.lines
        if deepening.is_over or straight.is_over:
            return straight if deepening.is_over else deepening
        needed, other = straight.needed_seconds(None), deepening.needed_seconds(length)
        weight = 1.0
        if needed is not None and needed > IN_REACH * left:
            weight = FAR_WEIGHT
        elif needed is not None and other is not None and other >= BETTER * needed:
            weight = BETTER_WEIGHT
        return straight if straight.spent_seconds <= weight * deepening.spent_seconds else deepening

    def _note(self, line: ProofLine) -> None:
        """Take over the proofs of a line about the root. Raises AlphaBetaError if the sums differ."""
        if not line.root_goals.items() <= self.root_goals.items():
            self.root_goals = {**self.root_goals, **line.root_goals}
        if len({each.search.goal_sum for each in self.lines if each.search.goal_sum >= 0}) > 1:
            raise AlphaBetaError("the roles' goals do not add up to the same sum in all terminal states")
