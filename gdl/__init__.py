"""The Game Description Language: parsing, validation, reasoning, grounding.

>>> import gdl
>>> program = gdl.parse("(role robot) (<= terminal lit)", name="game.kif")
>>> print(gdl.render(gdl.validate(program)[0], program.source))
game.kif:1:27: warning GDL305: ...
 1 | (role robot) (<= terminal lit)
   |                           ^^^

Pipeline, from text to ground rules:

    syntax/        text to terms and rules, and back
    terms          symbols, variables, compounds, and their places in the text
    program        rules, literals and formulas; rules indexed by predicate
    errors         diagnostics and exceptions with a place in the text
    keywords       the words that the language reserves, with their arities
    normalize      bodies as plain tuples of literals, without `and` and `or`
    dependencies   predicate dependency graph: components, strata, negative cycles
    validation/    diagnostics: errors, broken restrictions, warnings
    reasoning/     evaluation of the rules in one state
    grounding/     propositional rules over all facts and moves that can occur
    slices         variable-length lists stored one after the other in one array
    work_clock     the CPU time that a child process has taken

The names exported here are imported on first use, so that `import gdl` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gdl.errors import Diagnostic, GdlError, render
    from gdl.program import Program
    from gdl.syntax.formatting import format_kif
    from gdl.syntax.parser import parse, parse_file
    from gdl.validation import validate

__all__ = ["Diagnostic", "GdlError", "Program", "format_kif", "parse", "parse_file", "render", "validate"]

_HOMES = {
    "Diagnostic": "gdl.errors",
    "GdlError": "gdl.errors",
    "Program": "gdl.program",
    "format_kif": "gdl.syntax.formatting",
    "parse": "gdl.syntax.parser",
    "parse_file": "gdl.syntax.parser",
    "render": "gdl.errors",
    "validate": "gdl.validation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gdl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
