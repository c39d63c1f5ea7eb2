"""One state of a match as JSON for the page, without what the rules hide from the person.

In a game with `sees` rules a person gets percepts and own moves, at every step and after the end; the state
is shown only in matches without a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from gdl.terms import Term
from ggp.analysis.figures import Line, words_of
from ggp.analysis.picture import Picture
from ggp.analysis.sheet_comment import read_comment
from ggp.game import Role
from ggp.match.outcome import outcome_text
from ggp.web.board_markup import board_markup, cell_name
from ggp.web.click_paths import click_paths
from ggp.web.lines_markup import line_path, lines_markup
from ggp.web.match_history import MatchHistory

FACT_LIMIT = 400
"""Maximum number of facts listed next to the board."""


def described_rules(rules: str) -> dict[str, Any]:
    """The description of the game in the opening comment of a sheet, for people who play it.

    >>> described_rules("; Nim.\\n;\\n; Take pieces.\\n(role a)")
    {'title': 'Nim', 'about': ['Take pieces.']}
    """
    comment = read_comment(rules)
    return {"title": comment.title, "about": list(comment.rules)}


def state_view(
    picture: Picture, facts: Sequence[Term], before: Sequence[Term] | None, *, is_over: bool
) -> dict[str, Any]:
    """Board, figures and remaining facts of a state.

    >>> import ggp
    >>> game = ggp.load("nim", engine="reasoner")
    >>> view = state_view(ggp.show(game).picture, ggp.show(game).facts, None, is_over=False)
    >>> view["board"], view["lines"][0][0]["text"], view["facts"]
    ('', 'a  1  ', [])
    """
    rest = [words_of(fact) for fact in picture.rest(facts)]
    return {
        "board": _board(picture, facts, before),
        "key": [list(pair) for pair in picture.key(facts)],
        "lines": [_line(line) for line in picture.figure_lines(facts, is_over=is_over, has_lattice=False)],
        "facts": rest[:FACT_LIMIT],
        "facts_left_out": max(0, len(rest) - FACT_LIMIT),
    }


def _board(picture: Picture, facts: Sequence[Term], before: Sequence[Term] | None) -> str:
    """The board, or the lines between dots, as SVG; empty without either."""
    if picture.board is not None:
        changed = frozenset() if before is None else picture.changed_cells(before, facts)
        return board_markup(picture.board, facts, changed)
    return "" if picture.lattice is None else lines_markup(picture.lattice, facts, before or ())


def _line(line: Line) -> list[dict[str, Any]]:
    return [{"text": piece.text, "name": piece.name, "dim": piece.is_dim} for piece in line]


def shown_state(history: MatchHistory, picture: Picture, step: int) -> dict[str, Any]:
    """The state after `step` joint moves, in a match without hidden information."""
    game = history.game
    facts = game.facts(history.state(step))
    before = game.facts(history.state(step - 1)) if step else None
    is_over = step == len(history.steps) and history.is_over
    return state_view(picture, facts, before, is_over=is_over)


def legal_moves_view(picture: Picture, legal: Sequence[Term]) -> dict[str, list[str]]:
    """Every legal move with its clicks, in a compact form: there may be thousands.

    moves   texts, as `play` takes them
    paths   for each move the clicks in order, separated by `;`, each the names of what may be clicked,
            separated by `|`; empty if the move can only be chosen from the list
    """
    return {"moves": list(map(str, legal)), "paths": _paths(picture, legal)}


def _paths(picture: Picture, legal: Sequence[Term]) -> list[str]:
    if picture.board is None:
        lattice = picture.lattice
        clicks = [[] if lattice is None else line_path(lattice, move) for move in legal]
        return [";".join(map("|".join, path)) for path in clicks]
    paths = click_paths(picture.board, legal)
    clicked = set(chain.from_iterable(paths))
    names = {cells: "|".join(map(cell_name, sorted(cells))) for cells in clicked}
    return [";".join(map(names.__getitem__, path)) for path in paths]


def moves_view(history: MatchHistory, person: Role | None) -> list[list[str | None]]:
    """The joint moves in role order.

    person   if given, only the moves of this role: those of others are hidden, None
    """
    roles = history.game.roles
    return [
        [
            words_of(move) if move is not None and person in (None, role) else None
            for role, move in zip(roles, step.joint_move, strict=True)
        ]
        for step in history.steps
    ]


def percepts_view(history: MatchHistory, person: Role) -> list[list[str]]:
    """The percepts of `person` in each step."""
    index = history.game.roles.index(person)
    return [[words_of(term) for term in step.percepts[index]] for step in history.steps]


def outcome(history: MatchHistory) -> str:
    """The result of a match that is over, in words."""
    if history.is_cut:
        return "no result: the match is too long"
    return outcome_text([str(role) for role in history.game.roles], history.goals())
