"""Play matches between two players, roles alternating; report the share of points with its 95 % interval.

    python benchmarks/search_matches.py breakthrough mcts:simulations=10000 \
        mcts:simulations=10000,lanes_per_leaf=1 --matches 100

For games with two roles. Prints one JSON object: the share of points of the first player, where a point is
100 goals, so that 50 % is even if goals sum to 100. Deterministic players repeat the same match: give them
`--opening` random moves, which are the same in both matches of a pair.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Hashable
from typing import Any

import ggp
from ggp.game import Move
from ggp.match.player import MatchSetup, Player
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--matches", type=int, default=40)
    parser.add_argument("--play-clock", type=float, default=1.0)
    parser.add_argument("--start-clock", type=float, help="seconds; the play clock by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--opening", type=int, default=0, help="random moves at the start")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    arguments = parser.parse_args()
    game = ggp.load(arguments.game, engine="lanes")
    points: list[float] = []
    begin = time.monotonic()
    for number in range(arguments.matches):
        if time.monotonic() - begin > arguments.seconds:
            break
        points.append(play_one(game, arguments, number))
    print(json.dumps({**vars(arguments), **summary(points)}, default=str))


def play_one(game: Any, arguments: argparse.Namespace, number: int) -> float:
    """Points of the first player in one match; it has the first role in even matches."""
    is_swapped = number % 2 == 1
    specs = [arguments.second, arguments.first] if is_swapped else [arguments.first, arguments.second]
    seed = arguments.seed + number // 2
    record = play_match(
        game,
        [OpeningPlayer(make_player(spec), arguments.opening, seed) for spec in specs],
        MatchTerms(arguments.start_clock or arguments.play_clock, arguments.play_clock, seed=seed),
    )
    goal = record.goals[1 if is_swapped else 0] if record.goals is not None else None
    if goal is None:
        raise SystemExit(f"match {number} was aborted: {record.fault}")
    return goal / 100


class OpeningPlayer(Player):
    """Make random moves, depending on role and seed alone, before `player` takes over."""

    def __init__(self, player: Player, opening: int, seed: int) -> None:
        self.name = player.name
        self._player = player
        self._opening = opening
        self._seed = seed

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


def summary(points: list[float]) -> dict[str, float]:
    """Mean in percent and its 95 % interval (normal approximation)."""
    count = len(points)
    mean = sum(points) / count
    deviation = math.sqrt(sum((p - mean) ** 2 for p in points) / max(1, count - 1))
    half = 1.96 * deviation / math.sqrt(count)
    return {"played": count, "percent": round(100 * mean, 1), "interval": round(100 * half, 1)}


if __name__ == "__main__":
    main()
