"""What proves positions within a match: iterative deepening, a search straight to the end, or both in turns.

    python -m benchmarks.straight_proofs connectfour othello_6x6 --positions 50000

Positions lie at 40 to 90 % of three matches of the tree search against itself. For each way: how many of them
it proves within the given number of positions, the geometric mean of the positions it expands, and how many
it expands a second. `earlier` is deepening without `enhanced_cutoffs`, `immediate_wins` and `goal_bounds`, as
it was before them.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Hashable
from dataclasses import replace
from statistics import fmean
from typing import Any

import ggp
from benchmarks.first_proof import states_of_match
from ggp.engines.compiled import CompiledGame
from ggp.proofs.proofs import MatchProofs
from ggp.search.alphabeta.proof import (
    NO_EVALUATION,
    PROVING,
    STRAIGHT,
    ProofSearch,
    StraightProof,
    straight_search,
)
from ggp.search.alphabeta.search import AlphaBeta

MATCHES = 3
PLACES = (0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
SLICE = 1000
MEBIBYTES = 128


def prove(way: str, search: Any, state: Any, most: int) -> tuple[bool, int, float]:
    """Whether `way` proves the state within `most` positions, how many it expands, and CPU seconds."""
    proof: Any = search
    if way == "in turns":
        proof.move_to(state)
    else:
        search.forget()
        proof = (StraightProof if "straight" in way else ProofSearch)(search, state)
    begin = time.process_time()
    while not proof.is_over and proof.nodes < most:
        slice_of = min(SLICE, most - proof.nodes)
        if way == "in turns":
            # As in a match, but counted: both lines by as much.
            for line in proof.lines:
                if not proof.is_over:
                    line.advance(max(1, slice_of // 2))
        else:
            proof.advance(slice_of)
    return proof.proven is not None, proof.nodes, time.process_time() - begin


def searches_of(game: CompiledGame) -> dict[str, Any]:
    """The ways, by name, each with its search."""
    earlier = replace(PROVING, enhanced_cutoffs=False, immediate_wins=False, goal_bounds=False)

    def searching(refinements: Any) -> AlphaBeta:
        return AlphaBeta(game, refinements, NO_EVALUATION, mebibytes=MEBIBYTES, words=1)

    return {
        "earlier": searching(earlier),
        "deepening": searching(PROVING),
        "straight, no distance": searching(STRAIGHT),
        "straight": straight_search(game, mebibytes=MEBIBYTES),
    }


def row(game: CompiledGame, states: list[Hashable], most: int) -> list[str]:
    """Cells of the table, way by way."""
    cells = []
    for way, search in (*searches_of(game).items(), ("in turns", None)):
        counts, proven, seconds = [], 0, 0.0
        for state in states:
            used = search if search is not None else MatchProofs(game, mebibytes=4 * MEBIBYTES)
            is_proven, nodes, spent = prove(way, used, state, most)
            seconds += spent
            counts.append(nodes)
            proven += is_proven
        mean = math.exp(fmean(math.log(max(1, nodes)) for nodes in counts))
        cells.append(f"{proven}, {mean:,.0f}, {sum(counts) / seconds / 1000:,.0f} k/s")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("games", nargs="+")
    parser.add_argument("--positions", type=int, default=50_000)
    given = parser.parse_args()
    print("| game | positions | earlier | deepening | straight, no distance | straight | in turns |")
    print("|---|---|---|---|---|---|---|")
    for name in given.games:
        game = ggp.load(name, engine="lanes")
        assert isinstance(game, CompiledGame)
        states = [
            match[int(place * len(match))]
            for match in (states_of_match(game, seed) for seed in range(MATCHES))
            for place in PLACES
        ]
        row(game, states[:1], 10)  # compiles the kernels
        print(f"| {name} | {len(states)} |", " | ".join(row(game, states, given.positions)), "|", flush=True)


if __name__ == "__main__":
    main()
