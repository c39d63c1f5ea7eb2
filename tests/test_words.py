"""Words that stop a native reader, and pointers to names that are gone, in code and pages.

The words may stand in none of docstrings, comments, help texts, messages and pages. A dotted name of this
project in a docstring, comment or page resolves.
"""

import ast
import importlib
import io
import pkgutil
import re
import tokenize
from functools import cache

import pytest

import gdl
import ggp
from docs.links import ROOT

WORDS = re.compile(
    r"\b(nobody|somebody|whoever|is\s+told|tells|anew|brought\s+about|for\s+lack\s+of|so\s+many)\b",
    re.IGNORECASE,
)
SHOWN = (".py", ".js", ".html", ".css", ".md", ".toml")
FOLDERS = ("gdl", "ggp", "benchmarks", "docs", "experiments", "fuzz", "results")
NOT_IN_CODE = {"ggp.org", "ggp.kernels", "ggp.NAME"}
"""Dotted names that are none of the code: a site, a logger, a placeholder."""
POINTER = re.compile(r"(?<![\w./-])((?:gdl|ggp)(?:\.[A-Za-z_]\w*)+)(?![\w/-])")


@cache
def texts() -> dict[str, str]:
    """Path → text of all sources and pages."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SHOWN]
    paths += [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(paths)}


def room_of(path: str) -> str:
    """The room of a file: `gdl`, a folder or file of `ggp`, or a folder around the code.

    >>> [room_of(path) for path in ("gdl/terms.py", "ggp/web/pages/board.js", "ggp/game.py", "README.md")]
    ['gdl', 'ggp/web', 'ggp/game.py', 'README.md']
    """
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[0] == "ggp" else 1])


ROOMS = sorted({room_of(path) for path in texts()})


@pytest.mark.parametrize("room", ROOMS)
def test_words_that_stop_a_reader_are_not_used(room: str) -> None:
    found = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {' '.join(match[0].split())}"
        for path, text in texts().items()
        if room_of(path) == room
        for match in WORDS.finditer(text)
    ]
    assert not found, "\n".join(found)


def prose_of(path: str, text: str) -> str:
    """The docstrings and comments of Python; all of a page."""
    if not path.endswith(".py"):
        return text
    strings = [
        value.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(value := node.value, ast.Constant)
        if isinstance(value.value, str)
    ]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join([*strings, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


def pointers() -> list[tuple[str, str]]:
    """(file, dotted name) of each name that a file other than the changelog mentions."""
    found = set()
    for path, text in texts().items():
        if path == "CHANGELOG.md" or not path.endswith((".py", ".md")):
            continue
        for name in POINTER.findall(prose_of(path, text)):
            if not name.endswith((".py", ".md", ".toml", ".js")) and name not in NOT_IN_CODE:
                found.add((path, name))
    return sorted(found)


@cache
def modules() -> frozenset[str]:
    """Names of all modules of gdl and ggp."""
    return frozenset(
        module.name
        for package in (gdl, ggp)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ) | {"gdl", "ggp"}


@cache
def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one.

    >>> [resolves(name) for name in ("ggp.lanes", "ggp.load", "ggp.game.Game.legal_moves", "ggp.nothing")]
    [True, True, True, False]
    """
    parts = name.split(".")
    length = next(n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in modules())
    try:
        place: object = importlib.import_module(".".join(parts[:length]))
    except ImportError:  # a library of an extra is not installed
        return True
    for part in parts[length:]:
        if part in getattr(place, "__annotations__", {}):
            return True
        if not hasattr(place, part):
            return False
        place = getattr(place, part)
    return True


def test_dotted_names_resolve() -> None:
    stale = [f"{path}: {name}" for path, name in pointers() if not resolves(name)]
    assert not stale, "\n".join(stale)
