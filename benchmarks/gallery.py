"""Draw the boards that are recognized without a stylesheet, and count the sheets that get one.

    python -m benchmarks.gallery PICTURE.svg [SHEET.kif …] > table.md

Draws some of the bundled games after a few random moves into one picture, and prints what is recognized in
each bundled sheet and in each SHEET as Markdown.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ggp
from ggp.analysis.board import Board
from ggp.analysis.board_svg import board_svg
from ggp.analysis.picture import find_picture
from ggp.analysis.svg import svg_document, svg_text
from ggp.game import Game

GAMES = Path(__file__).resolve().parent.parent / "games"

SHOWN = (
    *(("hex_5x5", 12), ("chinesecheckers_3p", 30), ("minichess", 6), ("amazons", 10), ("nineboard", 30)),
    *(("pentago", 20), ("checkers", 16), ("peg", 8), ("tron", 6), ("connectfour", 16)),
    *(("othello_6x6", 10), ("maze", 6)),
)
"""Pictures of the gallery: game and the number of random steps made."""
SEED = 7
COLUMNS = 4
TILE = 250
"""Pixels of the square in which each board is drawn; names stand below."""
NAME_HEIGHT = 24


@dataclass(frozen=True)
class SheetPicture:
    """What one sheet gets: a description of its board, empty without one, and the names of its figures."""

    name: str
    board: str
    figures: tuple[str, ...]


def state_after(game: Game[Any], steps: int, seed: int) -> Any:
    """The state after `steps` random joint moves, or the last one before the end."""
    rng = random.Random(seed)
    state = game.initial_state()
    for _ in range(steps):
        following = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
        if game.is_terminal(following):
            break
        state = following
    return state


def shape_words(board: Board) -> str:
    """A board in a few words.

    >>> from ggp.analysis.board import Axis, Layer
    >>> two = (("1",), ("2",))
    >>> shape_words(Board((Layer("cell", 3, Axis((0,), two), Axis((1,), two)),), True, (None,)))
    '2 × 2 squares'
    """
    cells = f"{len(board.across.values)} × {len(board.down.values)}"
    words = f"{cells} {'hexagons' if board.row_shifts else 'squares'}"
    if board.outside:
        words += f", {len(board.outside)} places cut off"
    if board.blocks != (0, 0):
        words += f", in blocks of {board.blocks[0]} × {board.blocks[1]}"
    return words


def examine(path: Path) -> SheetPicture:
    """What is recognized in one sheet."""
    game = ggp.load(path, engine="reasoner")
    facts = game.facts(game.initial_state())
    picture = find_picture(game.program, facts)
    figures = tuple(sorted({type(figure).__name__.lower() for figure in picture.figures}))
    return SheetPicture(path.stem, "" if picture.board is None else shape_words(picture.board), figures)


def draw_gallery() -> str:
    """The boards of `SHOWN` as one SVG document."""
    parts = []
    for number, (name, steps) in enumerate(SHOWN):
        game = ggp.load(name, engine="reasoner")
        board = find_picture(game.program, game.facts(game.initial_state())).board
        assert board is not None, name
        facts = game.facts(state_after(game, steps, SEED))
        drawing = board_svg(board, [fact for fact in facts if board.shows(fact)])
        row, column = divmod(number, COLUMNS)
        x, y = column * TILE, row * (TILE + NAME_HEIGHT)
        place = f'<svg x="{x + 6}" y="{y + 6}"'
        size = f'width="{TILE - 12}" height="{TILE - 12}"'
        inner = drawing.split("viewBox=", 1)[1]
        parts.append(f"{place} {size} viewBox={inner.rstrip()}")
        parts.append(svg_text(x + TILE / 2, y + TILE + 10, name, "middle"))
    rows = -(-len(SHOWN) // COLUMNS)
    return svg_document(COLUMNS * TILE, rows * (TILE + NAME_HEIGHT), parts)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python -m benchmarks.gallery PICTURE.svg [SHEET.kif …]")
    Path(sys.argv[1]).write_text(draw_gallery(), encoding="utf-8")
    groups = {"bundled": sorted(GAMES.glob("*.kif")), "given": sorted(map(Path, sys.argv[2:]))}
    print("| sheets | number | with a board | share |\n|---|---:|---:|---:|")
    examined = {group: [examine(path) for path in paths] for group, paths in groups.items() if paths}
    for group, pictures in examined.items():
        count = sum(bool(picture.board) for picture in pictures)
        print(f"| {group} | {len(pictures)} | {count} | {count / len(pictures):.0%} |")
    for group, pictures in examined.items():
        print(f"\n## {group}\n\n| board | sheets |\n|---|---|")
        names: dict[tuple[bool, str], list[str]] = {}
        for picture in pictures:
            instead = f"none; {', '.join(picture.figures) or 'facts only'}"
            names.setdefault((not picture.board, picture.board or instead), []).append(picture.name)
        for (_, words), sheets in sorted(names.items()):
            print(f"| {words} | {', '.join(sheets)} |")


if __name__ == "__main__":
    main()
