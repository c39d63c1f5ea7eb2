"""The reasoner as a `Game`: traces of an independent prover, and typed errors."""

import pickle

import pytest

from gdl.errors import GroundingError, ReasoningError
from gdl.syntax.parser import parse_term
from gdl.terms import Symbol
from ggp import Game, GameError, GoalError, IllegalMoveError, NoLegalMoveError, load
from ggp.engines.loading import RulesNotFoundError
from tests.conftest import find_corpus, mostly_slow
from tests.oracles.reference_traces import replay

CORPUS = find_corpus()
SHEETS = sorted(sheet.stem for sheet in (CORPUS / "open" / "games").glob("*.kif")) if CORPUS else []

LARGE_SHEETS = ("amazons", "chess", "gt_two_thirds_4p", "stanford_madness")
LARGE_FIRST = sorted(SHEETS, key=lambda sheet: sheet not in LARGE_SHEETS)
"""Sheets whose traces take the reasoner seconds."""


@pytest.mark.skipif(CORPUS is None, reason="no reference corpus: set GGP_CORPUS")
@pytest.mark.parametrize(
    "sheet",
    mostly_slow(LARGE_FIRST, 4, first=len(LARGE_SHEETS)),
)
def test_reasoner_agrees_with_reference_traces(sheet, corpus_dir):
    game = load(corpus_dir / "open" / "games" / f"{sheet}.kif", engine="reasoner")
    result = replay(game, corpus_dir / "open" / "traces" / f"{sheet}.jsonl.gz")
    assert result.is_same, result.difference
    assert result.states > 0


def test_moves_and_facts_print_as_canonical_kif():
    game: Game = load(
        "(ROLE  X) (init (Cell 1  1 B)) (<= (legal x (Mark ?a)) (true (cell ?a 1 b)))", engine="reasoner"
    )
    state = game.initial_state()
    assert [str(fact) for fact in game.facts(state)] == ["(cell 1 1 b)"]
    assert [str(move) for move in game.legal_moves(state, game.roles[0])] == ["(mark 1)"]


def test_games_are_found_by_name_path_and_text(tmp_path):
    assert load("tictactoe").name == "tictactoe"
    assert len(load("tictactoe.kif").roles) == 2
    sheet = tmp_path / "mine.kif"
    sheet.write_text("(role solo) (legal solo wait)")
    assert load(sheet).name == load(str(sheet)).name == "mine"
    assert load("(role solo)", name="typed").name == "typed"
    copy = tmp_path / "mine (2).kif"
    with pytest.raises(RulesNotFoundError, match="no such file"):
        load(str(copy))
    copy.write_text("(role solo) (legal solo wait)")
    assert load(str(copy)).name == "mine (2)"
    assert load("(role solo) " + "(legal solo wait) " * 1000).roles == (Symbol("solo"),)
    with pytest.raises(RulesNotFoundError, match="`ggp games` lists the games"):
        load("no_such_game")
    with pytest.raises(ValueError, match="unknown engine"):
        load("tictactoe", engine="quantum")


@pytest.mark.parametrize("engine", ["reasoner", "lanes"])
def test_text_instead_of_terms_is_refused_with_a_hint(engine):
    game = load("tictactoe", engine=engine)
    state = game.initial_state()
    with pytest.raises(GameError, match=r"'x' is not a role of this game .*use game.roles"):
        game.legal_moves(state, "x")
    with pytest.raises(IllegalMoveError, match="a move is a term"):
        game.next_state(state, ["(mark 1 1)", "noop"])


def test_a_game_and_its_states_survive_pickling():
    game = load("tictactoe", engine="reasoner")
    again, state = pickle.loads(pickle.dumps((game, game.initial_state())))
    assert (again.name, again.roles) == (game.name, game.roles)
    assert state == again.initial_state() == game.initial_state()
    assert [again.legal_moves(state, role) for role in again.roles] == [
        game.legal_moves(state, role) for role in game.roles
    ]


@pytest.mark.parametrize("engine", ["reasoner", "lanes"])
@pytest.mark.parametrize("stranger", ["text", None, b"", b"x" * 1000])
def test_values_that_are_not_states_are_refused(engine, stranger):
    game = load("tictactoe", engine=engine)
    for ask in (
        lambda: game.is_terminal(stranger),
        lambda: game.legal_moves(stranger, game.roles[0]),
        lambda: game.goal(stranger, game.roles[0]),
        lambda: game.next_state(stranger, (game.legal_moves(game.initial_state(), game.roles[0])[0],) * 2),
    ):
        with pytest.raises(GameError, match="not a state of tictactoe"):
            ask()


def test_states_of_another_game_are_refused_if_their_size_differs():
    state = load("connectfour", engine="lanes").initial_state()
    with pytest.raises(GameError, match="not a state of tictactoe"):
        load("tictactoe", engine="lanes").facts(state)


def test_rules_that_grow_without_limit_are_refused_or_stopped(caplog):
    within = "(role r) (n z) (<= (n (s ?x)) (n ?x)) (<= (legal r (m ?x)) (n ?x))"
    with pytest.raises(ReasoningError, match=r"<rules>:1: the rule for n/1 .*nested deeper"):
        load(within)
    assert "falling back to the interpreter" in caplog.text
    with pytest.raises(GroundingError, match="terms may grow without limit by the rule for n/1"):
        load(within, engine="lanes")
    game = load("(role r) (init (n z)) (<= (next (n (s ?x))) (true (n ?x))) (legal r go)")
    state = game.initial_state()
    with pytest.raises(ReasoningError, match="the rule for next/1"):
        play_on(game, state, 300)


def play_on(game, state, steps):
    for _ in range(steps):
        state = game.next_state(state, [Symbol("go")])


FAULTY = """
(role left) (role right) (init (n 0)) (step 0 1) (step 1 2)
(<= (legal ?r (count ?y)) (role ?r) (true (n ?x)) (step ?x ?y))
(<= (next (n ?y)) (does left (count ?y)))
(<= (goal left 50) (true (n 0))) (<= (goal left 60) (true (n 0))) (<= (goal right high) (true (n 0)))
(<= terminal (true (n 7)))"""


@pytest.mark.parametrize("engine", ["reasoner", "lanes"])
def test_faulty_moves_and_rules_raise_typed_errors(engine):
    game = load(FAULTY, engine=engine)
    left, right = game.roles
    state = game.initial_state()
    one, two = (parse_term(f"(count {number})") for number in (1, 2))
    with pytest.raises(IllegalMoveError, match=r"\(count 2\) is not legal for right"):
        game.next_state(state, [one, two])
    with pytest.raises(IllegalMoveError, match=r"2 moves, not 1"):
        game.next_state(state, [one])
    with pytest.raises(IllegalMoveError, match="nonsense"):
        game.next_state(state, [Symbol("nonsense"), one])
    with pytest.raises(GoalError, match=r"left needs one goal value.*50 60"):
        game.goal(state, left)
    with pytest.raises(GoalError, match="right.*high" if engine == "reasoner" else "right.*none"):
        game.goal(state, right)
    following = game.next_state(state, [one, one])
    assert following == game.next_state(state, (one, one)) != state == game.initial_state()
    assert hash(game.initial_state()) == hash(state)
    with pytest.raises(GoalError, match="none"):
        game.goal(following, left)
    stuck = game.next_state(following, [two, two])
    with pytest.raises(NoLegalMoveError, match="left has no legal move"):
        game.legal_moves(stuck, left)


def test_a_role_may_be_without_moves_when_the_match_is_over():
    over = load("(role r) terminal", engine="reasoner")
    assert over.legal_moves(over.initial_state(), Symbol("r")) == ()
