"""The entries of docs/diagnostics.md, for `ggp validate --explain`."""

from __future__ import annotations

import re
from pathlib import Path

_HERE = Path(__file__).resolve().parent
PLACES = (_HERE.parent / "docs" / "diagnostics.md", _HERE / "diagnostics.md")
"""Beside the sources, or in the installed package."""


def explanation(code: str) -> str | None:
    """The entry for a diagnostic's code, heading included; None where there is none."""
    page = next((path for path in PLACES if path.is_file()), None)
    if page is None:
        return None
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^### ({re.escape(code.upper())}: .*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(1).strip() if found else None
