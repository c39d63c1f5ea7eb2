"""What proving costs the default player where it cannot help: its share of the time of one move.

    python benchmarks/proof_cost.py connectfour othello --seconds 1 --repeats 5

Each repeat plays two own moves with proofs and then without, and measures the second. The share of the time
is measured inside the search, so it holds on a busy machine; playouts per CPU second, which also show what
proofs do to caches, vary more there. Medians over the repeats, on one thread.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

from ggp.engines.loading import load
from ggp.game import Game
from ggp.match.player import MatchSetup
from ggp.players.factory import make_player
from ggp.players.mcts import MctsPlayer
from ggp.search.report import SearchReport

START_SECONDS = 5.0


def measure(game: Game[Any], proof: str, seconds: float, seed: int) -> tuple[float, float]:
    """Playouts per CPU second, and the percentage of the time for proofs, of the second own move."""
    player = make_player(f"mcts:threads=1,head_start=off,book=off,tuned=off,proof={proof}")
    assert isinstance(player, MctsPlayer)
    state, own = game.initial_state(), 0
    while len(game.legal_moves(state, game.roles[own])) == 1:
        own += 1
    player.start(MatchSetup("m", game, game.roles[own], 0.0, seconds, seed), time.monotonic() + START_SECONDS)
    player.choose(state, time.monotonic() + seconds, None)
    for _ in game.roles:
        # The second own move: of the first one the search knows nothing before.
        joint_move = tuple(game.legal_moves(state, role)[0] for role in game.roles)
        state = game.next_state(state, joint_move)
    cpu_begin, begin = time.process_time(), time.monotonic()
    player.choose(state, begin + seconds, None)
    cpu_seconds, wall_seconds = time.process_time() - cpu_begin, time.monotonic() - begin
    report, proving = player.last_report, player.proving_seconds
    player.stop(None)
    assert isinstance(report, SearchReport)
    return report.playouts / max(cpu_seconds, 1e-9), 100 * proving / wall_seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print("| game | proofs, % of the time | lowest and highest | playouts per CPU s with | without |")
    print("|---|---:|---:|---:|---:|")
    for name in arguments.games:
        game = load(name, "lanes")
        make_player("mcts:threads=1").prepare(game)
        found = [
            (measure(game, "on", arguments.seconds, seed), measure(game, "off", arguments.seconds, seed))
            for seed in range(arguments.repeats)
        ]
        shares = sorted(proving for (_, proving), _ in found)
        rate_with, rate_without = (median(rate for rate, _ in each) for each in zip(*found, strict=True))
        spread = f"{shares[0]:.1f} to {shares[-1]:.1f}"
        print(
            f"| {name} | {median(shares):.1f} | {spread} | {rate_with:,.0f} | {rate_without:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
