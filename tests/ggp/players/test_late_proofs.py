"""A match may begin while kernels of proofs are being compiled, and uses proofs once they are there."""

import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from ggp.cli import match
from ggp.engines.loading import find_own_rules, load
from ggp.jit import second_process
from ggp.match.referee import INTERRUPTED
from ggp.players import late_proofs
from ggp.players.factory import make_player
from tests.ggp.players.asking import choose, started, tree_of


class Process:
    """Stands in for the process that compiles."""

    def __init__(self):
        self.has_succeeded = self.is_over = False
        self.is_left = False

    def leave(self):
        self.is_left = True
        return not self.is_over

    def end(self, *, is_success=True):
        self.is_over, self.has_succeeded = True, is_success


@pytest.fixture
def process(monkeypatch):
    started = Process()
    monkeypatch.setattr(late_proofs, "begin_second_process", lambda module: started)
    monkeypatch.setattr(late_proofs, "_late", None)
    monkeypatch.setattr(second_process, "compiled_beside", lambda *given: nullcontext())
    return started


def test_loading_begins_when_all_are_compiled(process):
    may_end, loaded = threading.Event(), []
    late = late_proofs.begin_late_proofs(lambda: loaded.append(may_end.wait(60)))
    assert not late.are_ready
    assert late.is_compiling
    process.end()
    assert not late.are_ready
    assert not late.is_compiling
    may_end.set()
    late._loading.join()
    assert late.are_ready
    assert loaded == [True]


def test_nothing_is_loaded_if_compiling_failed(process):
    loaded = []
    late = late_proofs.begin_late_proofs(lambda: loaded.append(True))
    assert not late.have_failed
    process.end(is_success=False)
    assert late.have_failed
    assert not late.are_ready
    assert not loaded


def prepared(spec, *, begins_early=True):
    player = make_player(spec)
    player.begins_early, player.start_clock_seconds = begins_early, 0.1
    player.prepare(load("tictactoe", "lanes"))
    return player


def test_a_match_without_its_proofs_is_logged_once(process, caplog):
    player = started(prepared("mcts:alphabeta=off,threads=1"), load("tictactoe", "lanes"), clock=0.1)
    process.end(is_success=False)
    for _ in range(2):
        choose(player, seconds=0.05)
    assert caplog.text.count("without proofs") == 1
    assert player.last_report.mode == "lanes"
    player.stop(None)


def test_players_of_a_process_share_them(process):
    late = late_proofs.begin_late_proofs(lambda: None)
    assert late_proofs.begin_late_proofs(lambda: None) is late
    process.end()
    assert late_proofs.begin_late_proofs(lambda: None) is None


def test_a_match_goes_on_with_proofs_once_they_are_there(process):
    player = started(prepared("mcts:alphabeta=off,threads=2"), load("tictactoe", "lanes"), clock=0.1)
    assert len(tree_of(player).engines) == 1  # a core is left for compiling
    choose(player, seconds=0.05)
    assert player.last_report.mode == "lanes"
    process.end()
    late = late_proofs._late
    _ = late.are_ready
    late._loading.join()
    choose(player, seconds=20.0)  # ends once it is proven
    assert player.last_report.mode in ("proof", "solution")
    player.stop(None)


@pytest.mark.parametrize(
    ("spec", "begins_early"), [("mcts", False), ("mcts:simulations=50", True), ("mcts:proof=off", True)]
)
def test_others_wait_for_proofs_or_need_none(process, monkeypatch, spec, begins_early):
    begun = []
    monkeypatch.setattr(late_proofs, "begin_late_proofs", lambda load: begun.append(load))
    prepared(spec, begins_early=begins_early)
    assert not begun


def test_the_command_leaves_them_to_the_background(process, capsys):
    match.leave_compiling()
    assert not process.is_left
    late_proofs.begin_late_proofs(lambda: None)
    match.leave_compiling()
    assert process.is_left
    assert "background" in capsys.readouterr().err
    process.end()
    match.leave_compiling()
    assert not capsys.readouterr().err


@pytest.mark.parametrize("fault", ["", INTERRUPTED])
def test_nothing_is_left_after_ctrl_c(process, monkeypatch, fault):
    played = SimpleNamespace(fault=fault, is_completed=not fault)
    monkeypatch.setattr(match, "play_match", lambda *given, **named: played)
    monkeypatch.setattr(match, "result_view", str)
    late_proofs.begin_late_proofs(lambda: None)
    CliRunner().invoke(match.command, [str(find_own_rules("tictactoe")), "legal", "legal"])
    assert process.is_left == (not fault)
