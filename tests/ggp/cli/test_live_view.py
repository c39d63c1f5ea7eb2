"""The terminal view of a match: plain lines, live panel, result table."""

import io
import re
from dataclasses import replace

from rich.console import Console

from gdl.syntax.parser import parse, parse_term
from ggp.analysis.picture import Picture, find_picture
from ggp.cli.live_view import MatchView, result_view, state_view, step_line
from ggp.engines.loading import load
from ggp.match.faults import Illegal, Late
from ggp.match.referee import Moment, play_match
from ggp.match.terms import MatchTerms
from ggp.players.human import HumanPlayer
from ggp.players.simple import LegalPlayer, RandomPlayer
from tests.ggp.fakes import Nim


def printed(thing, width=100, **options):
    console = Console(file=io.StringIO(), width=width, **options)
    console.print(thing)
    return console.file.getvalue()


def terminal(width=100, **options):
    return Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None, **options)


def played(game, **options):
    """The record of a match between two legal players."""
    return play_match(game, [LegalPlayer(), LegalPlayer()], MatchTerms(5, 5, seed=1, **options))


def watch(console, game, players, **options):
    with MatchView(console, game, **options) as view:
        return play_match(game, players, MatchTerms(5, 5, seed=1), watch=view)


def test_view_prints_one_line_per_step_without_a_terminal():
    console = Console(file=io.StringIO(), width=100)
    record = watch(console, Nim(6), [RandomPlayer(), LegalPlayer()])
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "nim: left random, right legal; seed 1"
    for number, (line, moves) in enumerate(zip(lines[1:], record.moves, strict=False), start=1):
        steps = re.sub(r" \(\d+\.\d\d s\)", "", line)
        role, move = ("right", moves[1]) if moves[0] == "noop" else ("left", moves[0])
        assert steps.split() == [str(number), role, *move.strip("()").split()]
    assert "(heap 0)" in lines[-1]


def test_view_draws_in_place_in_a_terminal():
    console = terminal()
    record = watch(console, Nim(6), [LegalPlayer(), LegalPlayer()])
    text = console.file.getvalue()
    assert f"nim, step {len(record.moves)}" in text
    assert "take 1" in text
    assert "\x1b[" in text


def test_view_shows_every_state_to_a_person():
    console = terminal()
    person = HumanPlayer(ask=lambda prompt: "1", show=lambda line: None)
    watch(console, Nim(3), [person, LegalPlayer()], has_person=True)
    text = console.file.getvalue()
    for heap in (3, 2, 1, 0):
        assert f"(heap {heap})" in text


def test_live_panel_shows_the_clock_of_the_thinking_role():
    game = Nim(6)
    record = played(game)
    view = MatchView(Console(file=io.StringIO(), width=100), game)
    view.moment = Moment(record, game, (5, 1), 1, None, thinking=game.roles[1], deadline=float("inf"))
    text = printed(view.render())
    thinking = next(line for line in text.splitlines() if "s left" in line)
    assert thinking.split()[-6:-1] == ["right", "legal", "inf", "s", "left"]


def test_state_view_draws_a_board_and_lists_the_other_facts():
    facts = [f"(cell {x} {y} {'red' if (x, y) == (2, 1) else 'b'})" for x in (1, 2, 3) for y in (1, 2, 3)]
    rules = "".join(f"(init {fact})" for fact in facts)
    terms = tuple(parse_term(fact) for fact in [*facts, "(dealer red)"])
    text = printed(state_view(find_picture(parse(rules), terms), terms))
    assert text.splitlines() == ["3 . . .", "2 . . .", "1 . r .", "  1 2 3", "r red", "(dealer red)"]


def test_state_view_marks_what_the_last_move_changed():
    game = load("tictactoe", engine="reasoner")
    before = game.initial_state()
    state = game.next_state(before, [parse_term("(mark 2 2)"), parse_term("noop")])
    picture = find_picture(game.program, game.facts(before))
    text = printed(state_view(picture, game.facts(state), before=game.facts(before)))
    board = ["3 . . .", "2 .[x].", "1 . . .", "  a b c"]
    assert [line.rstrip() for line in text.splitlines()] == [*board, "o to move"]
    assert "to move" not in printed(state_view(picture, game.facts(state), is_over=True))


def test_state_view_lists_facts_without_a_board():
    facts = tuple(parse_term(f"(heap {n})") for n in range(100))
    text = printed(state_view(Picture(None, ()), facts))
    assert "(heap 5)" in text
    assert "more" in text
    assert printed(state_view(Picture(None, ()), ())).strip() == ""


def test_escape_sequences_of_players_are_not_printed():
    console = Console(file=io.StringIO(), width=100, force_terminal=True, no_color=True)
    record = played(Nim(2))
    record.player_names = ("\x1b[2Jleft", "\x9b2Jright")
    record.steps[1] = replace(record.steps[1], faults=(Illegal("\x1b]0;title\x07"), None))
    record.fault = "\x1b[31mred"
    record.is_aborted = True
    step = Moment(record, Nim(2), None, 1, record.steps[1].joint_move)
    for thing in (result_view(record), step_line(step)):
        console.print(thing)
    text = re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())
    assert "?[2Jleft" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_result_view_shows_goals_and_faults_without_markup():
    record = played(Nim(2))
    record.game_name = "[bold]odd[/]"
    record.steps[1] = replace(record.steps[1], faults=(Late(), None))
    text = printed(result_view(record))
    assert "[bold]odd[/]" in text
    left = next(line for line in text.splitlines() if "left" in line)
    assert [cell.strip() for cell in left.split("│")[1:5]] == ["left", "legal", "0", "1"]


def test_person_sees_moves_in_words_and_who_won():
    console = Console(file=io.StringIO(), width=100)
    person = HumanPlayer(ask=lambda prompt: "1", show=lambda line: None)
    record = watch(console, load("nim", engine="reasoner"), [LegalPlayer(), person], has_person=True)
    text = console.file.getvalue()
    assert "   1   first reduce a 0\n" in text
    assert "noop" not in text
    assert re.search(r"nim: (first|second) wins after \d+ steps", printed(result_view(record)))


def test_one_step_is_written_in_the_singular():
    console = Console(file=io.StringIO(), width=100)
    record = watch(console, load("morra", engine="reasoner"), [LegalPlayer(), LegalPlayer()])
    assert printed(result_view(record)).splitlines()[0].endswith(" after 1 step")


def test_person_sees_only_percepts_of_hidden_information():
    console = Console(file=io.StringIO(), width=100)
    person = HumanPlayer(ask=lambda prompt: "bet", show=console.print)
    game = load("kuhn_poker", engine="reasoner")
    watch(console, game, [person, LegalPlayer(), None], has_person=True)
    lines = console.file.getvalue().splitlines()
    assert any(re.fullmatch(r"first sees: card (jack|queen|king)", line) for line in lines)
    end = next(i for i, line in enumerate(lines) if "second call" in line or "holds" in line)
    assert not any("deal" in line or ("second" in line and "card" in line) for line in lines[:end])
