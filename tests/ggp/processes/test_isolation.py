"""No child process imports a module that happens to lie in the working directory."""

import os
import subprocess
import sys
import time

import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse
from ggp.files import PACKAGE
from ggp.jit.second_process import compiled_beside
from ggp.processes.child import Child
from ggp.processes.isolation import isolated_command, isolated_environment
from ggp.tournament.pool import ProcessWorkers
from ggp.web.open_matches import MATCH_MODULE, SHEET_MODULE
from tests.ggp.tournament.worker_calls import variables

RULES = "(role a) (init p) (legal a m) (next p) (goal a 0) (<= terminal (true p))"
NAMES = [
    *("asyncio", "clingo", "contextlib", "dataclasses", "gdl", "ggp", "json", "llvmlite", "logging", "numba"),
    *("multiprocessing", "numpy", "os", "queue", "random", "runpy", "signal", "site", "subprocess"),
    *("tempfile", "threading", "typing"),
]


@pytest.fixture(params=[None, "", ":", ".", "modules:", "::./modules"])
def trap(request, tmp_path, monkeypatch):
    """A working directory with modules of these names, and PYTHONPATH leading there; the file they write.

    No test may leave the file.
    """
    written = tmp_path / "written"
    for folder in (tmp_path / "here", tmp_path / "here" / "modules"):
        folder.mkdir()
        for name in NAMES:
            text = f"with open({str(written)!r}, 'a') as file: file.write({name!r} + ' ')\n"
            (folder / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path / "here")
    if request.param is None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", request.param)
    yield written
    assert not written.exists()


without_path = pytest.mark.parametrize("trap", [None], indirect=True)
also_relative = pytest.mark.parametrize(
    "trap", [None, pytest.param("modules:", marks=pytest.mark.slow)], indirect=True
)


def test_the_trap_works(trap):
    subprocess.run([sys.executable, "-m", "queue"], check=False, capture_output=True)
    assert trap.read_text()
    trap.unlink()


def test_an_isolated_child_imports_nothing_from_here(trap):
    run = subprocess.run(
        isolated_command("ggp.jit.second_process"), env=isolated_environment(), capture_output=True, text=True
    )
    assert "IndexError" in run.stderr  # it ran, without its arguments


@pytest.mark.slow
@also_relative
@pytest.mark.parametrize(
    ("module", "do", "arguments"),
    [
        ("ggp.player_server.worker", "prepare", {"agent": "random"}),
        ("ggp.player_server.state_process", "forget", {}),
        (MATCH_MODULE, "prepare", {"rules": RULES, "name": "n"}),
        (SHEET_MODULE, "check", {"rules": RULES}),
    ],
)
def test_processes_of_player_and_page(module, do, arguments, trap):
    child = Child(module, "4096")
    result = child.wait(child.ask(do, **arguments), time.monotonic() + 300)
    child.close()
    assert result is None or result["roles"] == ["a"]


@also_relative
def test_second_process(trap, tmp_path):
    with compiled_beside("queue", folder=tmp_path, cores=2):  # of the standard library: it does nothing
        pass
    assert list(tmp_path.glob("queue-*.done"))


@also_relative
def test_gringo(trap):
    ground(parse(RULES))


@without_path
@pytest.mark.parametrize("chosen", [None, "1"])
def test_tournament_workers_hand_on_the_setting_of_the_user(trap, chosen, monkeypatch):
    if chosen is None:
        monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONSAFEPATH", chosen)
    with ProcessWorkers(1) as workers:
        found = workers.submit(variables).result(60)
    assert found.get("PYTHONSAFEPATH") == chosen  # programs of agents may need their folder
    assert os.environ.get("PYTHONSAFEPATH") == chosen


def test_python_is_started_in_one_place():
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for package in (PACKAGE, PACKAGE.parent / "gdl")
        for path in package.rglob("*.py")
    }
    assert {name for name in texts if "sys.executable" in texts[name]} == {"isolation.py", "gringo.py"}
    assert not {name for name in texts if "import multiprocessing" in texts[name]}
