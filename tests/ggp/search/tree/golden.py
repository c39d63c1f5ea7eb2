"""Comparing the tree of the search on lanes with that of its plain-Python twin, node by node."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

import ggp
from ggp.engines.compiled import CompiledGame
from ggp.game import Move
from ggp.search.budget import Budget
from ggp.search.tree.kernels.arrays import MISSING
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.reference.search import Search
from ggp.search.tree.search import LanesSearch
from ggp.search.tree.tree_engine import TreeEngine


@cache
def compiled(name: str) -> CompiledGame:
    game = ggp.load(name, engine="lanes")
    assert isinstance(game, CompiledGame)
    return game


def in_flight(engine: TreeEngine) -> NDArray[np.int32]:
    """Of every edge, the playouts that took it and have not ended."""
    of_edges = slice(engine.edge_count)
    return engine.tree.started[of_edges] - engine.tree.visits[of_edges]


def one_lane(ramp: int = 0, **options) -> MctsOptions:
    """One descent at a time: what the plain-Python search does."""
    options = {"refresh": 1, **options}
    return MctsOptions(
        words=1, lanes=1, lanes_per_leaf=1, threads=1, ramp=ramp, memory_mebibytes=16, **options
    )


def search_both(game: CompiledGame, options: MctsOptions, seed: int, simulations: int):
    """The same search twice, from the initial state: on lanes, and in plain Python."""
    lanes = LanesSearch(game, game.roles[0], seed=seed, options=options)
    twin = Search(game, game.roles[0], seed=seed, options=options)
    for search in (lanes, twin):
        search.move_to(game.initial_state(), None)
        search.run(Budget(simulations=simulations))
    return lanes, twin


def wins_at_once(game: CompiledGame, state: bytes, role: int) -> list[bool]:
    """By legal move of the only role with a choice: whether it gets 100 in a terminal state, the other 0."""
    found, joint = [], [game.legal_moves(state, each)[0] for each in game.roles]
    for move in game.legal_moves(state, game.roles[role]):
        joint[role] = move
        after = game.next_state(state, tuple(joint))
        expected = [100 if r == role else 0 for r in range(len(game.roles))]
        found.append(game.is_terminal(after) and [game.goal(after, name) for name in game.roles] == expected)
    return found


def winning_moves(game: CompiledGame, state: bytes, role: int) -> list[Move]:
    """The moves by which the only role with a choice wins at once."""
    legal = game.legal_moves(state, game.roles[role])
    return [move for move, won in zip(legal, wins_at_once(game, state, role), strict=True) if won]


def lanes_node(engine, node):
    """[(move, visits, total, rave visits, rave total) ...] per role."""
    tree, has_rave = engine.tree, engine.options.parsed_policy.mixes_in == "rave"
    return [
        [
            (
                int(tree.move[e] - engine.arrays.first_move[role]),
                int(tree.visits[e]),
                float(tree.total[e]),
                *((int(tree.rave_visits[e]), float(tree.rave_total[e])) if has_rave else (0, 0.0)),
            )
            for e in engine.edges_of(node, role)
        ]
        for role in range(engine.tables.role_count)
    ]


def twin_node(game, node):
    columns = zip(node.moves, node.visits, node.totals, node.rave_visits, node.rave_totals, strict=True)
    return [
        [(moves.index(move), *numbers) for move, *numbers in zip(*of_role, strict=True)]
        for moves, of_role in zip(game.moves, columns, strict=True)
    ]


def assert_same_tree(lanes: LanesSearch, twin: Search) -> int:
    """Every node of both trees agrees; returns how many there are."""
    engine, game = lanes.engines[0], lanes.game
    stack, numbers = [(0, twin.root)], {id(twin.root): 0}
    while stack:
        number, node = stack.pop()
        proof = int(engine.tree.proof[number])
        assert (None if proof < 0 else proof) == (None if node.proof is None else node.proof[0])
        if node.goals is not None or (node.visit_count == 0 and not node.behind):
            assert not engine.edges_of(number, 0)
            continue
        assert lanes_node(engine, number) == twin_node(game, node)
        for indices, child in node.children.items():
            moves = tuple(game.moves[r].index(node.moves[r][m]) for r, m in enumerate(indices))
            below = engine.child(number, moves)
            assert below is not None
            if id(child) not in numbers:
                numbers[id(child)] = below
                stack.append((below, child))
            assert numbers[id(child)] == below
    joined = int((engine.tree.first_edge[: engine.node_count, 0] < MISSING).sum())
    assert len(numbers) == engine.node_count - joined
    return len(numbers)
