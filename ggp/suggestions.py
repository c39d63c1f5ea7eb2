"""Suggestions for a mistyped name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MIN_SIMILAR = 0.7


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question with a space before it; empty if no known name is similar.

    >>> did_you_mean("mtach", ["match", "manage"]), did_you_mean("x", ["match"])
    (' Did you mean match?', '')
    """
    close = get_close_matches(word, list(known), n=3, cutoff=_MIN_SIMILAR)
    return f" Did you mean {' or '.join(close)}?" if close else ""
