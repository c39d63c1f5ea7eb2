"""Proofs about the current state of one match: one or two lines of proof that take turns, in slices.

It is not known in advance which of them will prove a state, but each forecasts its end, and the one with the
better forecast gets more of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move
from ggp.proofs.lines import Deepening, ProofLine, Proven, Walkers
from ggp.search.alphabeta.search import AlphaBetaError
from ggp.search.proof_numbers.search import is_provable

TABLE_SHARE = 0.25
"""Of the memory, for each table: the states of an enumeration are dropped before alpha-beta begins, but not
at once."""
IN_REACH = 20.0
"""The end is in reach up to this multiple of the time left: later states need less."""
BETTER = 8.0
"""A forecast is better if the other one asks for at least this multiple."""
BETTER_WEIGHT, FAR_WEIGHT = 8.0, 0.15
"""Seconds for walkers, for each second of deepening, if its forecast is better or still to come,
or hopeless."""


class MatchProofs:
    """The lines of proof of one match. Belongs to one thread at a time.

    lines        deepening, and walkers if they suit the game
    is_in_order  whether walkers go straight to the end
    root_goals, root_bounds   those of all lines; other objects after news, so that other threads may read
                              them
    """

    def __init__(self, game: CompiledGame, *, mebibytes: int) -> None:
        """mebibytes: of all that is proved in the match. Raises as `ProofLine` does."""
        most = max(1, int(TABLE_SHARE * mebibytes))
        self.deepening = Deepening(game, most)
        self.lines: list[ProofLine] = [self.deepening]
        self.is_in_order = False
        if is_provable(game):
            self.lines.append(walkers := Walkers(game, most))
            self.is_in_order = walkers.is_in_order
        self.root_goals: dict[Move, int] = {}
        self.root_bounds: dict[Move, tuple[int, int]] = {}

    def leave(self) -> None:
        """Forget the current state and its proofs."""
        self.root_goals, self.root_bounds = {}, {}
        for line in self.lines:
            line.leave()

    def move_to(self, state: PackedState) -> None:
        """Prove `state`, which is not terminal, from now on."""
        self.root_goals, self.root_bounds = {}, {}
        for line in self.lines:
            line.move_to(state)

    @property
    def proven(self) -> Proven | None:
        """The proof of the current state, if there is one: the one with the fastest win, if there are two."""
        first, second = self.lines[0].proven, self.lines[-1].proven
        if first is None and second is not None and second.move is None:
            return replace(second, move=self.deepening.unrefuted)
        return first or second

    @property
    def is_over(self) -> bool:
        """Whether there is a proof, or nothing left to do. In a lost position deepening goes on, which finds
        the longest defence."""
        others = [line.proven for line in self.lines[1:] if line.proven is not None]
        is_decided = self.deepening.proven is not None or any(each.move is not None for each in others)
        return is_decided or all(line.is_over for line in self.lines[: 1 if others else None])

    @property
    def spent_seconds(self) -> float:
        """Time taken for the current state."""
        return sum(line.spent_seconds for line in self.lines)

    @property
    def goal_sum(self) -> int:
        """The sum of both roles' goals at the ends; negative as long as it is not known."""
        return max(line.search.goal_sum for line in self.lines)

    def needed_seconds(self, length: float | None) -> tuple[float, bool]:
        """The better forecast (inf if there is none), and whether all lines have one."""
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
        """Expand `nodes` positions, as many in each line, unless there is a proof before."""
        most = max(1, nodes // len(self.lines))
        for line in self.lines:
            while not self.is_over and not line.is_over and line.nodes < most:
                line.advance(most - line.nodes)
                line.enlarge_table()
            self._note(line)

    def _next_line(self, left: float, length: float | None) -> ProofLine:
        deepening, *others = self.lines
        if self.proven is not None or all(line.is_over for line in others):
            return deepening
        (walkers,) = others
        needed, other = walkers.needed_seconds(None), deepening.needed_seconds(length)
        weight = 1.0
        if needed is not None and needed > IN_REACH * left:
            weight = FAR_WEIGHT
        elif needed is None or (other is not None and other >= BETTER * needed):
            weight = BETTER_WEIGHT
        is_behind = walkers.spent_seconds <= weight * deepening.spent_seconds
        return walkers if deepening.is_over or is_behind else deepening

    def _note(self, line: ProofLine) -> None:
        """Take over the proofs of a line about the root. Raises AlphaBetaError if the sums differ."""
        if not line.root_goals.items() <= self.root_goals.items():
            self.root_goals = {**self.root_goals, **line.root_goals}
        if not line.root_bounds.items() <= self.root_bounds.items():
            self.root_bounds = {**self.root_bounds, **line.root_bounds}
        if len({each.search.goal_sum for each in self.lines if each.search.goal_sum >= 0}) > 1:
            raise AlphaBetaError("the roles' goals do not add up to the same sum in all terminal states")
