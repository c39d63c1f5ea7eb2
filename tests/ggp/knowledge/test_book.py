"""Opening books: what is in them, who plays by them, and files that are none."""

import json
import time

import click
import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.knowledge.book import Book, BookMove, position_digest
from ggp.knowledge.folder import KnowledgeFileError, find_kept_file, kept_file
from ggp.match.player import MatchSetup, PlayerSpecError
from ggp.players import book_building
from ggp.players.book_building import BookTerms, build_book
from ggp.players.factory import make_player
from tests.oracles import naive_solver


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def book_of(game, move, *, seconds=5.0, is_exact=False):
    """A book of the initial position."""
    book = Book.empty(game)
    digest = position_digest(game.facts(game.initial_state()))
    book.moves[digest] = BookMove(str(game.roles[0]), move, 60.0, 9, None, seconds, is_exact)
    return book


def first_move(spec, game, clock=5.0):
    player = make_player(spec)
    player.start(MatchSetup("m", game, game.roles[0], 0.0, clock, 1), time.monotonic())
    try:
        return str(player.choose(game.initial_state(), time.monotonic() + clock, None)), player.last_report
    finally:
        player.stop(None)


def test_a_book_has_own_best_moves_and_all_answers():
    """By the definition: for each role the positions of its best moves against everything."""
    game = load("tictactoe", "reasoner")
    book = Book.empty(game)
    build_book(game, book, BookTerms(plies=3, simulations=30))
    expected = set()
    for owner in game.roles:
        level = [game.initial_state()]
        for _ in range(3):
            following = []
            for state in level:
                mover = next(r for r in game.roles if len(game.legal_moves(state, r)) > 1)
                if mover == owner:
                    expected.add(position_digest(game.facts(state)))
                for joint in naive_solver.joint_moves(game, state):
                    best = book.find(game, state, mover) if mover == owner else None
                    if mover != owner or joint[game.roles.index(mover)] == best[0]:
                        following.append(game.next_state(state, joint))
            level = following
    assert set(book.moves) == expected
    assert len(expected) == 1 + 9 + 8


def test_building_resumes_and_deepens_without_searching_again(monkeypatch):
    game = load("tictactoe", "reasoner")
    searched = []
    search = book_building._Searcher.search

    def counted(self, state, role):
        if len(searched) == 4:
            raise KeyboardInterrupt
        searched.append(state)
        return search(self, state, role)

    monkeypatch.setattr(book_building._Searcher, "search", counted)
    book, terms = Book.empty(game), BookTerms(plies=2, simulations=30)
    with pytest.raises(KeyboardInterrupt):
        build_book(game, book, terms)
    assert len(book.moves) == 4
    monkeypatch.setattr(book_building._Searcher, "search", search)
    seen = []
    build_book(game, book, terms, report=seen.append)
    whole = Book.empty(game)
    build_book(game, whole, terms)
    assert {d: m.move for d, m in book.moves.items()} == {d: m.move for d, m in whole.moves.items()}
    assert [(each.done, each.count) for each in seen if each.ply == 1] == [(done, 9) for done in range(10)]
    monkeypatch.setattr(book_building._Searcher, "search", counted)  # must not be called
    build_book(game, book, terms)


@pytest.mark.parametrize(("name", "has_moves"), [("dicerace", True), ("rockpaperscissors", False)])
def test_chance_is_followed_and_simultaneous_moves_end_the_book(name, has_moves):
    game = load(name, "reasoner")
    book = Book.empty(game)
    build_book(game, book, BookTerms(plies=2, simulations=10))
    assert (len(book.moves) > 1) == has_moves


@pytest.mark.parametrize("engine", ["lanes", "reasoner"])
@pytest.mark.parametrize("kind", ["mcts", "alphabeta"])
def test_players_play_by_the_book_unless_told_otherwise(kind, engine, data_folder, tmp_path):
    game = load("tictactoe", engine)
    path = kept_file(game.program, "book.json")
    book_of(game, "(mark 3 2)", is_exact=True).save(path)
    assert find_kept_file(game.program, "book.json") == path
    move, report = first_move(f"{kind}:margin=0", game, 0.3)
    assert (move, report.mode, report.expectation) == ("(mark 3 2)", "book", 60.0)
    report = first_move(f"{kind}:margin=0,book=off", game, 0.3)[1]
    assert getattr(report, "mode", None) != "book"
    counted = f"{kind}:simulations=30" if kind == "mcts" else f"{kind}:depth=1"
    assert getattr(first_move(counted, game)[1], "mode", None) != "book"
    assert first_move(f"{counted},book={path}", game)[0] == "(mark 3 2)"


def test_a_book_is_not_used_if_its_search_was_short_or_its_rules_or_moves_are_others(
    data_folder, tmp_path, caplog
):
    game = load("tictactoe", "reasoner")
    place = kept_file(game.program, "book.json")
    book_of(game, "(mark 3 2)", seconds=0.1).save(place)
    assert first_move("mcts", game, 0.1)[1].mode == "book"
    assert first_move("mcts", game, 0.3)[1].mode == "reference"
    book_of(load("nim", "reasoner"), "(mark 3 2)", is_exact=True).save(place)
    assert first_move("mcts:simulations=10", game)[1].mode == "reference"
    assert first_move("mcts", game, 0.2)[1].mode == "reference"
    assert "playing without a book: opening book of other rules (nim)" in caplog.text
    book_of(game, "(mark 9 9)", is_exact=True).save(place)
    assert first_move("mcts", game, 0.2)[1].mode == "reference"
    place.write_text("{")
    assert first_move("mcts", game, 0.2)[1].mode == "reference"
    for spec, message in (
        (f"mcts:book={place}", "incomplete or damaged"),
        (f"alphabeta:book={tmp_path / 'none'}", "No such file"),
    ):
        with pytest.raises(PlayerSpecError, match=message):
            make_player(spec)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "ggp-book 2"},
        {"rules": 7},
        {"positions": []},
        {"positions": {"d": {}}},
        {"positions": {"d": None}},
        {"game": "x" * 20_000},
        {"mean": 101},
        {"mean": "NaN"},
        {"seconds": -1},
        {"visits": 1.5},
        {"goal": 200},
        {"goal": True},
        {"is_exact": "yes"},
        {"move": ["noop"]},
    ],
)
def test_damaged_books_are_refused(change, tmp_path):
    path = tmp_path / "book.json"
    book = book_of(load("tictactoe", "reasoner"), "(mark 3 2)")
    book.save(path)
    assert Book.load(path) == book
    content = json.loads(path.read_text())
    if set(change) <= set(content):
        content |= change
    else:
        next(iter(content["positions"].values())).update(change)
    path.write_text(json.dumps(content))
    with pytest.raises(KnowledgeFileError):
        Book.load(path)


def test_the_command_keeps_a_book_and_resumes(data_folder, capsys, monkeypatch):
    arguments = ["prepare", "book", "tictactoe", "--plies", "1", "--seconds", "0.05"]
    app.main(arguments, standalone_mode=False)
    assert "tictactoe: 1 position (1 new)" in capsys.readouterr().out
    app.main([*arguments, "--plies", "2"], standalone_mode=False)
    assert "10 positions (9 new)" in capsys.readouterr().out

    def interrupted(self, state, role):
        raise KeyboardInterrupt

    monkeypatch.setattr(book_building._Searcher, "search", interrupted)
    with pytest.raises(SystemExit) as ended:
        app.main([*arguments, "--plies", "3"], standalone_mode=False)
    assert ended.value.code == 130
    assert "the results so far are kept" in capsys.readouterr().err
    game = load("tictactoe", "reasoner")
    assert len(Book.load(kept_file(game.program, "book.json")).moves) == 10


def test_the_command_refuses_what_it_cannot_do_in_one_line(data_folder):
    with pytest.raises(click.ClickException, match="hidden information"):
        app.main(["prepare", "book", "kuhn_poker"], standalone_mode=False)
    (data_folder / "b").write_text("no book")
    with pytest.raises(click.ClickException, match="incomplete or damaged"):
        app.main(["prepare", "book", "tictactoe", "-o", str(data_folder / "b")], standalone_mode=False)
