"""The `ggp` command: what people type, what they see, and the exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ggp import cli
from ggp.match import MatchRecord, read_record
from ggp.players import LegalPlayer, LocalPlayer, PlayerFaultError
from ggp.replay import text_hash

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ggp(capsys, monkeypatch):
    """Runs the command in this process: exit code, standard output, standard error."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments):
        with pytest.raises(SystemExit) as exit_info:
            cli.main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        return exit_info.value.code, output.out, output.err

    return run


def test_help_names_every_command(ggp):
    code, out, _ = ggp("--help")
    assert code == 0
    assert all(f"  {name}" in out for name in cli.COMMANDS)


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_explains_itself(ggp, name):
    code, out, _ = ggp(name, "--help")
    assert code == 0
    assert out.startswith(f"Usage: ggp {name}")


def test_version(ggp):
    assert ggp("--version")[1].startswith("ggp-lanes")


def test_help_does_not_import_the_engines():
    script = (
        "import sys\nfrom ggp.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('lark', 'clingo', 'numba', 'numpy', 'aiohttp', 'rich') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith("[]")


def test_listening_player_leaves_the_engines_to_its_search_processes():
    script = (
        "import sys\nimport ggp.commands.player, ggp.http_player, ggp.keeper\n"
        "print([m for m in ('lark', 'clingo', 'numba', 'numpy', 'rich') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_python_m_ggp_works():
    run = subprocess.run([sys.executable, "-m", "ggp", "-h"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0
    assert "Usage: ggp" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nothing"], "No such command"),
        (["match"], "Missing argument 'FILE'"),
        (["match", "tictactoe", "nobody"], "no player 'nobody'"),
        (["match", "tictactoe", "mcts:x=1"], "no option 'x'"),
        (["match", "tictactoe", "random", "random", "random"], "takes 2 player(s)"),
        (["match", "nosuchgame"], "there is no such file or game"),
        (["match", "tictactoe", "random", "random", "--engine", "steam"], "unknown engine"),
        (["match", "tictactoe", "--repeat", "2", "--record", "x.json"], "--record"),
        (["match", "tictactoe", "human", "--json"], "--json"),
        (["match", "tictactoe", "mcts:search=lanes", "--engine", "reasoner"], "no search on lanes"),
        (["match", "tictactoe", "solving:search=lanes", "--engine", "reasoner"], "no search on lanes"),
        (["match", "tictactoe", "random", "--play-clock", "1e300"], "at most a week"),
        (["match", "tictactoe", "mcts:ponder=1"], "ponder is on or off"),
        (["match", "tictactoe", "mcts:head_start=no"], "head_start is on or off"),
        (["replay", "tictactoe", "no-such-trace.gz"], "does not exist"),
        (["bench", "tictactoe", "--policy", "mast"], "--policy goes with --search"),
        (["bench", "tictactoe", "--search", "--engine", "reasoner"], "on lanes"),
        (["validate", "nosuchgame"], "there is no such file or game"),
    ],
)
def test_wrong_usage_exits_with_2_and_one_message(ggp, arguments, part):
    code, _, err = ggp(*arguments)
    assert code == 2
    assert part in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("text", "code_of_rule"),
    [("(role x", "GDL101"), ("(role x) (role ?x) (<= terminal (not (true ?y)))", "error GDL2")],
)
def test_bad_rules_are_shown_with_their_place(ggp, tmp_path, text, code_of_rule):
    sheet = tmp_path / "bad.kif"
    sheet.write_text(text)
    for command in (["match", sheet], ["info", sheet]):
        code, _, err = ggp(*command)
        assert code == 1
        assert "bad.kif:1:" in err
        assert code_of_rule in err
        assert "Traceback" not in err
    code, out, _ = ggp("validate", sheet)
    assert code == 1
    assert code_of_rule in out


@pytest.mark.parametrize("command", [["solve"], ["info", "--engine", "lanes"], ["features"]])
def test_rules_without_a_circuit_are_no_bug_of_ours(ggp, tmp_path, monkeypatch, command):
    monkeypatch.setattr("ggp.circuit_construction.GATE_INPUT_LIMIT", 3)
    sheet = tmp_path / "large.kif"
    in_no_cache = "(<= (kept ?x) (true (kept ?x)))"
    sheet.write_text((ROOT / "games" / "nim.kif").read_text() + in_no_cache)
    code, _, err = ggp(*command, sheet)
    assert code == 1
    assert "the circuit passes 3 gate inputs" in err
    assert "Traceback" not in err


def test_validate_accepts_our_games(ggp):
    code, out, _ = ggp("validate", "tictactoe", "games/nim.kif")
    assert code == 0
    assert out.count("no errors") == 2
    assert ggp("validate", "--quiet", "nim") == (0, "", "")


def test_own_bugs_show_a_traceback(ggp, monkeypatch):
    import ggp.commands.validate as validate

    def broken(name, request, advance):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(validate, "_examine", broken)
    code, _, err = ggp("validate", "nim")
    assert code == 1
    assert "ZeroDivisionError" in err
    assert "bug of ggp" in err


def test_match_plays_shows_and_records(ggp, tmp_path):
    record_file = tmp_path / "match.json"
    code, out, _ = ggp(
        "match", "tictactoe", "mcts:simulations=60", "random", "--seed", 5, "--record", record_file
    )
    assert code == 0
    assert "x (mark" in out
    assert "  1 2 3" in out
    assert "player" in out
    record = read_record(record_file)
    assert record.is_completed
    assert record.seed == 5
    assert f"{len(record.moves)} steps" in out
    assert record.rules == Path("games/tictactoe.kif").read_text()


def test_match_shows_what_the_players_think(ggp):
    arguments = ("match", "tictactoe", "mcts:simulations=60,search=reference", "random", "--seed", 5)
    code, out, _ = ggp(*arguments, "--think")
    assert code == 0
    assert "x: reference, 60 playouts (" in out
    assert "reference" not in ggp(*arguments)[1]


def test_match_prints_json(ggp):
    players = ("mcts:simulations=60,search=reference", "random")
    code, out, _ = ggp("match", "tictactoe", *players, "--seed", 5, "--json", "--repeat", 2)
    assert code == 0
    records = [MatchRecord.from_json(line) for line in out.splitlines()]
    assert [record.seed for record in records] == [5, 6]
    assert all(record.is_completed for record in records)
    assert records[0].reports[0][0]["playouts"] == 60


def test_match_with_a_seed_is_reproducible(ggp, tmp_path):
    def moves(name):
        path = tmp_path / name
        ggp("match", "connectfour_4x4", "mcts:simulations=20", "random", "--seed", 9, "--record", path)
        return read_record(path).moves

    assert moves("a") == moves("b")


def test_match_asks_a_person(ggp, monkeypatch):
    answers = iter(["1", "nonsense", *["1"] * 9])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    code, out, _ = ggp("match", "tictactoe", "human", "legal", "--seed", 1)
    assert code == 0
    assert "'nonsense' is not legal here" in out
    assert "human" in out


def test_match_ends_where_the_person_leaves(ggp, monkeypatch):
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


def test_match_repeats(ggp):
    code, out, _ = ggp("match", "tictactoe", "random", "random", "--seed", 3, "--repeat", 4)
    assert code == 0
    assert out.count("steps") == 4
    assert "mean goal" in out


def test_matches_tell_for_whom_chance_moved(ggp, monkeypatch):
    def choose(self, state, deadline, joint_move):
        raise PlayerFaultError("TO")

    monkeypatch.setattr(LegalPlayer, "choose", choose)
    code, out, _ = ggp("match", "rockpaperscissors", "random", "legal", "--seed", 3, "--repeat", 2)
    assert code == 0
    first, second, left, right = out.splitlines()
    steps = int(first.split()[2]), int(second.split()[2])
    assert first.endswith(f"   right: {steps[0]} faults")
    assert right.endswith(f"   {sum(steps)} faults: moves by chance instead")
    assert "faults" not in left


@pytest.mark.parametrize("repeat", [1, 2])
def test_match_needs_players_that_are_there(ggp, repeat):
    code, out, err = ggp("match", "tictactoe", "random", "http://127.0.0.1:1", "--repeat", repeat)
    assert code == 2
    assert "goal" not in out
    assert "127.0.0.1:1 did not start: " in err
    assert "Traceback" not in err


def test_match_tells_what_was_played_before_a_player_left(ggp, monkeypatch):
    matches = iter([None, PlayerFaultError("CE", "gone")])

    def start(self, setup, deadline):
        LocalPlayer.start(self, setup, deadline)
        if fault := next(matches):
            raise fault

    monkeypatch.setattr(LegalPlayer, "start", start, raising=False)
    code, out, err = ggp("match", "tictactoe", "random", "legal", "--seed", 3, "--repeat", 3)
    assert code == 2
    assert out.count("steps") == 1
    assert "mean goal" in out
    assert "legal did not start: gone" in err


def test_bench_prints_json_lines_and_reports_what_fails(ggp):
    code, out, _ = ggp("bench", "tictactoe", "nosuch", "--seconds", "0.05", "--json", "--engine", "reasoner")
    assert code == 1
    first, second = map(json.loads, out.splitlines())
    assert first["game"] == "tictactoe"
    assert first["engine"] == "reasoner"
    assert first["states_per_cpu_second"] > 0
    assert second["game"] == "nosuch"
    assert "error" in second
    assert ggp("bench", "nim", "--seconds", "0.05")[0] == 0


def test_replay_exit_codes(ggp, tmp_path):
    sheet = tmp_path / "one.kif"
    sheet.write_text(
        "(role a) (init start) (<= terminal (not (true start))) (legal a go) (goal a 100)"
        " (<= (next end) (does a go))"
    )
    rows = [
        {"t": "header", "game": "one", "roles": ["a"]},
        {"t": "step", "p": 0, "s": 0, "n": 1, "h": text_hash(["start"]), "term": False, "move": ["go"]},
        {"t": "step", "p": 0, "s": 1, "n": 1, "h": text_hash(["end"]), "term": True, "goals": {"a": 100}},
    ]
    trace = tmp_path / "one.jsonl"
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ggp("replay", sheet, trace)[0] == 0
    rows[-1]["goals"] = {"a": 0}
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = ggp("replay", sheet, trace)
    assert code == 1
    assert "goal of a" in out
    trace.write_text("{}")
    assert ggp("replay", sheet, trace)[0] == 2
    trace.write_text(json.dumps(rows[0]) + "\n(role a)\n")
    code, _, told = ggp("replay", sheet, trace)
    assert code == 2
    assert f"{trace}:2: no trace" in told


def test_learning_from_rules_with_faults_is_no_bug_of_ours(ggp, tmp_path):
    sheet = tmp_path / "goalless.kif"
    sheet.write_text("(role a) (init p) (legal a go) (legal a stay) (next q) (<= terminal (true q))")
    code, _, told = ggp("learn", sheet, "--out", tmp_path / "weights.json", "--games", "1")
    assert code == 1
    assert "a needs one goal value" in told
    assert "bug" not in told


def test_what_no_match_showed_is_no_evidence(ggp, tmp_path):
    sheet = tmp_path / "endless.kif"
    sheet.write_text("(role a) (init p) (legal a go) (next p) (<= terminal (true q)) (goal a 100)")
    _, out, _ = ggp("validate", sheet, "--play", "--playouts", "2", "--step-limit", "5")
    assert "refuted  every match ends" in out
    assert "exactly one goal" not in out
    assert "the longest match" not in out


@pytest.mark.parametrize("name", ["ticTacToe", "connectFour", "gt_two_thirds_4p", "hanoi"])
def test_replay_follows_the_reference_traces(ggp, corpus_dir, name):
    sheet = corpus_dir / "open" / "games" / f"{name}.kif"
    trace = corpus_dir / "open" / "traces" / f"{name}.jsonl.gz"
    code, out, _ = ggp("replay", sheet, trace, "--engine", "reasoner")
    assert code == 0, out


@pytest.mark.parametrize(
    "arguments",
    [
        ("bench", "nim", "--seconds", "nan"),
        ("solve", "nim", "--seconds", "nan"),
        ("info", "nim", "--seconds", "nan"),
        ("features", "nim", "--seconds", "nan"),
        ("validate", "nim", "--seconds", "nan"),
        ("player", "--margin", "nan"),
        ("player", "--start-margin", "nan"),
        ("match", "nim", "--play-clock", "nan"),
        ("tournament", "--game", "nim", "--agents", "random", "legal", "--elo1", "nan"),
    ],
)
def test_what_is_not_a_number_is_no_amount(ggp, arguments):
    code, _, err = ggp(*arguments)
    assert code == 2
    assert "nan" in err


def test_a_pipe_or_an_empty_name_is_no_rule_sheet(ggp, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.kif")
    code, _, err = ggp("info", tmp_path / "pipe.kif")
    assert code == 2
    assert "is a pipe or a device" in err
    for name in ("", "-"):
        code, _, err = ggp("info", name)
        assert code == 2
        assert f"{name!r} is no rule sheet" in err
    sheet = tmp_path / "a.kif"
    sheet.write_text("(role   a)")
    monkeypatch.chdir(tmp_path)
    code, out, err = ggp("format", "")
    assert code != 0
    assert "is no rule sheet" in out + err
    assert sheet.read_text() == "(role   a)"
