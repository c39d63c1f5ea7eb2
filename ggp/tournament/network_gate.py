"""Test whether `mcts` plays better with a trained network than without, by matches on the clock.

The side-by-side searches of `ggp.teaching` do not answer that: a network can win there at equal time and lose
here (breakthrough, results/networks.md), where one tree gets a hundred times as many simulations, proofs by
alpha-beta, and the tree of the previous move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ggp.confidence_intervals import wilson_interval
from ggp.engines.compiled import CompiledGame
from ggp.knowledge.taught import TaughtNetwork
from ggp.match.terms import MatchTerms, derived_seed
from ggp.players.mcts import mcts_player
from ggp.players.options import OFF, MctsPlayerOptions
from ggp.search.tree.options import default_options
from ggp.tournament.tuning import repetition_score

START_SECONDS, MOVE_SECONDS = 2.0, 0.2


def gate_scores(
    game: CompiledGame,
    network: Path,
    repetitions: int,
    *,
    seed: int = 0,
    start_seconds: float = START_SECONDS,
    move_seconds: float = MOVE_SECONDS,
) -> Iterator[float]:
    """The score of the network, 0..1, in each repetition: matches with it in every seat, one thread a player.

    network   its file
    Raises TuningError if a match is aborted, KeyboardInterrupt.
    """
    search = replace(default_options(), threads=1)
    with_network, without = (
        MctsPlayerOptions(network=option, alphabeta="off", book=OFF, is_tuned=False)
        for option in (str(network), OFF)
    )
    for number in range(repetitions):
        match_seed = derived_seed(seed, f"gate/{number}")
        yield repetition_score(
            game,
            lambda: mcts_player(with_network, search),
            lambda: mcts_player(without, search),
            MatchTerms(start_seconds, move_seconds, match_seed, match_id="gate"),
        )


def judged(taught: TaughtNetwork, scores: list[float]) -> TaughtNetwork:
    """The network with its score and the half of the 95 % interval, which Wilson's is on the losing side.

    >>> import ggp
    >>> from ggp.networks.network import Network
    >>> network = TaughtNetwork(Network.random(ggp.load("tictactoe"), seed=1), "tictactoe", "", 1, 1.0)
    >>> judged(network, [1.0] * 10).is_stronger, judged(network, [1.0] * 3).is_stronger
    (True, False)
    """
    mean = sum(scores) / len(scores)
    low, _ = wilson_interval(sum(scores), len(scores))
    return replace(taught, score=mean, error=mean - low)
