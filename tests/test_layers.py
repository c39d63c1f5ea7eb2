"""Dependencies point downwards, and each heavy library stays where it belongs."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

HOMES = {
    "lark": ("gdl.parser", "gdl.term_builders", "gdl.syntax_errors"),
    "clingo": ("gdl.grounding",),
    "numba": ("ggp.kernels",),
    "llvmlite": ("ggp.kernels",),
    "aiohttp": ("ggp.http_player", "ggp.game_manager", "ggp.http_client", "ggp.http_front", "ggp.viewer"),
    "pyswip": ("ggp.prolog_process",),
    "click": ("ggp.cli", "ggp.commands"),
}
"""Which modules (or packages) may import a library; everybody else reaches it through them."""

STARTED_AS_PROGRAMS = ("clingo",)
"""Libraries that we run as a program of their own rather than import."""

GDL_MAY_IMPORT = {"gdl", "lark", "clingo", "numpy"} | set(sys.stdlib_module_names)


def modules() -> dict[str, Path]:
    found = {}
    for package in ("gdl", "ggp"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("module", [name for name in modules() if name.split(".")[0] == "gdl"])
def test_gdl_imports_nothing_of_play(module):
    foreign = {name.split(".")[0] for name in imports(modules()[module])} - GDL_MAY_IMPORT
    assert not foreign


@pytest.mark.parametrize("library", HOMES)
def test_library_stays_at_home(library):
    homes = HOMES[library]
    users = [
        name for name, path in modules().items() if any(i.split(".")[0] == library for i in imports(path))
    ]
    assert users or library in STARTED_AS_PROGRAMS, f"nobody imports {library} any more: drop it from HOMES"
    strangers = [u for u in users if not any(u == home or u.startswith(home + ".") for home in homes)]
    assert not strangers


def test_modules_form_no_import_cycle():
    """At import time, that is: imports inside functions are late on purpose."""
    known = modules()
    edges = {}
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        targets = set()
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                targets |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
            elif isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
        edges[name] = {target for target in targets if target in known and target != name}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import cycle: {' -> '.join((*trail, name))}"
        if name not in done:
            for target in sorted(edges[name]):
                visit(target, (*trail, name))
            done.add(name)

    for name in known:
        visit(name, ())


def test_modules_are_short_enough_to_be_found_in_one_look():
    long = {n: lines for n, p in modules().items() if (lines := len(p.read_text().splitlines())) > 400}
    assert not long
