"""Coverage: which moves, relations, facts and cells matches use."""

from __future__ import annotations

from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from gdl.program import arguments_of
from gdl.terms import Compound, Symbol, Term
from ggp.analysis.board_finder import find_board
from ggp.engines.compiled import CompiledGame
from ggp.evaluation.figures import RANDOM, Figure
from ggp.evaluation.measuring import players_of
from ggp.search.forest.self_play import SelfPlay

FACTS_IN = {"init": 0, "next": 0, "base": 0}
MOVES_IN = {"legal": 1, "input": 1}
"""Relation of a rule's head → which argument is a fact, or a move."""


def coverage(game: CompiledGame, parts: list[SelfPlay]) -> list[Figure]:
    """Share of the rules that some match of `parts` has used. `parts` must not be empty.

    An interval reaches from the value to 1, since more matches can only add to it. The figure about cells is
    left out for games without a board, each figure for games without anything to count.

    >>> import ggp
    >>> from ggp.search.forest.self_play import self_play
    >>> game = ggp.load("tictactoe", engine="lanes")
    >>> for figure in coverage(game, [self_play(game, 0, 100)]):
    ...     print(figure.name, figure.value)
    coverage 1.0
    relation_coverage 1.0
    fluent_coverage 1.0
    cell_coverage 1.0
    """
    matches = sum(len(part.length) for part in parts)
    is_made = [
        np.isin(np.arange(len(moves)), np.concatenate([part.moves[:, :, r].ravel() for part in parts]))
        for r, moves in enumerate(game.moves)
    ]
    held = np.logical_or.reduce([part.held.any(axis=0) for part in parts])
    players = players_of(game)
    counts = {
        "coverage": (sum(int(is_made[r].sum()) for r in players), sum(len(is_made[r]) for r in players)),
        "relation_coverage": relations_used(game, is_made, held),
        "fluent_coverage": (int(held.sum()), len(held)),
        "cell_coverage": cells_used(game, held),
    }
    return [
        Figure(name, used / count, used / count, 1.0, matches, RANDOM)
        for name, (used, count) in counts.items()
        if count
    ]


def relations_used(
    game: CompiledGame, is_made: list[NDArray[np.bool_]], held: NDArray[np.bool_]
) -> tuple[int, int]:
    """How many relations of facts and moves matches used, and how many the sheet has.

    is_made   for each role, bool[moves]
    held      bool[F]
    """
    facts, moves = relations_in(game, FACTS_IN), relations_in(game, MOVES_IN)
    used_facts = set(map(kind_of, compress(game.terms.fluents, held)))
    used_moves = set(map(kind_of, compress(chain(*game.moves), chain(*is_made))))
    return len(facts & used_facts) + len(moves & used_moves), len(facts) + len(moves)


def relations_in(game: CompiledGame, places: dict[str, int]) -> set[tuple[str, int]]:
    """Names and arities of the facts, or moves, that the heads of the rules write out."""
    found = set()
    for rule in game.program.rules:
        arguments = arguments_of(rule.head)
        place = places.get(rule.head.name)
        if place is not None and place < len(arguments):
            term = arguments[place]
            if isinstance(term, Symbol | Compound):
                found.add(kind_of(term))
    return found


def kind_of(term: Term) -> tuple[str, int]:
    """Name and arity.

    >>> kind_of(Compound("cell", (Symbol("a"), Symbol("b"))))
    ('cell', 2)
    """
    return term.name, len(arguments_of(term))


def cells_used(game: CompiledGame, held: NDArray[np.bool_]) -> tuple[int, int]:
    """Cells of the board on which something new came to lie, and all of them; (0, 0) without a board."""
    board = find_board(game.program, game.facts(game.initial_state()))
    cells, used = set(), set()
    is_new = held & ~game.tables.initial.astype(np.bool_)
    for layer in board.layers if board is not None else ():
        for f, fluent in enumerate(game.terms.fluents):
            placed = layer.place(fluent)
            if placed is not None:
                cells.add(placed[0])
                if is_new[f]:
                    used.add(placed[0])
    return len(used), len(cells)
