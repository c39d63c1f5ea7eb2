"""Proof numbers on full lanes, against plain minimax and solved games."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.lanes.keys.state_code import decode_keys
from ggp.search.alphabeta.result import AlphaBetaError
from ggp.search.alphabeta.symmetry import fluent_symmetries
from ggp.search.budget import Budget
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import THREAT_WORTH
from ggp.search.proof_numbers.kernels.in_order import (
    ASIDE_BITS,
    BUSY_BIT,
    FIRST,
    MOVE_BIT,
    OPENED,
    WORSE_BIT,
    walk_in_order,
)
from ggp.search.proof_numbers.memory import bucket_count, make_table
from ggp.search.proof_numbers.search import FIRST_MEBIBYTES, ProofNumberSearch, is_provable
from ggp.solver import solve
from tests.ggp.search.alphabeta.positions import after, random_states
from tests.oracles.naive_values import naive_value

LONG = 200.0
TURNS = """
(role a) (role b) (init (turn a)) (init (heap {heap}))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6)
(<= (legal ?r (take ?n)) (true (turn ?r)) (may ?m ?n) (true (heap ?m)))
(<= (legal a noop) (true (turn b))) (<= (legal b noop) (true (turn a)))
(<= (may ?m one) (succ ?l ?m)) (<= (may ?m two) (succ ?l ?m) (succ ?k ?l)) {more}
(<= (next (turn b)) (true (turn a))) (<= (next (turn a)) (true (turn b)))
(<= (next (heap ?l)) (does ?r (take one)) (true (heap ?m)) (succ ?l ?m))
(<= (next (heap ?k)) (does ?r (take two)) (true (heap ?m)) (succ ?l ?m) (succ ?k ?l))
(<= (next (heap ?m)) (does ?r (take none)) (true (heap ?m)))
(<= terminal (true (heap 0)))
(<= (goal a 80) (true (turn b))) (<= (goal b 20) (true (turn b)))
(<= (goal a 30) (true (turn a))) (<= (goal b 70) (true (turn a)))
"""
PASSING = "(<= (may ?m none) (succ ?l ?m))"


def sampled_states(solution, count, seed=0):
    """States of a solution that are not terminal."""
    game, space = solution.game, solution.space
    rng = np.random.default_rng(seed)
    keys = np.asarray(space.keys).reshape(-1, space.code.word_count)
    chosen = decode_keys(space.code, keys[rng.integers(0, len(keys), count)])
    states = [game.pack(each) for each in chosen]
    return [state for state in states if not game.is_terminal(state)]


@pytest.mark.parametrize("name", ["tictactoe", "nim", "halving", "othello_4x4", "hex_3x3", "maze"])
def test_values_are_those_of_plain_minimax(name):
    game = load(name, "lanes")
    search, known = ProofNumberSearch(game, mebibytes=4), {}
    for state in random_states(game, 12):
        found = search.search(state)
        assert found.is_proven
        assert found.goal == naive_value(game, state, known)
        if found.move is not None:
            legal = [game.legal_moves(state, role) for role in game.roles]
            mover = 0 if len(legal[0]) > 1 else 1
            joint = [found.move if r == mover else moves[0] for r, moves in enumerate(legal)]
            assert naive_value(game, game.next_state(state, joint), known) == found.goal


def test_lines_of_one_role_lead_to_every_goal_up_to_the_value():
    game = load("maze", "lanes")
    search, known = ProofNumberSearch(game, mebibytes=4), {}
    for start in random_states(game, 12):
        for goal in search.goals[1:]:
            state, line = start, search.line_to(start, goal)
            assert bool(line) == (goal <= naive_value(game, start, known))
            for move in line:
                state = game.next_state(state, (move,))
            assert not line or game.goal(state, game.roles[0]) >= goal
    assert search.line_to(start, search.goals[0]) == ()  # every end has it


@pytest.mark.parametrize("name", ["connectfour_4x4", "breakthrough_4x4"])
def test_answers_agree_with_solved_games(name):
    game = load(name, "lanes")
    search, solution = ProofNumberSearch(game, mebibytes=16), solve(game)
    for state in sampled_states(solution, 40):
        found = search.search(state, Budget(time.monotonic() + LONG))
        assert found.goal == solution.values(state)[0]
        assert search.is_reached(state, int(found.goal), 1)
        assert search.is_reached(state, int(found.goal), -1)


@pytest.mark.parametrize(("heap", "nodes", "leaves"), [(1, 64, 64), (2, 64, 64), (3, 64 + 64, 64)])
def test_leaves_are_the_children_that_are_decided(heap, nodes, leaves):
    """All 64 walkers expand the root. Of 3, two stages: the children of the root are not decided yet."""
    game = load(TURNS.format(heap=heap, more=""), "lanes")
    found = ProofNumberSearch(game, mebibytes=1).search(game.initial_state())
    assert (found.nodes, found.leaves) == (nodes, leaves)


@pytest.mark.parametrize(
    ("name", "fills_up"), [("connectfour_4x4", True), ("hex_3x3", True), ("breakthrough_4x4", False)]
)
def test_walkers_go_in_order_where_boards_fill_up(name, fills_up):
    option = ProofNumberSearch(load(name, "lanes"), mebibytes=1)._memory.option
    assert option[c.ORDERED] == fills_up


def plain_threats(game, state, role):
    """The discs, one at a time in any empty cell, that would win for a role."""
    held, fluents = game.unpack(state), [str(fluent) for fluent in game.terms.fluents]
    taken = {str(fact).rsplit(" ", 1)[0] for fact in game.facts(state)}
    found = 0
    for f, fluent in enumerate(fluents):
        if fluent.startswith("(cell") and fluent.rsplit(" ", 1)[0] not in taken:
            more = held.copy()
            more[f] = True
            found += game.goal(game.pack(more), game.roles[role]) == 100
    return found


def bits(word, first, end):
    return (word >> first) % (1 << end - first)


@pytest.mark.parametrize("name", ["connectfour_4x4", "connectfour"])
def test_children_are_ordered_by_threats_and_from_the_middle(name):
    game = load(name, "lanes")
    search, compared = ProofNumberSearch(game, mebibytes=1), 0
    for state in random_states(game, 60):
        search.ask(state, 100)
        memory = search._memory
        walk_in_order(memory, 1)
        mover, moves = search.mover, search.legal
        size = memory.entry_words + 2
        ranks = memory.child[memory.frame[FIRST] :][size - 1 :: size][: memory.frame[OPENED]].tolist()
        for rank in ranks:
            number, worse = bits(rank, MOVE_BIT, WORSE_BIT), bits(rank, WORSE_BIT, BUSY_BIT)
            if worse == 0:  # there is no choice, or a child is answered for the mover
                continue
            child = after(game, state, moves[number])
            own, other = plain_threats(game, child, mover), plain_threats(game, child, 1 - mover)
            aside = abs(2 * number - len(moves) + 1)
            assert worse == (5000 - THREAT_WORTH * (own - other) << ASIDE_BITS) + aside
            compared += own + other > 0
    assert compared > 10


@pytest.mark.parametrize(("is_ordered", "walkers"), [(False, 64), (True, 1), (True, 64)])
def test_walkers_find_the_value_with_a_move_that_keeps_it(is_ordered, walkers):
    """The move too: walkers still below the child that answers must not make it look worse than another."""
    game = load("connectfour_4x4", "lanes")
    search, solution = ProofNumberSearch(game, mebibytes=16, is_ordered=is_ordered), solve(game)
    search._memory.option[c.WALKERS] = walkers
    for state in sampled_states(solution, 30, seed=1):
        found = search.search(state)
        assert found.goal == solution.values(state)[0]
        if found.move is not None:
            legal = [game.legal_moves(state, role) for role in game.roles]
            mover = 0 if len(legal[0]) > 1 else 1
            joint = [found.move if r == mover else moves[0] for r, moves in enumerate(legal)]
            assert solution.values(game.next_state(state, joint))[0] == found.goal


def test_a_goal_between_those_of_the_rules_means_the_next_one():
    game = load(TURNS.format(heap=4, more=""), "lanes")
    search = ProofNumberSearch(game, mebibytes=1)
    value = naive_value(game, game.initial_state())
    answers = [search.answer(game.initial_state(), goal) for goal in (0, 30, 31, 80, 81)]
    assert value == 80
    assert answers == [True, True, True, True, False]


def test_repeated_states_end_the_search_with_a_reason():
    game = load(TURNS.format(heap=6, more=PASSING), "lanes")
    with pytest.raises(AlphaBetaError, match="states repeat"):
        ProofNumberSearch(game, mebibytes=1).search(game.initial_state())


@pytest.mark.parametrize("name", ["rockpaperscissors", "kuhn_poker", "goofspiel"])
def test_other_kinds_of_games_are_refused(name):
    game = load(name, "lanes")
    if is_provable(game):  # that roles choose at once shows during the search
        with pytest.raises(AlphaBetaError, match="same time"):
            ProofNumberSearch(game, mebibytes=1).search(game.initial_state())
    else:
        with pytest.raises(AlphaBetaError):
            ProofNumberSearch(game, mebibytes=1)


def test_a_node_may_have_more_children_than_there_are_lanes():
    numbers = " ".join(f"(number {n})" for n in range(c.LANES + 40))
    game = load(
        f"""(role a) (role b) {numbers} (init start) (hit 7) (hit {c.LANES + 20})
(<= (legal a (pick ?n)) (number ?n) (true start)) (<= (legal a noop) (not (true start)))
(<= (legal b (guess ?n)) (hit ?n) (not (true start))) (<= (legal b noop) (true start))
(<= (next (picked ?n)) (does a (pick ?n))) (<= (next (picked ?n)) (true (picked ?n)))
(<= (next (hits ?n)) (does b (guess ?n))) (<= over (true (hits ?n))) (<= terminal over)
(<= right (true (picked ?n)) (true (hits ?n)))
(<= (goal a 0) right) (<= (goal b 100) right) (<= (goal a 100) (not right)) (<= (goal b 0) (not right))
""",
        "lanes",
    )
    search = ProofNumberSearch(game, mebibytes=1)
    for picked, goal in (("(pick 7)", 0), (f"(pick {c.LANES + 20})", 0), ("(pick 9)", 100)):
        assert search.search(after(game, game.initial_state(), picked)).goal == goal
    assert search.search(game.initial_state()).goal == 100


def test_budgets_end_a_search_at_once():
    game = load("breakthrough", "lanes")
    search = ProofNumberSearch(game, mebibytes=1)
    state = game.initial_state()
    found = search.search(state, Budget(nodes=5000))
    assert not found.is_proven
    assert found.goal is None
    assert 5000 < found.nodes < 6000
    begin = time.monotonic()
    assert not search.search(state, Budget(begin + 0.2)).is_proven
    assert not search.search(state, Budget(is_stopped=lambda: True)).is_proven
    searching = threading.Thread(target=search.search, args=(state,))
    searching.start()
    time.sleep(0.1)
    while searching.is_alive():
        search.interrupt()
        searching.join(0.05)
    assert time.monotonic() - begin < 5


def test_a_table_that_grows_to_the_limit_keeps_what_it_knows():
    game = load("connectfour_4x4", "lanes")
    state = game.initial_state()
    search = ProofNumberSearch(game, mebibytes=1)
    assert search.search(state).goal == 50
    first = search.nodes
    search._most_mebibytes = 3  # of which a power of two is used
    for _ in range(2):
        search._memory.counter[c.STORED] = 1 << 20
        search._enlarge_table(lambda: False)
        assert search._memory.buckets == bucket_count(make_table(2, 1), 1) == 4 << 14
    assert search.search(state).nodes < first / 2


def test_symmetric_states_share_an_entry_and_values_stay():
    game = load("connectfour_4x4", "lanes")
    assert len(fluent_symmetries(game)) == 2
    plain, folded = (ProofNumberSearch(game, mebibytes=16, is_ordered=False) for _ in range(2))
    folded._mebibytes = FIRST_MEBIBYTES + 1
    folded._fold()
    assert len(folded._memory.maker.following) == 2
    assert folded.search(game.initial_state()).goal == plain.search(game.initial_state()).goal == 50
    assert folded._memory.counter[c.STORED] < 0.8 * plain._memory.counter[c.STORED]
    solution = solve(game)
    for state in sampled_states(solution, 30, seed=2):
        assert folded.search(state).goal == solution.values(state)[0]


SCRIPT = """
from ggp.engines.loading import load
from ggp.search.proof_numbers.search import ProofNumberSearch
game = load("hex_3x3", "lanes")
search = ProofNumberSearch(game, mebibytes=1)
state = game.initial_state()
for _ in range(3):
    state = game.next_state(state, [game.legal_moves(state, role)[0] for role in game.roles])
found = search.search(state)
print(found.goal, found.move, found.nodes, found.leaves)
"""


def test_plain_python_searches_the_same_nodes():
    def run(**variables):
        environment = {**os.environ, "GGP_NATIVE": "0", **variables}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run(NUMBA_DISABLE_JIT="1") == run(NUMBA_DISABLE_JIT="0")
