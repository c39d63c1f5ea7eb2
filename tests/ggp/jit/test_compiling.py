"""The cache of compiled kernels belongs to one version of all their sources."""

import ast
import os
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
from numba.core import event

from ggp.files import PACKAGE
from ggp.jit import compiling
from ggp.jit.compiling import KEPT_VERSIONS, cache_folder, kernel_sources
from tests.conftest import mostly_slow

ROOT = PACKAGE.parent
DECORATORS = {"kernel", "inlined", "piece", "stage", "intrinsic", "_operation", "overload", "njit", "jit"}
MAY_DECORATE = re.compile(rf"@.*\b({'|'.join(sorted(DECORATORS))})\b")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def decorator_name(decorator: ast.expr) -> str:
    """`piece` of `@piece`, `@compiling.piece` and `@piece(...)`."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")


def defines_kernels(path: Path) -> bool:
    """Whether any function, wherever it stands in the file, is compiled."""
    if not MAY_DECORATE.search(path.read_text(encoding="utf-8")):
        return False  # most files: walking all their trees took a second of every start of the tests
    functions = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]
    return any(
        decorator_name(decorator) in DECORATORS
        for function in functions
        for decorator in function.decorator_list
    )


def imported_files(path: Path, package: Path) -> set[Path]:
    """The files of `package` that a file imports, anywhere in its text."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    places = [package.parent.joinpath(*name.split(".")) for name in names]
    files = {file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")}
    return {file for file in files if file.is_relative_to(package) and file.is_file()}


KERNEL_FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if defines_kernels(path)]


def test_kernels_are_found_in_many_rooms():
    rooms = {path.relative_to(PACKAGE).parts[0] for path in KERNEL_FILES}
    assert rooms >= {"jit", "circuit", "lanes", "solver", "search"}
    assert PACKAGE / "jit" / "vector_rows.py" in KERNEL_FILES


@pytest.mark.parametrize("path", mostly_slow(KERNEL_FILES, 6), ids=lambda path: str(path.relative_to(ROOT)))
def test_digest_covers_a_kernel_and_all_that_it_imports(path):
    covered = set(kernel_sources())
    waiting, reached = [path], {path}
    while waiting:
        new = imported_files(waiting.pop(), PACKAGE) - reached
        reached |= new
        waiting += new
    missing = sorted(str(each.relative_to(ROOT)) for each in reached - covered)
    assert not missing, f"kernel_sources() leaves out {missing}"


@pytest.mark.parametrize(
    "line",
    [
        "from ggp.room.part import value",
        "from ggp.room import other, part",
        "from ggp.room import part as p",
        "from ggp.room import (\n    other,\n    part,\n)",
        "import ggp.room.part as p",
        "import ggp.room.part",
        "if True:\n    from ggp.room.part import value",
        "def f():\n    import ggp.room.part",
    ],
)
def test_sources_include_imports_however_they_are_written(tmp_path, line):
    package = tmp_path / "ggp"
    (package / "room").mkdir(parents=True)
    for name in ("__init__", "other", "part", "unused"):
        (package / "room" / f"{name}.py").write_text("")
    (package / "algorithm.py").write_text(f"{line}\n\n@piece\ndef f(): pass\n")
    found = kernel_sources(package)
    assert package / "algorithm.py" in found
    assert package / "room" / "part.py" in found
    assert package / "room" / "unused.py" not in found


def test_sources_include_what_a_package_hands_on(tmp_path):
    package = tmp_path / "ggp"
    (package / "room").mkdir(parents=True)
    (package / "room" / "__init__.py").write_text("from ggp.room.part import value\n")
    (package / "room" / "part.py").write_text("value = 1\n")
    (package / "algorithm.py").write_text("from ggp.room import value\n\n@kernel\ndef f(): pass\n")
    assert set(kernel_sources(package)) == set(package.rglob("*.py"))


def test_kernel_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("GGP_KERNEL_CACHE", "")
    assert cache_folder() is None
    monkeypatch.setenv("GGP_KERNEL_CACHE", str(tmp_path / "mine"))
    chosen = cache_folder()
    assert chosen is not None
    assert chosen.is_dir()
    assert chosen.parent == tmp_path / "mine"
    monkeypatch.delenv("GGP_KERNEL_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "ggp-lanes" / "kernels" / chosen.name


def test_kernel_cache_that_cannot_be_made_is_switched_off(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GGP_KERNEL_CACHE", str(tmp_path / "file"))
    assert cache_folder() is None


def test_kernel_cache_keeps_the_newest_versions(monkeypatch, tmp_path):
    for age in range(KEPT_VERSIONS + 2):
        (tmp_path / f"version{age}").mkdir()
        os.utime(tmp_path / f"version{age}", (1000 - age, 1000 - age))
    monkeypatch.setenv("GGP_KERNEL_CACHE", str(tmp_path))
    newest = cache_folder()
    assert newest is not None
    assert {path.name for path in tmp_path.iterdir()} == {newest.name, "version0", "version1", "version2"}


MANGLED = """
from numba import typeof
from numba.core import itanium_mangler
from ggp.jit.rows import make_rows
print(itanium_mangler.mangle("f", (typeof(make_rows(1, {words})),)))
"""


@pytest.mark.skipif(not compiling.IS_COMPILED, reason="kernels run as plain Python")
def test_functions_of_rows_of_another_width_have_another_name_in_every_process():
    # One name for both would make a process that loads them from the cache run one of them for both.
    names = [
        subprocess.run(
            [sys.executable, "-c", MANGLED.format(words=words)], capture_output=True, text=True, check=True
        ).stdout
        for words in (1, 8, 8)
    ]
    assert names[0] != names[1]
    assert names[1] == names[2]


@pytest.fixture
def quickly(monkeypatch):
    for name in ("NOTICE_AFTER_SECONDS", "POLL_SECONDS", "PROGRESS_SECONDS"):
        monkeypatch.setattr(compiling, name, 0.01)
    monkeypatch.setattr(compiling, "_is_explained", False)


def test_compilation_is_announced_in_one_place(quickly):
    said, more = [], []
    with compiling.announced_compilation(said.append), compiling.announced_compilation(more.append):
        for _ in range(2):
            with event.trigger_event("numba:compile"):
                time.sleep(0.1)
    assert said[0].startswith("compiling kernels for this processor (once")
    assert any(text.startswith("compiling kernels: 1 done") for text in said)
    assert said[-1].startswith("compiled 2 kernels in ")
    assert not more
    with compiling.announced_compilation(said.append), event.trigger_event("numba:compile"):
        time.sleep(0.1)
    assert "compiling more kernels ..." in said


def test_compilation_that_begins_late_is_announced_too(quickly, monkeypatch):
    monkeypatch.setattr(compiling, "PROGRESS_SECONDS", 10.0)
    said = []
    with compiling.announced_compilation(said.append):
        time.sleep(0.1)
        assert not said
        with event.trigger_event("numba:compile"):
            time.sleep(0.2)
    kinds = [text.split(" (")[0] for text in said]
    assert kinds == ["compiling kernels for this processor", "compiled 1 kernel in 0 s"]
    with compiling.announced_compilation(said.append):
        time.sleep(0.1)
    assert len(said) == 2
