"""Which diagnostics are reported: the codes selected.

What leaves a sheet without a meaning (FATAL) is always reported, because no program can load such a sheet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from gdl.errors import Diagnostic
from gdl.terms import Span
from gdl.validation.codes import CODES
from gdl.validation.sheet import counted

ALL = "ALL"
OFF_BY_DEFAULT = frozenset({"GDL304"})
"""Codes reported only if selected."""

FATAL = re.compile(r"GDL(1\d\d|20[1-7]|21[019])")
"""Codes that cannot be deselected: programs refuse to load such sheets."""

_PLAYED = re.compile(r"GDL4\d?\d?")
"""Codes that are only found by playing."""


@dataclass(frozen=True)
class Selection:
    """Codes to report, by prefixes: the longest one that fits decides, and of equal ones `ignore`.

    >>> default, strict = Selection(), Selection(select=("GDL3",), ignore=("GDL315",))
    >>> default.includes("GDL304"), strict.includes("GDL304"), strict.includes("GDL315")
    (False, True, False)
    >>> Selection(ignore=("ALL",)).includes("GDL207")
    True
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def includes(self, code: str) -> bool:
        """Whether findings of `code` are reported."""
        if FATAL.fullmatch(code):
            return True
        if not self.select:
            return code not in OFF_BY_DEFAULT and _fit(self.ignore, code) < 0
        return _fit(self.select, code) > _fit(self.ignore, code)


EVERYTHING = Selection(select=(ALL,))
"""All codes, also those that are off by default."""


def _fit(prefixes: Iterable[str], code: str) -> int:
    """Length of the longest of `prefixes` that fits `code`; -1 if none does."""
    fitting = (0 if prefix == ALL else len(prefix) for prefix in prefixes if is_prefix(prefix, code))
    return max(fitting, default=-1)


def is_prefix(prefix: str, code: str) -> bool:
    return prefix == ALL or code.startswith(prefix)


def is_known(prefix: str) -> bool:
    """Whether `prefix` is a code or the beginning of one, or `ALL`.

    >>> is_known("GDL3"), is_known("GDL9"), is_known("all")
    (True, False, False)
    """
    return bool(_PLAYED.fullmatch(prefix)) or any(is_prefix(prefix, code) for code in CODES)


def merged_singletons(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """All findings, those of GDL304 as one."""
    kinds: dict[bool, list[Diagnostic]] = {False: [], True: []}
    for diagnostic in found:
        kinds[diagnostic.code == "GDL304"].append(diagnostic)
    singles = kinds[True]
    if len(singles) > 1:
        first = min(singles, key=lambda d: d.span or Span(0, 0, 0, 0))
        more = f" ({counted(len(singles) - 1, 'further variable')} likewise)"
        singles = [replace(first, message=first.message + more)]
    return kinds[False] + singles
