"""One state of a match as JSON for the page, without what the rules hide from the person.

In a game with `sees` rules a person gets percepts and own moves until the end of the match; the state is
shown only then, and in matches without a person.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

from gdl.terms import Term
from ggp.analysis.board import Cell
from ggp.analysis.board_style import owner_of
from ggp.analysis.figures import Lines, words_of
from ggp.analysis.notation import IDLE, Notation
from ggp.analysis.picture import Picture
from ggp.game import Role
from ggp.web.board_markup import board_markup, cell_name
from ggp.web.ending import deciding
from ggp.web.lines_markup import line_path, lines_markup
from ggp.web.match_history import MatchHistory
from ggp.web.percepts import Reports, reported_moves

MAX_DIRECTIONS = 8
"""Maximum number of moves that name no cell and are tried, to see where they lead."""
FACT_LIMIT = 400
"""Maximum number of facts listed next to the board."""


def state_view(
    picture: Picture,
    facts: Sequence[Term],
    before: Sequence[Term] | None,
    *,
    is_over: bool,
    won: Collection[Cell] = (),
    owners: Mapping[Cell, tuple[int, str]] | None = None,
) -> dict[str, Any]:
    """Board, or lines between dots, as SVG; figures and remaining facts of a state.

    won      the cells that decide it
    owners   of boxes between dots: number and name of the role

    >>> import ggp
    >>> game = ggp.load("nim", engine="reasoner")
    >>> view = state_view(ggp.show(game).picture, ggp.show(game).facts, None, is_over=False)
    >>> view["board"], view["lines"][0][0]["text"], view["facts"]
    ('', 'a  1  ', [])
    """
    board = ""
    if picture.board is not None:
        facts = facts if before is None or not is_over else picture.kept(before, facts)
        changed = frozenset() if before is None else picture.changed_cells(before, facts)
        board = board_markup(picture.board, facts, changed, won)
    elif picture.lattice is not None:
        board = lines_markup(picture.lattice, facts, before or (), owners)
    rest = [words_of(fact) for fact in picture.rest(facts)]
    lines = picture.figure_lines(facts, is_over=is_over, is_beside=True)
    counted, tally = picture.tally(facts)
    return {
        "board": board,
        "counted": counted,
        "tally": [list(row) for row in tally],
        "key": [list(pair) for pair in picture.key(facts)],
        "lines": [
            [
                {"text": piece.text, "name": piece.name, "dim": piece.is_dim, "drawn": piece.drawn}
                for piece in line
            ]
            for line in lines
        ],
        "facts": rest[:FACT_LIMIT],
        "facts_left_out": max(0, len(rest) - FACT_LIMIT),
    }


def shown_state(
    history: MatchHistory, picture: Picture, step: int, is_explained: bool = True
) -> dict[str, Any]:
    """The state after `step` joint moves, in a match without hidden information.

    is_explained   mark what decides a match that is over
    """
    facts = history.facts(step)
    before = history.facts(step - 1) if step else None
    is_over = step == len(history.steps) and history.is_over
    won = picture.few_cells(deciding(history, picture), facts) if is_over and step and is_explained else ()
    owners = box_owners(history, picture, step)
    return state_view(picture, facts, before, is_over=is_over, won=won, owners=owners)


def box_owners(history: MatchHistory, picture: Picture, step: int) -> Mapping[Cell, tuple[int, str]]:
    """Who closed each box between dots up to `step`; empty in other games."""
    lattice, owners = picture.lattice, dict[Cell, tuple[int, str]]()
    for number, each in enumerate(history.steps[:step] if lattice is not None else (), start=1):
        if each.owners is None and lattice is not None:
            roles = [str(role) for role in history.game.roles]
            boxes = lattice.boxes(history.facts(number)) - owners.keys()
            each.owners = {**owners, **dict.fromkeys(boxes, closer_of(lattice, roles, each.joint_move))}
        owners = dict(each.owners or {})
    return owners


def closer_of(lattice: Lines, roles: Sequence[str], joint_move: Sequence[Term]) -> tuple[int, str]:
    """Number and name of the first role that drew a line in a joint move."""
    moves = enumerate(zip(roles, joint_move, strict=False))
    drew = ((n, role) for n, (role, move) in moves if lattice.find_move(move))
    return next(drew, (-1, ""))


def legal_moves_view(
    picture: Picture, legal: Sequence[Term], facts: Sequence[Term] | None = None
) -> dict[str, list[str]]:
    """Every legal move with its clicks, in a compact form: there may be thousands.

    facts   of the state, None if it is not shown

    moves   terms in KIF, as `play` takes them
    texts   in notation
    paths   for each move the clicks in order, separated by `;`, each the names of what may be clicked,
            separated by `|`; empty if the move can only be chosen from the list
    """
    reading = picture.notation.reading
    if reading is None:
        lattice = picture.lattice
        clicks = [[] if lattice is None else line_path(lattice, move) for move in legal]
        clicked = [";".join(path) for path in clicks]
    else:
        paths = reading.paths(legal)
        places = set(chain.from_iterable(paths))
        names = {cells: "|".join(map(cell_name, sorted(cells))) for cells in places}
        clicked = [";".join(map(names.__getitem__, path)) for path in paths]
    return {
        "moves": list(map(str, legal)),
        "texts": picture.notation.texts(legal, facts),
        "paths": clicked,
    }


def arrows(history: MatchHistory, picture: Picture, role: Role) -> list[str]:
    """For each legal move of a role, where it leads: paths of moves that name no cell, such as `north`.

    Empty where no move does, and where there are too many to try.
    """
    game, legal = history.game, history.legal(role)
    if picture.board is None or not 1 < len(legal) <= MAX_DIRECTIONS:
        return []
    if any(legal_moves_view(picture, legal)["paths"]):
        return []
    state, before = history.state(), history.facts()
    others = {each: history.legal(each)[0] for each in game.roles}
    found = []
    for move in legal:
        joint_move = [move if each == role else others[each] for each in game.roles]
        found.append(_way(picture, role, before, game.facts(game.next_state(state, joint_move))))
    return found


def _way(picture: Picture, role: object, before: Sequence[Term], after: Sequence[Term]) -> str:
    """From where to where a piece has gone, as a path: one of the role, or the only one."""
    board = picture.board
    if board is None:
        return ""
    old, new = board.contents(before), board.contents(after)
    roles = frozenset(board.style.roles)
    come = {cell: stack[0] for cell, stack in new.items() if old.get(cell, ("",))[0] != stack[0]}
    own = {cell: content for cell, content in come.items() if owner_of(content[-1], roles) == str(role)}
    if len(own or come) != 1:
        return ""
    ((target, content),) = (own or come).items()
    sources = [cell for cell, stack in old.items() if content in stack and new.get(cell) != stack]
    if not sources:
        return ""
    source = min(sources, key=lambda cell: abs(cell[0] - target[0]) + abs(cell[1] - target[1]))
    return f"{cell_name(source)};{cell_name(target)}"


def moves_view(
    history: MatchHistory, picture: Picture, person: Role | None, reports: Reports | None = None
) -> dict[str, list[list[str | None]]]:
    """The joint moves in role order: in notation (`history`), in KIF (`terms`), and their clicks (`trails`).

    person    if given, only the moves of this role and those that its percepts report: others are None
    reports   see `find_reports`
    """
    for number, step in enumerate(history.steps):
        if step.notes is None:
            facts = history.facts(number) if person is None else None
            after = history.facts(number + 1) if person is None else ()
            step.notes = tuple(
                (picture.notation.text(move, facts), str(move), trail(picture, role, move, facts, after))
                for role, move in zip(history.game.roles, step.joint_move, strict=True)
            )
    roles, rows = history.game.roles, []
    for step in history.steps:
        reported = {} if person is None else reported_moves(reports or {}, step.percepts[roles.index(person)])
        others = {role: (picture.notation.text(move), str(move), "") for role, move in reported.items()}
        notes = zip(roles, step.notes or (), strict=True)
        rows.append([note if person in (None, role) else others.get(role) for role, note in notes])
    return {
        name: [[None if note is None else note[place] for note in row] for row in rows]
        for place, name in enumerate(("history", "terms", "trails"))
    }


def trail(
    picture: Picture, role: object, move: Term, before: Sequence[Term] | None, after: Sequence[Term]
) -> str:
    """The clicks of a move that was made, as paths of `legal_moves_view`; of a column the cell that changed.

    Of a move that names no cell, such as `north`, where a piece of the role went.

    before, after   the states around it; before is None if they are hidden
    """
    path = legal_moves_view(picture, (move,))["paths"][0]
    if not path and before is not None and move.name != IDLE:
        return _way(picture, role, before, after)
    if "|" not in path or before is None:
        return path
    changed = map(cell_name, picture.changed_cells(before, after))
    return "|".join(sorted(set(path.split("|")).intersection(changed))) or path


def report_view(notation: Notation, report: Mapping[str, Any], facts: Sequence[Term]) -> dict[str, Any]:
    """A search report with the text of each move, and its best line as texts and as `line_terms`."""
    moves = [{**each, "text": notation.of_kif(each["move"], facts)} for each in report.get("moves", ())]
    line = report.get("line", [])
    return {**report, "moves": moves, "line": notation.line(line, facts), "line_terms": line}
