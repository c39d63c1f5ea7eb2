"""Play, teach, compare with the best so far, keep: the loop of `ggp prepare network`.

The first samples come from searches with playouts, so that the network begins with what those know. From
then on the best network so far plays, with playouts for half of each result (as AlphaGo mixed them, Silver et
al. 2016): without them learning drifts. A generation becomes the best if it wins the majority of its matches
against the best before it. At the end the best plays against playouts alone at equal time, with and without
playouts of its own, to find how it is used best. Whether `mcts` uses it: `ggp.tournament.network_gate`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.integers import check_integers
from ggp.knowledge.taught import TaughtNetwork
from ggp.networks.network import Network
from ggp.search.forest.forest import Forest
from ggp.search.forest.guided import GuidedForest
from ggp.solver.saved_header import rules_digest
from ggp.teaching.play import (
    PLAYING_SHARE,
    Comparison,
    MatchesAhead,
    PlayPlan,
    Pool,
    Taught,
    compare,
    guided_forest,
    playout_forest,
    random_successor,
)
from ggp.teaching.samples import joined_samples
from ggp.teaching.state import TeachingState
from ggp.teaching.teacher import BATCH, Teacher

MATCHES = 512
USES_OF_A_SAMPLE = 4
SHARES = (0.5, 1.0, 0.0)
"""Shares of the network's value that are tried; 0: the network gives priors only."""


@dataclass(frozen=True)
class TeachingOptions:
    """Options of teaching a network.

    seconds             of play, teaching and comparison, before the share is found
    generations         after which teaching ends as well; None: by time alone
    matches             of a generation, times the processes that play
    simulations         of each search in the matches that teach
    window              samples of the most recent matches that are learned from
    comparison_matches  between a generation and the best before it
    share_matches       against playouts, for each share
    share_simulations   of playouts per move there; the network gets as many as take the same time
    """

    seconds: float = 600.0
    generations: int | None = None
    matches: int = MATCHES
    simulations: int = 100
    window: int = 200_000
    comparison_matches: int = 64
    share_matches: int = 200
    share_simulations: int = 400
    seed: int = 0

    def __post_init__(self) -> None:
        check_integers(self, generations=0, matches=1, simulations=1, window=1, seed=0)
        check_integers(self, comparison_matches=0, share_matches=0, share_simulations=1)


@dataclass(frozen=True)
class TeachingProgress:
    """The outcome of one generation.

    samples            in the window; positions: joint moves played so far, in this process
    losses             of values and of moves
    against_best       None: the first one
    against_playouts   at equal numbers of simulations
    """

    generation: int
    seconds: float
    samples: int
    positions: int
    losses: tuple[float, float]
    against_best: Comparison | None
    against_playouts: Comparison
    is_best: bool


class Teaching:
    """Teaches one game; `best` is usable at any time.

    begin   the network to resume from, or None; state: the rest of what teaching saved
    pool    of processes that play while this one fits and compares; None: this one plays as well

    With a number of generations instead of a time everything is reproducible, whatever the machine's speed:
    by seed, and by the size of the pool. Without a pool a resumed run is as one that was never interrupted.
    """

    def __init__(
        self,
        game: CompiledGame,
        options: TeachingOptions,
        begin: TaughtNetwork | None = None,
        *,
        state: TeachingState | None = None,
        pool: Pool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises TeacherMissingError without torch, ValueError for a state of another game."""
        self.game = game
        self.options = options
        self._clock = clock
        self._begin = clock()
        self._earlier_seconds = 0.0 if begin is None else begin.seconds
        network = Network.random(game, seed=options.seed) if begin is None else begin.network
        self._has_best = begin is not None
        self.best = begin or TaughtNetwork(network, game.name, rules_digest(game.program), 0, 0.0)
        self._matches = MatchesAhead(game, pool)
        self._state = state or TeachingState.empty(game, self.best.generation, network)
        self._teacher = Teacher(self._state.network, seed=options.seed)
        self._earlier_positions = self._state.positions
        if self._state.memory:
            self._teacher.remember(self._state.memory)

    @property
    def seconds(self) -> float:
        """Seconds since teaching began, in this process."""
        return self._clock() - self._begin

    def state(self) -> TeachingState:
        """All that a later run needs to resume, besides `best`: as of the end of the last generation."""
        return self._state

    def run(self, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[TeachingProgress]:
        """Teach until the time is over, but at least one generation; yields after each."""
        options = self.options
        first = self._state.generation
        last = None if options.generations is None else first + options.generations

        def is_over() -> bool:
            generation = self._state.generation
            is_late = generation > first and self.seconds >= options.seconds
            return is_stopped() or generation == last or is_late

        if not is_over():
            self._begin_matches(self._state.generation)
        while not is_over():
            taught = self._matches.taught(is_stopped)
            if taught is None or not len(taught.samples):
                return
            if self._matches.are_elsewhere:
                self._begin_matches(self._state.generation + 1)
            yield self._learn(taught)
            if not self._matches.are_elsewhere:
                self._begin_matches(self._state.generation)

    def _begin_matches(self, generation: int) -> None:
        """Of the best network as it is now, or of playouts before there is one."""
        options = self.options
        plan = PlayPlan(options.matches, options.simulations, options.seed + 1000 * generation + 1)
        self._matches.begin(self.best.network if self._has_best else None, plan)

    def _learn(self, taught: Taught) -> TeachingProgress:
        before = self._state
        window = joined_samples([before.samples, taught.samples]).newest(self.options.window)
        batches = max(1, USES_OF_A_SAMPLE * len(taught.samples) // BATCH)
        losses = self._teacher.teach(window, batches, number=before.generation)
        self._state = TeachingState(
            before.generation + 1,
            before.positions + taught.positions,
            self._teacher.network(),
            self._teacher.memory(),
            window,
        )
        return self._judge(losses)

    def _judge(self, losses: tuple[float, float]) -> TeachingProgress:
        """Compare the network as it is now with the best and with playouts; keep it if it is better."""
        state = self._state
        network, generation = state.network, state.generation
        mine = self._guided(network)
        against_best = self._compare(mine, self._guided(self.best.network)) if self._has_best else None
        against_playouts = self._compare(mine, playout_forest(self.game, self.options.seed))
        is_best = against_best is None or against_best.mean > 0.5
        if is_best:
            texts = self.best.game, self.best.rules
            seconds = self._earlier_seconds + self.seconds
            self.best = TaughtNetwork(network, *texts, generation, seconds, PLAYING_SHARE)
            self._has_best = True
        return TeachingProgress(
            generation,
            self.seconds,
            len(state.samples),
            state.positions - self._earlier_positions,
            losses,
            against_best,
            against_playouts,
            is_best,
        )

    def _guided(self, network: Network, share: float = PLAYING_SHARE) -> GuidedForest:
        return guided_forest(self.game, network, self.options.seed, share)

    def _compare(self, mine: Forest, other: Forest) -> Comparison:
        options = self.options
        numbers = (options.simulations, options.simulations)
        return compare(
            self.game, (mine, other), numbers, matches=options.comparison_matches, seed=options.seed
        )

    def find_share(self) -> Iterator[tuple[float, tuple[int, int], Comparison]]:
        """Matches of the best network against playouts side by side, at equal time, for each share. Yields
        the share, the simulations per move of both sides, and the scores; `best` has the best share."""
        options = self.options
        playouts = playout_forest(self.game, options.seed)
        rate = self._rate(playouts)
        best: tuple[float, Comparison] | None = None
        for share in SHARES:
            mine = self._guided(self.best.network, share)
            number = max(2, round(options.share_simulations * self._rate(mine) / rate))
            numbers = (number, options.share_simulations)
            found = compare(
                self.game, (mine, playouts), numbers, matches=options.share_matches, seed=options.seed + 7
            )
            if best is None or found.mean > best[1].mean:
                best = (share, found)
            yield share, numbers, found
        assert best is not None
        self.best = replace(self.best, share=best[0])

    def _rate(self, forest: Forest) -> float:
        """Simulations per CPU second of a full forest, from states along random matches."""
        rng = np.random.default_rng(self.options.seed)
        states: list[NDArray[np.bool_]] = []
        while len(states) < forest.lane_count:
            state = self.game.initial_state()
            while not self.game.is_terminal(state) and len(states) < forest.lane_count:
                states.append(self.game.unpack(state))
                state = random_successor(self.game, state, rng)
        roots = np.array(states)
        forest.search(roots, np.full(len(roots), 10))
        before, begin = forest.simulation_count, time.process_time()
        forest.search(roots, np.full(len(roots), self.options.share_simulations))
        return (forest.simulation_count - before) / max(1e-6, time.process_time() - begin)
