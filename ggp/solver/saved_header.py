"""The header of a saved solution: a line with the format, and a line of JSON about the solution.

All that can be wrong with such a file but its numbers is found here, without numpy, which takes its time.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from gdl.program import Program
from gdl.syntax.printer import to_kif

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
_LISTS = ("roles", "values", "fluents")
_ITEM_BYTES: Mapping[str, Mapping[str, int]] = {
    "keys": {"<u8": 8},
    "value": {"|u1": 1, "<f8": 8},
    "depth": {"<u2": 2},
}
"""Types of the arrays, with bytes per item; any other is not mapped."""


def rules_digest(program: Program) -> str:
    """SHA-256 of the rules as canonical KIF; comments and layout do not matter."""
    return hashlib.sha256(to_kif(program).encode()).hexdigest()


class SavedSolutionError(Exception):
    """The file is not a saved solution, is incomplete, or belongs to other rules."""


def is_saved_solution(path: str | Path) -> bool:
    """Whether the file begins like a saved solution; False if there is no such file. Nothing is read from a
    pipe, which would block until a writer appears."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def read_header(path: Path) -> tuple[Mapping[str, Any], int]:
    """The description of a saved solution, checked, and where the arrays begin.

    Types, places and shapes of the arrays are possible ones, and the state code is sound.
    Raises OSError, SavedSolutionError.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise SavedSolutionError(f"{path}: not a saved solution")
        try:
            header = _checked_header(json.loads(file.readline()))
            start = file.tell()
            _check_code(header["code"], len(set(header["fluents"])))
            _check_arrays(header, os.fstat(file.fileno()).st_size - start)
            return header, start
        except DAMAGED as error:
            raise SavedSolutionError(f"{path}: incomplete or damaged ({error})") from None


def _checked_header(header: Any) -> Mapping[str, Any]:
    if not isinstance(header, dict):
        raise ValueError("no header")
    for name, kind in _HEADER.items():
        value = header[name]
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, kind) for item in items) or isinstance(value, list) != (name in _LISTS):
            raise ValueError(f"{name} is of another type")
    if len(header["values"]) != len(header["roles"]):
        raise ValueError("a role without a value")
    return header


def _check_arrays(header: Mapping[str, Any], room: int) -> None:
    """Raise ValueError unless the arrays have possible types and shapes, and end within `room` bytes."""
    shapes = {}
    for name, item_bytes in _ITEM_BYTES.items():
        place, dtype, shape = header["arrays"][name]
        if dtype not in item_bytes:
            raise ValueError(f"{name} of type {dtype!r}")
        if not all(type(number) is int and number >= 0 for number in (place, *shape)):
            raise ValueError(f"{name}: impossible place or shape")
        if place + item_bytes[dtype] * math.prod(shape) > room:
            raise ValueError(f"{name}: beyond the end of the file")
        shapes[name] = tuple(shape)
    states = shapes["depth"][0]
    words, roles = header["code"]["word_count"], len(header["roles"])
    if shapes != {"keys": (states, words), "value": (states, roles), "depth": (states,)}:
        raise ValueError("array shapes disagree")


def _check_code(code: Any, fluents: int) -> None:
    """Raise ValueError unless it is a state code (`ggp.lanes.keys.state_code`) for this number of fluents."""
    planes, words = len(code["first_source"]) - 1, code["word_count"]
    sizes_agree = type(words) is int and 0 <= planes <= 64 * words and words <= 1 + planes
    if not sizes_agree or len(code["first_digit"]) - 1 != fluents:
        raise ValueError("not a state code: wrong sizes")
    for first, items, limit in (
        (code["first_source"], code["source"], fluents),
        (code["first_digit"], code["digit"], 2 * planes),
    ):
        are_whole = all(type(number) is int for number in (*first, *items))
        is_split = are_whole and first[0] == 0 and first[-1] == len(items)
        is_split = is_split and all(begin < end for begin, end in pairwise(first))
        if not is_split or not all(0 <= item < limit for item in items):
            raise ValueError("not a state code: numbers out of range")
