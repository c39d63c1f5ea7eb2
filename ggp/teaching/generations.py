"""Play, teach, compare with the best so far, keep: the loop of `ggp teach`.

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
from ggp.knowledge.taught import TaughtNetwork
from ggp.networks.network import Network
from ggp.search.forest.forest import Forest
from ggp.search.forest.guided import Guidance, GuidedForest
from ggp.search.mcts.options import MctsOptions
from ggp.teaching.play import Comparison, compare, teaching_samples
from ggp.teaching.samples import joined_samples
from ggp.teaching.teacher import BATCH, Teacher

MATCHES = 512
USES_OF_A_SAMPLE = 4
SHARES = (0.5, 1.0, 0.0)
"""Of the network's value that are tried; 0: the network gives priors only."""
PLAYING_SHARE = 0.5
MEBIBYTES = 256


@dataclass(frozen=True)
class TeachingOptions:
    """How a network is taught.

    seconds             of play, teaching and comparison, before the share is found
    simulations         of each search in the matches that teach
    window              samples of the most recent matches that are learned from
    comparison_matches  between a generation and the best before it
    share_matches       against playouts, for each share
    share_simulations   of playouts per move there; the network gets as many as take the same time
    """

    seconds: float = 600.0
    simulations: int = 100
    window: int = 200_000
    comparison_matches: int = 64
    share_matches: int = 200
    share_simulations: int = 400
    seed: int = 0


@dataclass(frozen=True)
class TeachingProgress:
    """What happened in one generation.

    samples            in the window; positions: joint moves played so far
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

    begin   the network to go on from, or None
    """

    def __init__(
        self,
        game: CompiledGame,
        options: TeachingOptions,
        begin: TaughtNetwork | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises TeacherMissingError without torch."""
        from ggp.solver.work_folder import rules_digest

        self.game = game
        self.options = options
        self._clock = clock
        self._begin = clock()
        self._earlier_seconds = 0.0 if begin is None else begin.seconds
        network = Network.random(game, seed=options.seed) if begin is None else begin.network
        self._has_best = begin is not None
        self.best = begin or TaughtNetwork(network, game.name, rules_digest(game.program), 0, 0.0)
        self._teacher = Teacher(network, seed=options.seed)
        proving = MctsOptions(is_solving=True)
        self._playouts = Forest(game, mebibytes=MEBIBYTES, seed=options.seed, options=proving)

    @property
    def seconds(self) -> float:
        """Since teaching began, in this process."""
        return self._clock() - self._begin

    def run(self, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[TeachingProgress]:
        """Teach until the time is over; yields after each generation."""
        options = self.options
        parts, positions, generation = [], 0, self.best.generation

        def is_over(ended: int = 0) -> bool:
            return is_stopped() or self.seconds >= options.seconds

        while not is_over():
            forest: Forest = self._playouts if not self._has_best else self._guided(self.best.network)
            seed = options.seed + 1000 * generation + 1
            found, steps = teaching_samples(
                self.game,
                forest,
                matches=MATCHES,
                simulations=options.simulations,
                seed=seed,
                is_stopped=lambda ended: is_stopped(),
            )
            if not len(found):
                return
            parts.append(found)
            window = joined_samples(parts).newest(options.window)
            parts = [window]
            positions += steps
            batches = max(1, USES_OF_A_SAMPLE * len(found) // BATCH)
            losses = self._teacher.teach(window, batches)
            generation += 1
            yield self._judge(generation, len(window), positions, losses)

    def _judge(
        self, generation: int, samples: int, positions: int, losses: tuple[float, float]
    ) -> TeachingProgress:
        """Compare the network as it is now with the best and with playouts; keep it if it is better."""
        network = self._teacher.network()
        mine = self._guided(network)
        against_best = self._compare(mine, self._guided(self.best.network)) if self._has_best else None
        against_playouts = self._compare(mine, self._playouts)
        is_best = against_best is None or against_best.mean > 0.5
        if is_best:
            self.best = replace(
                self.best,
                network=network,
                generation=generation,
                seconds=self._earlier_seconds + self.seconds,
                share=PLAYING_SHARE,
                score=0.5,
                error=0.5,
            )
            self._has_best = True
        return TeachingProgress(
            generation, self.seconds, samples, positions, losses, against_best, against_playouts, is_best
        )

    def _guided(self, network: Network, share: float = PLAYING_SHARE) -> GuidedForest:
        return GuidedForest(self.game, network, Guidance(share), mebibytes=MEBIBYTES, seed=self.options.seed)

    def _compare(self, mine: Forest, other: Forest) -> Comparison:
        options = self.options
        numbers = (options.simulations, options.simulations)
        return compare(
            self.game, (mine, other), numbers, matches=options.comparison_matches, seed=options.seed
        )

    def find_share(self) -> Iterator[tuple[float, tuple[int, int], Comparison]]:
        """Matches of the best network against playouts side by side, at equal time, for each share.

        Yields the share, the simulations per move of both sides, and the scores; `best` has the best share.
        """
        options = self.options
        rate = self._rate(self._playouts)
        best: tuple[float, Comparison] | None = None
        for share in SHARES:
            mine = self._guided(self.best.network, share)
            number = max(2, round(options.share_simulations * self._rate(mine) / rate))
            numbers = (number, options.share_simulations)
            found = compare(
                self.game,
                (mine, self._playouts),
                numbers,
                matches=options.share_matches,
                seed=options.seed + 7,
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
                moves = (self.game.legal_moves(state, role) for role in self.game.roles)
                state = self.game.next_state(state, tuple(m[int(rng.integers(len(m)))] for m in moves))
        roots = np.array(states)
        forest.search(roots, np.full(len(roots), 10))
        before, begin = forest.simulation_count, time.process_time()
        forest.search(roots, np.full(len(roots), self.options.share_simulations))
        return (forest.simulation_count - before) / max(1e-6, time.process_time() - begin)
