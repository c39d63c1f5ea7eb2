"""The player on a real port: matches, odd messages, and failures of the search process."""

import asyncio
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ggp
from gdl.terms import Symbol
from ggp.engines.loading import find_rules
from ggp.match.player import PlayerSpecError
from ggp.player_server.match import SearchOptions
from ggp.player_server.process_pools import StatePool, WorkerPool
from ggp.player_server.server import PlayerOptions, check_options
from ggp.protocol.messages import parse_term
from tests.ggp.percept_games import COIN
from tests.ggp.player_server.test_state_process import EXPLOSION
from tests.ggp.wire import QUICK, post, running_player, with_player

pytestmark = pytest.mark.slow  # processes

ROOT = Path(__file__).resolve().parents[3]
TICTACTOE = (ROOT / "games" / "tictactoe.kif").read_text(encoding="utf-8")
GAME = ggp.load(TICTACTOE, engine="reasoner")
UNSOLVED = SearchOptions(agent="mcts:proof=off,solver=off")
"""Thinks for its whole clock, though tic-tac-toe can be solved in a start clock."""
PONDERING = SearchOptions(agent="mcts:search=reference,solver=off")
INFO = "( ( name ggp-lanes ) ( status available ) ( species alien ) )"
BUSY = INFO.replace("available", "busy")


def start(match_id="m", role="x", rules=TICTACTOE, start_clock=10, play_clock=5):
    return f"( START {match_id} {role} ({rules}) {start_clock} {play_clock} )"


def legal_after(*joint_moves, role="x"):
    state = GAME.initial_state()
    for joint_move in joint_moves:
        state = GAME.next_state(state, [parse_term(move) for move in joint_move])
    return [str(move) for move in GAME.legal_moves(state, Symbol(role))]


def process_fields(pid):
    """The fields of a process in /proc after its name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def is_alive(pid):
    try:
        return process_fields(pid)[0] != "Z"
    except OSError:
        return False


async def replies(server, *texts):
    return [await post(server.port, text) for text in texts]


def playing(server):
    """The answer to the first PLAY, to be awaited."""
    return asyncio.create_task(post(server.port, "( PLAY m NIL )"))


async def until(condition, seconds=60):
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


@with_player()
async def test_player_without_a_match(server):
    texts = ("( PLAY m NIL )", "( STOP m NIL )", "( ABORT m )", "( PREVIEW ((role x)) 5 )")
    assert await replies(server, *texts) == ["busy", "busy", "busy", "ready"]


# --- START ------------------------------------------------------------------------------------


@with_player()
async def test_player_is_busy_for_rules_it_cannot_play(server, caplog):
    caplog.set_level(logging.INFO)
    for text, logged in (
        (start(role="spectator"), "no role spectator"),
        (start(rules="(role x) (<= (legal x a)) (legal x)"), "GDL"),
        (start(rules="(role x) (<= (legal x ?y) (not (p ?y)))"), "GDL2"),
        (start(rules="tictactoe"), "without rules"),
        (start(rules=""), "without rules"),
    ):
        caplog.clear()
        assert (text, *await replies(server, text, "( INFO )")) == (text, "busy", INFO)
        assert not server.matches
        assert logged in caplog.text


@with_player(max_matches=1)
async def test_player_accepts_no_more_matches_than_allowed(server):
    found = await replies(server, start("m1"), "( INFO )", start("m2"), "( PLAY m2 NIL )")
    assert found == ["ready", BUSY, "busy", "busy"]
    assert await replies(server, "( ABORT m1 )", "( INFO )", start("m2")) == ["aborted", INFO, "ready"]


@with_player()
async def test_player_answers_a_repeated_start_again(server):
    pids, found = set(), []
    for text in (start(), start()):
        found.append(await post(server.port, text))
        pids.add(server.matches["m"].worker_pid)
    assert len(pids) == 1
    assert [*found, await post(server.port, start(role="o"))] == ["ready", "ready", "busy"]


async def freeze_state_processes(server):
    """Stop the processes that wait for matches, once there are two; the first takes the next one."""
    await until(lambda: len(server._states.idle) == 2)
    for link in server._states.idle:
        os.kill(link.pid, signal.SIGSTOP)


@pytest.mark.parametrize("deaths", [1, 2])
@with_player()
async def test_start_survives_one_death_of_the_process_that_reads_its_rules(server, deaths, caplog):
    caplog.set_level(logging.INFO)
    await freeze_state_processes(server)
    pids = [link.pid for link in reversed(server._states.idle)]
    starting = asyncio.create_task(post(server.port, start()))
    for pid in pids[:deaths]:
        await until(lambda: server.matches and server.matches["m"]._states.pid == pid)  # noqa: B023
        os.kill(pid, signal.SIGKILL)
    if deaths == 1:
        os.kill(pids[1], signal.SIGCONT)
        assert await starting == "ready"
        assert await playing(server) in legal_after()
        assert "the state process died; starting another one" in caplog.text
    else:
        assert await starting == "busy"
        assert not server.matches
        assert "cannot play: the state process died again" in caplog.text


@with_player()
async def test_start_that_is_read_beyond_its_clock_is_kept_and_played(server):
    await freeze_state_processes(server)
    found = await replies(server, start(start_clock=0.5, play_clock=0.5), "( INFO )")
    assert found == ["ready", BUSY]
    await post(server.port, "( PLAY m NIL )")  # a guess at best
    server.matches["m"].play_clock_seconds = 60.0
    answer = playing(server)
    await asyncio.sleep(0.1)
    assert not answer.done()
    os.kill(server.matches["m"]._states.pid, signal.SIGCONT)
    assert await answer in legal_after()
    assert await post(server.port, "( INFO )") == INFO


@with_player()
async def test_player_accepts_no_match_while_it_prepares(server):
    server.is_preparing = True
    assert await replies(server, "( INFO )", start()) == [BUSY, "busy"]
    server.is_preparing = False
    assert await post(server.port, start()) == "ready"


# --- PLAY -------------------------------------------------------------------------------------


@with_player()
async def test_player_plays_a_match_to_its_end_though_a_state_process_dies(server, caplog):
    assert await post(server.port, start()) == "ready"
    first = await post(server.port, "( PLAY m NIL )")
    assert first in legal_after()
    assert await post(server.port, f"( PLAY m ( {first} noop ) )") == "noop"
    match = server.matches["m"]
    killed = match._states.pid
    os.kill(killed, signal.SIGKILL)
    move = legal_after((first, "noop"), role="o")[0]
    third = await post(server.port, f"(play m (noop {move}))")
    assert third in legal_after((first, "noop"), ("noop", move))
    assert (match.step, match._states.pid in (None, killed)) == (2, False)
    assert "the state process died; starting another one" in caplog.text
    os.kill(match._states.pid, signal.SIGKILL)
    found = await match._states.search(0.01, time.monotonic() + 60)
    assert found in legal_after((first, "noop"), ("noop", move))
    found = await replies(server, f"(Stop m ({third} noop))", f"( PLAY m ({third} noop) )")
    assert found == ["done", "busy"]


@with_player()
async def test_player_echoes_constants_as_received(server):
    assert await post(server.port, f"(START M1 X({TICTACTOE.upper()})10 5)") == "ready"
    move = await post(server.port, "(PLAY M1 NIL)")
    assert move.startswith("(MARK ")
    assert move.lower() in legal_after()
    assert await post(server.port, f"(PLAY M1({move}NOOP))") == "NOOP"


@with_player(search=SearchOptions(agent="random"))
async def test_player_gives_a_repeated_play_the_same_answer(server):
    await post(server.port, start())
    (first,) = set(await replies(server, *["( PLAY m NIL )"] * 5))
    await post(server.port, f"( PLAY m ( {first} noop ) )")
    move = legal_after((first, "noop"), role="o")[0]
    assert len(set(await replies(server, *[f"( PLAY m ( noop {move} ) )"] * 5))) == 1


@with_player(search=SearchOptions(agent="mcts"))
async def test_player_gives_a_play_that_is_repeated_at_once_the_same_answer(server):
    await post(server.port, start(start_clock=1, play_clock=1))
    assert len(set(await asyncio.gather(*(playing(server) for _ in range(3))))) == 1


@with_player()
async def test_player_distinguishes_a_repeated_message_from_a_repeated_joint_move(server):
    rules = """(role r) (role s) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal ?r a) (role ?r)) (<= (legal ?r b) (role ?r)) (<= (legal ?r (at ?n)) (role ?r) (true (n ?n)))
    (<= (next (n ?m)) (true (n ?n)) (succ ?n ?m)) (<= terminal (true (n 3))) (<= (goal ?r 50) (role ?r))"""
    await post(server.port, start(role="r", rules=rules))
    steps = []
    for observed in ("NIL", "NIL", "(b b)", "(b b)", "((at 1) b)"):
        await post(server.port, f"( PLAY m {observed} )")
        steps.append(server.matches["m"].step)
    # `legal` answers (at n): "(b b)" was the manager's choice, so when it comes again it is no new step.
    assert steps == [0, 0, 1, 1, 2]


@with_player()
async def test_player_answers_a_legal_move_to_an_impossible_joint_move(server, caplog):
    every_move = set(legal_after(role="o")) | set(legal_after(("(mark 1 1)", "noop"), role="o"))
    impossible = "( (mark 1 1) )|( (mark 9 9) noop )|( noop noop noop )|( )|( ((a) b) ?x )|elephant"
    for observed in impossible.split("|"):
        caplog.clear()
        play = f"( PLAY m {observed} )"
        *_, reply, ended = await replies(server, start(role="o"), "( PLAY m NIL )", play, "( ABORT m )")
        assert reply in every_move | {"(mark 1 1)"}, observed
        assert "joint move" in caplog.text or observed == "elephant"
        assert ended == "aborted"


@with_player(search=UNSOLVED)
async def test_player_answers_info_while_it_searches(server):
    await post(server.port, start(start_clock=1, play_clock=2))
    answer = playing(server)
    await asyncio.sleep(0.3)
    assert await post(server.port, "( INFO )") == INFO
    assert not answer.done()
    assert await answer in legal_after()


@with_player()
async def test_player_plays_a_game_for_one_role(server):
    rules = """(role r) (init (n 0)) (succ 0 1) (succ 1 2) (legal r up) (legal r down)
    (<= (next (n ?m)) (true (n ?n)) (succ ?n ?m)) (<= terminal (true (n 2))) (goal r 100)"""
    found = await replies(
        server, start(role="r", rules=rules), "( PLAY m NIL )", "( PLAY m (down) )", "( STOP m (down) )"
    )
    assert found == ["ready", "down", "down", "done"]


@with_player(search=SearchOptions(agent="mcts:simulations=300,search=reference", seed=1))
async def test_player_uses_percepts(server):
    """Seen from outside: after `found` under cup b, a search must guess b."""
    observed = ["0 NIL NIL", "1 noop ()", "2 (peek b) ( (looked b) found )"]
    assert await post(server.port, start(role="player", rules=COIN)) == "ready"
    first, second, third = await replies(server, *(f"( PLAY m {each} )" for each in observed))
    assert (first, third) == ("noop", "(guess b)")
    assert second.startswith(("(peek ", "(guess "))
    assert await post(server.port, f"( STOP m 3 {third} () )") == "done"


@with_player()
async def test_player_answers_turn_own_move_and_percepts_in_capitals(server):
    """A whole match in the form of Dresden's manager for hidden information."""
    rules = re.sub(r";.*", "", find_rules("monty_hall").read_text()).upper()
    observed = ["0 NIL NIL", "1 NOOP ()", "2 (PICK 1) ()", "3 NOOP ((OPENED 3))"]
    assert await post(server.port, start(role="CANDIDATE", rules=rules)) == "ready"
    answers = await replies(server, *(f"(PLAY m {each})" for each in observed), "(STOP m 4 KEEP ())")
    assert answers == ["NOOP", "(PICK 1)", "NOOP", "KEEP", "done"]


@pytest.mark.parametrize(("role", "rules"), [("x", TICTACTOE), ("player", COIN)])
@with_player()
async def test_first_play_reports_no_step_however_nil_is_written(server, role, rules):
    for nothing in ("()", "(NIL NIL)", "( nil )", "0 NIL ()"):
        play = f"( PLAY m {nothing} )"
        await replies(server, start(role=role, rules=rules), play, play if role == "x" else "( INFO )")
        assert server.matches["m"].step == 0, nothing
        await post(server.port, "( ABORT m )")


# --- reports and pondering --------------------------------------------------------------------


async def play_two_moves(pause_seconds, options=""):
    """x moves, o pauses, x moves again; returns these answers."""
    answers = []
    agent = f"mcts:simulations=60,search=reference,solver=off{options}"
    async with running_player(search=SearchOptions(agent=agent)) as server:

        async def play(terms):
            move = await post(server.port, f"( PLAY m {terms} )")
            answers.append(server.matches["m"]._answered[1])
            return move

        await post(server.port, start(start_clock=20, play_clock=20))
        first = await play("NIL")
        await play(f"( {first} noop )")
        await asyncio.sleep(pause_seconds)
        reply = legal_after((first, "noop"), role="o")[0]
        second = await play(f"( noop {reply} )")
        assert second in legal_after((first, "noop"), ("noop", reply))
        assert await post(server.port, f"( PLAY m ( noop {reply} ) )") == second
    return answers


def test_player_reports_how_its_moves_were_found(caplog):
    with caplog.at_level(logging.INFO):
        observed = asyncio.run(play_two_moves(0.0))
    assert [answer.how for answer in observed] == ["decided", "only move", "decided"]
    assert observed[0].report["playouts"] == 60
    assert observed[1].report is None
    lines = [record.getMessage() for record in caplog.records if " PLAY " in record.getMessage()]
    assert "(decided; reference, 60 playouts" in lines[0]
    assert lines[1].endswith("(only move)")
    assert lines[3].endswith("(repeated)")


def test_player_that_ponders_finds_a_larger_tree():
    without = asyncio.run(play_two_moves(0.5))[-1].report["carried"]
    for pause_seconds in (1.0, 3.0, 9.0, 27.0):  # how long it takes depends on what else the machine does
        with_it = asyncio.run(play_two_moves(pause_seconds, ",ponder=on"))[-1].report["carried"]
        if with_it > 2 * without:
            break
    assert with_it > 2 * without


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
@with_player(search=PONDERING)
async def test_player_does_not_ponder_in_one_match_while_another_is_to_move(server):
    def cpu_seconds():
        return sum(map(int, process_fields(pid)[11:13])) / os.sysconf("SC_CLK_TCK")

    async def used(seconds):
        before = cpu_seconds()
        await asyncio.sleep(seconds)
        return cpu_seconds() - before

    await post(server.port, start("a", start_clock=3, play_clock=60))
    await post(server.port, start("b", start_clock=3, play_clock=6))
    pid = server.matches["a"].worker_pid
    assert await used(1.0) > 0.2
    answer = asyncio.create_task(post(server.port, "( PLAY b NIL )"))
    await asyncio.sleep(1.0)  # for the slice that is being searched
    assert await used(2.0) < 0.1
    assert not answer.done()
    await answer
    assert await used(1.0) > 0.2


@pytest.mark.parametrize("text", ["( ABORT m )", "( STOP m NIL )"])
@with_player(search=PONDERING)
async def test_player_stops_pondering_when_the_match_ends(server, text):
    _, move = await replies(server, start(start_clock=3, play_clock=1), "( PLAY m NIL )")
    await post(server.port, f"( PLAY m ( {move} noop ) )")
    worker = server.matches["m"].worker_pid
    assert is_alive(worker)
    assert await post(server.port, "( INFO )") == INFO
    begin = time.monotonic()
    await post(server.port, text)
    await until(lambda: not is_alive(worker), 20)
    assert time.monotonic() - begin < 4


# --- the search process -----------------------------------------------------------------------


def test_agents_are_prepared_in_a_separate_process(caplog):
    async def prepare(agent):
        pool = WorkerPool(agent)
        is_prepared = await pool.fill()
        await pool.close()
        return is_prepared

    agents = ("mcts:search=reference", "legal", "wizard")
    assert [asyncio.run(prepare(agent)) for agent in agents] == [True, True, False]
    assert "unknown player 'wizard'" in caplog.text


AGENTS = """
import time, ggp
from numba.core.event import trigger_event

class Hanging(ggp.Player):
    def prepare(self, game):
        time.sleep(3600)

class Stubborn(ggp.Player):
    def choose(self, state, deadline, joint_move):
        time.sleep(self.seconds_for(deadline))
        return self.legal_moves(state)[0]

    def seconds_for(self, deadline):
        return 0 if self.setup.match_id == "prepare" else 600

class Greedy(Stubborn):
    kept = []

    def seconds_for(self, deadline):
        if self.setup.match_id != "prepare":
            self.kept.append(bytes([1]) * (100 << 20))
        return 0

class Compiler(Stubborn):
    def choose(self, state, deadline, joint_move):
        if self.setup.match_id != "prepare":
            with trigger_event("numba:compile", data={}):
                time.sleep(3.0)
            open("compiled", "w").close()
        return self.legal_moves(state)[0]
"""


def test_agent_that_hangs_in_its_preparation_is_cut_off(tmp_path, caplog):
    (tmp_path / "agents.py").write_text(AGENTS)
    agent = f"{tmp_path / 'agents.py'}:Hanging"
    assert not asyncio.run(WorkerPool(agent, preparing_seconds=2.0).fill())
    assert caplog.messages == [f"not prepared: {agent} took more than 2 s"]


@pytest.mark.parametrize(("agent", "is_kept"), [("Stubborn", False), ("Greedy", False), ("Compiler", True)])
def test_search_process_is_kept_if_it_ends_its_match_without_growing(agent, is_kept, tmp_path, monkeypatch):
    """The match is aborted while the agent chooses: `Compiler` may finish what it compiles."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.py").write_text(AGENTS)

    async def scenario():
        search = SearchOptions(agent=f"agents.py:{agent}")
        async with running_player(search=search, margin_seconds=0.5) as server:
            await server.prepare()
            await post(server.port, start(start_clock=4, play_clock=1))
            pid = server.matches["m"].worker_pid
            await replies(server, "( PLAY m NIL )", "( ABORT m )")
            await until(lambda: not server._closing)
            return is_alive(pid)

    assert asyncio.run(scenario()) == is_kept
    assert (tmp_path / "compiled").exists() == is_kept


@with_player(search=UNSOLVED)
async def test_player_survives_the_death_of_its_worker(server, caplog):
    await post(server.port, start(start_clock=1, play_clock=3))
    match, answer = server.matches["m"], playing(server)
    await asyncio.sleep(0.3)
    killed = match.worker_pid
    os.kill(killed, signal.SIGKILL)
    move = await answer
    assert match.worker_pid not in (None, killed)
    assert move in legal_after()
    assert await post(server.port, f"( PLAY m ( {move} noop ) )") == "noop"
    assert "worker died; starting another one" in caplog.text


@with_player(search=UNSOLVED)
async def test_player_continues_without_search_when_workers_keep_dying(server, caplog):
    await post(server.port, start(start_clock=1, play_clock=6))
    match, answer = server.matches["m"], playing(server)
    for _ in range(200):
        if match.worker_pid is not None:
            os.kill(match.worker_pid, signal.SIGKILL)
        if answer.done():
            break
        await asyncio.sleep(0.05)
    assert await answer in legal_after()
    assert "continuing without search" in caplog.text


@with_player(search=SearchOptions(agent="mcts"))
async def test_player_answers_in_time_when_its_worker_is_stuck(server):
    await post(server.port, start(start_clock=1, play_clock=3))
    os.kill(server.matches["m"].worker_pid, signal.SIGSTOP)
    begin = time.monotonic()
    async with asyncio.timeout(20):
        assert await playing(server) in legal_after()
    assert time.monotonic() - begin < 3.0, "later than its clock"


@with_player(search=SearchOptions(agent="mcts", memory_mebibytes=16))
async def test_player_continues_when_its_worker_has_no_memory(server, caplog):
    assert await post(server.port, start(start_clock=2, play_clock=3)) == "ready"
    assert await playing(server) in legal_after()
    assert "worker" in caplog.text


@with_player()
async def test_player_is_ready_in_time_though_its_worker_cannot_start(server, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert await post(server.port, start()) == "ready"
    assert await playing(server) in legal_after()


@with_player(search=UNSOLVED)
async def test_player_does_not_wait_for_a_worker_that_cannot_be_replaced(server, monkeypatch, caplog):
    await post(server.port, start(start_clock=1, play_clock=60))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    answer = playing(server)
    await asyncio.sleep(0.3)
    os.kill(server.matches["m"].worker_pid, signal.SIGKILL)
    async with asyncio.timeout(30):
        assert await answer in legal_after()
    assert "no search process" in caplog.text


@with_player(search=SearchOptions(agent="mcts", seed=1))
async def test_player_plays_by_a_short_search_when_its_worker_sends_nothing(server, caplog):
    caplog.set_level(logging.INFO)
    await post(server.port, start(start_clock=4, play_clock=4))
    server.matches["m"]._worker.on_event = lambda link, event: None
    assert await playing(server) in legal_after()
    await until(lambda: "(short search)" in caplog.text, 5)


@with_player(search=SearchOptions(agent="mcts:simulations=200,search=reference", seed=1))
async def test_search_process_serves_match_after_match_and_keeps_nothing_of_them(server):
    pids, openings = set(), set()
    await server.prepare()
    for number, end in enumerate(["( STOP {} ({} noop) )", "( ABORT {} )", "( ABORT {} )"]):
        await until(lambda: server._workers.idle)
        await post(server.port, start(f"m{number}"))
        pids.add(server.matches[f"m{number}"].worker_pid)
        openings.add(opening := await post(server.port, f"( PLAY m{number} NIL )"))
        await post(server.port, end.format(f"m{number}", opening))
    await until(lambda: server._workers.idle)
    assert (len(pids), len(openings)) == (1, 1)


@with_player(max_matches=2)
async def test_search_processes_are_no_more_than_there_may_be_matches(server):
    await server.prepare()
    await replies(server, *map(start, ("m1", "m2", "m1", "m2")))
    pids = {match.worker_pid for match in server.matches.values()}
    await replies(server, "( ABORT m1 )", "( ABORT m2 )")
    await until(lambda: len(server._workers.idle) == 2)
    await post(server.port, start("m3"))
    assert len(pids) == 2
    assert server.matches["m3"].worker_pid in pids


def player_process(*wrapper):
    code = (
        "import logging, sys; from ggp.player_server.server import *; logging.basicConfig(level='INFO');"
        "from ggp.player_server.match import SearchOptions;"
        "sys.exit(run_player(PlayerOptions(port=0, search=SearchOptions(agent='mcts'))))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*wrapper, sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment
    )
    line = next(line for line in process.stderr if " listens on " in line)  # it may compile first
    return process, int(line.rpartition(":")[2])


def children(pid):
    found = []
    for entry in filter(lambda entry: entry.name.isdigit(), Path("/proc").iterdir()):
        try:
            found += [int(entry.name)] if int(process_fields(entry.name)[1]) == pid else []
        except (OSError, ValueError):
            continue
    return found


def sheet_of(size):
    """Tic-tac-toe with patterns and facts that decide nothing, of about `size` characters."""
    lines = [TICTACTOE]
    while sum(map(len, lines)) < size:
        number = len(lines)
        lines.append(f"(<= (pattern{number} ?x) (true (cell ?x ?y ?m)) (distinct ?m b) (near{number} ?x ?y))")
        lines += [f"(near{number} {x} {y})" for x in (1, 2, 3) for y in (1, 2)]
    return "\n".join(lines)


@pytest.mark.skipif(shutil.which("nice") is None, reason="lowers the priority of the player")
def test_player_under_load_loses_no_start_and_answers_every_play():
    """Two busy processes of higher priority per core; four matches at a time, as many as are allowed."""
    process, port = player_process("nice", "-n", "10")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]

    async def play(number):
        ready = await post(port, start(f"m{number}", rules=sheet_of(5000 * number), start_clock=20))
        move = await post(port, f"( PLAY m{number} NIL )")
        await post(port, f"( ABORT m{number} )")
        return ready, move in legal_after()

    async def scenario():
        return [
            await asyncio.gather(*(play(number) for number in range(first, first + 4)))
            for first in range(1, 21, 4)
        ]

    try:
        assert asyncio.run(scenario()) == [[("ready", True)] * 4] * 5
    finally:
        for each in (*busy, process):
            each.kill()
            each.wait()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_player_process_ends_its_workers_with_it(number):
    process, port = player_process()
    workers = []
    try:
        assert asyncio.run(post(port, start(start_clock=1, play_clock=60))) == "ready"
        workers = children(process.pid)
        assert workers
        process.send_signal(number)
        code = process.wait(10)
        asyncio.run(until(lambda: not any(map(is_alive, workers)), 5))
        assert code == (-number if number == signal.SIGKILL else 0)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        for worker in filter(is_alive, workers):
            os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize("agent", ["human", "http://127.0.0.1:1", "wizard", "mcts:depth=3"])
def test_check_options_refuses_agents_that_cannot_play(agent):
    check_options(PlayerOptions())
    check_options(QUICK)
    with pytest.raises(PlayerSpecError):
        check_options(PlayerOptions(search=SearchOptions(agent=agent)))


# --- strangers --------------------------------------------------------------------------------


@with_player()
async def test_running_match_stays_when_a_start_with_its_id_is_bad(server):
    await replies(server, start(), "( PLAY m NIL )")
    match = server.matches["m"]
    bad = start(rules="(role x) (<= (legal x a)) (legal x)")
    for text, manager in ((bad, "127.0.0.1"), (start(), "192.0.2.1")):
        match.manager = manager
        assert await post(server.port, text) == "busy"
        assert server.matches["m"] is match
    match.manager = "127.0.0.1"
    assert await post(server.port, start()) == "ready"
    assert server.matches["m"] is not match
    assert await playing(server) in legal_after()


@with_player(max_matches=1)
async def test_clocks_of_a_week_keep_no_place_for_a_silent_manager(server):
    await post(server.port, start("m1", start_clock=604800, play_clock=604800))
    match = server.matches["m1"]
    match.last_heard -= 3000
    assert await post(server.port, start("m2")) == "busy"
    match.last_heard -= 700
    assert await post(server.port, start("m2")) == "ready"


@pytest.mark.parametrize(
    ("is_closed", "has_played", "silent_seconds", "reply"),
    [
        (True, False, 40, "ready"),
        (True, False, 20, "busy"),
        (False, False, 40, "busy"),
        (True, True, 40, "busy"),
    ],
)
@with_player(max_matches=1)
async def test_start_whose_connection_is_closed_early_keeps_no_place(
    server, is_closed, has_played, silent_seconds, reply, monkeypatch
):
    take, begins = StatePool.take, asyncio.Event()

    async def slow_take(pool, is_abandoned):
        begins.set()
        await asyncio.sleep(0.5)
        return await take(pool, is_abandoned)

    monkeypatch.setattr(StatePool, "take", slow_take)
    text = start("m1", start_clock=600, play_clock=600)
    if is_closed:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"POST / HTTP/1.0\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
        await begins.wait()
        writer.close()
        await until(lambda: "m1" in server.matches and server.matches["m1"].worker_pid is not None)
    else:
        await post(server.port, text)
    if has_played:
        await post(server.port, "( PLAY m1 NIL )")
    server.matches["m1"].last_heard -= silent_seconds
    assert await post(server.port, start("m2")) == reply


@with_player()
async def test_explosive_rules_leave_nothing_behind(server):
    """The same as a benchmark of 1,000: `benchmarks/flood.py`."""
    for number in range(20):
        starting = asyncio.create_task(
            post(server.port, start(f"m{number}", rules=EXPLOSION, start_clock=30))
        )
        await until(lambda: f"m{number}" in server.matches)  # noqa: B023
        assert await post(server.port, f"( ABORT m{number} )") == "aborted"
        await starting
    assert await post(server.port, start("honest", start_clock=30)) == "ready"
    assert len(server.matches) == 1
