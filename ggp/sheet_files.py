"""Which rule sheets a command line means, and their text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from ggp.loading import RulesNotFoundError, find_rules

STANDARD_INPUT = "-"
SUFFIX = ".kif"
MAX_BYTES = 8_000_000
"""Longest file that is read: beyond what the parser takes anyway."""


def sheet_names(arguments: Iterable[str]) -> list[str]:
    """Files as they are, folders as the `.kif` files in and below them, names of games as their files.

    What does not exist is kept as it is, so that reading it gives the error. No name comes twice.
    """
    names: list[str] = []
    for argument in arguments:
        path = Path(argument)
        if argument not in ("", STANDARD_INPUT) and path.is_dir():
            names += [str(sheet) for sheet in sorted(path.rglob(f"*{SUFFIX}")) if sheet.is_file()]
        else:
            names.append(argument)
    return list(dict.fromkeys(names))


def read_bytes(name: str) -> tuple[bytes, str]:
    """(content, name for messages) of a file, a game that comes along, or standard input.

    Raises RulesNotFoundError, OSError.
    """
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read(MAX_BYTES), "<stdin>"
    path = find_rules(name)
    with open(path, "rb") as file:
        return file.read(MAX_BYTES), str(path)


__all__ = ["MAX_BYTES", "STANDARD_INPUT", "RulesNotFoundError", "read_bytes", "sheet_names"]
