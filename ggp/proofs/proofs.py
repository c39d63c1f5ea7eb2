"""Alpha-beta on the current state of one match: two searches that take turns.

Iterative deepening finds short wins. A search straight to the end needs far fewer positions if the end of
every line is in reach. It is not known in advance which of them will prove a state, but both forecast their
end, and the search with the better forecast gets more of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import TypeAlias

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move
from ggp.proofs.forecast import positions_to_proof
from ggp.search.alphabeta.proof import (
    ProofSearch,
    Proven,
    StraightProof,
    deepening_search,
    straight_search,
)
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError

Proof: TypeAlias = ProofSearch | StraightProof

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
"""Seconds for the straight search, for each second of deepening, if its forecast is better or hopeless."""
BROKEN = 4.0
"""A promise is broken if a proof takes this multiple of what its lowest forecast asked for."""
DISTRUST, FORGIVEN = 4.0, 0.5
"""Factor of all forecasts after a broken promise, and how much of the factor is left one state later."""


class ProofLine:
    """One of the two proof searches, and its proof of the current state.

    spent_seconds      for the current state
    root_goals         move of the role that chooses there → goal of the first role behind it, if proven
    seconds_per_node, seconds_per_pass   by the latest slices; 0: unknown
    distrust           factor of its forecasts, at least 1: a search can appear close to its end indefinitely
    """

    def __init__(
        self, search: AlphaBeta, begin: Callable[[AlphaBeta, PackedState], Proof], mebibytes: int
    ) -> None:
        """Set up the line.

        search      the line's own
        begin       begins the proof of a state
        mebibytes   at most, for the transposition table
        """
        self.search = search
        self._begin = begin
        self._most_mebibytes = mebibytes
        self._mebibytes = min(FIRST_MEBIBYTES, mebibytes)
        self.proof: Proof | None = None
        self.root_goals: dict[Move, int] = {}
        self.spent_seconds = 0.0
        self.seconds_per_node = self.seconds_per_pass = 0.0
        self.distrust = 1.0
        self._promised_seconds = inf

    def move_to(self, state: PackedState) -> None:
        """Prove `state`, which is not terminal, from now on."""
        self.leave()
        self.proof = self._begin(self.search, state)
        self.distrust = max(1.0, FORGIVEN * self.distrust)
        self._promised_seconds = inf

    def leave(self) -> None:
        """Forget the current state and its proofs."""
        self.proof = None
        self.root_goals = {}
        self.spent_seconds = 0.0

    @property
    def nodes(self) -> int:
        """Positions expanded for the current state."""
        return 0 if self.proof is None else self.proof.nodes

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do."""
        return self.proof is None or self.proof.is_over

    def needed_seconds(self, length: float | None) -> float | None:
        """The forecast; None if there is none yet. length: mean joint moves of playouts, None before any."""
        positions = self._needed_positions(length)
        if positions is None or not self.seconds_per_node:
            return None
        return positions * self.seconds_per_node * self.distrust

    def _note_promise(self, length: float | None) -> None:
        """Compare the time spent with the lowest forecast, and distrust later ones if it was broken."""
        needed = self.needed_seconds(length)
        if needed is None:
            return
        self._promised_seconds = min(self._promised_seconds, self.spent_seconds + needed / self.distrust)
        if self.spent_seconds > BROKEN * self._promised_seconds:
            self.distrust *= DISTRUST
            self._promised_seconds = inf

    def _needed_positions(self, length: float | None) -> float | None:
        proof = self.proof
        if isinstance(proof, StraightProof):
            return proof.positions_to_proof()
        if proof is None or length is None:
            return None
        sizes = list(proof.sizes)
        under_way = proof.nodes - sum(sizes)
        if sizes and under_way > sizes[-1]:
            sizes.append(under_way)
        return positions_to_proof(sizes, length)

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
        self._note_promise(length)

    def advance(self, nodes: int, passes: int | None = None) -> None:
        """Expand about `nodes` positions, in at most `passes` passes of lanes. Raises AlphaBetaError."""
        if self.proof is None:
            return
        tried = int(self.search.frames.tried[0])
        if self.proof.advance(nodes, passes) or int(self.search.frames.tried[0]) != tried:
            self.root_goals |= self.proof.proven_goals()

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


def _share(seconds: float, count: int, known: float) -> float:
    """The seconds of one of `count` that took `seconds`, given what was known before (0: nothing)."""
    if count <= 0:
        return known
    latest = seconds / count
    # Short slices are mostly overhead: believe at once that it goes faster, slowly that it does not.
    return min(latest, 0.8 * known + 0.2 * latest) if known else latest


class MatchProofs:
    """Both proof searches of one match. Belongs to one thread at a time.

    root_goals   those of both lines; another object after news, so that other threads may read it
    """

    def __init__(self, game: CompiledGame, *, mebibytes: int) -> None:
        """Set up both searches.

        mebibytes   of all that is proved in the match
        endings     states whose values are known: nothing is searched there
        Raises AlphaBetaError if alpha-beta does not apply, and MemoryError.
        """
        most = max(1, int(TABLE_SHARE * mebibytes))
        first = min(FIRST_MEBIBYTES, most)
        # One word for all games, so that kernels are compiled once: wide positions take several passes.
        deepening = deepening_search(game, mebibytes=first)
        self.deepening = ProofLine(deepening, ProofSearch, most)
        self.straight = ProofLine(straight_search(game, mebibytes=first), StraightProof, most)
        self.root_goals: dict[Move, int] = {}
        for line in self.lines:
            line.search.forget()

    @property
    def lines(self) -> tuple[ProofLine, ProofLine]:
        """Deepening first."""
        return self.deepening, self.straight

    def leave(self) -> None:
        """Forget the current state and its proofs."""
        self.root_goals = {}
        for line in self.lines:
            line.leave()

    def move_to(self, state: PackedState) -> None:
        """Prove `state`, which is not terminal, from now on. Raises AlphaBetaError."""
        self.root_goals = {}
        for line in self.lines:
            line.move_to(state)

    @property
    def proven(self) -> Proven | None:
        """The proof of the current state, if there is one: the one with the fastest win, if there are two."""
        first, second = (None if line.proof is None else line.proof.proven for line in self.lines)
        if first is not None or second is None:
            return first
        if second.move is None and isinstance(self.deepening.proof, ProofSearch):
            return Proven(second.goal, self.deepening.proof.unrefuted)
        return second

    @property
    def is_over(self) -> bool:
        """Whether there is a proof, or nothing left to do. In a lost position deepening goes on, which finds
        the longest defence."""
        straight = self.straight.proof
        is_decided = straight is not None and straight.proven is not None and straight.proven.move is not None
        is_proven = self.deepening.proof is not None and self.deepening.proof.proven is not None
        return is_decided or is_proven or all(line.is_over for line in self.lines)

    @property
    def nodes(self) -> int:
        """Positions expanded for the current state."""
        return sum(line.nodes for line in self.lines)

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
        for line in self.lines:
            while not self.is_over and not line.is_over and line.nodes < max(1, nodes // 2):
                line.advance(max(1, nodes // 2) - line.nodes)
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
