"""Searches of many roles and of chance against their definitions."""

import time

import pytest

from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE, GameError
from ggp.match.player import MatchSetup
from ggp.players.factory import make_player
from ggp.search.alphabeta.multi_role import LOWEST, MultiRoleSearch
from ggp.search.budget import Budget
from ggp.solver import solve
from tests.oracles import naive_solver

THREE = """
(role a) (role b) (role c)
(next_role a b) (next_role b c) (next_role c a)
(init (turn a 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(bit 0) (bit 1)
(<= (legal ?r (say ?b)) (true (turn ?r ?n)) (bit ?b))
(<= (legal ?r noop) (role ?r) (not (on_turn ?r)))
(<= (on_turn ?r) (true (turn ?r ?n)))
(<= (next (turn ?q ?m)) (true (turn ?r ?n)) (next_role ?r ?q) (succ ?n ?m))
(<= (next (said ?n ?b)) (does ?r (say ?b)) (true (turn ?r ?n)))
(<= (next (said ?n ?b)) (true (said ?n ?b)))
(<= terminal (true (turn ?r 4)))
(<= (parity even) (true (said 0 ?b)) (true (said 3 ?b)))
(<= (parity odd) (not (parity even)))
(<= (goal a 90) (parity even) (true (said 1 0)))
(<= (goal a 40) (parity even) (true (said 1 1)))
(<= (goal a 10) (parity odd))
(<= (goal b 70) (true (said 2 1)) (parity odd))
(<= (goal b 20) (not (true (said 2 1))))
(<= (goal b 30) (true (said 2 1)) (parity even))
(<= (goal c 60) (true (said 1 1)))
(<= (goal c 25) (not (true (said 1 1))))
"""


def test_maxn_agrees_with_backward_induction():
    game = load(THREE, "reasoner")
    values = MultiRoleSearch(game, game.roles[0], "maxn").value(game.initial_state())
    assert values == tuple(map(float, naive_solver.solve(game)[game.initial_state()]))
    assert values == solve(load(THREE, "lanes")).values()


@pytest.mark.parametrize("members", [None, {0}, {0, 1}, {1, 2}, {0, 1, 2}])
def test_every_coalition_gets_what_it_can_be_sure_of(members):
    """For searchers of both sides; a role without allies is paranoid."""
    game = load(THREE, "reasoner")
    for place, role in enumerate(game.roles):
        allies = frozenset({place} if members is None else members)
        search = MultiRoleSearch(game, role, members=None if members is None else allies)
        expected = naive_solver.coalition_sum(game, allies, game.initial_state())
        assert search.value(game.initial_state())[place] == expected
        move, worth = search.best_move(game.initial_state())
        assert worth == expected
        joint = [game.legal_moves(game.initial_state(), each)[0] for each in game.roles]
        joint[place] = move
        following = game.next_state(game.initial_state(), joint)
        assert naive_solver.coalition_sum(game, allies, following) == expected


@pytest.mark.parametrize("error", [0.25, 1.0])
@pytest.mark.parametrize("method", ["paranoid", "maxn"])
def test_opponents_who_err_are_averaged(method, error):
    """By the definition; max^n as a tuple, paranoid as the own goal."""
    game = load(THREE, "reasoner")

    def expected(state, place):
        if game.is_terminal(state):
            return tuple(game.goal(state, role) for role in game.roles)
        mover = naive_solver.chooser(game, state)
        found = [expected(successor, place) for successor in naive_solver.successors(game, state)]
        by = mover if method == "maxn" or mover == place else place
        aimed = max(found, key=lambda values: values[by] * (-1 if by != mover else 1))
        if mover == place:
            return aimed
        mean = [sum(each) / len(found) for each in zip(*found, strict=True)]
        return tuple((1 - error) * a + error * b for a, b in zip(aimed, mean, strict=True))

    for place, role in enumerate(game.roles):
        search = MultiRoleSearch(game, role, method, error=error)
        found = search.value(game.initial_state())
        goals = expected(game.initial_state(), place)
        if method == "maxn":
            assert found == pytest.approx(goals)
        else:
            assert found[place] == pytest.approx(goals[place])


def test_a_trap_is_set_for_an_opponent_who_errs():
    """A sure 40, or 90 unless the opponent finds the one reply of four that leaves nothing."""
    rules = """
    (role a) (role b) (init start) (reply 1) (reply 2) (reply 3) (reply 4)
    (<= (legal a safe) (true start)) (<= (legal a trap) (true start)) (<= (legal b noop) (true start))
    (<= (legal a noop) (true set)) (<= (legal b (answer ?n)) (true set) (reply ?n))
    (<= (next set) (does a trap)) (<= (next over) (does a safe))
    (<= (next (answered ?n)) (does b (answer ?n)))
    (<= ended (true over)) (<= ended (true (answered ?n)))
    (<= terminal ended)
    (<= (goal a 40) (true over)) (<= (goal b 60) (true over))
    (<= (goal a 0) (true (answered 1))) (<= (goal b 100) (true (answered 1)))
    (<= missed (true (answered ?n)) (distinct ?n 1))
    (<= (goal a 90) missed) (<= (goal b 10) missed)
    """
    for engine in ("reasoner", "lanes"):
        game = load(rules, engine)
        for spec, move in (("alphabeta:margin=0", "safe"), ("alphabeta:margin=0,error=0.7", "trap")):
            player = make_player(spec)
            player.start(MatchSetup("m", game, game.roles[0], 9, 9, 0), time.monotonic() + 60)
            assert str(player.choose(game.initial_state(), time.monotonic() + 60, None)) == move
    search = MultiRoleSearch(game, game.roles[0], error=0.7)
    assert search.value(game.initial_state())[0] == pytest.approx(0.7 * 67.5)
    with pytest.raises(ValueError, match="from 0 to 1"):
        MultiRoleSearch(game, game.roles[0], error=1.5)


def expected_goal(game, state, depth):
    """The goal of the first role by the definition, with the others against it; and the states visited."""
    if game.is_terminal(state) or depth == 0:
        return goal_so_far(game, state, game.roles[0]), 1
    order = sorted(range(len(game.roles)), key=lambda r: game.roles[r] == RANDOM_ROLE)
    visited = 1

    def chosen(made):
        nonlocal visited
        if len(made) == len(order):
            following = game.next_state(state, tuple(made[r] for r in range(len(order))))
            worth, count = expected_goal(game, following, depth - 1)
            visited += count
            return worth
        r = order[len(made)]
        worths = [chosen({**made, r: move}) for move in game.legal_moves(state, game.roles[r])]
        if game.roles[r] == RANDOM_ROLE:
            return sum(worths) / len(worths)
        return min(worths) if r else max(worths)

    return chosen({}), visited


def goal_so_far(game, state, role):
    try:
        return game.goal(state, role)
    except GameError:
        return 50


def test_chance_is_averaged_and_star1_prunes_without_changing_the_value():
    """Near the end of the race by the solver, and farther from it, at a horizon, by the definition."""
    game = load("dicerace", "lanes")
    search = MultiRoleSearch(game, game.roles[0])
    states = [game.initial_state()]
    while True:
        joint = [game.legal_moves(states[-1], role)[-1] for role in game.roles]
        following = game.next_state(states[-1], joint)
        if game.is_terminal(following):
            break
        states.append(following)
    solution = solve(game)
    for state in states[-6:]:
        assert search.value(state, 14)[0] == pytest.approx(solution.values(state)[0])
        assert not search.is_cut
    worth, visited = expected_goal(game, states[-8], 6)
    assert search.value(states[-8], 6)[0] == pytest.approx(worth)
    assert worth > LOWEST
    assert search.is_cut
    assert search.nodes <= visited


def test_star1_leaves_out_dice_that_cannot_matter():
    rules = """
    (role r) (role random) (init (at top)) (pick x) (pick y) (roll 1) (roll 2) (roll 3)
    (<= (legal r (take ?p)) (true (at top)) (pick ?p))
    (<= (legal r noop) (not (true (at top))))
    (<= (legal random (cast ?n)) (not (true (at top))) (roll ?n))
    (<= (legal random noop) (true (at top)))
    (<= (next (at ?p)) (does r (take ?p)))
    (<= (next (end ?p ?n)) (true (at ?p)) (does random (cast ?n)))
    (<= terminal (true (end ?p ?n)))
    (<= (goal r 95) (true (end x ?n)))
    (<= (goal r 100) (true (end y 1))) (<= (goal r 0) (true (end y 2))) (<= (goal r 0) (true (end y 3)))
    """
    game = load(rules, "reasoner")
    search = MultiRoleSearch(game, game.roles[0])
    assert search.value(game.initial_state())[0] == 95
    assert search.nodes < expected_goal(game, game.initial_state(), 9)[1]


def test_best_move_takes_the_sure_win_of_three_roles():
    game = load("connectfour_3p", "lanes")
    state = game.initial_state()
    for columns in (1, 2, 7, 1, 2, 7, 1, 2, 6):
        mover = next(r for r in game.roles if len(game.legal_moves(state, r)) > 1)
        joint = [
            next(m for m in game.legal_moves(state, r) if r != mover or str(m) == f"(drop {columns})")
            for r in game.roles
        ]
        state = game.next_state(state, joint)
    for method in ("paranoid", "maxn"):
        search = MultiRoleSearch(game, game.roles[0], method)
        assert str(search.best_move(state, depth=2)[0]) == "(drop 1)"


def test_limits_end_the_search_with_a_legal_move():
    game = load("connectfour_3p", "lanes")
    state = game.initial_state()
    search = MultiRoleSearch(game, game.roles[0])
    move, _ = search.best_move(state, Budget(nodes=60))
    assert move in game.legal_moves(state, game.roles[0])
    assert search.nodes <= 61
