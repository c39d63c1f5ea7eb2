"""Entries of docs/reference/diagnostics.md, for `ggp validate --explain`."""

from __future__ import annotations

import re

from ggp.files import PACKAGE

PLACES = (PACKAGE.parent / "docs" / "reference" / "diagnostics.md", PACKAGE / "diagnostics.md")
"""Next to the sources, or in the installed package."""


def explanation(code: str) -> str | None:
    """The entry for a diagnostic code, including its heading; None if there is none."""
    page = next((path for path in PLACES if path.is_file()), None)
    if page is None:
        return None
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^### ({re.escape(code.upper())}: .*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(1).strip() if found else None
