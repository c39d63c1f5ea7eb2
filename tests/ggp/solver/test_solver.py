"""Solving whole games: known values, and every state against exhaustive search."""

import errno
from functools import lru_cache

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.lanes.keys.state_code import decode_keys
from ggp.solver import SolverError, SolverLimitError, SolverLimits, UnsolvableError, reachable, solve
from ggp.solver.kernels import expand
from ggp.solver.layers import find_rank
from ggp.solver.limits import estimate_states
from ggp.solver.space import WorkFolder
from ggp.solver.stages import ENDLESS
from tests.oracles import naive_solver

CYCLE = """
(role walker) (role keeper)
(init (at start)) (init (control walker))
(<= (legal walker (go ?x)) (true (at ?y)) (way ?y ?x) (true (control walker)))
(<= (legal keeper (go ?x)) (true (at ?y)) (door ?y ?x) (true (control keeper)))
(<= (legal walker noop) (true (control keeper)))
(<= (legal keeper noop) (true (control walker)))
(<= (next (at ?x)) (does ?r (go ?x)))
(<= (next (control walker)) (true (control keeper)))
(<= (next (control keeper)) (true (control walker)))
(<= terminal (true (at home)))
(<= terminal (true (at pit)))
(<= (goal walker 100) (true (at home)))
(<= (goal walker 0) (not (true (at home))))
(<= (goal keeper 0) (true (at home)))
(<= (goal keeper 100) (not (true (at home))))
"""
FREE = "(way start hall) (door hall start) (door hall home)"
"""The keeper can keep the walker going round, and had better."""
SHUT = "(way start hall) (door hall start) (door hall pit)"
"""The walker can only go round; the keeper can throw him into the pit."""
OPEN = "(way start hall) (way start home) (door hall start)"


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


@pytest.mark.parametrize(
    ("name", "states", "values"),
    [
        ("tictactoe", 5478, (50, 50)),
        ("connectfour_4x4", 161_029, (50, 50)),
        ("connectfour_4x5", 1_706_255, (50, 50)),
        pytest.param("connectfour_5x4", 3_945_711, (50, 50), marks=pytest.mark.slow),
        pytest.param("eightpuzzle", 3_590_977, (100,), marks=pytest.mark.slow),
        ("hex_3x3", None, (100, 0)),
        ("othello_4x4", None, (0, 100)),
        ("bucket", None, (51, 49)),
        ("maze", None, (100,)),
        ("hanoi", None, (100,)),
        ("prisoners_dilemma", 5, (50, 50)),
        ("goofspiel", None, pytest.approx((50, 50))),
    ],
)
def test_solve_gives_known_values(name, states, values):
    solution = solved(name)
    assert solution.values() == values
    assert states in (None, solution.space.state_count)


@pytest.mark.parametrize("name", ["tictactoe", "nim", "bucket", "halving"])
def test_solve_agrees_with_exhaustive_search_in_every_state(name):
    solution = solved(name)
    game = solution.game
    expected = naive_solver.solve(game)
    states = list(expected)
    numbers = solution.space.number(np.array([game.unpack(state) for state in states]))
    assert sorted(numbers) == list(range(solution.space.state_count))
    assert solution.value[numbers].tolist() == [[int(goal) for goal in expected[state]] for state in states]


def test_solving_can_begin_at_any_state():
    solution = solved("connectfour_4x4")
    game, state = solution.game, solution.game.initial_state()
    for place in (0, 1, 0, 1):
        legal = [game.legal_moves(state, role) for role in game.roles]
        state = game.next_state(state, [moves[min(place, len(moves) - 1)] for moves in legal])
    part = solve(game, start=state)
    assert part.values() == solution.worth(state).values
    assert part.space.state_count < solution.space.state_count
    assert part.number(state) == 0
    with pytest.raises(KeyError):
        part.worth(game.initial_state())


def test_dice_race_has_its_known_value():
    assert solved("dicerace").space.state_count == 77_895
    assert solved("dicerace").values()[0] == pytest.approx(68.1, abs=0.05)


def test_morra_is_worth_minus_a_twelfth_in_mixed_strategies():
    solution = solved("morra")
    assert (solution.values()[0] - 50) / 10 == pytest.approx(-1 / 12)
    for rated in solution.stage(solution.game.initial_state()).best_moves.values():
        assert {str(each.move): each.probability for each in rated} == pytest.approx(
            {"(show 1)": 7 / 12, "(show 2)": 5 / 12}
        )


@pytest.mark.parametrize(
    ("ways", "values", "endless", "depth"),
    [(OPEN, (100, 0), None, 1), (SHUT, (0, 100), None, 2), (FREE, (50, 50), 50, ENDLESS)],
)
def test_cycles_are_valued_by_what_can_be_forced(ways, values, endless, depth):
    solution = solve(load(CYCLE + ways, "lanes"))
    assert solution.values() == values
    assert solution.endless == endless
    assert solution.depth[0] == depth
    assert solution.cyclic > 0


ROUND = """
(role r) (init (at a)) (way a b) (way b a) (way b c) (way c d) (way c a)
(<= (legal r (go ?y)) (true (at ?x)) (way ?x ?y)) (<= (next (at ?y)) (does r (go ?y)))
(<= terminal (true (at d))) (<= (goal r 70) (true (at d))) (<= (goal r 10) (not (true (at d))))
"""
NO_END = "(role a) (legal a go) (goal a 50) (init p) (next p) (<= terminal (true q))"


@pytest.mark.parametrize(("rules", "value", "depth"), [(ROUND, 70, 3), (NO_END, 0, ENDLESS)])
def test_a_single_role_goes_round_no_cycle_for_nothing(rules, value, depth):
    solution = solve(load(rules, "lanes"))
    assert (solution.values(), int(solution.depth[0])) == ((value,), depth)


def test_depth_is_the_length_of_a_best_line():
    solution = solved("othello_4x4")
    game, state, steps = solution.game, solution.game.initial_state(), 0
    while not game.is_terminal(state):
        assert solution.worth(state).depth == solution.depth[0] - steps
        best = solution.stage(state).best_moves
        joint = [
            best[role][0].move if role in best else game.legal_moves(state, role)[0] for role in game.roles
        ]
        state = game.next_state(state, joint)
        steps += 1
    assert steps == solution.depth[0]
    assert solution.worth(state).values == solution.values()


def test_little_memory_moves_transitions_to_disk_and_changes_no_value(tmp_path):
    game = load("connectfour_4x4", "lanes")
    solution = solve(game, SolverLimits(mebibytes=4))
    assert any(isinstance(chunk.edge, np.memmap) for chunk in solution.space.chunks)
    assert isinstance(solution.space.keys, np.memmap)
    assert (solution.space.keys == solved("connectfour_4x4").space.keys).all()
    assert (solution.value == solved("connectfour_4x4").value).all()
    assert (solution.depth == solved("connectfour_4x4").depth).all()
    with pytest.raises(SolverLimitError):
        solve(game, SolverLimits(mebibytes=2))


@pytest.mark.parametrize(
    ("name", "is_layered"),
    [("tictactoe", True), ("goofspiel", True), ("maze", True), ("nim", False), ("othello_4x4", None)],
)
def test_layers_change_no_state_and_no_value(monkeypatch, name, is_layered):
    """Also where the first layers look as if states of all fell into layers."""
    game, expected = load(name, "lanes"), solved(name)
    monkeypatch.setattr(reachable, "LAYERED_FROM", 5)
    solution = solve(game)
    assert is_layered in {None, solution.space.rank is not None}
    for part in ("keys", "goal", "layer_ends"):
        np.testing.assert_array_equal(getattr(solution.space, part), getattr(expected.space, part))
    np.testing.assert_array_equal(solution.value, expected.value)
    np.testing.assert_array_equal(solution.depth, expected.depth)
    space, numbers = solution.space, np.arange(len(solution.value))
    states = decode_keys(space.code, np.asarray(space.keys).reshape(-1, space.code.word_count))
    np.testing.assert_array_equal(space.number(states), numbers)
    assert space.number(~states[:1]).tolist() == [-1]


def test_places_of_a_piece_share_bits_of_a_key():
    """66 facts, of which 32 say where the wolf is."""
    game = load("sheepandwolf", "lanes")
    space = reachable.reachable_states(game, SolverLimits(states=3_000), is_lenient=True)
    assert space.code.word_count == 1
    states = decode_keys(space.code, np.unique(space.keys).reshape(-1, 1))
    assert len(states) == space.state_count > 3_000
    for piece, count in ("wolf", 1), ("sheep", 4):
        places = [
            str(fluent).endswith(f" {piece})") and "cell" in str(fluent) for fluent in game.terms.fluents
        ]
        assert (states[:, places].sum(axis=1) == count).all()


@pytest.mark.parametrize("estimate_from", [0, 10**6])
def test_tables_that_grow_change_no_state(monkeypatch, estimate_from):
    game = load("tictactoe", "lanes")
    monkeypatch.setattr(reachable, "FIRST_CAPACITY", 64)
    space = reachable.reachable_states(game, SolverLimits(estimate_from=estimate_from))
    np.testing.assert_array_equal(space.keys, solved("tictactoe").space.keys)
    assert len(space.table) // 2 >= space.state_count


@pytest.mark.parametrize("name", ["tictactoe", "nim", "othello_4x4", "hanoi"])
def test_joint_moves_one_by_one_lead_to_the_same_states(monkeypatch, name):
    """Where a pass has no room to list the joint moves of its states, and where it has."""
    game = load(name, "lanes")
    expected = reachable.reachable_states(game)
    monkeypatch.setattr(expand, "LISTED_PER_STATE", 1)
    space = reachable.reachable_states(game)
    for part in ("keys", "goal", "layer_ends"):
        np.testing.assert_array_equal(getattr(space, part), getattr(expected, part))
    for part in ("edge", "move_count"):
        found, known = (np.concatenate([getattr(c, part) for c in each.chunks]) for each in (space, expected))
        np.testing.assert_array_equal(found, known)


def test_states_that_stop_falling_into_layers_are_found_once(monkeypatch):
    """After 20 steps the counter of steps stands still, and the light goes on and off."""
    steps = " ".join(f"(succ {n} {n + 1})" for n in range(20))
    rules = f"""
    (role r) (init (step 0)) {steps} (<= (legal r (add ?x)) (bit ?x)) (bit a) (bit b)
    (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y)) (<= (next (step 20)) (true (step 20)))
    (<= (next (on ?x)) (does r (add ?x)))
    (<= (next (on ?x)) (true (on ?x)) (true (step 20)) (not (does r (add ?x))) (bit ?x))
    (<= terminal (true (on a)) (true (on b))) (goal r 50)
    """
    expected = solve(load(rules, "lanes"))
    given = []
    monkeypatch.setattr(reachable, "LAYERED_FROM", 5)

    def find(keys, words, ends, check):
        given.append((len(ends), find_rank(keys, words, ends, check)))
        return given[-1][1]

    monkeypatch.setattr(reachable, "find_rank", find)
    solution = solve(load(rules, "lanes"))
    assert given[0][1] is not None
    assert given[-1] == (22, None), "ends before the counter does"
    np.testing.assert_array_equal(solution.space.keys, expected.space.keys)
    assert solution.space.layer_ends == expected.space.layer_ends
    assert solution.space.transitions == expected.space.transitions


def test_interrupted_solving_goes_on(tmp_path):
    game = load("connectfour_4x4", "lanes")
    work = tmp_path / "work"
    with pytest.raises(SolverLimitError):
        solve(game, SolverLimits(states=50_000, work_folder=work))
    assert (work / "checkpoint.json").is_file()
    with pytest.raises(SolverError, match="another game"):
        solve(load("tictactoe", "lanes"), SolverLimits(work_folder=work))
    with pytest.raises(SolverLimitError):
        solve(game, SolverLimits(states=140_000, work_folder=work))  # layers by now
    solution = solve(game, SolverLimits(work_folder=work))
    assert (solution.space.keys == solved("connectfour_4x4").space.keys).all()
    assert (solution.value == solved("connectfour_4x4").value).all()
    assert not work.exists()


@pytest.fixture
def full_disk(monkeypatch):
    def fail(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    for method in ("store", "append", "save"):
        monkeypatch.setattr(WorkFolder, method, fail)


def test_a_full_disk_costs_only_the_chance_to_resume(full_disk, tmp_path, caplog):
    game = load("tictactoe", "lanes")
    with pytest.raises(SolverLimitError, match="states"):
        solve(game, SolverLimits(states=1000, work_folder=tmp_path / "work", chunk_seconds=0.0))
    assert solve(game, SolverLimits(work_folder=tmp_path / "other")).values() == (50.0, 50.0)
    assert caplog.text.count("the work folder cannot be written") == 2
    with pytest.raises(SolverLimitError, match="hold no more"):
        solve(load("connectfour_4x4", "lanes"), SolverLimits(mebibytes=4))


ONE_STEP = "(role r) (init a) (<= (legal r go) (true a)) (<= (next b) (does r go))"


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("kuhn_poker", "sees"),
        (f"{ONE_STEP} (<= terminal (true b) (true a)) (goal r 0)", "no legal move"),
        (f"{ONE_STEP} (<= terminal (true b)) (<= (goal r 10) (true a))", "goal value"),
    ],
)
def test_solve_refuses_what_it_cannot_value(rules, reason):
    with pytest.raises(UnsolvableError, match=reason):
        solve(load(rules, "lanes"))


def test_estimate_follows_the_layers():
    ends = solved("connectfour_4x4").space.layer_ends
    assert estimate_states(ends[:3]) is None
    assert estimate_states([1, 11, 111, 1_111, 11_110]) == 10**18  # growth that hardly falls
    for known in range(8, len(ends)):
        estimate = estimate_states(ends[:known])
        assert estimate is not None
        assert 0.2 < estimate / ends[-1] < 5
