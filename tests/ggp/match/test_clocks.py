"""Clocks: one grace for every player, and nothing compiled or loaded after they have started."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from numba.core.dispatcher import Dispatcher

import ggp
from ggp.assessment.asking import AssessmentTerms
from ggp.cli.main import app
from ggp.match.faults import Late
from ggp.match.terms import GRACE_SECONDS
from ggp.players.factory import seat_player
from ggp.players.text_player import TextPlayer
from ggp.protocol.client import RemotePlayer
from ggp.tournament.config import ConfigError
from ggp.tournament.schedule import Schedule
from tests.ggp.tournament.plans import ONE_SHOT, small_plan
from tests.ggp.wire import scripted_player

ROOT = Path(__file__).resolve().parents[3]
PAUSE = 0.4
TERMS = ggp.MatchTerms(5.0, 0.1, seed=1)


class Slow(ggp.Player):
    def choose(self, state, deadline, joint_move):
        time.sleep(PAUSE)
        return self.legal_moves(state)[0]


async def slow_reply(message):
    if type(message).__name__ == "Play":
        await asyncio.sleep(PAUSE)
    return "ready" if type(message).__name__ == "Start" else "1"


def first_fault(player, grace):
    game = ggp.load(ONE_SHOT, engine="reasoner")
    terms = replace(TERMS, grace_seconds=grace)
    return ggp.play_match(game, [player, ggp.make_player("legal")], terms).steps[1].faults[0]


@pytest.mark.parametrize(("grace", "fault"), [(3.0, None), (0.1, Late())])
def test_all_players_get_the_same_grace(grace, fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("slow.py").write_text(f"import time\nimport ggp\nPAUSE = {PAUSE}\n\n{inspect.getsource(Slow)}")
    command = f"{sys.executable} -c 'import time; time.sleep({PAUSE}); print(1)'"
    for player in (Slow(), seat_player("slow.py:Slow"), TextPlayer(command)):
        assert first_fault(player, grace) == fault, player.name

    async def scenario():
        async with scripted_player(slow_reply) as (address, _):
            return await asyncio.to_thread(first_fault, RemotePlayer(address), grace)

    assert asyncio.run(scenario()) == fault


def test_grace_is_one_setting_with_one_default(tmp_path):
    assert ggp.MatchTerms().grace_seconds == AssessmentTerms().grace_seconds == GRACE_SECONDS
    (_, task), *_ = Schedule(small_plan(tmp_path)).tasks()
    assert task.grace_seconds == GRACE_SECONDS
    plan = small_plan(tmp_path, grace=0.25, memory=2000)
    (_, task), *_ = Schedule(plan).tasks()
    assert (task.grace_seconds, task.memory_mebibytes) == (0.25, 2000)
    assert plan.settings()["grace"] == "0.25 s"
    for wrong in ({"grace": -1}, {"memory": 5}, {"memory": "1 GB"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            small_plan(tmp_path, **wrong)
    for command in ("match", "manage", "tournament run"):
        help_text = CliRunner().invoke(app, [*command.split(), "--help"]).output
        assert "grace" in help_text, command


def kernels():
    """Every compiled kernel by name, with the number of its versions."""
    found = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {(each.py_func.__module__, each.py_func.__qualname__): len(each.overloads) for each in found}


def loaded_by_the_clock(spec):
    """Kernels that a player loads while its clock runs; call it in a process of its own."""
    loaded = set()
    for name in ("tictactoe", "hanoi", "goofspiel", "kuhn_poker"):
        game = ggp.load(name)
        players = [ggp.make_player(spec) for _ in game.roles]
        for player in players:
            for method in ("start", "observe", "choose", "choose_by_observations"):
                setattr(player, method, noted(getattr(player, method), loaded))
        ggp.play_match(game, players, ggp.MatchTerms(0.5, 0.3, seed=1, step_limit=3))
    return loaded


def noted(method, loaded):
    def call(*arguments):
        before = kernels()
        answer = method(*arguments)
        loaded.update(name for name, count in kernels().items() if count > before.get(name, 0))
        return answer

    return call


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["mcts:threads=1", "alphabeta", "uct", "solving"])
def test_bundled_players_load_no_kernel_by_the_clock(spec):
    code = f"from {__name__} import loaded_by_the_clock; print(sorted(loaded_by_the_clock({spec!r})))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert result.stdout == "[]\n", result.stderr + result.stdout
