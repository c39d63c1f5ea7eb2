"""The Prolog engine: an independent prover must agree with the reasoner."""

import random

import pytest

from gdl.terms import Symbol
from ggp import IllegalMoveError, load
from ggp.engines.prolog import missing_prolog
from ggp.validation.replay import replay
from tests.conftest import mostly_slow
from tests.ggp.engines.test_compiled import assert_same_playout
from tests.oracles.random_programs import random_rules

pytestmark = pytest.mark.skipif(missing_prolog() is not None, reason=str(missing_prolog()))

SHEETS = [
    "ticTacToe",
    "hex",
    "connectFourSimultaneous",
    "queens08ug",
    "nonogram_5x5_1",
    "gt_prisoner",
    "hanoi",
]


@pytest.mark.parametrize("sheet", mostly_slow(SHEETS, 3))
def test_prolog_agrees_with_reference_traces(sheet, corpus_dir):
    game = load(corpus_dir / "open" / "games" / f"{sheet}.kif", engine="prolog")
    result = replay(game, corpus_dir / "open" / "traces" / f"{sheet}.jsonl.gz")
    assert result.is_same, result.difference
    assert result.states > 0


def test_odd_names_survive_prolog():
    game = load(
        "(role r) (init (it's 01 a\\b +)) (init (f)) (<= (legal r (go ?x)) (true (it's ?x ?y ?z)))",
        engine="prolog",
    )
    assert [str(fact) for fact in game.facts(game.initial_state())] == ["(f)", "(it's 01 a\\b +)"]
    assert [str(move) for move in game.legal_moves(game.initial_state(), Symbol("r"))] == ["(go 01)"]
    with pytest.raises(IllegalMoveError):
        game.next_state(game.initial_state(), [Symbol("noop")])


@pytest.mark.parametrize("seed", range(10))
def test_prolog_agrees_with_reasoner_on_random_programs(seed):
    text = random_rules(seed)
    prolog, reasoner = load(text, engine="prolog"), load(text, engine="reasoner")
    assert prolog.roles == reasoner.roles
    assert_same_playout(prolog, reasoner, random.Random(seed), steps=4)
