"""What plays better in one game, by matches: the options of `mcts`, and `mcts` with a trained network.

The champion of `tune` begins as the default. Each candidate plays it until the sequential test of
`ggp.tournament.stopping` decides that it is 50 Elo better and becomes champion, or that it is not better:
first the policies, then C with the best policy. Matches are counted and seeded, so that they can be resumed.
A policy with slower playouts gets fewer of them, in proportion to its measured speed: this compares
play at equal time. Last comes alpha-beta, by the clock: with a few milliseconds a move it wins games that
the tree wins with more.

`gate_scores` compares a network at equal time. The side-by-side searches of `ggp.teaching` do not answer
that: a network can win there and lose here (breakthrough, results/networks.md), where one tree gets a hundred
times as many simulations, proofs by alpha-beta, and the tree of the previous move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from ggp.bench.search import measure_search
from ggp.confidence_intervals import wilson_interval
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, GameError
from ggp.knowledge.taught import TaughtNetwork
from ggp.knowledge.tuned import POLICIES, Comparison, TunedOptions, Tuning
from ggp.match.player import Player
from ggp.match.referee import INTERRUPTED, play_match
from ggp.match.terms import MatchTerms, derived_seed
from ggp.players.mcts import mcts_player
from ggp.players.options import OFF, MctsPlayerOptions
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError
from ggp.search.one_state import search_state
from ggp.search.tree.options import default_options
from ggp.tournament.plan import Until
from ggp.tournament.stopping import decide

EXPLORATIONS = (20.0, 80.0)
TEST = Until("sprt", elo0=0.0, elo1=50.0)
RATE_SECONDS = 1.0
MEBIBYTES = 256
"""For the tree of each player."""
CLOCK_SECONDS = 3600.0
"""Counted searches must never be cut short."""
START_SECONDS, MOVE_SECONDS = 4.0, 0.1
"""Clocks of matches with alpha-beta, on one thread."""
GATE_START_SECONDS, GATE_MOVE_SECONDS = 2.0, 0.2


class TuningError(Exception):
    """A match of tuning was not completed."""


@dataclass(frozen=True)
class TuningProgress:
    """Candidate `number` of `count` (from 1) has played `repetition` of at most `most` repetitions."""

    number: int
    count: int
    challenger: TunedOptions
    repetition: int
    most: int


Rating = Callable[[CompiledGame, str], float | None]
"""Playouts per second of a policy; None if the game does not support it."""


def measured_rate(game: CompiledGame, policy: str) -> float | None:
    """Playouts per CPU second of a policy; None if the search falls back to another one."""
    if search_state(game, simulations=64, policy=policy).fallback:
        return None
    return float(measure_search(game, policy, seconds=RATE_SECONDS)["playouts_per_cpu_second"])


def tune(
    game: CompiledGame,
    tuning: Tuning,
    *,
    most: int,
    report: Callable[[TuningProgress], None] = lambda progress: None,
    rating: Rating = measured_rate,
) -> None:
    """Compare the remaining candidates of `tuning`.

    After an interruption `tuning` keeps the matches so far; the same call resumes.

    most   repetitions of a comparison, each with the challenger in every seat; then the champion stays

    Raises TuningError, GameError.
    """
    if all(role == RANDOM_ROLE for role in game.roles):
        raise GameError(f"{game.name} has no players")
    if not tuning.rates:
        rates = {policy: rating(game, policy) for policy in POLICIES}
        tuning.rates = {policy: rate for policy, rate in rates.items() if rate}
    count = len(tuning.rates) - 1 + len(EXPLORATIONS) + int(can_search(game))
    tuning.best = TunedOptions()
    for number, challenger in enumerate(_challengers(game, tuning), 1):
        comparison = _comparison(tuning, challenger)
        while not comparison.verdict:
            done = len(comparison.scores)
            report(TuningProgress(number, count, challenger, done, most))
            decision = decide(TEST, comparison.scores, len(_seats(game)))
            if decision.is_final:
                comparison.verdict = decision.verdict
                comparison.is_better = decision.llr > 0
            elif done >= most:
                comparison.verdict = "undecided"
            else:
                comparison.scores.append(_play_repetition(game, tuning, comparison, done))
        if comparison.is_better:
            tuning.best = challenger
    tuning.is_finished = True


def _challengers(game: CompiledGame, tuning: Tuning) -> Iterator[TunedOptions]:
    """The policies, the best of them with other C, then alpha-beta; `tuning.best` changes meanwhile."""
    for policy in tuning.rates:
        if policy != TunedOptions().policy:
            yield TunedOptions(policy)
    policy = tuning.best.policy
    for exploration in EXPLORATIONS:
        yield TunedOptions(policy, exploration)
    if can_search(game):
        yield replace(tuning.best, has_alphabeta=True)


def can_search(game: CompiledGame) -> bool:
    """Whether alpha-beta can search the game."""
    initial = game.initial_state()
    if len(game.roles) != 2 or game.is_terminal(initial):
        return False
    try:
        AlphaBeta(game, mebibytes=1).search(initial, depth=1)
    except AlphaBetaError:
        return False
    return True


def _comparison(tuning: Tuning, challenger: TunedOptions) -> Comparison:
    """The comparison with the best options so far, begun or not."""
    for known in tuning.comparisons:
        if (known.challenger, known.champion) == (challenger, tuning.best):
            return known
    tuning.comparisons.append(Comparison(challenger, tuning.best))
    return tuning.comparisons[-1]


def _seats(game: CompiledGame) -> list[int]:
    return [r for r, role in enumerate(game.roles) if role != RANDOM_ROLE]


def _play_repetition(game: CompiledGame, tuning: Tuning, comparison: Comparison, number: int) -> float:
    """The challenger's mean score, 0..1, over matches with it in every seat."""
    purpose = f"{comparison.challenger}/{comparison.champion}/{number}"
    seed = derived_seed(tuning.seed, purpose)
    is_timed = comparison.challenger.has_alphabeta
    challenger = _player_maker(tuning, comparison.challenger, is_timed=is_timed)
    champion = _player_maker(tuning, comparison.champion, is_timed=is_timed)
    terms = MatchTerms(CLOCK_SECONDS, CLOCK_SECONDS, seed, match_id="tuning")
    if is_timed:
        terms = replace(terms, start_clock_seconds=START_SECONDS, play_clock_seconds=MOVE_SECONDS)
    return repetition_score(game, challenger, champion, terms)


def repetition_score(
    game: CompiledGame,
    challenger: Callable[[], Player],
    champion: Callable[[], Player],
    terms: MatchTerms,
) -> float:
    """The challenger's mean score, 0..1, over matches with it in every seat, each with new players.

    Raises TuningError if a match is aborted, KeyboardInterrupt.
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


def _player_maker(tuning: Tuning, options: TunedOptions, *, is_timed: bool) -> Callable[[], Player]:
    share = tuning.rates[options.policy] / tuning.rates[TunedOptions().policy]
    own = MctsPlayerOptions(
        simulations=None if is_timed else max(1, round(tuning.simulations * share)),
        alphabeta="on" if options.has_alphabeta else "off",
        is_proving=is_timed,
        book=OFF,
        is_tuned=False,
    )
    # As many lanes in flight as against the clock, because that search is tuned, and it is many times as fast
    # as counted searches are otherwise.
    search = replace(
        default_options(),
        policy=options.policy,
        exploration=options.exploration,
        threads=1,
        memory_mebibytes=MEBIBYTES,
    )
    return lambda: mcts_player(own, search)


def _goals(game: CompiledGame, makers: dict[int, Callable[[], Player]], terms: MatchTerms) -> list[int]:
    """The goals of one match. Raises TuningError if it is aborted, KeyboardInterrupt."""
    players: list[Any] = [makers[r]() if r in makers else None for r in range(len(game.roles))]
    record = play_match(game, players, replace(terms, all_must_start=True))
    if record.fault == INTERRUPTED:
        raise KeyboardInterrupt
    goals = record.goals
    if goals is None or any(goals[r] is None for r in makers):
        raise TuningError(f"a match was not completed: {record.fault or 'a goal is missing'}")
    return [goal or 0 for goal in goals]
