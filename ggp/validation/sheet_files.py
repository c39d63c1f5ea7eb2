"""The rule sheets that a command line names, and their content."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from ggp.engines.loading import RulesNotFoundError, find_rules

STANDARD_INPUT = "-"
SUFFIX = ".kif"
MAX_BYTES = 8_000_000
"""Maximum number of bytes read; the parser accepts less."""


def sheet_names(arguments: Iterable[str]) -> list[str]:
    """Expand folders to the `.kif` files in and below them; no name occurs twice.

    Other names are kept, even of missing files: reading them raises the error.
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
    """(content, name for messages) of a sheet. Raises RulesNotFoundError, OSError."""
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read(MAX_BYTES), "<stdin>"
    path = find_rules(name)
    with open(path, "rb") as file:
        return file.read(MAX_BYTES), str(path)


__all__ = ["MAX_BYTES", "STANDARD_INPUT", "RulesNotFoundError", "read_bytes", "sheet_names"]
