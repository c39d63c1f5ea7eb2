"""Play matches between two players, roles alternating; report the share of points with its 95 % interval.

    python -m benchmarks.search_matches breakthrough mcts:simulations=10000 mcts:simulations=10000,c=20

For games with two roles. A point is 100 goals: 50 % is even if goals sum to 100. Counted searches repeat the
same match: give them `--opening` random moves, the same in both matches of a pair.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Hashable
from typing import Any

import ggp
from ggp.game import Move
from ggp.match.player import MatchSetup, Player
from ggp.match.terms import MatchTerms


class OpeningPlayer(Player):
    """Make random moves, depending on role and seed alone, before `player` takes over."""

    def __init__(self, player: Player, opening: int, seed: int) -> None:
        self.name = player.name
        self._player, self._opening, self._seed = player, opening, seed

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._left = self._opening
        self._rng = random.Random(f"{self._seed} {setup.role}")
        self._player.start(setup, deadline)

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        if self._left <= 0:
            return self._player.choose(state, deadline, joint_move)
        self._left -= 1
        return self._rng.choice(self.legal_moves(state))

    def stop(self, joint_move: tuple[Move, ...] | None) -> None:
        self._player.stop(joint_move)
        super().stop(joint_move)


def play_one(game: Any, given: argparse.Namespace, number: int) -> float:
    """Points of the first player in one match; it has the first role in even matches."""
    is_swapped = number % 2 == 1
    specs = [given.second, given.first] if is_swapped else [given.first, given.second]
    seed = given.seed + number // 2
    players = [OpeningPlayer(ggp.make_player(spec), given.opening, seed) for spec in specs]
    terms = MatchTerms(given.start_clock or given.play_clock, given.play_clock, seed=seed)
    record = ggp.play_match(game, players, terms)
    if record.goals is None or (goal := record.goals[is_swapped]) is None:
        raise SystemExit(f"match {number} was aborted: {record.fault}")
    return goal / 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--matches", type=int, default=40)
    parser.add_argument("--play-clock", type=float, default=1.0)
    parser.add_argument("--start-clock", type=float, help="seconds; the play clock by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--opening", type=int, default=0, help="random moves at the start")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no match later than this")
    given = parser.parse_args()
    game = ggp.load(given.game, engine="lanes")
    points: list[float] = []
    begin = time.monotonic()
    while len(points) < given.matches and time.monotonic() - begin < given.seconds:
        points.append(play_one(game, given, len(points)))
    count = len(points)
    mean = sum(points) / count
    deviation = math.sqrt(sum((p - mean) ** 2 for p in points) / max(1, count - 1))
    half = 1.96 * deviation / math.sqrt(count)
    print(f"{given.game}: {100 * mean:.1f} ± {100 * half:.1f} % of {count} matches")


if __name__ == "__main__":
    main()
