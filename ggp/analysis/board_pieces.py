"""What lies on a cell as SVG: discs, chess figures, strokes for x and o, short texts, cell outlines.

Everything carries a class for a stylesheet and colors for pictures that stand alone; the stylesheet wins.
"""

from __future__ import annotations

from collections.abc import Sequence

from ggp.analysis.board import Board, Values
from ggp.analysis.svg import svg_text

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

_CHESS = {"king": "♚", "queen": "♛", "rook": "♜", "bishop": "♝", "knight": "♞", "pawn": "♟"}
_COLORS = {"w": "white", "b": "black"}
_CHESS_LETTERS = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}
_CHESS_COLORS = {"white": 'fill="#fdfdfb" stroke="#3a3a3a"', "black": 'fill="#24262b" stroke="#9a9a9a"'}
_OBSTACLES = ("arrow", "wall", "rock", "stone", "block", "blocked", "burnt")


def stack_markup(board: Board, stack: Sequence[Values], x: float, y: float) -> str:
    """The topmost content of a cell with its middle at (x, y) pixels; a dot on it if more lies below."""
    markup = piece_markup(board, stack[0], x, y)
    if len(stack) > 1:
        markup += f'<circle class="piece top" cx="{x:g}" cy="{y:g}" r="5" fill="#fff" stroke="#444"/>'
    return markup


def is_pictured(content: Values) -> bool:
    """Whether `content` is drawn so that it needs no legend.

    >>> is_pictured(("white_pawn",)), is_pictured(("red",)), is_pictured(("fox",))
    (True, True, False)
    """
    words = _words(content)
    return (words[0] in DISCS and words[1:] in ([], ["man"])) or chess_figure(words) is not None


def _words(content: Values) -> list[str]:
    return content[0].replace("-", "_").split("_") if len(content) == 1 else list(content)


def piece_markup(board: Board, content: Values, x: float, y: float) -> str:
    """`content` around the middle of a cell at (x, y) pixels."""
    words = _words(content)
    if words[0] in DISCS and words[1:] in ([], ["man"]):
        fill = DISCS[words[0]]
        return f'<circle class="piece disc" cx="{x:g}" cy="{y:g}" r="16" fill="{fill}" stroke="#444"/>'
    figure = chess_figure(words)
    if figure is not None:
        color, glyph = figure
        style = f' class="piece chess {color}" font-size="34" {_CHESS_COLORS[color]}'
        return svg_text(x, y + 12, glyph, "middle", style)
    if words[-1] in _OBSTACLES and words[:-1] == []:
        corner = f'x="{x - 13:g}" y="{y - 13:g}" width="26" height="26" rx="4"'
        return f'<rect class="piece obstacle" {corner} fill="#8a8276" stroke="#5a5348"/>'
    stroke = 'fill="none" stroke-width="4.5" stroke-linecap="round"'
    if words == ["x"]:
        path = f"M{x - 11:g} {y - 11:g}l22 22m0-22l-22 22"
        return f'<path class="piece stroke ink-0" d="{path}" stroke="{INKS[0]}" {stroke}/>'
    if words == ["o"]:
        circle = f'cx="{x:g}" cy="{y:g}" r="12"'
        return f'<circle class="piece stroke ink-1" {circle} stroke="{INKS[1]}" {stroke}/>'
    names = tuple(board.labels)
    ink = names.index(content[-1]) % 6 if content[-1] in names else 6
    label = board.label(content)
    size = 20 if len(label) < 3 else 14
    style = f' class="piece ink-{ink}" font-size="{size}" font-weight="bold" fill="{INKS[ink]}"'
    return svg_text(x, y + size * 0.35, label, "middle", style)


def chess_figure(words: Sequence[str]) -> tuple[str, str] | None:
    """Color and figure of a chess piece, written as words or as two letters such as `wk`.

    >>> chess_figure(["wk"]), chess_figure(["black", "pawn"]), chess_figure(["arrow"])
    (('white', '♚'), ('black', '♟'), None)
    """
    if len(words) == 1 and len(words[0]) == 2:
        color, kind = words[0][0], words[0][1]
        words = [_COLORS.get(color, ""), _CHESS_LETTERS.get(kind, "")]
    if len(words) == 2 and words[0] in ("white", "black") and words[1] in _CHESS:
        return words[0], _CHESS[words[1]]
    return None
