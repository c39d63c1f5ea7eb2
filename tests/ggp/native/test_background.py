"""Compiling is never in the way: within its budget, in turn, remembered, and logged if it fails."""

import copy
import fcntl
import os
import sys
import threading
import time

import numpy as np
import pytest

import ggp
from ggp.engines.compiled import interpreted
from ggp.jit.checked_store import CheckedStore
from ggp.jit.compiling import IS_COMPILED
from ggp.lanes.choose import native_layout
from ggp.lanes.engine import Lanes
from ggp.match.player import MatchSetup, PlayerSpecError
from ggp.native import background, compile_client
from ggp.native.background import WIDTHS, NativeCode
from ggp.native.code import compile_part
from ggp.native.compile_client import CLIENT, CompileClient
from ggp.native.compile_limit import CompileLimit
from ggp.native.parts import Part
from ggp.players.factory import make_player
from tests.ggp.native.test_native import is_complete

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="kernels are plain Python")

PROCESS = """
import os, time, signal
from ggp.native import compile_process
from ggp.native.compile_process import *
real = compile_process.compile_part
def compile_part(tables, layout, part, words):
    open({started!r}, "a").write(f"{{part.name}}\\n")
    {action}
    return real(tables, layout, part, words)
compile_process.compile_part = compile_part
compile_process._run()
"""


@pytest.fixture(autouse=True)
def cached(tmp_path, monkeypatch):
    monkeypatch.setenv("GGP_NATIVE", "1")
    monkeypatch.setattr(background, "CACHE_FOLDER", tmp_path)
    return tmp_path / "native"


@pytest.fixture
def acting(tmp_path, monkeypatch):
    """Let compile processes do something before each part; returns the parts that they have begun."""
    started = tmp_path / "started"

    def use(action: str) -> None:
        script = PROCESS.format(started=str(started), action=action)
        monkeypatch.setattr(compile_client, "isolated_command", lambda _: [sys.executable, "-c", script])

    def begun() -> list[str]:
        names = started.read_text().split() if started.exists() else []
        started.unlink(missing_ok=True)
        return names

    return use, begun


def compiled(name: str, seconds: float = 20.0) -> bool:
    """Whether all parts of a fresh game are machine code at the end."""
    game = ggp.load(name)
    game = copy.copy(game)
    game.native.limit.cpu_seconds = seconds
    game.native.begin(8)
    return game.native.wait(8)


def test_what_exceeds_the_budget_is_remembered(acting, caplog):
    use, begun = acting
    caplog.set_level("INFO", "ggp.native")
    use("while part == Part.NEXT: pass")
    assert not compiled("tictactoe", 1.0)
    assert "NEXT" in begun()
    assert "do not suffice to compile native_next" in caplog.text
    use("pass")
    assert not compiled("tictactoe", 0.5)
    assert begun() == []
    assert compiled("tictactoe", 20.0) == is_complete(8)
    assert begun()[0] == "NEXT"


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("raise MemoryError('full')", "MemoryError: full"),
        ("os._exit(3)", "ended with code 3"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "ended with code -9"),
        ("os.write(1, pickle.dumps(b'cut' * 100)[:50]); os._exit(0)", "ended with code 0"),
        ("os.write(1, b'greetings from some module\\n'); time.sleep(20)", "ended with code -9"),
    ],
)
def test_a_failure_is_one_line_in_the_log_and_is_tried_again(acting, caplog, action, reason):
    use, _ = acting
    use(action)
    assert not compiled("tictactoe")
    assert "tictactoe: no machine code for native_" in caplog.text
    assert reason in caplog.text
    use("pass")
    assert compiled("tictactoe") == is_complete(8)


def test_a_process_that_is_ended_says_nothing(acting, caplog):
    use, begun = acting
    use("time.sleep(60)")
    game = copy.copy(ggp.load("tictactoe"))
    game.native.begin(8)
    while not begun():
        time.sleep(0.01)
    CLIENT.end()
    assert not game.native.wait(8)
    assert not caplog.text


def test_interrupts_of_a_terminal_do_not_reach_the_process():
    with CLIENT.turn(None):
        assert os.getpgid(CLIENT._start().pid) != os.getpgid(0)


def test_a_process_that_cannot_start_is_logged(monkeypatch, caplog):
    monkeypatch.setattr(compile_client, "isolated_command", lambda _: ["/nonexistent/python"])
    assert not compiled("tictactoe")
    assert "No such file" in caplog.text


def test_code_that_cannot_be_loaded_is_logged_and_not_used(monkeypatch, caplog):
    def refuse(*_):
        raise RuntimeError("no memory for code")

    monkeypatch.setattr(background, "LoadedCode", refuse)
    assert not compiled("tictactoe")
    assert "tictactoe: no machine code for native_next (not loaded: no memory for code)" in caplog.text


def test_one_process_serves_one_thread_after_the_other(monkeypatch):
    started = []
    start = CompileClient._start
    monkeypatch.setattr(CompileClient, "_start", lambda self: started.append(1) or start(self))
    games = [copy.copy(ggp.load(name)) for name in ("tictactoe", "nim", "connectfour_4x4")]
    with CLIENT.turn(None):
        for game in games:
            game.native.begin(8)
        time.sleep(0.2)
        assert not started
    assert [game.native.wait(8) for game in games] == 3 * [is_complete(8)]
    assert len(started) == 1
    assert CLIENT._process is None


def test_processes_that_share_a_cache_wait_for_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_client, "SLOTS", 2)
    clients, order = [CompileClient() for _ in range(3)], []

    def third() -> None:
        with clients[2].turn(tmp_path):
            order.append("third")

    with clients[0].turn(tmp_path), clients[1].turn(tmp_path):
        thread = threading.Thread(target=third)
        thread.start()
        time.sleep(0.2)
        order.append("end")
    thread.join(10)
    assert order == ["end", "third"]


def test_a_process_that_is_stopped_in_its_turn_delays_others_for_a_while_only(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_client, "SLOTS", 1)
    monkeypatch.setattr(compile_client, "MAX_WAIT_SECONDS", 0.2)
    clients, has_turn = [CompileClient() for _ in range(2)], threading.Event()

    def second() -> None:
        with clients[1].turn(tmp_path):
            has_turn.set()

    with clients[0].turn(tmp_path):
        threading.Thread(target=second, daemon=True).start()
        assert has_turn.wait(10)


def is_locked(file):
    with file.open("wb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_fork_has_turns_of_its_own_and_keeps_no_file_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_client, "SLOTS", 1)
    has_turn = threading.Event()
    ready, may_end = os.pipe(), os.pipe()

    def take_turn() -> None:
        with CLIENT.turn(None):
            has_turn.set()

    with CLIENT.turn(tmp_path):
        assert is_locked(tmp_path / "compiling-0.lock")
        pid = os.fork()
        if pid == 0:
            threading.Thread(target=take_turn, daemon=True).start()
            os.write(ready[1], b"yes" if has_turn.wait(10) else b"no")
            os.close(may_end[1])
            os.read(may_end[0], 1)
            os._exit(0)
    assert os.read(ready[0], 3) == b"yes"
    was_locked = is_locked(tmp_path / "compiling-0.lock")  # while the fork runs
    for end in (*ready, *may_end):
        os.close(end)
    os.waitpid(pid, 0)
    assert not was_locked


def test_what_another_process_has_compiled_meanwhile_is_loaded(acting):
    use, begun = acting
    use("pass")
    game = copy.copy(ggp.load("tictactoe"))
    other = copy.copy(game)
    with CLIENT.turn(None):
        game.native.begin(8)
        time.sleep(0.1)
        other.native._compile(list(Part), 8, 20.0)
        assert begun() == [part.name for part in Part]
    assert game.native.wait(8) == is_complete(8)
    assert begun() == []


def test_the_cache_keeps_within_its_size(cached, monkeypatch):
    monkeypatch.setattr(background, "CACHE_MEBIBYTES", 0)
    assert compiled("tictactoe") == is_complete(8)
    assert len(list(cached.glob("*.native"))) == 1


def test_shrinking_removes_what_was_used_least_recently(tmp_path):
    store = CheckedStore(tmp_path)
    for number, name in enumerate(("a.x", "b.x", "c.x", "other")):
        store.save(name, bytes(1000))
        os.utime(tmp_path / name, (number, number))
    store.touch("a.x")
    store.shrink(".x", 2200, newest="c.x")
    assert {path.name for path in tmp_path.iterdir()} == {"a.x", "c.x", "other"}


def test_only_this_user_can_read_the_cache(cached):
    assert compiled("tictactoe") == is_complete(8)
    assert cached.stat().st_mode & 0o077 == 0


def test_a_game_without_machine_code_is_a_copy():
    game = ggp.load("connectfour_4x4")
    twin = interpreted(game)
    assert twin is interpreted(game)
    game.native.begin(2)
    twin.native.begin(2)
    assert game.native.wait(2) == is_complete(2)
    assert not twin.native.wait(2)
    root = game.unpack(game.initial_state())
    found = [Lanes(each.lane_tables, words=2, seed=1).playouts(root, 3000) for each in (game, twin)]
    assert found[0] == found[1]


def test_a_larger_limit_begins_again():
    game = copy.copy(ggp.load("nim"))
    for seconds in (0.0, 20.0):
        game.native.limit.cpu_seconds = seconds
        game.native.begin(2)
        complete = game.native.wait(2)
        assert complete == (seconds > 0 and is_complete(2))


def test_circuits_that_load_code_at_once_keep_each_others():
    game = ggp.load("tictactoe")
    addresses = np.zeros((len(Part), len(WIDTHS)), np.int64)
    one, two = (NativeCode(game.tables, native_layout(game.lane_tables), addresses) for _ in range(2))
    code = compile_part(game.tables, native_layout(game.lane_tables), Part.NEXT, 1)
    other = threading.Thread(target=two._put, args=(code, Part.NEXT, 1))

    class Interrupted(dict):
        def __contains__(self, key):
            is_there = super().__contains__(key)
            if not other.ident:
                other.start()
                other.join(0.2)
            return is_there

    background._loaded, before = Interrupted(background._loaded), background._loaded
    try:
        one._put(code, Part.NEXT, 1)
        other.join()
        assert len(background._loaded[id(addresses)]) == 2
    finally:
        before.update(background._loaded)
        background._loaded = before


def test_what_is_in_the_cache_is_loaded_without_any_time(acting):
    assert compiled("tictactoe") == is_complete(8)
    use, begun = acting
    use("pass")
    assert compiled("tictactoe", 0.0) == is_complete(8)
    assert not compiled("nim", 0.0)
    assert begun() == []


def test_the_start_clock_limits_compiling():
    game = ggp.load("tictactoe")
    players = {text: make_player(text) for text in ("mcts:native=7", "alphabeta", "mcts:native=off")}

    def limit(text: str, clock: float) -> CompileLimit:
        setup = MatchSetup("m", game, game.roles[0], clock, 1.0, 0)
        return players[text]._with_compile_limit(setup).game.native.limit

    assert [limit("mcts:native=7", clock).cpu_seconds for clock in (3.0, 60.0)] == [3.0, 7.0]
    assert [limit("alphabeta", clock).cpu_seconds for clock in (3.0, 60.0)] == [3.0, 20.0]
    assert not limit("mcts:native=off", 60.0).is_on
    assert game.native.limit.is_on


@pytest.mark.parametrize(
    ("given", "message"),
    [("no", "native must be a number, not 'no'"), ("-1", "native must be off or from 0 to 604,800, not -1")],
)
def test_wrong_limits_are_refused(given, message):
    with pytest.raises(PlayerSpecError, match=message):
        make_player(f"mcts:native={given}")
