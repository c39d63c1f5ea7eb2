"""CompiledGame compared with the reasoner: equal facts, moves, goals and percepts, and typed errors."""

import itertools
import pickle
import random
from collections.abc import Collection

import numpy as np
import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse, parse_term
from gdl.validation import validate
from ggp.circuit.construction import build
from ggp.circuit.simplify.plan import STAGES, simplify
from ggp.circuit.tables import tabulate
from ggp.engines.batches import playouts
from ggp.engines.compiled import NO_GOAL, CompiledGame
from ggp.engines.loading import load
from ggp.engines.reasoner import InterpretedGame
from ggp.game import Game, GoalError, NoLegalMoveError
from tests.conftest import ROOT, mostly_slow
from tests.ggp.percept_games import COIN
from tests.oracles.random_programs import random_rules
from tests.oracles.reference_traces import replay
from tests.oracles.rows_game import RowsGame

SHEETS = ("tictactoe", "nim", "rockpaperscissors", "goofspiel", "kuhn_poker", "maze", "othello_4x4")
TRACES = (
    "buttons",
    "ticTacToe",
    "roshambo2",
    pytest.param("gt_two_thirds_4p", marks=pytest.mark.slow),
    "queens08ug",
    "point_grab",
)


def compiled(text: str, *, stages: Collection[str] = tuple(STAGES)) -> CompiledGame:
    program = parse(text)
    circuit = simplify(build(ground(program)), stages=stages, seconds=2)
    return CompiledGame(program, tabulate(circuit), circuit.terms)


def on_rows(game: CompiledGame, words: int = 8) -> RowsGame:
    """The same game, with the kernels on rows answering for single states too."""
    return RowsGame(game.program, game.tables, game.terms, words=words)


def sheet(name: str) -> str:
    return (ROOT / "games" / f"{name}.kif").read_text()


def outcome(ask, *arguments):
    """The answer, or the type of the GameError raised."""
    try:
        return ask(*arguments)
    except (GoalError, NoLegalMoveError) as error:
        return type(error)


def assert_same_playout(one: Game, other: Game, rng: random.Random, steps: int = 60) -> None:
    """Play the same random playout in both games and compare every answer on the way."""
    left, right = one.initial_state(), other.initial_state()
    for _ in range(steps):
        assert one.facts(left) == other.facts(right)
        assert one.is_terminal(left) == other.is_terminal(right)
        for role in one.roles:
            assert outcome(one.goal, left, role) == outcome(other.goal, right, role)
            assert outcome(one.legal_moves, left, role) == outcome(other.legal_moves, right, role)
        if one.is_terminal(left) or NoLegalMoveError in [
            outcome(one.legal_moves, left, r) for r in one.roles
        ]:
            return
        joint_move = [rng.choice(other.legal_moves(right, role)) for role in other.roles]
        for role in one.roles:
            assert one.percepts(left, joint_move, role) == other.percepts(right, joint_move, role)
        left, right = one.next_state(left, joint_move), other.next_state(right, joint_move)


@pytest.mark.parametrize("name", TRACES)
def test_compiled_game_agrees_with_reference_traces(name, corpus_dir):
    game = compiled((corpus_dir / "open" / "games" / f"{name}.kif").read_text())
    for one in (game, on_rows(game)):
        result = replay(one, corpus_dir / "open" / "traces" / f"{name}.jsonl.gz")
        assert result.is_same, result.difference
        assert result.states > 0


@pytest.mark.parametrize("name", ["tictactoe", "rockpaperscissors", "goofspiel", "kuhn_poker"])
def test_successors_are_what_single_moves_lead_to(name):
    game = compiled(sheet(name))
    rng = random.Random(4)
    state = game.initial_state()
    while not game.is_terminal(state):
        found = game.successors(state)
        by_role = [game.legal_moves(state, role) for role in game.roles]
        assert [
            tuple(game.moves[r][i] for r, i in enumerate(indices)) for indices in found.joint_moves
        ] == list(itertools.product(*by_role))
        for n, joint_move in enumerate(itertools.product(*by_role)):
            following = game.next_state(state, joint_move)
            assert found.states[n] == following
            assert found.is_terminal[n] == game.is_terminal(following)
            for r, role in enumerate(game.roles):
                goal = outcome(game.goal, following, role)
                assert (
                    found.goals[n, r] == (goal if isinstance(goal, int) else NO_GOAL) or str(role) == "random"
                )
                first = game.tables.first_move[r]
                legal = np.flatnonzero(found.is_legal[n, first : game.tables.first_move[r + 1]])
                moves = tuple(game.moves[r][i] for i in legal)
                if not found.is_terminal[n]:
                    assert moves == game.legal_moves(following, role)
        state = rng.choice(found.states)


def test_many_successors_take_several_passes():
    text = """(role a) (role b) (role c) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5)
    (<= (legal ?r (say ?x)) (role ?r) (d ?x)) (init start) (<= (next (said ?r ?x)) (does ?r (say ?x)))
    (<= terminal (not (true start))) (<= (goal ?r 50) (role ?r))"""
    game = on_rows(compiled(text), words=1)
    passes = list(game.successor_passes(game.initial_state()))
    assert [len(part.states) for part in passes] == [64, 64, 64, 24]
    found = game.successors(game.initial_state())
    assert len(found.states) == len(set(found.states)) == 216
    assert found.is_terminal.all()
    assert (found.goals == 50).all()
    assert found.is_legal.all()


def test_states_are_equal_exactly_when_their_facts_are():
    game = compiled(sheet("tictactoe"))
    state = game.initial_state()
    x, o = game.roles
    noop = parse_term("noop")
    corners = [game.legal_moves(state, x)[i] for i in (0, 2)]
    middle = next(m for m in game.moves[1] if m != noop and m not in corners)
    states = []
    for first, last in (corners, corners[::-1]):
        reached = game.next_state(state, (first, noop))
        reached = game.next_state(reached, (noop, middle))
        states.append(game.next_state(reached, (last, noop)))
    assert states[0] == states[1]
    assert hash(states[0]) == hash(states[1])
    assert states[0] != state
    assert game.pack(game.unpack(state)) == state
    assert o in game.roles


ODD_GOALS = """
(role a) (role b) (init (at 0))
(<= (legal ?r wait) (role ?r)) (<= (next (at 1)) (true (at 0)))
(<= terminal (true (at 1)))
(goal a 70) (<= (goal a crossed) (true (at 1))) (<= (goal a 150) (true (at 1)))
(goal b -5) (<= (goal b (plus 1)) (true (at 0)))
"""


@pytest.mark.parametrize("engine", ["lanes", "reasoner"])
def test_goals_that_are_not_integers_from_0_to_100_are_left_out(engine):
    game = load(ODD_GOALS, engine)
    a, b = game.roles
    wait = parse_term("wait")
    for state in (game.initial_state(), game.next_state(game.initial_state(), (wait, wait))):
        assert game.goal(state, a) == 70
        with pytest.raises(GoalError, match="b needs one goal value"):
            game.goal(state, b)


def test_a_game_survives_pickling():
    game = compiled(sheet("nim"))
    copy = pickle.loads(pickle.dumps(game))
    assert_same_playout(copy, game, random.Random(1))
    assert playouts(copy, 100) == playouts(game, 100)


def test_a_game_without_fluents_or_moves_can_be_asked():
    game = compiled("(role a) (<= (goal a 30) (not (true x))) (<= terminal (not (true x)))")
    state = game.initial_state()
    assert game.is_terminal(state)
    assert game.facts(state) == ()
    assert game.legal_moves(state, game.roles[0]) == ()
    assert game.goal(state, game.roles[0]) == 30
    assert playouts(game, 10, state).mean_goals == (30.0,)


LITERALS = """
(role solver) (init (clause 1)) (succ 1 2) (succ 2 3)
(literal 1 7) (literal 1 (not 8)) (literal 2 (not 7)) (literal 2 (or 8 (and)))
(<= (legal solver (satisfy ?l)) (true (clause ?c)) (literal ?c ?l))
(<= (next (clause ?d)) (true (clause ?c)) (succ ?c ?d))
(<= (next (chosen ?l)) (does solver (satisfy ?l))) (<= (next (chosen ?l)) (true (chosen ?l)))
(<= clash (true (chosen ?n)) (true (chosen (not ?n)))) (<= terminal (true (clause 3)))
(<= (goal solver 0) clash) (<= (goal solver 100) (not clash))"""
SEEN_NEXT = (
    COIN
    + """
(<= (sees ?r (after ?f)) (role ?r) (next ?f))
(<= (sees ?r dark) (role ?r) (not dawn)) (<= dawn (next (coin ?x)))"""
)


def assert_played_alike(text: str, stages: Collection[str], seed: object) -> None:
    """The same playouts with the reasoner and the compiled game, for single states and on rows."""
    game, reference = compiled(text, stages=stages), InterpretedGame(parse(text))
    assert game.roles == reference.roles
    for number, one in enumerate((game, game, on_rows(game))):
        assert_same_playout(one, reference, random.Random(f"{seed} {number}"))


@pytest.mark.parametrize("name", mostly_slow(SHEETS, 2))
@pytest.mark.parametrize("stages", [(), tuple(STAGES)], ids=["as-built", "simplified"])
def test_compiled_game_agrees_with_the_reasoner(name, stages):
    assert_played_alike(sheet(name), stages, name)


@pytest.mark.parametrize("stage", mostly_slow(STAGES, 3))
def test_game_without_one_simplification_agrees_with_the_reasoner(stage):
    assert_played_alike(sheet("othello_4x4"), [name for name in STAGES if name != stage], stage)


@pytest.mark.parametrize("seed", mostly_slow(range(60), 6))
def test_random_programs_agree_with_the_reasoner(seed):
    for stages in ((), tuple(STAGES)):
        assert_played_alike(random_rules(seed), stages, seed)


@pytest.mark.parametrize(
    ("text", "code"),
    [(COIN, None), (LITERALS, "GDL215"), (SEEN_NEXT, "GDL217")],
    ids=["percepts", "connectives as functions", "next in sees"],
)
def test_rules_with_percepts_or_harmless_errors_are_played_alike(text, code):
    assert code is None or code in {finding.code for finding in validate(parse(text))}
    for stages in ((), tuple(STAGES)):
        for seed in range(2):
            assert_played_alike(text, stages, seed)


@pytest.mark.parametrize("words", [1, 2, 4])
def test_answers_do_not_depend_on_the_width(words):
    game = compiled(sheet("tictactoe"))
    assert_same_playout(on_rows(game, words), game, random.Random(words))
