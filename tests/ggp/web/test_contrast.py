"""Colors of the pages: text has a contrast of at least 4.5 to what lies below it, large text 3 (WCAG 2.2)."""

import re
from itertools import product

import pytest

from ggp.analysis.board_svg import DISCS
from ggp.web.server import STATIC

GROUNDS = ("paper", "sheet")
TEXTS = ("ink", "faint", "accent", "good", "bad", "warn", *(f"ink-{number}" for number in range(6)))
CELLS = ("light-cell", "dark-cell")
PAIRS = [
    *((text, ground, 4.5) for text, ground in product(TEXTS, GROUNDS)),
    ("paper", "accent", 4.5),
    *((f"ink-{number}", cell, 3.0) for number, cell in product(range(6), CELLS)),
]


def palettes():
    """The colors of the light page, and of the dark one, by name."""
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for sheet in ("base.css", "board.css"):
        blocks = re.findall(r":root \{(.*?)\}", (STATIC / sheet).read_text(), re.S)
        for palette, block in zip((light, dark), blocks, strict=True):
            palette.update(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    return {"light": light, "dark": {**light, **dark}}


def luminance(color):
    """Relative luminance of `#rrggbb`, 0 to 1 (WCAG 2.2)."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    bright, dim = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_its_ground(theme):
    colors = palettes()[theme]
    weak = {
        (text, ground): round(contrast(colors[text], colors[ground]), 2)
        for text, ground, least in PAIRS
        if contrast(colors[text], colors[ground]) < least
    }
    assert not weak


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["board-light", "board-dark", "felt", "behind"])
def test_black_pieces_stand_out_from_their_cells(theme, ground):
    assert contrast(DISCS["black"], palettes()[theme][ground]) >= 3
