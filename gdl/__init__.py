"""The Game Description Language: reading, checking, reasoning, grounding.

    program = gdl.parse("(role robot) ...")
    for diagnostic in gdl.validate(program):
        print(gdl.render(diagnostic, program.source))

What is named here is imported when it is first used, so that `import gdl` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gdl.errors import Diagnostic, GdlError, render
    from gdl.formatting import format_kif
    from gdl.parser import parse, parse_file
    from gdl.program import Program
    from gdl.validation import validate

__all__ = [
    "Diagnostic",
    "GdlError",
    "Program",
    "format_kif",
    "parse",
    "parse_file",
    "render",
    "validate",
]

_HOMES = {
    "Diagnostic": "gdl.errors",
    "GdlError": "gdl.errors",
    "Program": "gdl.program",
    "format_kif": "gdl.formatting",
    "parse": "gdl.parser",
    "parse_file": "gdl.parser",
    "render": "gdl.errors",
    "validate": "gdl.validation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gdl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
