"""Names that a misspelled one may stand for: those one letter away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

SHORTEST, LONGEST = 3, 40
"""Shorter names are alike too easily, and to compare longer ones would cost more than it tells."""


class Spelling:
    """The names of a sheet by what is left of them when a letter is dropped.

    Two names that differ by one letter more, less, or other, or by two that are exchanged, have such a rest
    in common. Finding them takes as many steps as a name has letters.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = {}
        for name in dict.fromkeys(names):
            for rest in _rests(name):
                self._names.setdefault(rest, []).append(name)

    def hint(self, name: str) -> str:
        """`: did you mean 'control'?` where a known name is close to `name`; else empty."""
        for rest in _rests(name):
            for known in self._names.get(rest, ()):
                if known != name:
                    return f": did you mean '{known}'?"
        return ""


def _rests(name: str) -> Iterator[str]:
    if SHORTEST <= len(name) <= LONGEST:
        yield name
        for place in range(len(name)):
            yield name[:place] + name[place + 1 :]
