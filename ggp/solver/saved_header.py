"""How a file with a saved solution begins: a line naming the format, and a line of JSON about the solution.

Without numpy, so that a mistaken file is told at once.

    SavedSolutionError    the file is not a saved solution, or belongs to other rules
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MAGIC = b"ggp-solution 1\n"
DAMAGED = (ValueError, KeyError, TypeError, OverflowError, RecursionError)
"""What reading a damaged file raises."""
_HEADER: Mapping[str, Any] = {
    "game": str,
    "rules": str,
    "roles": str,
    "values": (int, float),
    "concept": str,
    "states": int,
    "transitions": int,
    "longest_line": int,
    "sum": (int, float, type(None)),
    "cyclic": int,
    "endless": (int, float, type(None)),
    "fluents": str,
}
_OF_THE_WHOLE = ("values", "longest_line")
"""What a solution of a part of the game does not have, as it need not have the initial state."""
_LISTS = ("roles", "values", "fluents")


class SavedSolutionError(Exception):
    """The file is not a saved solution, is incomplete, or belongs to other rules."""


def is_saved_solution(path: str | Path) -> bool:
    """Whether the file begins like a saved solution; False if there is no such file.

    Nothing is read from a pipe, which would block until a writer appears.
    """
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def read_header(path: Path) -> tuple[Mapping[str, Any], int]:
    """The description of a saved solution, checked, and where the arrays begin.

    Raises OSError, SavedSolutionError.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise SavedSolutionError(f"{path}: not a saved solution")
        try:
            return _checked_header(json.loads(file.readline())), file.tell()
        except DAMAGED as error:
            raise SavedSolutionError(f"{path}: incomplete or damaged ({error})") from None


def _checked_header(header: Any) -> Mapping[str, Any]:
    """`header` if all its entries have their types. Raises ValueError, KeyError, TypeError."""
    if not isinstance(header, dict):
        raise ValueError("no header")
    is_part = "part" in header
    if is_part and not isinstance(header["part"], str):
        raise ValueError("part is of another type")
    for name, kind in _HEADER.items():
        if is_part and name in _OF_THE_WHOLE:
            continue
        value = header[name]
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, kind) for item in items) or isinstance(value, list) != (name in _LISTS):
            raise ValueError(f"{name} is of another type")
    if not is_part and len(header["values"]) != len(header["roles"]):
        raise ValueError("a role without its value")
    return header
