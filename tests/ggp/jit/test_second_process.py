"""A second process compiles beside this one, once, and never outlives the block it belongs to."""

import time

import pytest

from ggp.jit.second_process import begin_second_process, compiled_beside

WRITES = """
with open({path!r}, "a") as file:
    file.write("x")
"""


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Writes modules that child processes can run; returns the folder."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_it_runs_once(modules, tmp_path):
    written, cache = tmp_path / "written", tmp_path / "cache"
    cache.mkdir()
    (modules / "compiles.py").write_text(WRITES.format(path=str(written)))
    for _ in range(2):
        with compiled_beside("compiles", folder=cache, cores=2):
            pass
        assert written.read_text() == "x"


def test_it_runs_once_for_other_arguments(modules, tmp_path):
    (modules / "says.py").write_text(
        f"import sys\nwith open({str(tmp_path / 'written')!r}, 'a') as file: file.write(str(sys.argv[1:]))\n"
    )
    for arguments in ((), ("more",), ("more",), ()):
        with compiled_beside("says", *arguments, folder=tmp_path, cores=2):
            pass
    assert (tmp_path / "written").read_text() == "[]['more']"


def test_it_runs_again_if_it_failed(modules, tmp_path):
    written = tmp_path / "written"
    (modules / "fails.py").write_text(WRITES.format(path=str(written)) + "raise SystemExit(1)\n")
    for count in (1, 2):
        with compiled_beside("fails", folder=tmp_path, cores=2):
            pass
        assert written.read_text() == "x" * count


@pytest.mark.parametrize(("has_cache", "cores"), [(False, 2), (True, 1)])
def test_it_does_not_run_without_a_cache_or_a_second_core(modules, tmp_path, has_cache, cores):
    written = tmp_path / "written"
    (modules / "compiles.py").write_text(WRITES.format(path=str(written)))
    with compiled_beside("compiles", folder=tmp_path if has_cache else None, cores=cores):
        pass
    assert not written.exists()


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
    end = time.monotonic() + 60
    while not process.is_over and time.monotonic() < end:
        time.sleep(0.01)
    assert process.has_succeeded == (code == 0)
    assert len(list(tmp_path.glob("*.done"))) == (code == 0)
    assert (begin_second_process("ends", folder=tmp_path, cores=2) is None) == (code == 0)
