"""A state on its board as an SVG picture; the board is the terminal's.

Pieces carry a class for a stylesheet and colors for pictures that stand alone; the stylesheet wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from gdl.terms import Term
from ggp.analysis.board import Board, Cell, Values, legend
from ggp.analysis.board_style import owner_of
from ggp.analysis.svg import svg_document, svg_text, xml_text
from ggp.analysis.walls import Wall

SIDE = 44
"""Pixels of a cell, and of a margin."""
HEXAGON_PITCH = SIDE * 0.75**0.5
"""Pixels from row to row of hexagons that are SIDE wide."""
GAP = 12
"""Pixels between the boards of a board of boards."""
LINE_HEIGHT = 16
LINE_CHARACTERS = 80
FACT_LINES = 4
"""Maximum number of lines for facts that the board does not show."""
DISCS = {
    "red": "#d33f3f",
    "blue": "#3b6fd1",
    "green": "#3a9a5b",
    "yellow": "#f2c230",
    "white": "#ffffff",
    "black": "#222222",
    "magenta": "#b145a8",
    "cyan": "#3fb4c4",
    "teal": "#2a8c8c",
}
"""Contents that are drawn as a disc: those that are nothing but a color."""
INKS = ("#1f4fa3", "#b3261e", "#2e7d32", "#8a5a00", "#6a1b9a", "#00695c", "#222222")
"""Colors of text, in the order of the board's labels; the last for unlabeled contents."""

_Line: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
"""A side of a cell, from corner to corner, in pixels."""
_CHESS = {"king": "♚", "queen": "♛", "rook": "♜", "bishop": "♝", "knight": "♞", "pawn": "♟"}
_COLORS = {"w": "white", "b": "black"}
_CHESS_LETTERS = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}
_CHESS_COLORS = {"white": 'fill="#fdfdfb" stroke="#3a3a3a"', "black": 'fill="#24262b" stroke="#9a9a9a"'}
_OBSTACLES = ("arrow", "wall", "rock", "stone", "block", "blocked", "burnt")


FILLS = {
    "plain": ("#f7f3e8", "#f7f3e8", "#b9ae94"),
    "checkered": ("#eadfc6", "#b9976b", "#9c7f58"),
    "discs": ("#3f8a5c", "#3f8a5c", "#2c6644"),
    "frame": ("#2f66b8", "#2f66b8", "#2f66b8"),
    "holes": ("#e6d3ae", "#e6d3ae", "#e6d3ae"),
}
"""Kind of board → fill of light and dark cells, and their outline."""
PEG = "#8a4b1f"
EDGE_INKS = ("#1f4fa3", "#b3261e")
"""Colors of edges of roles that are not named after a color, in the order of the roles."""


class Grid:
    """Where the cells of a board lie in a picture, in pixels.

    left, top       the upper left corner of the cells; names stand to the left and below
    width, height   of all cells together
    """

    def __init__(self, board: Board, left: float = SIDE, top: float = SIDE / 2) -> None:
        self.board, self.left, self.top = board, left, top
        rows = range(len(board.down.values))
        pitch = HEXAGON_PITCH if board.row_shifts else SIDE
        self._column_x = _offsets(board, 0, range(len(board.across.values)), SIDE)
        self._row_y = _offsets(board, 1, reversed(rows) if board.is_upward else rows, pitch)
        self._shifts = board.row_shifts or (0,) * len(rows)
        cells = self.cells()
        self.width = max(self.corner(cell)[0] for cell in cells) - left + SIDE
        self.height = max(self.corner(cell)[1] for cell in cells) - top + SIDE

    def cells(self) -> list[Cell]:
        """All cells that are drawn, the top row first."""
        cells = ((column, row) for row in self._row_y for column in self._column_x)
        return [cell for cell in cells if cell not in self.board.outside]

    def corner(self, cell: Cell) -> tuple[float, float]:
        """The upper left corner of a cell, or of the square around its middle."""
        column, row = cell
        x = self._column_x[column] + self._shifts[row] * SIDE / 2
        return self.left + x, self.top + self._row_y[row]

    def middle(self, cell: Cell) -> tuple[float, float]:
        """The middle of a cell."""
        x, y = self.corner(cell)
        return x + SIDE / 2, y + SIDE / 2

    def outline(self, cell: Cell, style: str) -> str:
        """The square or hexagon of a cell; `style`: attributes."""
        x, y = self.corner(cell)
        if not self.board.row_shifts:
            return f'<rect x="{x:g}" y="{y:g}" width="{SIDE}" height="{SIDE}" {style}/>'
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in self.rim(cell))
        return f'<polygon points="{points}" {style}/>'

    def rim(self, cell: Cell) -> list[tuple[float, float]]:
        """The corners of a cell, clockwise."""
        x, y = self.corner(cell)
        if not self.board.row_shifts:
            return [(x, y), (x + SIDE, y), (x + SIDE, y + SIDE), (x, y + SIDE)]
        half, radius = SIDE / 2, HEXAGON_PITCH / 1.5
        x, y = x + half, y + half
        rim = [(0, -radius), (half, -radius / 2), (half, radius / 2), (0, radius)]
        rim += [(-half, radius / 2), (-half, -radius / 2)]
        return [(x + right, y + below) for right, below in rim]

    def hole(self, cell: Cell) -> str:
        """The hole of a cell in which a disc or a peg shows; nothing on other kinds of boards."""
        kind = self.board.style.kind
        if kind not in ("frame", "holes") or cell in self.board.holes:
            return ""
        x, y = self.middle(cell)
        radius, fill = (
            (18, "#dfe7f3") if kind == "frame" else (8 if not self.board.row_shifts else 13, "#b79b6c")
        )
        return f'<circle class="hollow" cx="{x:g}" cy="{y:g}" r="{radius}" fill="{fill}"/>'

    def edges(self) -> list[str]:
        """The sides of the board in the colors of the roles that have to connect them."""
        if not self.board.style.edges:
            return []
        last_column, last_row = len(self.board.across.values) - 1, len(self.board.down.values) - 1
        level = ("bottom", "top") if self.board.is_upward else ("top", "bottom")
        lines: dict[frozenset[tuple[int, int]], list[tuple[Cell, _Line]]] = {}
        for cell in self.cells():
            rim = self.rim(cell)
            for one, other in zip(rim, [*rim[1:], rim[0]], strict=True):
                key = frozenset((round(x), round(y)) for x, y in (one, other))
                lines.setdefault(key, []).append((cell, (one, other)))
        outer = [found[0] for found in lines.values() if len(found) == 1]
        sides: dict[str, list[_Line]] = {}
        for cell, line in outer:
            column, row = cell
            places = {"left": column == 0, "right": column == last_column}
            places |= {level[0]: row == 0, level[1]: row == last_row}
            rivals = [side for side, is_there in places.items() if is_there]
            if rivals:  # at a corner, the side that the line faces more
                side = max(rivals, key=lambda each: self._faces(cell, line, each))
                sides.setdefault(side, []).append(line)
        owners, drawn = dict(self.board.style.edges), []
        for side, own in sides.items():
            path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for (a, b), (c, d) in own)
            if side in owners:
                kind, color = self._edge_color(owners[side])
                style = f'class="edge {kind}" stroke="{color}" stroke-width="6" stroke-linecap="round"'
                drawn.append(f'<path d="{path}" {style} fill="none"/>')
        return drawn

    def _faces(self, cell: Cell, line: _Line, side: str) -> float:
        """How far a line of a cell lies towards a side, in pixels."""
        (a, b), (c, d), (x, y) = *line, self.middle(cell)
        right, below = (a + c) / 2 - x, (b + d) / 2 - y
        return {"left": -right, "right": right, "top": -below, "bottom": below}[side]

    def _edge_color(self, role: str) -> tuple[str, str]:
        """Class and color of the edge of a role."""
        if role in DISCS:
            return f"edge-{role}", DISCS[role]
        ink = self.board.style.roles.index(role) % len(EDGE_INKS) if role in self.board.style.roles else 0
        return f"ink-{ink}", EDGE_INKS[ink]

    def empty_cells(self) -> list[str]:
        """All cells without contents, in their colors."""
        drawn = []
        light, dark, line = FILLS[self.board.style.kind]
        for cell in self.cells():
            fill = "#777" if cell in self.board.holes else dark if self.board.is_dark(cell) else light
            drawn.append(self.outline(cell, f'fill="{fill}" stroke="{line}"') + self.hole(cell))
        return [*drawn, *self.edges()]

    def walls(self, facts: Iterable[Term]) -> list[str]:
        """The walls of a state."""
        return [self.wall(wall) for wall in sorted(self.board.standing_walls(facts))]

    def wall(self, wall: Wall) -> str:
        """A wall, as a line between cells."""
        column, row, is_upright = wall
        x, y = self.corner((max(column, 0), max(row, 0)))
        if is_upright:
            x += SIDE if column >= 0 else 0
        else:
            y += SIDE if (row >= 0) is not self.board.is_upward else 0
        style = 'class="wall" stroke="#5a4632" stroke-width="5" stroke-linecap="round"'
        return f'<path d="M{x:g} {y:g}{"v" if is_upright else "h"}{SIDE}" {style}/>'

    def names(self) -> list[str]:
        """The coordinates of rows and columns; columns that end above the last row have none."""
        firsts: dict[int, int] = {}
        for column, row in self.cells():
            firsts.setdefault(row, column)
        names = []
        for row, column in firsts.items():
            x, y = self.corner((column, row))
            names.append(svg_text(x - 6, y + SIDE / 2 + 4, self.board.row_names[row], "end"))
        if self.board.row_shifts and self.board.outside:
            return names
        below = self.top + self.height + LINE_HEIGHT
        last = list(self._row_y)[-1]
        for column, name in enumerate(self.board.column_names):
            x = self.left + self._column_x[column] + (self._shifts[last] + 1) * SIDE / 2
            names.append(svg_text(x, below, name, "middle"))
        return names


def _offsets(board: Board, side: int, order: Iterable[int], pitch: float) -> dict[int, float]:
    """The first pixel of each column (side 0) or row (1), with gaps between boards and blocks."""
    offsets: dict[int, float] = {}
    place, previous = 0.0, None
    for index in order:
        if previous is not None and board.is_gap(side, previous, index):
            place += GAP if board.blocks == (0, 0) else GAP / 2
        offsets[index], previous = place, index
        place += pitch
    return offsets


def board_svg(board: Board, facts: Iterable[Term]) -> str:
    """The state `facts` as an SVG document: board, legend, facts off the board."""
    facts = tuple(facts)
    grid = Grid(board)
    parts = [*grid.names(), *grid.empty_cells()]
    for cell, stack in board.contents(facts).items():
        title = f"<title>{xml_text(' '.join(stack[0]))}</title>"  # shows when the pointer rests on the cell
        parts.append(f"<g>{title}{stack_markup(board, stack, *grid.middle(cell))}</g>")
    parts += grid.walls(facts)
    y = grid.top + grid.height + 2.5 * LINE_HEIGHT
    lines = _lines(board, facts)
    parts += [svg_text(4, y + LINE_HEIGHT * number, line) for number, line in enumerate(lines)]
    widest = max((len(line) for line in lines), default=0)
    return svg_document(
        max(grid.left + grid.width + SIDE / 2, 7 * widest + 8), y + LINE_HEIGHT * len(lines), parts
    )


def _lines(board: Board, facts: tuple[Term, ...]) -> list[str]:
    """Lines of limited length: the legend, then the facts off the board."""
    pegs = {board.layers[0].name} if board.style.kind == "holes" else set()
    entries = [entry for entry in legend(board, facts) if entry[1] not in pegs and not is_pictured(entry[1:])]
    key = "  ".join(f"{label} = {name}" for label, name in entries)
    lines, begun = [key] if key else [], ""
    for text in (str(fact) for fact in facts if not board.shows(fact)):
        if begun and len(begun) + len(text) > LINE_CHARACTERS:
            lines.append(begun)
            begun = ""
        begun = f"{begun}  {text}" if begun else text
    lines += [begun] if begun else []
    shown = [text if len(text) <= LINE_CHARACTERS else text[: LINE_CHARACTERS - 1] + "…" for text in lines]
    return shown if len(shown) <= FACT_LINES else [*shown[:FACT_LINES], "…"]


def stack_markup(board: Board, stack: Sequence[Values], x: float, y: float) -> str:
    """The topmost content of a cell with its middle at (x, y) pixels; a dot on it if more lies below.

    Where pieces of roles move over what they leave behind, as in tron, that is a block.
    """
    words = stack[0]
    if len(board.layers) > 1 and len(stack) == 1 and words[-1] in DISCS and words[-1] in board.style.roles:
        corner = f'x="{x - 17:g}" y="{y - 17:g}" width="34" height="34" rx="5"'
        return f'<rect class="piece trail" {corner} fill="{DISCS[words[-1]]}" opacity="0.75"/>'
    markup = piece_markup(board, stack[0], x, y)
    if len(stack) > 1:
        markup += f'<circle class="piece top" cx="{x:g}" cy="{y:g}" r="5" fill="#fff" stroke="#444"/>'
    return markup


def is_pictured(content: Values) -> bool:
    """Whether `content` is drawn so that it needs no legend, on any board.

    >>> is_pictured(("white_pawn",)), is_pictured(("red",)), is_pictured(("fox",))
    (True, True, False)
    """
    words = _words(content)
    is_obstacle = len(words) == 1 and words[0] in _OBSTACLES
    return _is_disc(words) or is_obstacle or chess_figure(words) is not None


def _is_disc(words: Sequence[str]) -> bool:
    return words[0] in DISCS and words[1:] in ([], ["man"])


def _words(content: Values) -> list[str]:
    return content[0].replace("-", "_").split("_") if len(content) == 1 else list(content)


def piece_markup(board: Board, content: Values, x: float, y: float) -> str:
    """`content` around the middle of a cell at (x, y) pixels."""
    words, style = _words(content), board.style
    has_men = any(label.endswith("_man") for label in board.labels)
    is_crowned = has_men and words[0] in DISCS and words[1:] == ["king"]
    if _is_disc(words) or is_crowned:
        return _disc_markup(words, x, y, has_men=has_men)
    if style.kind == "holes" and content == (board.layers[0].name,):
        return f'<circle class="piece disc peg" cx="{x:g}" cy="{y:g}" r="14" fill="{PEG}" stroke="#4d2a12"/>'
    figure = chess_figure(words)
    if figure is not None:
        color, glyph = figure
        kind = f' class="piece chess {color}" font-size="34" {_CHESS_COLORS[color]}'
        return svg_text(x, y + 12, glyph, "middle", kind)
    if len(words) == 1 and words[0] in _OBSTACLES:
        corner = f'x="{x - 13:g}" y="{y - 13:g}" width="26" height="26" rx="4"'
        return f'<rect class="piece obstacle" {corner} fill="#8a8276" stroke="#5a5348"/>'
    stroke = 'fill="none" stroke-width="4.5" stroke-linecap="round"'
    if words == ["x"]:
        path = f"M{x - 11:g} {y - 11:g}l22 22m0-22l-22 22"
        return f'<path class="piece stroke ink-0" d="{path}" stroke="{INKS[0]}" {stroke}/>'
    if words == ["o"]:
        circle = f'cx="{x:g}" cy="{y:g}" r="12"'
        return f'<circle class="piece stroke ink-1" {circle} stroke="{INKS[1]}" {stroke}/>'
    return _label_markup(board, content, x, y)


def piece_glyph(content: str) -> str:
    """A character for a piece in a line of text.

    >>> piece_glyph("wn"), piece_glyph("black_pawn"), piece_glyph("white_man"), piece_glyph("red")
    ('♘', '♟', '○', '●')
    """
    words = _words((content,))
    figure = chess_figure(words)
    if figure is not None and "man" not in words:
        return chr(ord(figure[1]) - 6) if figure[0] == "white" else figure[1]
    return "○" if words[0] == "white" else "●"


def _disc_markup(words: Sequence[str], x: float, y: float, *, has_men: bool) -> str:
    """A disc of a color; men have a ring, kings a crown."""
    fill, crown = DISCS[words[0]], words[1:] == ["king"]
    markup = (
        f'<circle class="piece disc {words[0]}" cx="{x:g}" cy="{y:g}" r="16" fill="{fill}" stroke="#444"/>'
    )
    line = "#777" if words[0] in ("black", "white") else "#0006"
    if has_men:
        markup += f'<circle class="groove" cx="{x:g}" cy="{y:g}" r="11" fill="none" stroke="{line}"/>'
    if crown:
        ink = "#222" if words[0] in ("white", "yellow") else "#f2c230"
        markup += svg_text(x, y + 6, "♛", "middle", f' class="crown" font-size="18" fill="{ink}"')
    return markup


def _label_markup(board: Board, content: Values, x: float, y: float) -> str:
    """The label of a content; on a checkered board, where letters would not stand out, on a disc."""
    owner = owner_of(content[-1], frozenset(board.style.roles))
    names = tuple(board.labels) if owner is None else board.style.roles  # in the colors of the roles
    name = owner or content[-1]
    ink = names.index(name) % 6 if name in names else 6
    label = board.label(content)
    size = 20 if len(label) < 3 else 14
    disc, fill, kind = "", INKS[ink], f"piece ink-{ink}"
    if board.style.kind in ("checkered", "discs", "frame", "holes"):
        disc = f'<circle class="disc token" cx="{x:g}" cy="{y:g}" r="16" fill="{INKS[ink]}" stroke="#444"/>'
        fill, size, kind = "#ffffff", min(size, 17), "piece label"
    style = f' class="{kind}" font-size="{size}" font-weight="bold" fill="{fill}"'
    return disc + svg_text(x, y + size * 0.35, label, "middle", style)


def chess_figure(words: Sequence[str]) -> tuple[str, str] | None:
    """Color and figure of a chess piece, written as words or as two letters such as `wk`."""
    if len(words) == 1 and len(words[0]) == 2:
        color, kind = words[0][0], words[0][1]
        words = [_COLORS.get(color, ""), _CHESS_LETTERS.get(kind, "")]
    if len(words) == 2 and words[0] in ("white", "black") and words[1] in _CHESS:
        return words[0], _CHESS[words[1]]
    return None
