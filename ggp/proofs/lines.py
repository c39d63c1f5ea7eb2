"""Lines of proof about the current state of one match, in slices.

Iterative deepening finds short wins. Many walkers need far fewer positions: where boards fill up they search
straight to the end, elsewhere by proof numbers. Each line forecasts its end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move
from ggp.search.alphabeta.estimate import Estimate
from ggp.search.alphabeta.kernels.arrays import MAX_PLIES
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError
from ggp.search.proof_numbers.memory import has_order
from ggp.search.proof_numbers.search import ENDLESS, ProofNumberSearch, question_of

_logger = logging.getLogger("ggp.search")

SLICE_SECONDS = 0.005
"""Target duration of one slice of alpha-beta, during which nothing can stop it."""
DEEPENING_MEBIBYTES = 32
FIRST_MEBIBYTES = 8
TABLE_GROWTH = 4
FULL = 0.5
"""Fill level at which a table of walkers is replaced by a larger one: small ones are quicker to reach."""
COPY_SECONDS, COPY_SHARE = 2e-7, 0.2
"""Seconds to copy each slot of the smaller table, and the maximum share of the time left."""
BROKEN = 4.0
"""A promise is broken if a proof takes this multiple of what its lowest forecast asked for."""
DISTRUST, FORGIVEN = 4.0, 0.5
"""Factor of all forecasts after a broken promise, and how much of the factor is left one state later."""
LONGER = 1.5
"""Best play lasts longer than random playouts do, which end by blunders."""
KNOWN_FROM, MAX_POSITIONS = 4, 1e15
"""Iterations before deepening has a forecast, and positions out of any reach."""
FIRST_FORECAST = 10_000
"""The progress of walkers is trusted after this many positions."""
STUCK, MIN_GAIN = 5.0, 0.1
"""It is expected to stay stuck for this multiple of the positions since its latest gain, which took at least
this share off the rest."""
SHARE_OF_EARLIER = 0.25
"""A later question is expected to need as many positions as all earlier ones, until it has had this share of
them: its own forecast begins a factor of thousands too high."""
UNPROVEN = 20.0
"""Proof numbers do not show how far a search has come (the root's grow with the positions, whatever is left):
it is expected to need this multiple of the positions so far, so it takes a tenth of the time, then few."""

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

    proven          the proof, if there is one
    root_goals      move of the role that chooses → goal of the first role behind it, if proven
    root_bounds     move of the role that chooses → least and greatest goal of the first role behind it, if
                    one of them is proven
    is_over         whether there is a proof, or nothing left to do
    spent_seconds   for the current state
    seconds_per_node, seconds_per_pass   by the latest slices; 0: unknown
    distrust        factor of its forecasts, at least 1: a search can appear close to its end indefinitely
    """

    def __init__(self, search: AlphaBeta | ProofNumberSearch) -> None:
        self.search = search
        self.seconds_per_node = self.seconds_per_pass = 0.0
        self.distrust = 1.0
        self.leave()

    def leave(self) -> None:
        """Forget the current state and its proofs."""
        self.proven: Proven | None = None
        self.root_goals: dict[Move, int] = {}
        self.root_bounds: dict[Move, tuple[int, int]] = {}
        self.is_over = True
        self.spent_seconds = 0.0
        self._promised_seconds = inf

    def move_to(self, state: PackedState) -> None:
        """Prove `state`, which is not terminal, from now on."""
        self.leave()
        self.is_over = False
        self.distrust = max(1.0, FORGIVEN * self.distrust)

    @property
    def nodes(self) -> int:
        """Positions expanded for the current state."""
        return self.search.nodes

    def advance(self, nodes: int, passes: int | None = None) -> bool:
        """Expand about `nodes` more positions; return whether an iteration or the search ended.

        passes   of lanes, at most
        Raises AlphaBetaError if the game turns out to be of another kind.
        """
        raise NotImplementedError

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
        """Use a larger table once this one fills up; that of deepening keeps its size.

        left         seconds of the whole search: if copying takes too much of them, this table is used on
        is_stopped   asked every few milliseconds: then this table is used until the next call
        """


class Deepening(ProofLine):
    """Iterative deepening by alpha-beta. A win that is found is the fastest one, and the last move that was
    not yet refuted the longest defence, but for what the table knows of lines that reach a position later.

    depth       of the current iteration, in plies
    sizes       positions expanded by each finished iteration
    unrefuted   the best move of the latest finished iteration in which it did not lose
    """

    search: AlphaBeta

    def __init__(self, game: CompiledGame, mebibytes: int) -> None:
        """Raises AlphaBetaError if the game is of another kind, and MemoryError."""
        # One word for all games, so that kernels are compiled once: wide positions take several passes.
        search = AlphaBeta(game, NO_EVALUATION, mebibytes=min(DEEPENING_MEBIBYTES, mebibytes), words=1)
        search.forget()  # maps the memory of the table
        super().__init__(search)

    def leave(self) -> None:
        super().leave()
        self.depth = 1
        self.sizes: list[int] = []
        self.unrefuted: Move | None = None

    def move_to(self, state: PackedState) -> None:
        super().move_to(state)
        self.search.put_root(state)

    def advance(self, nodes: int, passes: int | None = None) -> bool:
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
        if length is None:
            return None
        under_way = self.nodes - sum(self.sizes)
        is_longest = self.sizes and under_way > self.sizes[-1]
        return positions_to_proof([*self.sizes, under_way] if is_longest else self.sizes, length)


@dataclass
class Progress:
    """How far a search straight to the end has come.

    begun_at, gained_at   positions expanded when it began, and when it last took MIN_GAIN off the rest
    left, gained_left     the share that is left now, and then
    """

    begun_at: int = 0
    gained_at: int = 0
    left: float = 1.0
    gained_left: float = 1.0

    def note(self, nodes: int, way: Iterable[tuple[int, int]]) -> None:
        """nodes: positions expanded. way: for each position on the way to the one under search how many
        children it has, and how many of them are searched.

        Of a position's children each counts half as much as the one before, since the first is searched with
        the widest window and fills the table for the others. (On connect four the share is mostly within a
        factor of three from a fiftieth of the search on; equal weights are a factor of 100 too low.)
        """
        share = 1.0
        done = 0.0
        for children, searched in way:
            whole = 1.0 - 0.5 ** max(children, 1)
            done += share * (1.0 - 0.5**searched) / whole
            share *= 0.5 ** (searched + 1) / whole
        self.left = 1.0 - done
        if self.left < (1.0 - MIN_GAIN) * self.gained_left:
            self.gained_left, self.gained_at = self.left, nodes

    def needed_positions(self, nodes: int, first: int) -> float | None:
        """How many are still to be expanded, after `nodes`; None before the first `first` of them. A search
        that is stuck is expected to stay so for STUCK times as long."""
        searched = nodes - self.begun_at
        if searched < first:
            return None
        done = 1.0 - self.left
        return max(searched * self.left / done, STUCK * (nodes - self.gained_at)) if done > 0.0 else inf


class Walkers(ProofLine):
    """Many walkers over one table, goal by goal: see `ggp.search.proof_numbers`.

    Where boards fill up they go straight to the end and prove more positions in a second than alpha-beta;
    elsewhere they go by proof numbers and find long forced lines between wide positions. The proof's move is
    None if every move gives the worst goal.
    """

    search: ProofNumberSearch

    def __init__(self, game: CompiledGame, mebibytes: int) -> None:
        self._most_mebibytes = mebibytes
        self._mebibytes = min(FIRST_MEBIBYTES, mebibytes)
        self.is_in_order = has_order(game)
        super().__init__(ProofNumberSearch(game, mebibytes=self._mebibytes))

    def enlarge_table(self, left: float = inf, is_stopped: Callable[[], bool] = lambda: False) -> None:
        larger = TABLE_GROWTH * self._mebibytes
        may_copy = COPY_SECONDS * self.search.table_slots <= COPY_SHARE * left
        if self.search.table_fill >= FULL and larger <= self._most_mebibytes and may_copy:
            try:
                if self.search.replace_table(larger, is_stopped):
                    self._mebibytes = larger
            except MemoryError:
                self._mebibytes = self._most_mebibytes

    def leave(self) -> None:
        super().leave()
        self.progress = Progress()

    def move_to(self, state: PackedState) -> None:
        super().move_to(state)
        self.search.nodes = 0
        self._state = state
        self._goals = self.search.goals  # those that the first role may still get
        self._keeping: Move | None = None
        self._ask()

    def _ask(self) -> None:
        mover, _ = self.search.mover_of(self._state)
        self._asked = question_of(len(self._goals), mover)
        self.search.ask(self._state, self._goals[self._asked])
        self.progress = Progress(self.nodes, self.nodes)

    def advance(self, nodes: int, passes: int | None = None) -> bool:
        if self.is_over:
            return True
        search = self.search
        try:
            answer = search.advance(
                nodes, ENDLESS if passes is None else passes, with_lanes=passes is not None
            )
        except AlphaBetaError as error:
            # States repeat, or there is no room for the way: then deepening goes on alone. A game of another
            # kind raises there, too.
            _logger.info("%s: walkers give up: %s", search.game.name, error)
            self.is_over = True
            return True
        self._note_moves()
        if answer is None:
            if self.is_in_order:
                self.progress.note(self.nodes, search.way())
            return False
        if answer == (search.mover == 0):
            self._keeping = search.best_move
        self._goals = self._goals[self._asked :] if answer else self._goals[: self._asked]
        if len(self._goals) > 1:
            self._ask()
            return False
        self.proven = Proven(self._goals[0], self._keeping if len(search.legal) > 1 else None)
        self.is_over = True
        return True

    def _note_moves(self) -> None:
        """Take over what the question shows about moves at the root."""
        goals = self.search.goals
        asked = goals.index(self._goals[self._asked])
        for move, is_reached in self.search.root_answers().items():
            least, most = self.root_bounds.get(move, (goals[0], goals[-1]))
            bounds = (max(least, goals[asked]), most) if is_reached else (least, min(most, goals[asked - 1]))
            self.root_bounds[move] = bounds
            if bounds[0] == bounds[1]:
                self.root_goals[move] = bounds[0]

    def needed_positions(self, length: float | None = None) -> float | None:
        before = self.progress.begun_at
        if before and self.nodes < (1.0 + SHARE_OF_EARLIER) * before:
            return float(before)
        if self.is_in_order or self.nodes < FIRST_FORECAST:
            return self.progress.needed_positions(self.nodes, FIRST_FORECAST)
        return UNPROVEN * self.nodes


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
