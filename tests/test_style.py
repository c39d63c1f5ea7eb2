"""Limits on the size of functions: lines, parameters and nesting.

Not counted: the parameters of click commands, which are their options, and the nesting of `elif`.
A function inside a function is measured on its own.
"""

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Size(NamedTuple):
    """Measurements of one function; a click command has no parameters."""

    lines: int
    parameters: int
    nesting: int


LIMIT = Size(lines=60, parameters=8, nesting=4)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


def nesting(node: ast.AST) -> int:
    """The depth of the deepest block within `node`, functions and classes inside it aside."""
    return max(
        (
            nesting(child) + (isinstance(child, BLOCKS) and not is_elif(node, child))
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, SCOPES)
        ),
        default=0,
    )


def is_elif(node: ast.AST, child: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]


def size_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Size:
    arguments = function.args
    names = [each.arg for each in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    is_command = any("click" in ast.unparse(decorator) for decorator in function.decorator_list)
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    return Size(lines, 0 if is_command else len(names), nesting(function))


def functions_in(node: ast.AST, prefix: str = "") -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions within `node`, by qualified name."""
    found = []
    for child in ast.iter_child_nodes(node):
        name = f"{prefix}{child.name}" if isinstance(child, (*FUNCTIONS, ast.ClassDef)) else ""
        if isinstance(child, FUNCTIONS):
            found.append((name, child))
        found += functions_in(child, f"{name}." if name else prefix)
    return found


@cache
def sizes() -> dict[str, tuple[int, Size]]:
    """Line and size of every function of gdl and ggp, by `path:qualified name`."""
    found: dict[str, tuple[int, Size]] = {}
    for package in ("gdl", "ggp"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for name, function in functions_in(tree):
                key = f"{path.relative_to(ROOT).as_posix()}:{name}"
                line, size = found.get(key, (function.lineno, Size(0, 0, 0)))
                # Variants of one name (overloads, a fallback) count as their largest.
                found[key] = line, Size(*map(max, size, size_of(function)))
    return found


def test_functions_keep_the_limits():
    too_large = [
        f"{key} (line {line}): {size}, at most {LIMIT}"
        for key, (line, size) in sizes().items()
        if any(own > most for own, most in zip(size, LIMIT, strict=True))
    ]
    assert not too_large, "\n".join(too_large)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(a, /, b, *, c): pass", (1, 3, 0)),
        ("def f(self, a):\n    return a", (2, 2, 0)),
        ("@click.command()\ndef f(a, b):\n    if a:\n        pass", (3, 0, 1)),
        ("def f(a):\n    if a: pass\n    elif b: pass\n    elif c: pass", (4, 1, 1)),
        ("def f(a):\n    if a: pass\n    else:\n        for b in a: pass\n        if b: pass", (5, 1, 2)),
        ("async def f():\n    with a:\n        def g():\n            if a: pass", (4, 0, 1)),
        ("def f():\n    try:\n        pass\n    except E:\n        while a: pass", (5, 0, 2)),
    ],
)
def test_size_counts_lines_parameters_and_nesting(code, expected):
    name, function = functions_in(ast.parse(code))[0]
    assert name == "f"
    assert size_of(function) == expected
