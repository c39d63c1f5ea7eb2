"""Play, teach, compare with the best so far, keep: the loop of `ggp prepare network`.

The first samples come from searches with playouts, so that the network begins with what those know. From
then on the best network so far plays, with playouts for half of each result (as AlphaGo mixed them, Silver et
al. 2016): without them learning drifts. A generation becomes the best if it wins the majority of its matches
against the best before it. Whether `mcts` uses it: `ggp.tournament.network_gate`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ggp.engines.compiled import CompiledGame
from ggp.integers import check_integers
from ggp.knowledge.taught import TaughtNetwork
from ggp.networks.network import Network
from ggp.search.forest.forest import Forest
from ggp.solver.saved_header import rules_digest
from ggp.teaching.play import (
    Comparison,
    MatchesAhead,
    PlayPlan,
    Pool,
    Taught,
    compare,
    guided_forest,
    playout_forest,
)
from ggp.teaching.samples import Samples, joined_samples
from ggp.teaching.teacher import BATCH, Teacher

MATCHES = 512
USES_OF_A_SAMPLE = 4


@dataclass(frozen=True)
class TeachingOptions:
    """Options of teaching a network.

    seconds             of play, teaching and comparison
    generations         after which teaching ends as well; None: by time alone
    matches             of a generation, times the processes that play
    simulations         of each search in the matches that teach
    window              samples of the most recent matches that are learned from
    comparison_matches  between a generation and the best before it
    """

    seconds: float = 600.0
    generations: int | None = None
    matches: int = MATCHES
    simulations: int = 100
    window: int = 200_000
    comparison_matches: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        check_integers(self, generations=0, matches=1, simulations=1, window=1, seed=0, comparison_matches=0)


@dataclass(frozen=True)
class TeachingProgress:
    """The outcome of one generation.

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

    begin   the network to resume from, or None
    pool    of processes that play while this one fits and compares; None: this one plays as well

    With a number of generations instead of a time everything is reproducible, whatever the machine's speed:
    by seed, and by the size of the pool.
    """

    def __init__(
        self,
        game: CompiledGame,
        options: TeachingOptions,
        begin: TaughtNetwork | None = None,
        *,
        pool: Pool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises TeacherMissingError without torch."""
        self.game = game
        self.options = options
        self._clock = clock
        self._begin = clock()
        self._earlier_seconds = 0.0 if begin is None else begin.seconds
        network = Network.random(game, seed=options.seed) if begin is None else begin.network
        self._has_best = begin is not None
        self.best = begin or TaughtNetwork(network, game.name, rules_digest(game.program), 0, 0.0)
        self._matches = MatchesAhead(game, pool)
        self._generation, self._positions = self.best.generation, 0
        self._window = Samples.empty(len(game.terms.fluents), len(game.roles))
        self._teacher = Teacher(network, seed=options.seed)

    @property
    def seconds(self) -> float:
        """Seconds since teaching began, in this process."""
        return self._clock() - self._begin

    def run(self, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[TeachingProgress]:
        """Teach until the time is over, but at least one generation; yields after each."""
        options = self.options
        first = self._generation
        last = None if options.generations is None else first + options.generations

        def is_over() -> bool:
            is_late = self._generation > first and self.seconds >= options.seconds
            return is_stopped() or self._generation == last or is_late

        if not is_over():
            self._begin_matches(self._generation)
        while not is_over():
            taught = self._matches.taught(is_stopped)
            if taught is None or not len(taught.samples):
                return
            if self._matches.are_elsewhere:
                self._begin_matches(self._generation + 1)
            yield self._learn(taught)
            if not self._matches.are_elsewhere:
                self._begin_matches(self._generation)

    def _begin_matches(self, generation: int) -> None:
        """Of the best network as it is now, or of playouts before there is one."""
        options = self.options
        plan = PlayPlan(options.matches, options.simulations, options.seed + 1000 * generation + 1)
        self._matches.begin(self.best.network if self._has_best else None, plan)

    def _learn(self, taught: Taught) -> TeachingProgress:
        self._window = joined_samples([self._window, taught.samples]).newest(self.options.window)
        batches = max(1, USES_OF_A_SAMPLE * len(taught.samples) // BATCH)
        losses = self._teacher.teach(self._window, batches, number=self._generation)
        self._generation += 1
        self._positions += taught.positions
        return self._judge(losses)

    def _judge(self, losses: tuple[float, float]) -> TeachingProgress:
        """Compare the network as it is now with the best and with playouts; keep it if it is better."""
        game, seed, network = self.game, self.options.seed, self._teacher.network()
        mine, best = (guided_forest(game, each, seed) for each in (network, self.best.network))
        against_best = self._compare(mine, best) if self._has_best else None
        against_playouts = self._compare(mine, playout_forest(game, seed))
        is_best = against_best is None or against_best.mean > 0.5
        if is_best:
            texts = self.best.game, self.best.rules
            seconds = self._earlier_seconds + self.seconds
            self.best = TaughtNetwork(network, *texts, self._generation, seconds)
            self._has_best = True
        return TeachingProgress(
            self._generation,
            self.seconds,
            len(self._window),
            self._positions,
            losses,
            against_best,
            against_playouts,
            is_best,
        )

    def _compare(self, mine: Forest, other: Forest) -> Comparison:
        options = self.options
        numbers = (options.simulations, options.simulations)
        return compare(
            self.game, (mine, other), numbers, matches=options.comparison_matches, seed=options.seed
        )
