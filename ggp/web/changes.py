"""Difference between successive states of a match, as data for pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The difference between two states as data; `merged` of page.js applies it.

    patches   of long lists and texts of many lines: their new `length`, and the entries that differ `at`
              their places

    >>> changes({"step": 1, "board": "a\\nb\\nc"}, {"step": 2, "board": "a\\nx\\nc"})
    {'step': 2, 'patches': {'board': {'length': 3, 'at': {'1': 'x'}}}}
    """
    changed = {key: value for key, value in after.items() if key not in before or before[key] != value}
    patches = {}
    for key in [key for key in changed if key in before]:
        old, new = _entries(before[key]), _entries(changed[key])
        at = {str(place): each for place, each in enumerate(new) if old[place : place + 1] != [each]}
        if 2 * len(at) < len(new):
            patches[key] = {"length": len(new), "at": at}
            del changed[key]
    return changed | ({"patches": patches} if patches else {})


def merged(before: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """The state after `changes`.

    >>> merged({"moves": [1, 2, 3]}, {"patches": {"moves": {"length": 4, "at": {"3": 9}}}})
    {'moves': [1, 2, 3, 9]}
    """
    state = {**before, **changed}
    for key, patch in state.pop("patches", {}).items():
        known, at = _entries(before[key]), patch["at"]
        entries = [at[str(n)] if str(n) in at else known[n] for n in range(patch["length"])]
        state[key] = "\n".join(entries) if isinstance(before[key], str) else entries
    return state


def _entries(value: Any) -> list[Any]:
    """The lines of a text, or the list itself; empty for other values."""
    return value.split("\n") if isinstance(value, str) else value if isinstance(value, list) else []
