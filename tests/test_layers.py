"""The floors of the house: imports point down, and each heavy library stays where it belongs.

All imports count, those inside functions and under `TYPE_CHECKING` included.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from ggp.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent

FLOORS = tuple(
    tuple(floor.split())
    for floor in (
        "gdl.slices gdl.errors gdl.work_clock gdl.terms gdl.keywords gdl.program gdl.normalize "
        "gdl.dependencies gdl.syntax gdl.reasoning gdl.grounding gdl.validation gdl "
        "ggp.files ggp.integers ggp.notebook ggp.confidence_intervals ggp.suggestions",
        "ggp.processes",
        "ggp.game ggp.jit",
        "ggp.circuit",
        "ggp.native",
        "ggp.lanes ggp.analysis",
        "ggp.engines",
        "ggp.features ggp.beliefs ggp.networks ggp.export",
        "ggp.solver",
        "ggp.search ggp.match ggp.knowledge",
        "ggp.validation ggp.protocol ggp.proofs",
        "ggp.players ggp.bench ggp.teaching",
        "ggp.player_server ggp.tournament ggp.assessment ggp.game_evaluation ggp.items ggp.env ggp.explain",
        "ggp.web",
        "ggp.cli",
        "ggp ggp.__main__",
    )
)
"""Rooms from the ground up. A room imports rooms of lower floors only, `gdl` excepted: see `GDL_FLOORS`."""

SEARCH_FLOORS = (
    ("budget", "report", "option_table", "decisive"),
    ("protocol",),
    ("tree", "rollouts"),
    ("alphabeta", "forest"),
    ("sets", "proof_numbers"),
    ("root_value", "one_state"),
    ("certificate",),
)
"""The same inside `ggp.search`, for its rooms and its files."""

HOMES = {
    "lark": ("gdl.syntax",),
    "clingo": ("gdl.grounding",),
    "numba": ("ggp.jit",),
    "llvmlite": ("ggp.jit", "ggp.native"),
    "aiohttp": ("ggp.web",),
    "click": ("ggp.cli",),
    "gymnasium": ("ggp.env.gymnasium", "ggp.env.pettingzoo"),
    "pettingzoo": ("ggp.env.pettingzoo",),
    "torch": ("ggp.teaching.teacher",),
    "pyspiel": ("ggp.env.openspiel",),
}
"""Which modules (or packages) may import a library; everything else reaches it through them."""

STARTED_AS_PROGRAMS = ("clingo",)
"""Libraries that we run as a program of their own rather than import."""

GDL_MAY_IMPORT = {"gdl", "lark", "clingo", "numpy"} | set(sys.stdlib_module_names)


@cache
def modules() -> dict[str, Path]:
    found = {}
    for package in ("gdl", "ggp"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(name: str) -> frozenset[str]:
    """What a module imports, anywhere in its text: modules of ours as themselves, others by full name."""
    path, known, names = modules()[name], modules(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            for alias in node.names:
                full = f"{module}.{alias.name}"
                names.add(full if full in known else module)
    return frozenset(names)


def room(name: str) -> str:
    """The room of a module: `ggp.search.tree.options` lies in `ggp.search`."""
    rooms = {each for floor in FLOORS for each in floor}
    parts = name.split(".")
    for length in (2, 1):
        if ".".join(parts[:length]) in rooms and (length == 2 or len(parts) == 1):
            return ".".join(parts[:length])
    raise AssertionError(f"{name} lies in no room: give it one in FLOORS")


def floor_of(name: str) -> int:
    return next(number for number, floor in enumerate(FLOORS) if room(name) in floor)


def ours(name: str) -> list[str]:
    return sorted(each for each in imports(name) if each in modules() and each != name)


@pytest.mark.parametrize("name", [name for name in modules() if name.split(".")[0] == "ggp"])
def test_imports_point_down(name):
    upward = [
        target for target in ours(name) if room(target) != room(name) and floor_of(target) >= floor_of(name)
    ]
    assert not upward, f"{name} (floor {floor_of(name)}) imports {upward}"


def test_imports_point_down_inside_search():
    floors = {room: number for number, rooms in enumerate(SEARCH_FLOORS) for room in rooms}
    inside = {name: name.split(".")[2] for name in modules() if name.startswith("ggp.search.")}
    assert set(inside.values()) == set(floors)
    upward = [
        (name, target)
        for name, own in inside.items()
        for target in ours(name)
        if inside.get(target, own) != own and floors[inside[target]] >= floors[own]
    ]
    assert not upward


@pytest.mark.parametrize("name", [name for name in modules() if name.split(".")[0] == "gdl"])
def test_gdl_imports_nothing_of_play(name):
    assert not {each.split(".")[0] for each in imports(name)} - GDL_MAY_IMPORT


def test_modules_form_no_import_circle():
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import circle: {' -> '.join((*trail, name))}"
        if name not in done:
            for target in ours(name):
                visit(target, (*trail, name))
            done.add(name)

    for name in modules():
        visit(name, ())


@pytest.mark.parametrize("library", HOMES)
def test_library_stays_at_home(library):
    homes = HOMES[library]
    users = [name for name in modules() if any(each.split(".")[0] == library for each in imports(name))]
    assert users or library in STARTED_AS_PROGRAMS, f"nothing imports {library} any more: drop it from HOMES"
    assert not [
        user for user in users if not any(user == home or user.startswith(f"{home}.") for home in homes)
    ]


def packages_with_a_list() -> list[Path]:
    """Folders whose docstring lists their files, one a line."""
    return [
        init for init in sorted(ROOT.glob("g*/**/__init__.py")) if len(listed_in(init) & files_of(init)) > 1
    ]


def listed_in(init: Path) -> set[str]:
    return set(re.findall(r"^ *(\w+)/?  +\S", docstring_of(init), re.MULTILINE))


def docstring_of(init: Path) -> str:
    return ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""


def files_of(init: Path) -> set[str]:
    modules = {path.stem for path in init.parent.glob("*.py") if not path.stem.startswith("__")}
    return modules | {path.parent.name for path in init.parent.glob("*/__init__.py")}


def test_folders_list_their_files():
    folders = packages_with_a_list()
    assert len(folders) > 25
    for init in folders:
        missing = files_of(init) - set(re.findall(r"\w+", docstring_of(init)))
        missing -= set(COMMANDS) if init.parent.name == "cli" else set()
        stale = {name for name in listed_in(init) - files_of(init) if not (init.parent / name).exists()}
        assert not missing | stale, f"{init.parent.relative_to(ROOT)}: {missing=}, {stale=}"
