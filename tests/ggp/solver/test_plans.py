"""Plans of games of one role, against exhaustive search by the definitions."""

import pytest

from ggp.engines.loading import load
from ggp.lanes.keys.state_code import decode_keys, encode_states
from ggp.solver import SolverLimits, solve
from ggp.solver.plans import Planner, ProjectedFacts, Projection
from ggp.solver.reachable import projected_states
from tests.ggp.circuit.test_subgames import TWO_SWITCHES
from tests.oracles.naive_solver import successors

ENTANGLED = TWO_SWITCHES.replace(
    "(<= (legal a (press ?s)) (switch ?s))", "(<= (legal a (press ?s)) (switch ?s) (true (step ?s)))"
)
"""A switch can be pressed in one step only, so that the step decides what is legal."""

AT_ONCE = TWO_SWITCHES + "(<= terminal (true (on 1)) (true (on 2)))"
"""Ends as soon as both switches are on, and not only when the steps are over."""

OUT_OF_REACH = TWO_SWITCHES.replace("(succ 1 2)", "").replace("(true (step 3))", "(true (step 1))")


def plan_of(game, **limits):
    return Planner(game).find(game.initial_state(), SolverLimits(**limits))


def assert_followed(game, plan):
    state = game.initial_state()
    for before, move in zip(plan.states, plan.moves, strict=False):
        assert before == state
        assert plan.move(state) == move
        state = game.next_state(state, (move,))
    assert game.is_terminal(state)
    assert game.goal(state, game.roles[0]) == plan.goal
    assert plan.states[-1] == state
    assert plan.move(state) is None


@pytest.mark.parametrize("name", ["eightpuzzle", "hanoi", "maze", "sudoku_4x4"])
def test_plans_reach_the_value_of_the_game(name):
    game = load(name, "lanes")
    plan = plan_of(game)
    assert_followed(game, plan)
    assert plan.goal == solve(game).values()[0]
    assert plan.is_best


@pytest.mark.parametrize(("text", "goal"), [(AT_ONCE, 100), (ENTANGLED, 100), (OUT_OF_REACH, 0)])
def test_a_plan_may_pass_idle_facts_and_steps_that_decide_what_is_legal(text, goal):
    game = load(text, engine="lanes")
    plan = plan_of(game)
    assert_followed(game, plan)
    assert (plan.goal, plan.is_best) == (goal, goal == 100)
    assert plan_of(load(TWO_SWITCHES, engine="lanes")) is None  # no plan waits for a clock


def test_a_clock_that_decides_what_is_legal_stays_in_the_key():
    names = []
    for text in (TWO_SWITCHES, ENTANGLED):
        game = load(text, engine="lanes")
        names.append({str(game.terms.fluents[f]) for f in ProjectedFacts(game).left_out})
    assert {"(step 0)", "(lamp red)"} <= names[0]
    assert "(lamp red)" in names[1]
    assert "(step 1)" not in names[1]


@pytest.mark.parametrize("name", ["hanoi", "maze", TWO_SWITCHES])
def test_projected_states_are_those_of_a_search_by_the_definitions(name):
    game = load(name, engine="lanes")
    kept = [f for f in range(game.tables.fluent_count) if f not in ProjectedFacts(game).left_out]
    root = game.initial_state()
    seen, layer, sizes = {tuple(game.unpack(root)[kept])}, [root], [1]
    while layer:
        found = {}
        for state in layer:
            for after in successors(game, state):
                found.setdefault(tuple(game.unpack(after)[kept]), after)
        layer = [state for key, state in found.items() if key not in seen]
        seen |= found.keys()
        sizes += [len(seen)] if layer else []
    projection = Projection(game, ProjectedFacts(game), root)
    space = projected_states(game, projection.code_at, SolverLimits(), start=root, enough=101)
    assert space.layer_ends == sizes


def test_codes_of_each_depth_know_the_clock():
    game = load("eightpuzzle", "lanes")
    projection = Projection(game, ProjectedFacts(game), game.initial_state())
    state = game.initial_state()
    for depth in range(4):
        code = projection.code_at(depth)
        key = encode_states(code, game.unpack(state)[None, :])
        assert (decode_keys(code, key)[0] == game.unpack(state)).all()
        state = next(iter(successors(game, state)))


def test_there_is_no_plan_where_none_was_found_in_time():
    assert plan_of(load("lightsout", "lanes"), states=1000, chunk_seconds=1e6) is None


def test_plans_need_one_role():
    with pytest.raises(ValueError, match="one role"):
        Planner(load("tictactoe", "lanes"))


def test_the_counter_of_the_puzzle_does_not_multiply_its_states():
    game, seen = load("eightpuzzle", "lanes"), []
    Planner(game).find(game.initial_state(), SolverLimits(), seen.append)
    assert seen[-1].states < 181_441
