"""The `ggp` command: arguments, output and exit codes."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ggp.bench import engines
from ggp.cli import main as cli
from ggp.match.faults import Late, Unreachable
from ggp.match.player import PlayerFaultError
from ggp.match.record import read_record
from ggp.players.simple import LegalPlayer
from tests.conftest import ROOT
from tests.ggp.cli.conftest import all_commands, ended, imported_by, run_python
from tests.ggp.fakes import Nim


def test_help_names_every_command(ggp):
    code, out, _ = ggp("--help")
    assert code == 0
    assert all(f"  {name}" in out for name in cli.COMMANDS)


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_has_help(ggp, name):
    code, out, _ = ggp(name, "--help")
    assert code == 0
    assert out.startswith(f"Usage: ggp {name}")


@pytest.mark.parametrize(("name", "command"), list(all_commands()))
def test_every_option_has_help_that_makes_sense_alone(name, command):
    assert command.help or command.callback.__doc__
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            text = (option.help or "").partition("  [")[0]
            assert text.endswith("."), f"ggp {name} {option.opts[0]}: {text!r}"
            assert len(text.split()) > 1, f"ggp {name} {option.opts[0]}: {text!r}"


MAX_COMMANDS, MAX_OPTIONS = 18, 110


def test_the_command_line_stays_small():
    """More commands or options cost every reader of the help: raise these numbers with a reason only."""
    commands = dict(all_commands())
    assert len([name for name in commands if " " not in name]) <= MAX_COMMANDS
    options = [option for command in (cli.app, *commands.values()) for option in command.params]
    assert sum(isinstance(each, click.Option) and not each.hidden for each in options) <= MAX_OPTIONS


@pytest.mark.parametrize("given", [["--steps=2"], ["--steps", "9", "--limit", "steps=2"]])
def test_a_limit_may_be_an_option_of_its_own(ggp, given):
    code, out, _ = ggp("match", "nim", "random", "random", *given)
    assert code == 1
    assert "2 steps, aborted" in out


LIGHT = ("tournament", "match", "games.info", "solve", "prepare.evaluation", "assess", "manage", "player")


def test_help_of_a_command_imports_neither_compiler_nor_http():
    modules = ", ".join(f"ggp.cli.{name}" for name in LIGHT)
    assert imported_by(f"import {modules}", "numba", "numpy", "lark", "clingo", "aiohttp") == "[]\n"


def test_version(ggp):
    assert ggp("--version")[1].startswith("ggp-lanes")


def test_help_does_not_import_the_engines():
    heavy = ("lark", "clingo", "numba", "numpy", "aiohttp", "rich")
    assert imported_by(ended(["--help"]), *heavy).endswith("0\n[]\n")


def test_listening_player_leaves_the_engines_to_its_search_processes():
    modules = "ggp.cli.player, ggp.player_server.server, ggp.player_server.state_process"
    assert imported_by(f"import {modules}", "lark", "clingo", "numba", "numpy", "rich") == "[]\n"


def test_python_m_ggp_works():
    run = subprocess.run([sys.executable, "-m", "ggp", "-h"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0
    assert "Usage: ggp" in run.stdout


MISTAKES = f"""
match nosuch
match tictactoe random random random
match tictactoe alphabeta alphabeta alphabeta
match tictactoe alphabeta:depth=deep
match tictactoe alphabeta:evaluation=luck
match tictactoe solving:speed=2
match tictactoe alphabeta:coalition=both
match tictactoe alphabeta:coalition=1+7 random
match tictactoe tablebase:file=nosuch
match tictactoe tablebase:file={__file__}
match tictactoe mcts http://localhost:1
bench nosuch
bench tictactoe --policy best
solve nosuch
prepare evaluation nosuch --out x.json
prepare evaluation tictactoe --out no/such/folder.json
games info nosuch
assess nosuch
assess alphabeta:depth=deep
manage nosuch localhost
manage tictactoe localhost localhost localhost
player --agent human
player --agent solving:speed=2
player --agent alphabeta:coalition=both
tournament nosuch.toml
"""


REPORTED = """
import sys
from ggp.cli.main import main
for line in sys.stdin:
    try:
        main(line.split())
    except SystemExit as end:
        heavy = [name for name in ("clingo", "numba", "numpy") if name in sys.modules]
        print("ended", end.code, heavy, line, end="")
"""


def test_mistakes_are_reported_before_numba_is_imported(tmp_path):
    lines = MISTAKES.strip().splitlines()
    run = run_python(REPORTED, tmp_path, input="\n".join(lines) + "\n")
    ends = [line for line in run.stdout.splitlines() if line.startswith("ended ")]
    assert ends == [f"ended 2 [] {line}" for line in lines]


INTERRUPTING = """
import os, signal, time
import ggp

class Interrupting(ggp.Player):
    def choose(self, state, deadline, joint_move):
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(60)
"""


def test_an_interrupted_match_is_aborted(ggp, tmp_path):
    (tmp_path / "agents.py").write_text(INTERRUPTING)
    player = f"{tmp_path}/agents.py:Interrupting"
    code, out, _ = ggp("match", "tictactoe", player, "legal", "--engine", "reasoner")
    assert code == 1
    assert "aborted: interrupted" in out


SWALLOWING = """
import signal, time
from ggp.cli.main import main
from ggp.players.simple import LegalPlayer

class Finalized:
    def __del__(self):
        raise KeyboardInterrupt

def prepare(player, game):
    Finalized()
    time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)
LegalPlayer.prepare = prepare
main(["match", "tictactoe", "legal", "legal"])
"""


@pytest.mark.slow  # imports numba in a process of its own
def test_ctrl_c_that_strikes_in_a_finalizer_ends_the_command(tmp_path):
    run = run_python(SWALLOWING, tmp_path)
    assert (run.returncode, run.stderr.split()) == (130, ["interrupted"])


WRONG_USAGE = """
nothing | No such command
mtach tictactoe | No such command 'mtach'. Did you mean match?
play tictactoe | No such command 'play': `ggp match GAME human` plays in the terminal
game | No such command 'game': `ggp games` lists the games
prepare books | No such command 'books'. Did you mean book?
games inof | No such command 'inof'. Did you mean info?
help mtach | Did you mean match?
match tictactoe humen | unknown player 'humen'. Did you mean human?
match tictactoe mcts:simulation=9 | option 'simulation'. Did you mean simulations?
match tictactoe mcts:simulation | not 'simulation'. Did you mean simulations?
match eightpuzzle random random | takes 1 player, one for each of player; got 2
match | Missing argument 'FILE'
match tictactoe nobody | unknown player 'nobody'
match tictactoe mcts:x=1 | unknown option 'x'
match tictactoe random random random | takes 2 players, one for each of x, o; got 3
match nosuchgame | no such file or game
match tictactoe random random --engine steam | 'steam' is not one of
match tictactoe mcts:search=lanes --engine reasoner | no search on lanes
match tictactoe solving:search=lanes --engine reasoner | no search on lanes
match tictactoe random --play-clock 1e300 | at most a week
match tictactoe mcts:ponder=1 | ponder must be on or off
match tictactoe mcts:head_start=no | head_start must be on or off
bench tictactoe --policy mast --engine reasoner | on lanes
validate nosuchgame | no such file or game
match no/such.kif | no/such.kif: no such file.
match connectfour localhost:9147 | is written http://localhost:9147
player --agent human | expected mcts, alphabeta, solving, tablebase, uct, random, legal, text, with
bench nosuchgame | no such file or game
bench tictactoe --policy best | unknown policy 'best'
prepare evaluation tictactoe --out /dev/null/x.json | --out
"""
"""Arguments | what the message has."""


@pytest.mark.parametrize("row", WRONG_USAGE.strip().splitlines())
def test_wrong_usage_exits_with_2_and_one_message(ggp, row):
    arguments, _, part = row.partition(" | ")
    code, _, err = ggp(*shlex.split(arguments))
    assert code == 2
    assert part in err
    assert "Traceback" not in err


@pytest.mark.parametrize("topic", [["match"], ["tournament", "show"], []])
def test_help_of_a_command_can_be_asked_for_in_words(ggp, topic):
    assert ggp("help", *topic) == ggp(*topic, "--help")


def test_at_most_ten_findings_are_printed_where_a_game_is_wanted(ggp, tmp_path):
    sheet = tmp_path / "prose.kif"
    sheet.write_text("\n".join(f"(<= (p{number} ?x) (not (q ?x)))" for number in range(14)))
    code, _, err = ggp("games", "info", sheet)
    assert code == 1
    assert err.count(": error GDL") == 10
    assert err.endswith("and 5 more findings: ggp validate lists all\n")


@pytest.mark.parametrize("content", ["# Read me\n", "(role x)\n", "SQLite format 3\0\1"])
def test_files_other_than_records_are_refused_in_a_sentence(ggp, tmp_path, content):
    (tmp_path / "other").write_text(content)
    code, _, err = ggp("show", tmp_path / "other")
    assert code == 2
    assert "not a match record" in err
    assert "Expecting" not in err
    assert ("ggp tournament show" in err) == content.startswith("SQLite")


@pytest.mark.parametrize(
    ("text", "code_of_rule"),
    [("(role x", "GDL101"), ("(role x) (role ?x) (<= terminal (not (true ?y)))", "error GDL2")],
)
def test_errors_in_rules_are_located(ggp, tmp_path, text, code_of_rule):
    sheet = tmp_path / "bad.kif"
    sheet.write_text(text)
    for command in (["match", sheet], ["games", "info", sheet]):
        code, _, err = ggp(*command)
        assert code == 1
        assert "bad.kif:1:" in err
        assert code_of_rule in err
        assert "Traceback" not in err
    code, out, _ = ggp("validate", sheet)
    assert code == 1
    assert code_of_rule in out


@pytest.mark.parametrize("command", [["solve"], ["match", "--engine", "lanes"], ["export"]])
def test_rules_without_a_circuit_are_reported_in_one_line(ggp, tmp_path, monkeypatch, command):
    monkeypatch.setattr("ggp.circuit.construction.GATE_INPUT_LIMIT", 3)
    sheet = tmp_path / "large.kif"
    in_no_cache = "(<= (kept ?x) (true (kept ?x)))"
    sheet.write_text((ROOT / "games" / "nim.kif").read_text() + in_no_cache)
    code, _, err = ggp(*command, sheet)
    assert code == 1
    assert "the circuit exceeds 3 gate inputs" in err
    assert "Traceback" not in err


def test_internal_errors_show_a_traceback_but_too_little_memory_is_none(ggp, monkeypatch):
    def fail(name, request):
        raise error

    monkeypatch.setattr("ggp.cli.validate._examine", fail)
    error = ZeroDivisionError("oops")
    code, _, err = ggp("validate", "nim")
    assert code == 1
    assert "ZeroDivisionError" in err
    assert "bug in ggp" in err
    error = MemoryError("Unable to allocate 20 MiB")
    assert ggp("validate", "nim") == (1, "", "not enough memory: Unable to allocate 20 MiB\n")


def test_match_plays_shows_and_records(ggp, tmp_path):
    record_file = tmp_path / "match.json"
    code, out, _ = ggp(
        *("match", "tictactoe", "mcts:simulations=60,search=reference", "random"),
        *("--seed", 5, "--record", record_file),
    )
    assert code == 0
    assert re.search(r"1   x [a-c][1-3]", out)
    assert "  a b c" in out
    assert "player" in out
    record = read_record(record_file)
    assert record.is_completed
    assert record.seed == 5
    assert f"{len(record.moves)} steps" in out
    assert record.rules == Path("games/tictactoe.kif").read_text()
    assert record.reports[0][0]["playouts"] == 60


def test_match_with_a_seed_is_reproducible(ggp, tmp_path):
    def moves(name):
        path = tmp_path / name
        ggp("match", "connectfour_4x4", "mcts:simulations=20", "random", "--seed", 9, "--record", path)
        return read_record(path).moves

    assert moves("a") == moves("b")


def test_match_asks_the_human_player(ggp, monkeypatch):
    answers = iter(["1", "nonsense", *["1"] * 9])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    code, out, _ = ggp("match", "tictactoe", "human", "legal", "--seed", 1)
    assert code == 0
    assert "'nonsense' is not legal here" in out
    assert "human" in out


def test_match_shows_moves_in_notation_or_terms_and_takes_either(ggp, monkeypatch):
    answers = iter(["b2", "mark 3 3", "(mark 2 1)", "quit"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    _, out, _ = ggp("match", "tictactoe", "human", "legal", "--engine", "reasoner")
    shown = ["x b2", "o a1", "x c3", "o a2", "x b1"]
    assert [line.split()[1:] for line in out.splitlines() if re.match(" +[0-9]   [xo] ", line)] == [
        each.split() for each in [*shown, "o a3"]
    ]
    answers = iter(["mark 2 2", "quit"])
    _, out, _ = ggp("match", "tictactoe", "human", "legal", "--engine", "reasoner", "--notation", "kif")
    assert "x (mark 2 2)" in out
    assert "o (mark 1 1)" in out


def test_match_ends_when_the_human_player_leaves(ggp, monkeypatch):
    def closed(prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", closed)
    code, out, _ = ggp("match", "tictactoe", "human", "legal")
    assert code == 1
    assert "aborted: the human player left" in out


@pytest.mark.parametrize("game", ["rockpaperscissors", "connectfour_3p", "eightpuzzle", "bucket"])
def test_match_plays_other_kinds_of_games(ggp, game):
    players = {"connectfour_3p": 3, "eightpuzzle": 1}.get(game, 2) * ["random"]
    code, out, _ = ggp("match", game, *players, "--seed", 2)
    assert code == 0
    assert "goal" in out


def test_match_counts_replaced_moves(ggp, monkeypatch):
    def choose(self, state, deadline, joint_move):
        raise PlayerFaultError(Late())

    monkeypatch.setattr(LegalPlayer, "choose", choose)
    code, out, _ = ggp("match", "rockpaperscissors", "random", "legal", "--seed", 3)
    assert code == 0
    rows = [[cell.strip() for cell in line.split("│")] for line in out.splitlines() if "│" in line]
    assert [(role, faults) for _, role, _, _, faults, *_ in rows] == [("left", "0"), ("right", "1")]


def test_match_needs_reachable_players(ggp):
    code, out, err = ggp("match", "tictactoe", "random", "http://127.0.0.1:1")
    assert code == 2
    assert "goal" not in out
    assert err.endswith("Error: http://127.0.0.1:1: no player is listening there (connection refused)\n")


def test_a_player_that_does_not_start_is_named(ggp, monkeypatch):
    def start(self, setup, deadline):
        raise PlayerFaultError(Unreachable(), "gone")

    monkeypatch.setattr(LegalPlayer, "start", start, raising=False)
    code, _, err = ggp("match", "tictactoe", "random", "legal")
    assert code == 2
    assert "legal did not start: gone" in err


def test_bench_prints_json_lines_and_reports_what_fails(ggp, tmp_path):
    faulty = tmp_path / "faulty.kif"
    faulty.write_text("(role a) (legal a")
    arguments = ("--seconds", "0.05", "--json", "--engine", "reasoner")
    code, out, _ = ggp("bench", "tictactoe", faulty, *arguments)
    assert code == 1
    first, second = map(json.loads, out.splitlines())
    assert first["game"] == "tictactoe"
    assert first["engine"] == "reasoner"
    assert first["states_per_cpu_second"] > 0
    assert second["game"] == str(faulty)
    assert "error" in second
    assert ggp("bench", "nim", "--seconds", "0.05")[0] == 0


def test_bench_reports_missing_files_first_and_measures_the_others(ggp):
    code, out, _ = ggp("bench", "tictactoe", "nosuch", "--seconds", "0.05", "--json", "--engine", "reasoner")
    assert code == 2
    missing, measured = map(json.loads, out.splitlines())
    assert missing["game"] == "nosuch"
    assert "error" in missing
    assert measured["states_per_cpu_second"] > 0


def test_interrupted_bench_prints_what_it_has_measured(ggp, monkeypatch):
    measured = []

    def measure_engine(load, **arguments):
        if measured:
            raise KeyboardInterrupt
        measured.append(load().name)
        return engines.measure(Nim(3), seconds=0.01) | {"setup_seconds": 0.0}

    monkeypatch.setattr(engines, "measure_engine", measure_engine)
    code, out, err = ggp("bench", "tictactoe", "nim", "--engine", "reasoner")
    assert (code, measured) == (130, ["tictactoe"])
    assert "nim" in out
    assert "interrupted" in err


def test_learning_from_faulty_rules_is_reported_in_one_line(ggp, tmp_path):
    sheet = tmp_path / "goalless.kif"
    sheet.write_text("(role a) (init p) (legal a go) (legal a stay) (next q) (<= terminal (true q))")
    code, _, err = ggp("prepare", "evaluation", sheet, "--out", tmp_path / "weights.json", "--games", "1")
    assert code == 1
    assert "a needs one goal value" in err
    assert "bug" not in err


def test_properties_without_evidence_are_not_reported(ggp, tmp_path):
    sheet = tmp_path / "endless.kif"
    sheet.write_text("(role a) (init p) (legal a go) (next p) (<= terminal (true q)) (goal a 100)")
    _, out, _ = ggp("validate", sheet, "--play", "--limit", "playouts=2,steps=5")
    assert "refuted  every match ends" in out
    assert "exactly one goal" not in out
    assert "the longest match" not in out


NAN = """
bench nim --seconds nan
solve nim --seconds nan
validate nim --seconds nan
player --margin nan
match nim --play-clock nan
"""


@pytest.mark.parametrize("arguments", NAN.strip().splitlines())
def test_nan_is_rejected(ggp, arguments):
    code, _, err = ggp(*arguments.split())
    assert code == 2
    assert "nan" in err


def test_a_pipe_or_an_empty_name_is_not_a_rule_sheet(ggp, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.kif")
    code, _, err = ggp("games", "info", tmp_path / "pipe.kif")
    assert code == 2
    assert "is a pipe or a device" in err
    for name in ("", "-"):
        code, _, err = ggp("games", "info", name)
        assert code == 2
        assert f"{name!r} is not a rule sheet" in err
    assert ggp("match", "no/such.kif")[2].endswith("no/such.kif: no such file.\n")
    sheet = tmp_path / "a.kif"
    sheet.write_text("(role   a)")
    monkeypatch.chdir(tmp_path)
    code, out, err = ggp("format", "")
    assert code != 0
    assert "is not a rule sheet" in out + err
    assert sheet.read_text() == "(role   a)"


EXPLODING = """
(role host) (role random) (init (at 0))
{succ}
(<= (legal random (deal ?a ?b ?c ?d)) (succ ?a ?e) (succ ?b ?f) (succ ?c ?g) (succ ?d ?h) (true (at ?a)))
(legal host wait)
(<= (next (at ?a)) (does random (deal ?a ?b ?c ?d)) (succ ?b ?a))
(<= terminal (true (at 70)))
(goal host 50)
"""


def test_match_is_played_by_the_interpreter_where_grounding_takes_long(ggp, tmp_path, monkeypatch):
    monkeypatch.setattr("ggp.cli.match.GROUNDING_SECONDS", 0.2)
    sheet = tmp_path / "deal.kif"
    succ = " ".join(f"(succ {n} {n + 1})" for n in range(60))
    sheet.write_text(EXPLODING.format(succ=succ).replace("(succ ?d ?h)", "(succ ?d ?h) (distinct ?d ?b)"))
    _, out, err = ggp("match", sheet, "random", "--seed", 1, "--limit", "steps=1")
    assert "falling back to the interpreter (slower)" in err
    assert f"`ggp games info {sheet}` gives compiling more time" in err
    assert "host wait" in out
