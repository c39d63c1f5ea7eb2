"""Solver files that somebody else wrote: only possible arrays are mapped, and kernels stay within them."""

import functools
import json
import operator
import os
import subprocess
import sys

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.files import PACKAGE
from ggp.solver import (
    SavedSolutionError,
    SolverError,
    SolverLimitError,
    SolverLimits,
    Tablebase,
    save_solution,
    solve,
)
from ggp.solver.saved_header import MAGIC


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The text of the header of a saved solution of nim, and all that follows it."""
    path = tmp_path_factory.mktemp("saved") / "nim"
    save_solution(solve(load("nim", "lanes")), path)
    header, rest = path.read_bytes()[len(MAGIC) :].split(b"\n", 1)
    return header, rest


def changed(saved, keys=(), value=None):
    """The file with `value` at the path `keys` of its header."""
    header, rest = saved
    content = json.loads(header)
    if keys:
        *inner, last = keys
        functools.reduce(operator.getitem, inner, content)[last] = value
    return MAGIC + json.dumps(content).encode().ljust(len(header)) + b"\n" + rest


def test_saved_solution_opens(saved, tmp_path):
    (tmp_path / "same").write_bytes(changed(saved))
    assert Tablebase(tmp_path / "same").values()


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("arrays", "keys", 1), "|O"),
        (("arrays", "value", 1), "|O"),
        (("arrays", "depth", 1), "<u8"),
        (("arrays", "depth", 1), ["<u2"]),
        (("arrays", "depth", 0), -64),
        (("arrays", "depth", 2), [10**9]),
        (("arrays", "depth", 2), [1]),
        (("arrays", "keys", 2), [1, 1]),
        (("arrays", "value", 2), ["1"]),
        (("code", "word_count"), 10**6),
        (("code", "source", 0), 10**6),
        (("code", "source", 0), -1),
        (("code", "source", 0), 2**40),
        (("code", "first_source", 1), 10**6),
        (("code", "first_digit"), [0]),
        (("roles",), "xo"),
        (("roles",), []),
        (("fluents",), [1]),
        (("game",), ["\x1b[2J"]),
    ],
)
def test_damaged_saved_solution_is_refused(saved, tmp_path, keys, value):
    (tmp_path / "damaged").write_bytes(changed(saved, keys, value))
    with pytest.raises(SavedSolutionError, match="damaged"):
        Tablebase(tmp_path / "damaged")


@pytest.mark.parametrize(
    ("keys", "value"),
    [(("arrays", "keys", 1), "|O"), (("arrays", "depth", 2), [10**9]), (("code", "source", 0), 10**6)],
)
def test_a_damaged_array_is_reported_before_numba_is_imported(saved, tmp_path, keys, value):
    (tmp_path / "damaged").write_bytes(changed(saved, keys, value))
    script = (
        "import sys\nfrom ggp.cli.main import main\n"
        "try: main(['match', 'nim', 'tablebase:file=damaged'])\nexcept SystemExit as end: print(end.code)\n"
        "print([m for m in ('clingo', 'numba', 'numpy') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert run.stdout == "2\n[]\n"
    assert "damaged" in run.stderr


@pytest.mark.parametrize("text", [b"[]", b"3", b"[" * 100_000, b"{"])
def test_saved_solution_without_a_header_is_refused(tmp_path, text):
    (tmp_path / "damaged").write_bytes(MAGIC + text + b"\n")
    with pytest.raises(SavedSolutionError, match="damaged"):
        Tablebase(tmp_path / "damaged")


def checkpoint_with(key, value):
    """A change to the checkpoint of a work folder."""

    def change(work):
        path = work / "checkpoint.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))

    return change


def edges_beyond(work):
    edges = np.fromfile(work / "edge-0", np.uint32)
    edges[0] = 2**31
    edges.tofile(work / "edge-0")


@pytest.mark.parametrize(
    "change",
    [
        edges_beyond,
        lambda work: (work / "keys").write_bytes(b"12345678"),
        lambda work: (work / "moves-0").write_bytes(b""),
        lambda work: (work / "edge-0").unlink(),
        checkpoint_with("states", 10**9),
        checkpoint_with("states", "1"),
        checkpoint_with("chunks", [[5, 1, 1]]),
        checkpoint_with("layer_ends", [-1]),
        checkpoint_with("unknown", 1),
    ],
)
def test_damaged_work_folder_is_refused(tmp_path, change):
    game = load("tictactoe", "lanes")
    work = tmp_path / "work"
    with pytest.raises(SolverLimitError):
        solve(game, SolverLimits(states=1000, work_folder=work))
    change(work)
    with pytest.raises(SolverError, match="damaged"):
        solve(game, SolverLimits(work_folder=work))
