"""Lines between dots as SVG for a page, and the line to click for a move.

Lines carry `data-cell`, as the cells of `board_markup` do: `level 0,1`, `upright 2,0`, by column and row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from gdl.terms import Term
from ggp.analysis.figures import LineFamily, Lines
from ggp.analysis.svg import svg_text, xml_attribute

_PITCH = 64
"""Pixels from dot to dot."""
_MARGIN = 30
_HALF = 11
"""Half the width of the clickable area."""

_Place = tuple[int, int]


def line_path(lines: Lines, move: Term) -> list[str]:
    """The line to click for a move with a line as its term, as `(draw (across 1 2))`; else nothing."""
    found = lines.find_move(move)
    return [] if found is None else [_name("upright" if found[0] else "level", found[1])]


def _name(kind: str, place: _Place) -> str:
    return f"{kind} {place[0]},{place[1]}"


def lines_markup(
    lines: Lines,
    facts: Sequence[Term],
    before: Sequence[Term] = (),
    owners: Mapping[_Place, tuple[int, str]] | None = None,
) -> str:
    """The state `facts` as an SVG element; boxes with four sides are filled.

    before   the facts of the state before: lines that are new since are marked
    owners   of boxes, if they are known: number and name of the role
    """
    level, upright = _drawn(lines.level, facts), _drawn(lines.upright, facts)
    old = _drawn(lines.level, before), _drawn(lines.upright, before)
    columns, rows = len(lines.upright.across.values), len(lines.level.down.values)
    width, height = (_MARGIN * 2 + _PITCH * (count - 1) for count in (columns, rows))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" width="{2 * width}" '
        f'viewBox="0 0 {width} {height}" role="group" aria-label="board">'
    ]
    for column, row in sorted(lines.boxes(facts)):
        x, y = _dot((column, row + 1), rows)
        number, name = (owners or {}).get((column, row), (-1, ""))
        kind = "box" if number < 0 else f"box owned ink-{number % 6}"
        parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{_PITCH}" height="{_PITCH}"/>')
        style = ' class="owner"'
        parts.append(svg_text(x + _PITCH / 2, y + _PITCH / 2 + 7, name[:1].upper(), "middle", style))
    spans = (product(range(columns - 1), range(rows)), product(range(columns), range(rows - 1)))
    for kind, span, drawn, known in zip(("level", "upright"), spans, (level, upright), old, strict=True):
        new = drawn - known if before else set()
        parts += [_line(kind, place, rows, (place in drawn, place in new)) for place in span]
    for place in product(range(columns), range(rows)):
        x, y = _dot(place, rows)
        parts.append(f'<circle class="post" cx="{x}" cy="{y}" r="5"/>')
    names = [
        svg_text(8, _dot((0, row), rows)[1] + 4, text[-1]) for row, text in enumerate(lines.level.down.values)
    ]
    for column, text in enumerate(lines.column_names):
        names.append(svg_text(_dot((column, 0), rows)[0], height - 6, text, "middle"))
    return "\n".join([*parts, '<g class="names">', *names, '</g><g class="marks"></g></svg>'])


def _drawn(family: LineFamily, facts: Iterable[Term]) -> set[_Place]:
    return {place for fact in facts if (place := family.find(fact)) is not None}


def _dot(place: _Place, rows: int) -> _Place:
    """The pixels of a dot; the first row is at the bottom."""
    return _MARGIN + _PITCH * place[0], _MARGIN + _PITCH * (rows - 1 - place[1])


def _line(kind: str, place: _Place, rows: int, state: tuple[bool, bool]) -> str:
    """A line, or the place for one. state: whether it is drawn, and whether it is new."""
    is_drawn, is_new = state
    x, y = _dot(place, rows)
    is_level = kind == "level"
    right, up = (_PITCH, 0) if is_level else (0, _PITCH)
    left, top = (x, y - _HALF) if is_level else (x - _HALF, y - up)
    size = f'width="{right or 2 * _HALF}" height="{up or 2 * _HALF}"'
    kinds = "cell line changed" if is_new else "cell line"
    label = f"{_name(kind, place)}: {'drawn' if is_drawn else 'empty'}"
    stroke = f'<path class="wall" d="M{x} {y}l{right} {-up}" stroke-width="6"/>' if is_drawn else ""
    return (
        f'<g class="{kinds}" data-cell="{_name(kind, place)}" aria-label={xml_attribute(label)}>'
        f'<rect class="square" x="{left}" y="{top}" {size} rx="6"/>{stroke}'
        f'<circle class="dot" cx="{x + right / 2:g}" cy="{y - up / 2:g}" r="4.5"/></g>'
    )
