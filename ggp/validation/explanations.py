"""Explanations of all diagnostics: those found by playing, and those of `gdl`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from gdl.validation.codes import EXPLANATIONS as STATIC_EXPLANATIONS
from ggp.validation.output import CODES

EXPLANATIONS: Mapping[str, str] = {
    **STATIC_EXPLANATIONS,
    "GDL401": (
        "A match was not over after `--limit steps=N` joint moves, or can return to an earlier state and so "
        "continue forever. Count the steps in a fact, and let `terminal` hold at the last."
    ),
    "GDL402": (
        "In a live state some role has no legal move. Give idle roles a move such as `noop`, or make the "
        "state terminal."
    ),
    "GDL403": (
        "In a terminal state every role except `random` has exactly one goal, a whole number from 0 to 100."
    ),
    "GDL404": "`base` must list every fact that may ever hold.",
    "GDL405": "`input` must list every move that may ever be legal.",
    "GDL406": (
        "The role gets 100 in no match, even if all help: the game is not weakly winnable (2008, well-formed "
        "games). Only `--prove` finds this."
    ),
    "GDL407": "In some state the rules derive terms without end.",
}
_WIDTH = 100


def explanation(code: str) -> str | None:
    """Text of `ggp validate --explain CODE`: the title and the wrapped explanation; None for unknown codes.

    >>> print(explanation("gdl106"))
    GDL106: empty list
    `()` has no meaning in GDL; a term without arguments is `(name)`.
    """
    code = code.upper()
    if code not in CODES:
        return None
    text = textwrap.fill(EXPLANATIONS[code], _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{code}: {CODES[code]}\n{text}"
