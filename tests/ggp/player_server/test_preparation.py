"""Preparation of agents: afterwards a match of any kind loads no kernel."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from gdl.program import pack
from ggp.engines.loading import load
from ggp.player_server import worker
from ggp.player_server.preparation import prepare
from ggp.player_server.worker import PlayRequest, StartRequest

pytestmark = pytest.mark.slow  # processes

ROOT = Path(__file__).resolve().parents[3]
OWN_AGENT = """
import ggp

class Solver(ggp.Player):
    def choose(self, state, deadline, joint_move):
        ggp.solve(self.setup.game)
        return self.legal_moves(state)[0]
"""


def kernels():
    """Every compiled kernel by name, with the number of its versions."""
    found = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {(each.py_func.__module__, each.py_func.__qualname__): len(each.overloads) for each in found}


def play(agent, name):
    """The first two moves of a match as the search process plays it."""
    game = load(name, "reasoner")
    role = str(game.roles[0])
    request = StartRequest(pack(game.program), "m", role, agent, "auto", 2, 1, 1, 4096, False, 0.0)
    match = worker._start(request, lambda event, **values: None)
    match.play([PlayRequest(0, None, None, time.monotonic() + 1)])
    joint_move = [game.legal_moves(game.initial_state(), role)[0] for role in game.roles]
    match.play([PlayRequest(1, tuple(map(str, joint_move)), None, time.monotonic() + 1)])
    match.player.stop(None)


def new_kernels(agent):
    """Kernels that matches of different kinds load after preparation; call it in a process of its own."""
    worker.limit_memory = lambda mebibytes: None
    prepare(agent)
    before = kernels()
    for name in ("nim", "hanoi", "goofspiel"):
        play(agent, name)
    return {name for name, count in kernels().items() if count > before.get(name, 0)}


@pytest.mark.parametrize("agent", ["mcts", "solving", "alphabeta", "agents.py:Solver"])
def test_prepared_agents_load_no_kernel_in_a_match(agent, tmp_path):
    (tmp_path / "agents.py").write_text(OWN_AGENT)
    code = f"from {__name__} import new_kernels; print(sorted(new_kernels({agent!r})))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GGP_CACHE": "off"}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert result.stdout == "[]\n", result.stderr
