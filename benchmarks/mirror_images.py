"""How many nodes of the tree search are images of others under the symmetries of the rules.

    python -m benchmarks.mirror_images connectfour pentago --seconds 1

Percentage of the expanded nodes that folding symmetric states would save, after a search from the state
behind some random joint moves; the mean of three states.
"""

from __future__ import annotations

import argparse
import random
import time
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

import ggp
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.lanes.keys.packing import StateCode
from ggp.lanes.keys.state_code import encode_states, make_code
from ggp.search.alphabeta.symmetry import fluent_symmetries
from ggp.search.budget import Budget
from ggp.search.mcts.kernels import counters
from ggp.search.mcts.options import default_options
from ggp.search.mcts.search import LanesSearch

PLIES = (0, 1, 2, 3, 4, 6)
STATES = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--seconds", type=float, default=1.0)
    given = parser.parse_args()
    print(f"| game | images | {' | '.join(f'after {plies}' for plies in PLIES)} |")
    print(f"|---|---:|{'---:|' * len(PLIES)}")
    for name in given.games:
        game = ggp.load(name, engine="lanes")
        assert isinstance(game, CompiledGame)
        images = fluent_symmetries(game)
        cells = [
            fmean(
                saved(game, images, state_after(game, plies, seed), given.seconds) for seed in range(STATES)
            )
            for plies in PLIES
        ]
        print(f"| {name} | {len(images)} | {' | '.join(f'{cell:.1f}' for cell in cells)} |", flush=True)


def state_after(game: CompiledGame, plies: int, seed: int) -> PackedState:
    """The state after some random joint moves, or the last one that is not terminal."""
    rng = random.Random(seed)
    state = game.initial_state()
    for _ in range(plies):
        following = game.next_state(state, tuple(rng.choice(game.legal_moves(state, r)) for r in game.roles))
        if game.is_terminal(following):
            break
        state = following
    return state


def saved(game: CompiledGame, images: NDArray[np.int32], state: PackedState, seconds: float) -> float:
    """The percentage of the nodes of a search from `state` that are images of others."""
    code, keys = searched_keys(game, state, seconds)
    holds = fluents_of(code, keys)
    of_images = [encode_states(code, holds[:, image]).reshape(keys.shape).tolist() for image in images]
    folded = {min(map(tuple, each)) for each in zip(*of_images, strict=True)}
    return 100 * (1 - len(folded) / len({tuple(key) for key in keys.tolist()}))


def searched_keys(
    game: CompiledGame, state: PackedState, seconds: float
) -> tuple[StateCode, NDArray[np.uint64]]:
    """The code of states, and the keys uint64[N, D] of the nodes that a search from `state` expands."""
    role = max(game.roles, key=lambda each: len(game.legal_moves(state, each)))
    search = LanesSearch(game, role, options=default_options())
    search.move_to(state, None)
    search.run(Budget(time.monotonic() + seconds))
    engine = search.engines[0]
    code = make_code(len(game.terms.fluents), game.exclusive)
    count = int(engine.arrays.counter[counters.EXPANSIONS])
    keys = engine.tree.key[: count * code.word_count].reshape(count, code.word_count)
    search.close()
    return code, keys


def fluents_of(code: StateCode, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """bool[N, F]: what holds in the states of these keys."""
    planes = ((keys[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).astype(np.bool_)
    planes = planes.reshape(len(keys), -1)
    holds = np.ones((len(keys), len(code.first_digit) - 1), np.bool_)
    for f in range(holds.shape[1]):
        for digit in code.digit[code.first_digit[f] : code.first_digit[f + 1]]:
            holds[:, f] &= planes[:, digit >> 1] ^ bool(digit & 1)
    return holds


if __name__ == "__main__":
    main()
