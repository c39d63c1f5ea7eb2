"""How exploitable is OpenSpiel's IS-MCTS, by simulations? For `ggp solve GAME --against mcts:…` to compare.

    python -m benchmarks.openspiel_is_mcts kuhn_poker leduc_poker --simulations 100 1000 10000

Its bot searches every information state of the game from scratch; the policy is its visits, or the move
visited most. Prints NashConv / 2, what best responses gain on average over both seats, in units of the
smallest stake: mean and standard deviation over seeds. Needs the extra `openspiel`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pyspiel
from open_spiel.python.algorithms.exploitability import nash_conv
from open_spiel.python.policy import TabularPolicy


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("games", nargs="+", help="names of OpenSpiel's games")
    parser.add_argument("--simulations", nargs="+", type=int, default=[100, 1000, 10_000])
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    print("| game | simulations | visits | most visited | CPU s a state |\n|---|---|---|---|---|")
    for name in arguments.games:
        for simulations in arguments.simulations:
            began = time.process_time()
            found = np.array(
                [
                    [exploitability(name, simulations, seed, policy) for policy in ("visits", "most")]
                    for seed in range(arguments.seeds)
                ]
            )
            seconds = (time.process_time() - began) / found.size / information_states(name)
            cells = [f"{found[:, i].mean():.4f} ± {found[:, i].std():.4f}" for i in (0, 1)]
            print(f"| {name} | {simulations:,} | {cells[0]} | {cells[1]} | {seconds:.5f} |", flush=True)


def information_states(name: str) -> int:
    """How many there are in the game."""
    return len(TabularPolicy(pyspiel.load_game(name)).states)


def exploitability(name: str, simulations: int, seed: int, kind: str) -> float:
    """NashConv / 2 of the bot with `simulations` in every information state."""
    game = pyspiel.load_game(name)
    kinds = {
        "visits": pyspiel.ISMCTSFinalPolicyType.NORMALIZED_VISIT_COUNT,
        "most": pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
    }
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    stake = game.max_utility()  # C of UCT on the scale of the payoffs, as OpenSpiel's own tests choose it
    bot = pyspiel.ISMCTSBot(seed, evaluator, stake, simulations, -1, kinds[kind], False, False)
    policy = TabularPolicy(game)
    for place, state in enumerate(policy.states):
        row = np.zeros(policy.action_probability_array.shape[1])
        for action, probability in bot.get_policy(state):
            row[action] = probability
        policy.action_probability_array[place] = row
    return float(nash_conv(game, policy)) / 2


if __name__ == "__main__":
    main()
