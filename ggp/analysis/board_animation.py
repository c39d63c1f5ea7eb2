"""The states of a match as one animated SVG, in any browser or image viewer that knows SMIL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from gdl.terms import Term
from ggp.analysis.board import Board
from ggp.analysis.board_svg import SIDE, Grid, stack_markup
from ggp.analysis.svg import svg_document

FRAME_SECONDS = 0.8
HELD_FRAMES = 4
"""How many frames the last state is shown for before the match begins again."""

_Place = TypeVar("_Place")
_Content = TypeVar("_Content")
_Run: TypeAlias = tuple[_Place, _Content, int, int]
"""What is at a place from one frame to another, that one excluded."""


def animated_svg(board: Board, states: Sequence[Iterable[Term]]) -> str:
    """An SVG document that shows `states`, the facts of each, in an endless loop.

    A piece that stays is one element, so the size grows with what changes.

    >>> from gdl.syntax.parser import parse_term
    >>> from ggp.analysis.board import Axis, Layer
    >>> axis = (("1",), ("2",))
    >>> board = Board((Layer("cell", 3, Axis((0,), axis), Axis((1,), axis)),), True, (None,))
    >>> one, other = parse_term("(cell 1 1 x)"), parse_term("(cell 2 2 o)")
    >>> animated_svg(board, [[], [one], [one, other]]).count("<animate ")
    2
    """
    grid = Grid(board)
    parts = [*grid.names(), *grid.empty_cells()]
    count = len(states) + HELD_FRAMES
    shown = [tuple(facts) for facts in states]
    for cell, stack, begin, end in _runs([board.contents(facts) for facts in shown], count):
        piece = stack_markup(board, stack, *grid.middle(cell))
        parts.append(f"<g>{piece}{_shown(begin, end, count)}</g>")
    for wall, _, begin, end in _runs([dict.fromkeys(board.standing_walls(facts)) for facts in shown], count):
        parts.append(f"<g>{grid.wall(wall)}{_shown(begin, end, count)}</g>")
    return svg_document(grid.left + grid.width + SIDE / 2, grid.top + grid.height + SIDE, parts)


def _runs(frames: Sequence[Mapping[_Place, _Content]], count: int) -> list[_Run[_Place, _Content]]:
    runs: list[_Run[_Place, _Content]] = []
    open_runs: dict[_Place, tuple[_Content, int]] = {}
    for frame, contents in enumerate(frames):
        for place, (content, begin) in list(open_runs.items()):
            if place not in contents or contents[place] != content:
                runs.append((place, content, begin, frame))
                del open_runs[place]
        for place, content in contents.items():
            open_runs.setdefault(place, (content, frame))
    return runs + [(place, content, begin, count) for place, (content, begin) in open_runs.items()]


def _shown(begin: int, end: int, count: int) -> str:
    """The animation of an element that is shown from frame `begin` until frame `end` of `count`."""
    changes = [(0, "none")] if begin else []
    changes += [(begin, "inline")]
    changes += [(end, "none")] if end < count else []
    if len(changes) == 1:
        return ""
    times = ";".join(f"{frame / count:.5f}" for frame, _ in changes)
    values = ";".join(value for _, value in changes)
    return (
        f'<animate attributeName="display" calcMode="discrete" values="{values}" keyTimes="{times}" '
        f'dur="{count * FRAME_SECONDS:g}s" repeatCount="indefinite"/>'
    )
