"""A person at the keyboard: commands, short names of moves, lists, moves taken back."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ggp.players.human as human
from gdl.syntax.parser import parse_term
from gdl.terms import Symbol
from ggp.analysis.notation import Notation
from ggp.analysis.state_view import show
from ggp.engines.loading import load
from ggp.match.player import MatchQuitError
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player
from ggp.players.human import HumanPlayer
from ggp.players.move_menu import MoveMenu
from ggp.players.simple import LegalPlayer, RandomPlayer
from tests.ggp.fakes import Matrix, Nim
from tests.ggp.players.asking import choose, started

ROOT = Path(__file__).resolve().parents[3]


def terms(*texts):
    return [parse_term(text) for text in texts]


def person(answers, shown):
    left = iter(answers)
    return HumanPlayer(ask=lambda prompt: next(left), show=shown.append)


def played(game, answers, other=None, seat=0):
    """The record of a match of a person who answers `answers`, and what was shown."""
    shown = []
    players = [other or LegalPlayer() for _ in game.roles]
    players[seat] = person(answers, shown)
    return play_match(game, players, MatchTerms(5, 5, seed=1)), shown


@pytest.mark.parametrize(
    ("legal", "answer", "chosen"),
    [
        (["(move 7 1 6 1)", "(move 7 1 8 2)"], "7 1 6 1", 0),
        (["(move 7 1 6 1)", "(move 7 1 8 2)"], "6 1", 0),
        (["(mark d4)", "(mark d5)"], "d4", 0),
        (["(mark d 4)", "(mark d 5)"], "d5", 1),
        (["(draw (across 2 1))", "(draw (upright 2 1))"], "upright 2 1", 1),
        (["(drop 1)", "(drop 3)", "(drop 4)"], "3", 1),
        (["(walk north)", "(walk south)", "pass"], "SOUTH", 1),
        (["(walk north)", "(walk south)", "(stay here)"], "stay", 2),
        (["(mark 1 1)", "(mark 1 2)"], "2", 1),
        (["(mark 1 2)", "(mark 2 1)", "(mark 2 2)"], "1 2", 0),
        (["(run a 1)", "(run b 1)", "(jump a 1)"], "a 1", None),
        (["(mark 1 1)", "(mark 1 2)"], "mark", None),
        (["(mark 1 1)", "(mark 1 2)"], "", None),
        (["(take 1)", "(take 2)", "(take 3)"], "( TAKE  2 )", 1),
        (["(take 1)", "(take 2)", "(take 3)"], " take 2 ", 1),
        (["(take 1)", "(take 2)", "(take 3)"], "0", None),
        (["(take 1)", "(take 2)", "(take 3)"], "4", None),
        (["1", "3", "5"], "3", 1),
        (["up", "(move 1 2)"], "move 1", None),
        (["up", "(move 1 2)"], "3", None),
        (["up", "(move 1 2)"], "move 1 2", 1),
    ],
)
def test_moves_are_known_by_their_distinguishing_words(legal, answer, chosen):
    moves = terms(*legal)
    assert MoveMenu(moves).find(answer) == (None if chosen is None else moves[chosen])


def test_list_of_moves_fits_and_says_what_is_left_out():
    menu = MoveMenu(terms(*(f"(move {x} {y})" for x in range(40) for y in range(40))))
    lines = menu.lines(menu.legal, columns=80, rows=10)
    assert len(lines) == 11
    assert all(len(line) <= 80 for line in lines)
    assert "more; type a part of a move" in lines[-1]
    assert menu.lines(menu.matching("move 39 7")) == ["  1568  move 39 7"]


def test_a_person_is_asked_again_until_the_move_is_legal():
    shown = []
    player = started(person(["", "4", "take 9", "jump", "0", "take 1"], shown), Nim())
    assert str(choose(player)) == "(take 1)"
    assert any("take 3" in line for line in shown)
    assert sum("is not legal here" in line for line in shown) == 4


def test_part_of_a_move_filters_the_list():
    shown = []
    player = started(person(["mark 3", "3 3"], shown), load("tictactoe", engine="reasoner"))
    assert str(choose(player)) == "(mark 3 3)"
    assert shown[-1].split() == ["3", "a3", "6", "b3", "7", "c1", "8", "c2", "9", "c3"]


def test_help_lists_the_commands():
    _, shown = played(Nim(3), ["help", "3"])
    assert all(word in "\n".join(shown) for word in ("hint", "undo", "quit", "moves"))


@pytest.mark.parametrize(("command", "how"), [("quit", "left"), ("resign", "resigned")])
def test_a_person_can_end_the_match(command, how):
    record, _ = played(Nim(9), [command])
    assert record.is_aborted
    assert record.fault == f"the human player {how}"


def test_hint_names_a_move(monkeypatch):
    monkeypatch.setattr(human, "HINT_SECONDS", 0.1)
    _, shown = played(Nim(3), ["hint", "3"])
    assert any(line.startswith("hint: take 3, expects") for line in shown)


def test_hint_is_written_in_notation(monkeypatch):
    monkeypatch.setattr(human, "HINT_SECONDS", 0.1)
    game = load("tictactoe", engine="reasoner")
    notation = show(game).picture.notation
    assert re.match(
        "hint: [abc][123], expects", human.hint_text(game, game.initial_state(), game.roles[0], notation)
    )


def test_hint_is_refused_if_information_is_hidden():
    game = load("kuhn_poker", engine="reasoner")
    assert "hidden" in human.hint_text(game, game.initial_state(), game.roles[0], Notation())


def test_undo_returns_to_the_last_own_choice():
    record, shown = played(Nim(9), ["undo", "1", "undo", "2", "undo", "3", "1", "1", "1", "1"])
    assert shown.count("there is no move of yours to take back") == 1
    assert record.moves[0] == ["(take 3)", "noop"]
    assert record.is_completed
    assert len(record.steps) == len(record.moves) + 1


@pytest.mark.parametrize(
    "spec", ["mcts:simulations=200", pytest.param("alphabeta:depth=3", marks=pytest.mark.slow)]
)
def test_undo_takes_moves_back_from_searching_players_too(spec):
    game = load("tictactoe", "lanes")
    answers = ["mark 2 2", "undo", "mark 1 1", *["1"] * 9]
    other = make_player(spec)
    other.prepare(game)  # no clock runs against compiling
    record, _ = played(game, answers, other=other)
    assert record.moves[0] == ["(mark 1 1)", "noop"]
    assert record.is_completed
    assert not any(record.fault_count(seat) for seat in range(2))


def test_undo_draws_the_same_chance_again():
    game = load("dicerace", engine="reasoner")
    record, _ = played(game, ["a", "undo", "b", *["a", "b"] * 60], other=RandomPlayer())
    plain, _ = played(game, ["b", *["a", "b"] * 60], other=RandomPlayer())
    assert [row[2] for row in record.moves[:4]] == [row[2] for row in plain.moves[:4]]


def test_undo_is_refused_where_moves_cannot_be_taken_back():
    shown = []
    player = started(person(["1", "undo", "2"], shown), Nim(5))
    choose(player, (5, 0))
    choose(player, (4, 0))
    assert "moves cannot be taken back in this match" in shown


def test_forced_moves_are_made_without_asking():
    record, shown = played(Nim(1), [], seat=1)
    assert record.is_completed
    assert shown == []  # the other role's turn needs no word
    _, shown = played(Nim(1), [])
    assert shown == ["left: take 1 is the only legal move"]


def test_a_move_called_like_a_command_is_the_move():
    game = Matrix([[[0, 0]] * 2] * 2, moves=("hint", "undo"))
    record, _ = played(game, ["undo"])
    assert record.moves == [["undo", "hint"]]
    assert Symbol("undo") in MoveMenu([Symbol("undo")]).legal


def test_end_of_input_ends_the_match():
    def closed(prompt):
        raise EOFError

    player = started(HumanPlayer(ask=closed, show=lambda line: None), Nim(5))
    with pytest.raises(MatchQuitError):
        choose(player)


@pytest.mark.parametrize("command", ["board", "\f"])
def test_the_board_is_shown_again(command):
    shown = []
    choose(started(person(["moves", command, "2 2"], shown), load("tictactoe", engine="reasoner")))
    assert shown.count("3 . . .") == 1
    assert shown.count(shown[1]) == 3  # the first line of the list of moves


def test_the_board_shown_again_is_what_the_person_knows():
    game = load("kuhn_poker", engine="reasoner")
    shown = []
    seats = iter([person(["board", *["1"] * 9], shown), LegalPlayer()])
    players = [None if str(role) == "random" else next(seats) for role in game.roles]
    play_match(game, players, MatchTerms(5, 5, seed=1))
    assert sum("knows" in line for line in shown[: shown.index(shown[-1])]) >= 2


def test_nothing_that_is_said_breaks_within_a_word(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(human, "HINT_SECONDS", 0.1)
    _, shown = played(Nim(3), ["help", "nonsense that is much longer than the line", "undo", "hint", "3"])
    lines = "\n".join(shown).splitlines()
    assert max(map(len, lines)) < 60
    assert "part that distinguishes it" in " ".join(" ".join(lines).split())
    menu = MoveMenu(terms(*(f"(move {x} {y})" for x in range(40) for y in range(40))))
    assert max(map(len, menu.lines(menu.legal, columns=60, rows=5))) < 60


@pytest.fixture
def terminal():
    """`ggp match` with a person at a terminal of 60 columns: its two ends, and the process."""
    near, far = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60", "LINES": "24"}
    command = [sys.executable, "-m", "ggp", "match", "tictactoe", "human", "legal", "--engine", "reasoner"]
    process = subprocess.Popen(command, stdin=far, stdout=far, stderr=far, env=environment, cwd=ROOT)
    yield near, far, process
    process.kill()
    process.wait()
    os.close(near)
    os.close(far)


def read_until(near, text, after=""):
    """What the terminal shows until it has shown `after` and ends with `text`, without colors."""
    seen, end = "", time.monotonic() + 60
    while not (seen.endswith(text) and after in seen) and time.monotonic() < end:
        if select.select([near], [], [], 0.2)[0]:
            seen = re.sub(r"\x1b\[[0-9;]*m", "", seen + os.read(near, 65536).decode(errors="replace"))
    assert seen.endswith(text)
    assert after in seen
    return seen


def test_keys_edit_the_line_and_moves_typed_ahead_stay_here(terminal):
    near, far, process = terminal
    read_until(near, "x> ")
    os.write(near, b"mark 2 1\x1b[D\x1b[D\x7f3\n")  # arrows and a correction: mark 3 1
    seen = read_until(near, "x> ")
    assert "^[[" not in seen
    assert "x c1" in seen
    os.write(near, b"\x1b[A\x0c")  # Up brings the last move, Ctrl-L the board instead
    read_until(near, "x> ", after="3 . . .")
    os.write(near, b"resign\necho one\necho two\n")
    assert process.wait(60) == 1
    seen = ""
    while select.select([near], [], [], 0.2)[0]:
        seen += os.read(near, 65536).decode(errors="replace")
    assert "the human player resigned" in seen
    os.set_blocking(far, False)
    with pytest.raises(BlockingIOError):  # a shell would read here
        os.read(far, 100)
