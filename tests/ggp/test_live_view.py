"""The terminal view of a match: plain lines, live panel, result table."""

import io
import re

import pytest
from rich.console import Console

from gdl.parser import parse, parse_term
from ggp.board_finder import find_board
from ggp.human_player import HumanPlayer
from ggp.live_view import MatchView, content_color, result_view, state_view
from ggp.match import Moment, play_match
from ggp.players import LegalPlayer, MctsPlayer, RandomPlayer
from ggp.search.reference import Search
from tests.ggp.fakes import Nim


def printed(thing, width=100, **options):
    console = Console(file=io.StringIO(), width=width, **options)
    console.print(thing)
    return console.file.getvalue()


def watch(console, game, players, **options):
    with MatchView(console, game, **options) as view:
        return play_match(game, players, start_clock_seconds=5, play_clock_seconds=5, seed=1, watch=view)


def test_view_prints_one_line_per_step_where_there_is_no_terminal():
    console = Console(file=io.StringIO(), width=100)
    record = watch(console, Nim(6), [RandomPlayer(), LegalPlayer()])
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "nim: left random, right legal; seed 1"
    for number, (line, moves) in enumerate(zip(lines[1:], record.moves, strict=False), start=1):
        steps = re.sub(r" \(\d+\.\d\d s\)", "", line)
        assert steps.split() == [str(number), "left", *moves[0].split(), "right", *moves[1].split()]
    assert "(heap 0)" in lines[-1]


def test_view_draws_in_place_in_a_terminal():
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    record = watch(console, Nim(6), [LegalPlayer(), LegalPlayer()])
    text = console.file.getvalue()
    assert f"nim, step {len(record.moves)}" in text
    assert "(take 1)" in text
    assert "\x1b[" in text


def test_view_shows_every_state_to_a_person():
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    person = HumanPlayer(ask=lambda prompt: "1", show=lambda line: None)
    watch(console, Nim(3), [person, LegalPlayer()], has_person=True)
    text = console.file.getvalue()
    for heap in (3, 2, 1, 0):
        assert f"(heap {heap})" in text


def test_view_is_silent_where_only_the_result_is_wanted():
    console = Console(file=io.StringIO(), width=100)
    watch(console, Nim(6), [LegalPlayer(), LegalPlayer()], is_brief=True)
    assert console.file.getvalue() == ""


def test_live_panel_shows_the_clock_of_who_thinks():
    game = Nim(6)
    record = play_match(
        game, [LegalPlayer(), LegalPlayer()], start_clock_seconds=5, play_clock_seconds=5, seed=1
    )
    view = MatchView(Console(file=io.StringIO(), width=100), game)
    view.moment = Moment(record, game, (5, 1), 1, None, thinking=game.roles[1], deadline=float("inf"))
    text = printed(view.render())
    thinking = next(line for line in text.splitlines() if "s left" in line)
    assert thinking.split()[-6:-1] == ["right", "legal", "inf", "s", "left"]


def test_state_view_draws_a_board_and_tells_the_rest():
    facts = [f"(cell {x} {y} {'red' if (x, y) == (2, 1) else 'b'})" for x in (1, 2, 3) for y in (1, 2, 3)]
    rules = "".join(f"(init {fact})" for fact in facts)
    terms = tuple(parse_term(fact) for fact in [*facts, "(control red)"])
    text = printed(state_view(find_board(parse(rules), terms), terms))
    assert text.splitlines() == ["3 . . .", "2 . . .", "1 . r .", "  1 2 3", "r red", "(control red)"]


def test_state_view_lists_facts_where_there_is_no_board():
    facts = tuple(parse_term(f"(heap {n})") for n in range(100))
    text = printed(state_view(None, facts))
    assert "(heap 5)" in text
    assert "more" in text
    assert printed(state_view(None, ())).strip() == ""


def test_moves_with_brackets_are_no_markup():
    record = play_match(
        Nim(2), [LegalPlayer(), LegalPlayer()], start_clock_seconds=5, play_clock_seconds=5, seed=1
    )
    record.game_name = "[bold]odd[/]"
    record.errors[1][0] = "IL [red]"
    assert "[bold]odd[/]" in printed(result_view(record))


def test_result_view_tells_goals_and_faults():
    record = play_match(
        Nim(2), [LegalPlayer(), LegalPlayer()], start_clock_seconds=5, play_clock_seconds=5, seed=1
    )
    record.errors[1][0] = "TO"
    text = printed(result_view(record))
    left = next(line for line in text.splitlines() if "left" in line)
    assert [cell.strip() for cell in left.split("│")[1:5]] == ["left", "legal", "0", "1"]


@pytest.mark.parametrize(
    ("name", "names", "color"),
    [("redking", (), "red"), ("x", ("o", "x"), "yellow"), ("unknown", (), "default")],
)
def test_content_color(name, names, color):
    assert content_color(name, names) == color


def test_view_prints_how_the_searches_stand():
    console = Console(file=io.StringIO(), width=200)
    watch(console, Nim(9), [MctsPlayer(simulations=50), LegalPlayer()], is_thinking=True)
    lines = console.file.getvalue().splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("   1"))
    assert lines[place + 1].lstrip().startswith("left: reference, 50 playouts (")
    assert not any("right:" in line for line in lines)


def test_live_panel_shows_the_search_while_it_runs():
    game = Nim(6)
    players = [LegalPlayer(), LegalPlayer()]
    record = play_match(game, players, start_clock_seconds=5, play_clock_seconds=5, seed=1)
    view = MatchView(Console(file=io.StringIO(), width=160), game, is_thinking=True)
    view.moment = Moment(record, game, (5, 1), 1, None, thinking=game.roles[1], deadline=float("inf"))
    assert "thinks" not in printed(view.render(), width=160)
    search = Search(game, game.roles[1])
    search.move_to((5, 1), None)
    search.run(simulations=25)
    view.show_report(1, search.report())
    text = printed(view.render(), width=160)
    assert "right thinks" in text
    assert "25 playouts" in text
    assert re.search(r"\(take 1\) +\d+ visits +expects", text)
