"""A second process compiles beside this one, once, and outlives it only if it is left to."""

import subprocess
import sys
import time

import pytest
from numba.core import event

from ggp.jit.second_process import begin_second_process, compiled_beside

WRITES = """
import sys
with open({path!r}, "a") as file:
    file.write(str(sys.argv[1:]))
"""


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Writes modules that child processes can run; returns the folder."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_it_ends_with_its_block(modules, tmp_path):
    (modules / "sleeps.py").write_text("import time\ntime.sleep(600)\n")
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), compiled_beside("sleeps", folder=tmp_path, cores=2):
        raise KeyboardInterrupt
    assert time.monotonic() - begin < 60
    assert not list(tmp_path.glob("*.done"))


@pytest.mark.parametrize("code", [0, 1])
def test_its_success_is_noted_by_asking(modules, tmp_path, code):
    (modules / "ends.py").write_text(f"raise SystemExit({code})\n")
    process = begin_second_process("ends", folder=tmp_path, cores=2)
    until(lambda: process.is_over)
    assert process.has_succeeded == (code == 0)
    assert len(list(tmp_path.glob("*.done"))) == (code == 0)
    assert (begin_second_process("ends", folder=tmp_path, cores=2) is None) == (code == 0)


def until(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


@pytest.fixture
def slow_module(modules, tmp_path):
    """A module `waits` that runs until the file it returns exists, and says how often it was run."""
    (modules / "waits.py").write_text(
        f"import time, pathlib\nfolder = pathlib.Path({str(tmp_path)!r})\n"
        + WRITES.format(path=str(tmp_path / "written"))
        + "while not (folder / 'end').exists(): time.sleep(0.01)\n"
    )
    return tmp_path / "end"


def test_two_processes_do_not_compile_the_same(slow_module, tmp_path):
    first = begin_second_process("waits", folder=tmp_path, cores=2)
    until((tmp_path / "written").exists)
    other = begin_second_process("waits", folder=tmp_path, cores=2)
    slow_module.touch()
    for each in (first, other):
        each.wait()
        assert each.has_succeeded
    assert (tmp_path / "written").read_text() == "[]"


def test_one_that_waits_for_another_is_not_left(slow_module, tmp_path):
    first = begin_second_process("waits", folder=tmp_path, cores=2)
    other = begin_second_process("waits", folder=tmp_path, cores=2)
    assert not other.leave()
    assert other.is_over
    first.kill()
    assert not first.leave()


LEAVES = """
from pathlib import Path
from ggp.jit.second_process import begin_second_process
print(begin_second_process("waits", folder=Path({folder!r}), cores=2).leave())
"""


def test_one_that_is_left_finishes_after_its_parent(slow_module, tmp_path):
    script = LEAVES.format(folder=str(tmp_path))
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"
    assert not list(tmp_path.glob("*.done"))
    slow_module.touch()
    until(lambda: list(tmp_path.glob("*.done")))


@pytest.mark.parametrize(
    ("ending", "calls", "expected"),
    [
        ("", [(), ()], "[]"),
        ("", [(), ("more",), ("more",), ()], "[]['more']"),
        ("raise SystemExit(1)", [(), ()], "[][]"),
    ],
    ids=["once", "once for each arguments", "again after a failure"],
)
def test_it_runs_until_it_has_succeeded(modules, tmp_path, ending, calls, expected):
    (modules / "writes.py").write_text(WRITES.format(path=str(tmp_path / "written")) + ending)
    for arguments in calls:
        with compiled_beside("writes", *arguments, folder=tmp_path, cores=2):
            pass
    assert (tmp_path / "written").read_text() == expected


@pytest.mark.parametrize(("folder", "cores"), [(None, 2), ("", 1), ("file", 2)])
def test_it_does_not_run_without_a_cache_to_write_or_a_second_core(modules, tmp_path, folder, cores):
    (tmp_path / "file").write_text("in the way")
    (modules / "writes.py").write_text(WRITES.format(path=str(tmp_path / "written")))
    with compiled_beside("writes", folder=None if folder is None else tmp_path / folder, cores=cores):
        pass
    assert not (tmp_path / "written").exists()


def test_waiting_for_it_counts_as_compiling(modules, tmp_path):
    """Else a process whose limits leave compilation out is ended while its second process compiles."""
    (modules / "ends.py").write_text("")
    with event.install_listener("numba:compile", event.TimingListener()) as seen:
        with compiled_beside("ends", folder=tmp_path, cores=2):
            assert (seen.done, seen._depth) == (False, 0)
        assert seen.done
