"""Proofs: lanes compared with the naive exploration in Python, and limits."""

import time
from dataclasses import replace

import pytest

from gdl.syntax.parser import parse
from ggp.engines.loading import load, make_game
from ggp.solver import UnsolvableError, reachable
from ggp.validation.explored_states import Bounds, UndecidedError
from ggp.validation.explored_states import explore as explore_on_lanes
from ggp.validation.properties import Declarations, Outcome, ProofLimits, declarations_of
from ggp.validation.proving import properties_of, prove
from tests.conftest import ROOT, mostly_slow
from tests.oracles.naive_states import explore

OWN = ["tictactoe", "nim", "halving", "bucket", "morra", "goofspiel", "hanoi", "sudoku_4x4", "kuhn_poker"]
FAULTY = [
    path
    for path in sorted((ROOT / "tests" / "invalid" / "play").glob("*.kif"))
    if path.stem != "endless_terms"
]

BY_TURNS_AND_TOGETHER = """
(role a) (role b) (role c)
(init (at 0)) (init (turn a))
(<= (legal ?r stay) (role ?r))
(<= (legal ?r go) (true (turn ?r)))
(<= (legal ?r jump) (role ?r) (true (at 2)))
(<= going (does ?_r go))
(<= jumping (does a jump) (does b jump))
(<= (next (at ?m)) going (true (at ?n)) (after ?n ?m))
(<= (next (at ?n)) (not going) (not jumping) (true (at ?n)))
(<= (next (at 3)) (not going) jumping)
(<= (next (turn ?s)) (true (turn ?r)) (follows ?r ?s))
(follows a b) (follows b c) (follows c a)
(after 0 1) (after 1 2) (after 2 0)
(<= terminal (true (at 3)))
(<= (goal ?r 100) (true (at 3)) (true (turn ?r)))
(<= (goal ?r 10) (role ?r) (not (true (turn ?r))))
(<= (goal ?r 20) (true (turn ?r)) (not (true (at 3))))
"""
NO_MOVE_AND_ODD_GOALS = """
(role a) (role random)
(init (at 0))
(<= (legal a (to ?n)) (true (at ?m)) (way ?m ?n))
(<= (legal random ?x) (coin ?x))
(coin heads) (coin tails)
(way 0 1) (way 0 2) (way 0 3) (way 1 2) (way 4 4)
(<= (next (at ?n)) (does a (to ?n)) (does random heads))
(<= (next (at 4)) (does a (to ?n)) (does random tails) (distinct ?n 3))
(<= (next (at 3)) (does a (to 3)))
(<= terminal (true (at 3)))
(<= (goal a 150) (true (at 3)))
"""
"""At 2 there is no move, at 3 no valid goal, and tails leads to an endless loop at 4."""
TEXTS = {"by turns and together": BY_TURNS_AND_TOGETHER, "no move and odd goals": NO_MOVE_AND_ODD_GOALS}


def bounds(states=20_000, seconds=60.0):
    return Bounds(states, seconds)


def compare(game, declarations):
    """Statements, outcomes and witnesses of all; cycles may be reported at different states."""
    naive, fast = explore(game, bounds()), explore_on_lanes(game, bounds())
    assert fast.state_count == naive.state_count
    for one, other in zip(properties_of(fast, declarations), properties_of(naive, declarations), strict=True):
        if one.code == "GDL401" and one.outcome is Outcome.REFUTED:
            one, other = (replace(fact, detail="", witness=None) for fact in (one, other))
        assert one == other


@pytest.mark.parametrize("name", mostly_slow(OWN, 9))
def test_lanes_prove_what_python_proves(name):
    game = load(ROOT / "games" / f"{name}.kif", "lanes")
    compare(game, declarations_of(game.program))


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_lanes_find_the_faults_that_python_finds(path):
    game = load(path, "lanes")
    compare(game, declarations_of(game.program))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_lanes_agree_on_cycles_stuck_roles_and_odd_goals(text):
    game = make_game(parse(text), "odd", "lanes")
    compare(game, Declarations())
    outcomes = {fact.code: fact.outcome for fact in prove(game, Declarations(), ProofLimits(1000, 60))}
    assert outcomes["GDL401"] is Outcome.REFUTED
    is_odd = text is NO_MOVE_AND_ODD_GOALS
    assert outcomes["GDL402"] is outcomes["GDL403"] is (Outcome.REFUTED if is_odd else Outcome.PROVED)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("by", [explore_on_lanes, explore])
def test_cycle_leads_back_to_its_state(text, by):
    game = make_game(parse(text), "odd", "lanes")
    states = by(game, bounds())
    cycle = states.cycle()
    state = game.initial_state()
    for joint_move in states.witness(cycle.state).joint_moves:
        state = game.next_state(state, joint_move)
    before = state
    for joint_move in cycle.joint_moves:
        state = game.next_state(state, joint_move)
    assert state == before
    assert cycle.joint_moves


def test_lanes_name_undeclared_facts_and_moves_like_python():
    game = load(ROOT / "games" / "tictactoe.kif", "lanes")
    everything = declarations_of(game.program)
    few = Declarations(
        frozenset(fact for fact in everything.base if str(fact) not in ("(cell 2 2 o)", "(cell 3 3 x)")),
        {
            role: frozenset(m for m in moves if str(m) != "(mark 3 1)")
            for role, moves in everything.input.items()
        },
    )
    compare(game, few)
    facts = {fact.code: fact for fact in prove(game, few, ProofLimits(10_000, 60)) if fact.code}
    assert facts["GDL404"].outcome is facts["GDL405"].outcome is Outcome.REFUTED
    assert len(facts["GDL404"].witness.joint_moves) == 1


def test_paths_on_lanes_lead_to_their_states():
    game = load(ROOT / "games" / "goofspiel.kif", "lanes")
    states = explore_on_lanes(game, bounds())
    for number in range(0, states.state_count, 97):
        witness = states.witness(number)
        state = game.initial_state()
        for joint_move in witness.joint_moves:
            state = game.next_state(state, joint_move)
        assert game.facts(state) == witness.facts


@pytest.mark.parametrize("limit", [1, 100, 3000])
def test_incomplete_exploration_proves_nothing_about_all_states(limit):
    game = load(ROOT / "games" / "tictactoe.kif", "lanes")
    facts = prove(game, Declarations(), ProofLimits(limit, 60))
    outcomes = {fact.statement: fact.outcome for fact in facts}
    assert outcomes["every match ends"] is Outcome.SAMPLED
    assert outcomes["x can force 100 from the initial state"] is Outcome.SAMPLED
    assert facts[0].statement.startswith("more than ")
    assert outcomes["every role has a legal move in every non-terminal state"] is Outcome.SAMPLED
    states = explore_on_lanes(game, bounds(limit))
    assert 0 < states.explored < states.state_count


def test_questions_are_undecided_after_the_deadline():
    game = load(ROOT / "games" / "nim.kif", "lanes")
    states = explore_on_lanes(game, bounds())
    states.deadline = time.monotonic() - 1
    with pytest.raises(UndecidedError):
        states.can_force(0, 100)
    facts = properties_of(states, Declarations())
    (forced, _) = (fact for fact in facts if "can force" in fact.statement)
    assert forced.outcome is Outcome.SAMPLED
    assert "time ran out" in forced.detail


def test_forcing_with_perfect_information_is_not_a_proof_without():
    text = """
        (role a) (role b)
        (init hidden) (<= (legal b ?c) (coin ?c) (true hidden)) (<= (legal b noop) (not (true hidden)))
        (<= (legal a noop) (true hidden)) (<= (legal a ?c) (coin ?c) (not (true hidden)))
        (coin heads) (coin tails)
        (<= (next (shown ?c)) (does b ?c) (true hidden))
        (<= (next (shown ?c)) (true (shown ?c)))
        (<= (next (guess ?c)) (does a ?c) (not (true hidden)))
        (<= terminal (true (guess ?_c)))
        (<= (goal a 100) (true (guess ?c)) (true (shown ?c)))
        (<= (goal a 0) (true (guess ?c)) (not (true (shown ?c))))
        (<= (goal b 0) (role a))
        (sees a nothing)
    """
    open_text = text.replace("(sees a nothing)", "")
    for rules, expected in ((text, Outcome.SAMPLED), (open_text, Outcome.PROVED)):
        facts = prove(make_game(parse(rules), "guess", "lanes"), Declarations(), ProofLimits(100, 60))
        (fact,) = (fact for fact in facts if fact.statement.startswith("a can force"))
        assert fact.outcome is expected


def test_a_game_of_too_many_moves_or_without_lanes_is_not_explored(monkeypatch):
    monkeypatch.setattr(reachable, "MAX_MOVES", 2)
    for engine in ("lanes", "reasoner"):
        game = make_game(parse(NO_MOVE_AND_ODD_GOALS), "odd", engine)
        with pytest.raises(UnsolvableError):
            prove(game, Declarations(), ProofLimits(100, 60))
