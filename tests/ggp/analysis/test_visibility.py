"""Percepts that reveal the state: a naive search for two states that one role cannot tell apart."""

import itertools

import pytest

from ggp.analysis.info import describe
from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE, hides_information
from ggp.match.referee import play_match
from ggp.players.factory import make_player
from ggp.solver import solve

RACE = """
(role left) (role right) (other left right) (other right left) (amount 1) (amount 2)
(init (heap 5)) (init (control left))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(<= (less ?a ?b 1) (succ ?b ?a)) (<= (less ?a ?c 2) (succ ?b ?a) (succ ?c ?b))
(<= (legal ?r (take ?n)) (true (control ?r)) (true (heap ?h)) (less ?h ?g ?n))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= (next (heap ?g)) (does ?r (take ?n)) (true (heap ?h)) (less ?h ?g ?n))
(<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
(<= terminal (true (heap 0)))
(<= (goal ?r 0) (true (control ?r))) (<= (goal ?r 100) (true (control ?s)) (other ?s ?r))
"""

TOGETHER = """
(role left) (role right) (hand rock) (hand paper) (init start)
(<= (legal ?r ?h) (role ?r) (hand ?h) (true start)) (<= (legal ?r wait) (role ?r) (not (true start)))
(<= (next (shown ?r ?h)) (does ?r ?h) (true start))
(<= terminal (not (true start)))
(<= (goal left 100) (true (shown left ?h)) (true (shown right ?h))) (<= (goal left 0) (not (goal left 100)))
(<= (goal right 0) (goal left 100)) (<= (goal right 100) (not (goal left 100)))
"""

REVEALING = {
    "moves of all roles": RACE + "(<= (sees ?p (did ?r ?m)) (role ?p) (does ?r ?m))",
    "moves of the others, and the heap": RACE
    + "(<= (sees ?p (did ?m of ?r)) (does ?r ?m) (role ?p) (distinct ?p ?r))"
    + "(<= (sees ?p (was ?h)) (role ?p) (true (heap ?h)))",
    "simultaneous moves": TOGETHER + "(<= (sees ?p (did ?r ?m)) (role ?p) (role ?r) (does ?r ?m))",
}

HIDING = {
    "nothing is seen": RACE + "(<= (sees ?p fine) (role ?p) (does ?p (take 3)))",
    "only one role sees": RACE + "(<= (sees left (did ?r ?m)) (does ?r ?m))",
    "the state before the move": RACE + "(<= (sees ?p (was ?h)) (role ?p) (true (heap ?h)))",
    "the own move": RACE + "(<= (sees ?r (did ?r ?m)) (does ?r ?m))",
    "moves, and others that nobody made": TOGETHER
    + "(<= (sees ?p (did ?r ?m)) (role ?p) (does ?r ?m))"
    + "(<= (sees ?p (did ?r ?h)) (role ?p) (role ?r) (hand ?h))",
    "whether hands differ": TOGETHER.replace("(hand paper)", "(hand paper) (hand scissors)")
    + "(<= (sees ?p same) (role ?p) (does left ?h) (does right ?h))",
    "chance": """
        (role random) (role guesser) (init start)
        (<= (legal random (put ?n)) (true start) (cup ?n)) (<= (legal random wait) (not (true start)))
        (<= (legal guesser wait) (true start)) (<= (legal guesser (guess ?n)) (cup ?n) (not (true start)))
        (cup 1) (cup 2)
        (<= (next (under ?n)) (does random (put ?n))) (<= (next (under ?n)) (true (under ?n)))
        (<= (next over) (does guesser (guess ?n)))
        (<= (next right) (does guesser (guess ?n)) (true (under ?n)))
        (<= terminal (true over))
        (<= (goal guesser 100) (true right)) (<= (goal guesser 0) (not (true right)))
        (<= (sees guesser (looked ?n)) (does guesser (guess ?n)))
    """,
}


def can_confuse(game):
    """Whether some role cannot tell two next states apart, in any reachable state: by enumeration."""
    seen, waiting = {game.initial_state()}, [game.initial_state()]
    while waiting:
        state = waiting.pop()
        if game.is_terminal(state):
            continue
        told = {}
        for joint in itertools.product(*(game.legal_moves(state, role) for role in game.roles)):
            following = game.next_state(state, joint)
            if following not in seen:
                seen.add(following)
                waiting.append(following)
            for index, role in enumerate(game.roles):
                if role != RANDOM_ROLE:
                    key = (index, joint[index], game.percepts(state, joint, role))
                    if told.setdefault(key, following) != following:
                        return True
    return False


@pytest.mark.parametrize("text", REVEALING.values(), ids=REVEALING.keys())
def test_percepts_that_reveal_everything_are_recognized(text):
    game = load(text, "lanes")
    assert not can_confuse(game)
    assert not hides_information(game)
    assert "sees everything" in {trait.name for trait in describe(game).traits}


@pytest.mark.parametrize("text", HIDING.values(), ids=HIDING.keys())
def test_percepts_that_hide_something_are_not_taken_to_reveal_it(text):
    game = load(text, "lanes")
    assert can_confuse(game)
    assert hides_information(game)
    assert "hidden information" in {trait.name for trait in describe(game).traits}


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "krieg_tictactoe", "dark_hex_3x3", "monty_hall", "signalling"]
)
def test_bundled_games_with_percepts_hide_something(name):
    assert hides_information(load(name, "lanes"))


def test_a_game_that_reveals_everything_is_solved_like_the_one_without_percepts():
    game = load(REVEALING["moves of all roles"], "lanes")
    assert solve(game).values() == solve(load(RACE, "lanes")).values()


@pytest.mark.parametrize("spec", ["mcts:simulations=200", "alphabeta:nodes=2000", "solving"])
def test_a_game_that_reveals_everything_is_played_to_its_value(spec):
    game = load(REVEALING["moves of the others, and the heap"], "lanes")
    winner = solve(game).values().index(100)
    players = [make_player("random") for _ in game.roles]
    players[winner] = make_player(spec)
    record = play_match(game, players)
    assert record.goals[winner] == 100
    assert not any(any(step.faults) for step in record.steps)
