"""Count alpha-beta nodes with and without each refinement: to a proof, or to a fixed depth.

    python benchmarks/alphabeta_nodes.py tictactoe connectfour_4x4 othello_4x4
    python benchmarks/alphabeta_nodes.py connectfour:10 checkers:6 hex_5x5:4

GAME proves the value of the initial state. GAME:DEPTH searches several random positions to a depth, also with
the refinements that may change the result, and compares scores and moves with those of the first row. Prints
a table.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import replace
from typing import Any

import ggp
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.features.evaluation import LinearEvaluation
from ggp.search.alphabeta.search import PLAIN, AlphaBeta, Estimate, Refinements, SearchResult

TABLE = replace(PLAIN, transpositions=True)
NO_DEEPENING = Refinements(iterative_deepening=False)
ALL = Refinements()


def one_by_one(base: Refinements, mark: str, settings: dict[str, Any]) -> dict[str, Refinements]:
    """Variants of `base` that differ in one setting, by the name of that setting."""
    return {
        f"{mark} {name.replace('_', ' ')}": replace(base, **{name: setting})
        for name, setting in settings.items()
    }


TO_A_PROOF = {
    "none": PLAIN,
    "transpositions": TABLE,
    "+ table's move": replace(TABLE, order_by_table=True),
    **one_by_one(
        TABLE,
        "+",
        dict.fromkeys(
            ("killers", "history", "static_order", "principal_variation", "bisection", "symmetries"), True
        ),
    ),
    "+ deepening, table's move": replace(TABLE, iterative_deepening=True, order_by_table=True),
    "all but deepening": NO_DEEPENING,
    **one_by_one(
        NO_DEEPENING,
        "… without",
        dict.fromkeys(("static_order", "history", "killers", "principal_variation", "symmetries"), False),
    ),
    "… with bisection": replace(NO_DEEPENING, bisection=True),
    "all": ALL,
    "all, aspiration ±5": replace(ALL, aspiration=5),
}
TO_A_DEPTH = {
    "all": ALL,
    "… without deepening": replace(ALL, iterative_deepening=False),
    **one_by_one(
        ALL,
        "… without",
        dict.fromkeys(("transpositions", "killers", "history", "static_order", "principal_variation"), False),
    ),
    "… with aspiration ±5": replace(ALL, aspiration=5),
    "+ late-move reductions": replace(ALL, late_move_reduction=True),
    "+ first 4 moves only": replace(ALL, kept_moves=4),
    "+ first 8 moves only": replace(ALL, kept_moves=8),
    "+ singular extensions": replace(ALL, singular_extension=True),
    "+ forced extensions": replace(ALL, forced_extension=True),
    "+ quiescence 5": replace(ALL, quiescence=5),
    "+ quiescence 10": replace(ALL, quiescence=10),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+", metavar="GAME[:DEPTH]")
    parser.add_argument("--positions", type=int, default=5, help="number of positions per GAME:DEPTH")
    parser.add_argument("--opening", type=int, default=6, help="random moves before each position")
    parser.add_argument("--mebibytes", type=int, default=64)
    parser.add_argument("--most-nodes", type=int, default=5_000_000)
    parser.add_argument("--weights", help="weights file of `ggp learn` for the evaluation")
    parser.add_argument("--only", help="run only the first row and rows whose name contains this")
    arguments = parser.parse_args()
    print("| game | refinements | nodes | CPU seconds | score off by | same move |")
    print("|---|---|---|---|---|---|")
    for spec in arguments.games:
        name, _, depth = spec.partition(":")
        game = ggp.load(name, engine="lanes")
        assert isinstance(game, CompiledGame)
        rows = TO_A_DEPTH if depth else TO_A_PROOF
        states = positions(game, arguments.positions, arguments.opening) if depth else [game.initial_state()]
        reference: list[SearchResult] = []
        for row, settings in rows.items():
            if not reference or arguments.only is None or arguments.only in row:
                results, seconds = search_all(game, states, settings, depth, arguments)
                reference = reference or results
                print(f"| {spec} | {row} | {cells(results, reference, seconds, arguments)} |", flush=True)


def positions(game: CompiledGame, count: int, opening: int) -> list[PackedState]:
    """Positions that are not terminal, after `opening` random joint moves."""
    states: list[PackedState] = []
    rng = random.Random(0)
    while len(states) < count:
        state = game.initial_state()
        for _ in range(opening):
            if not game.is_terminal(state):
                joint = tuple(rng.choice(game.legal_moves(state, role)) for role in game.roles)
                state = game.next_state(state, joint)
        if not game.is_terminal(state):
            states.append(state)
    return states


def search_all(
    game: CompiledGame,
    states: list[PackedState],
    settings: Refinements,
    depth: str,
    arguments: argparse.Namespace,
) -> tuple[list[SearchResult], float]:
    """Search every position with empty tables; results and CPU seconds in all."""
    estimate = None
    if arguments.weights:
        weights = LinearEvaluation.load(arguments.weights).scores(game)
        estimate = Estimate(goal_weight=0, mobility_weight=0, weights=weights)
    search = AlphaBeta(game, settings, estimate, mebibytes=arguments.mebibytes)
    search.search(states[0], depth=1)
    results = []
    seconds = 0.0
    for state in states:
        search.forget()
        begin = time.process_time()
        limit = int(depth) if depth else None
        results.append(search.search(state, depth=limit, node_limit=arguments.most_nodes))
        seconds += time.process_time() - begin
    return results, seconds


def cells(
    results: list[SearchResult],
    reference: list[SearchResult],
    seconds: float,
    arguments: argparse.Namespace,
) -> str:
    """Nodes, seconds, mean difference of the score from the reference in goals, and equal moves."""
    if any(result.nodes > arguments.most_nodes for result in results):
        return f"> {arguments.most_nodes:,} | {seconds:.2f} | | "
    pairs = [(a, b) for a, b in zip(results, reference, strict=True) if b.goal is not None]
    off = [abs(a.goal - b.goal) for a, b in pairs if a.goal is not None and b.goal is not None]
    same = sum(a.move == b.move for a, b in pairs)
    mean = f"{sum(off) / len(off):.1f}" if off else ""
    nodes = sum(result.nodes for result in results)
    return f"{nodes:,} | {seconds:.2f} | {mean} | {same} of {len(pairs)}"


if __name__ == "__main__":
    main()
