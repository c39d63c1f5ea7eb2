"""What lies on a board but is no piece: water, holes, walls, melted floes. Judged from the rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gdl.dependencies import DISTINCT, TRUE
from gdl.program import Program, Rule, arguments_of
from gdl.terms import Term, Variable
from ggp.analysis.board import Board
from ggp.analysis.fluent_domains import rules_with_values
from ggp.analysis.move_reading import MoveReading, leaves

CALL_LIMIT = 4
"""How far `legal` is followed into the rules that it calls."""

_Known = Mapping[tuple[str, int], Sequence[tuple[Rule, Mapping[str, frozenset[str]]]]]


def find_terrain(program: Program, reading: MoveReading, contents: Collection[str]) -> frozenset[str]:
    """Those of `contents` on which no move begins, where moves lead from cell to cell; empty if not sure.

    contents   what may stand on a cell and belongs to no role

    >>> import ggp
    >>> game = ggp.load("amazons_5x5", engine="reasoner")
    >>> reading = ggp.show(game).picture.notation.reading
    >>> sorted(find_terrain(game.program, reading, ["arrow", "white"]))
    ['arrow']
    """
    board = reading.board
    if board.layers[0].joint is not None or reading.width != 2:
        return frozenset()
    known: dict[tuple[str, int], list[tuple[Rule, Mapping[str, frozenset[str]]]]] = {}
    for rule, values in rules_with_values(program):
        known.setdefault((rule.head.name, len(arguments_of(rule.head))), []).append((rule, values))
    begun = set[str]()
    for rule, values in known.get(("legal", 2), ()):
        move = arguments_of(rule.head)[1]
        words = list(leaves(move))
        windows = reading.windows.get((move.name, len(words)), ())
        if len(windows) > 1:
            source = tuple(words[windows[0] : windows[0] + 2])
            found = _standing(board, known, (rule, values), source, CALL_LIMIT)
            if found is None:
                return frozenset()
            begun |= found
    return frozenset(contents) - begun if begun else frozenset()


def _standing(
    board: Board,
    known: _Known,
    called: tuple[Rule, Mapping[str, frozenset[str]]],
    cell: Sequence[Term],
    depth: int,
) -> set[str] | None:
    """What a rule allows to stand on `cell`, two of its terms; None if it does not say so."""
    found: set[str] | None = None
    for literal in called[0].literals:
        if not literal.is_positive:
            continue
        arguments = arguments_of(literal.atom)
        own: set[str] | None = None
        if literal.predicate == TRUE:
            own = _content(board, arguments[0], cell, called)
        elif depth and all(each in arguments for each in cell):
            places = [arguments.index(each) for each in cell]
            calls = known.get((literal.atom.name, len(arguments)), ())
            each_call = [
                _standing(board, known, call, [arguments_of(call[0].head)[at] for at in places], depth - 1)
                for call in calls
            ]
            if calls and None not in each_call:
                own = set[str]().union(*(each or () for each in each_call))
        if own is not None:
            found = own if found is None else found & own
    return found


def _content(
    board: Board, fact: Term, cell: Sequence[Term], called: tuple[Rule, Mapping[str, frozenset[str]]]
) -> set[str] | None:
    """The values of the content of a fact about `cell`; None if it is about something else."""
    for layer in board.layers:
        arguments = arguments_of(fact)
        if (fact.name, len(arguments)) != (layer.name, layer.arity) or layer.joint is not None:
            continue
        places = sorted((*layer.across.positions, *layer.down.positions))
        if [arguments[place] for place in places] != list(cell):
            continue
        if not layer.content_positions:
            return {layer.name}
        content = arguments[layer.content_positions[-1]]
        if not isinstance(content, Variable):
            return {str(content)}
        return set(called[1].get(content.name, ())) - _excluded(called[0], content)
    return None


def _excluded(rule: Rule, content: Variable) -> set[str]:
    """What a rule says that `content` is not."""
    pairs = (
        arguments_of(each.atom) for each in rule.literals if each.is_positive and each.predicate == DISTINCT
    )
    return {str(each) for pair in pairs if content in pair for each in pair if not isinstance(each, Variable)}
