"""The states of a match as one SVG that plays by itself, in any browser or image viewer that knows SMIL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gdl.terms import Term
from ggp.analysis.board import Board, Cell, Values
from ggp.analysis.board_pieces import stack_markup
from ggp.analysis.board_svg import SIDE, Grid
from ggp.analysis.svg import svg_document

HELD_FRAMES = 4
"""How many frames the last state is shown for before the match begins again."""

_Run = tuple[Cell, tuple[Values, ...], int, int]
"""What lies on a cell from one frame to another, that one excluded."""


def animated_svg(board: Board, states: Sequence[Iterable[Term]], frame_seconds: float = 0.8) -> str:
    """An SVG document that shows `states`, the facts of each, one after the other and again.

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
    for cell, stack, begin, end in _runs(board, states, count):
        piece = stack_markup(board, stack, *grid.middle(cell))
        parts.append(f"<g>{piece}{_shown(begin, end, count, frame_seconds)}</g>")
    return svg_document(grid.left + grid.width + SIDE / 2, grid.top + grid.height + SIDE, parts)


def _runs(board: Board, states: Sequence[Iterable[Term]], count: int) -> list[_Run]:
    runs: list[_Run] = []
    open_runs: dict[Cell, tuple[tuple[Values, ...], int]] = {}
    for frame, facts in enumerate(states):
        contents = board.contents(facts)
        for cell, (stack, begin) in list(open_runs.items()):
            if contents.get(cell) != stack:
                runs.append((cell, stack, begin, frame))
                del open_runs[cell]
        for cell, stack in contents.items():
            open_runs.setdefault(cell, (stack, frame))
    return runs + [(cell, stack, begin, count) for cell, (stack, begin) in open_runs.items()]


def _shown(begin: int, end: int, count: int, frame_seconds: float) -> str:
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
        f'dur="{count * frame_seconds:g}s" repeatCount="indefinite"/>'
    )
