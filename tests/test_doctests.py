"""Doctests of every module of `gdl` and `ggp`, one test per module that has any."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules_with_doctests() -> list[str]:
    """Modules whose text has a prompt; the others need not be imported to know that."""
    found = []
    for package in ("gdl", "ggp"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                parts = path.relative_to(ROOT).with_suffix("").parts
                found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


@pytest.mark.parametrize("name", modules_with_doctests())
def test_doctests_of_module(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert result.attempted, f"{name}: prompts outside of docstrings, or docstrings that doctest does not see"
    assert not result.failed, f"{name}: {result.failed} of {result.attempted} examples failed (output above)"
