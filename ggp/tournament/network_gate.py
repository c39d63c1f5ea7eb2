"""Whether `mcts` plays better with a trained network, at equal time, by matches.

The side-by-side searches of `ggp.teaching` do not answer that: a network can win there and lose here
(breakthrough, results/networks.md), where one tree gets a hundred times as many simulations, proofs by
alpha-beta, and the tree of the previous move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from ggp.confidence_intervals import wilson_interval
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE
from ggp.knowledge.taught import TaughtNetwork
from ggp.match.player import Player
from ggp.match.referee import INTERRUPTED, play_match
from ggp.match.terms import MatchTerms, derived_seed
from ggp.players.mcts import mcts_player
from ggp.players.options import OFF, MctsPlayerOptions
from ggp.search.tree.options import default_options

GATE_START_SECONDS, GATE_MOVE_SECONDS = 2.0, 0.2


class GateError(Exception):
    """A match was not completed."""


def _seats(game: CompiledGame) -> list[int]:
    return [r for r, role in enumerate(game.roles) if role != RANDOM_ROLE]


def repetition_score(
    game: CompiledGame,
    challenger: Callable[[], Player],
    champion: Callable[[], Player],
    terms: MatchTerms,
) -> float:
    """The challenger's mean score, 0..1, over matches with it in every seat, each with new players.

    Raises GateError if a match is aborted, KeyboardInterrupt.
    """
    seats, scores = _seats(game), []
    for seat in seats:
        goals = _goals(game, {r: challenger if r == seat else champion for r in seats}, terms)
        others = [goals[r] for r in seats if r != seat] or [_goals(game, {seat: champion}, terms)[seat]]
        scores.append((goals[seat] - fmean(others) + 100) / 200)
    return fmean(scores)


def gate_scores(
    game: CompiledGame,
    network: Path,
    repetitions: int,
    *,
    seed: int = 0,
    start_seconds: float = GATE_START_SECONDS,
    move_seconds: float = GATE_MOVE_SECONDS,
) -> Iterator[float]:
    """The score of the network, 0..1, in each repetition: matches with it in every seat, one thread a player.

    network   its file
    Raises GateError if a match is aborted, KeyboardInterrupt.
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


def _goals(game: CompiledGame, makers: dict[int, Callable[[], Player]], terms: MatchTerms) -> list[int]:
    """The goals of one match. Raises GateError if it is aborted, KeyboardInterrupt."""
    players: list[Any] = [makers[r]() if r in makers else None for r in range(len(game.roles))]
    record = play_match(game, players, replace(terms, all_must_start=True))
    if record.fault == INTERRUPTED:
        raise KeyboardInterrupt
    goals = record.goals
    if goals is None or any(goals[r] is None for r in makers):
        raise GateError(f"a match was not completed: {record.fault or 'a goal is missing'}")
    return [goal or 0 for goal in goals]
