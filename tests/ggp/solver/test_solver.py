"""Solving whole games: known values, and every state against exhaustive search."""

import errno
from functools import lru_cache

import numpy as np
import pytest

from gdl.terms import Symbol
from ggp.engines.loading import find_rules, load
from ggp.lanes.keys.state_code import decode_keys
from ggp.solver import SolverError, SolverLimitError, SolverLimits, UnsolvableError, solve
from ggp.solver.estimate import estimate_states
from ggp.solver.stages import ENDLESS
from ggp.solver.work_folder import WorkFolder
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


def changed(name, *changes):
    text = find_rules(name).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return load(text, "lanes", name=name)


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


def test_nim_follows_the_xor_rule_for_all_heaps_up_to_five():
    game = changed("nim", ("(start a 1)", "(start a 5)"), ("(start b 3)", "(start b 5)"), ("(start d 7)", ""))
    solution = solve(game)
    seen = set()
    for heaps in np.ndindex(6, 6, 6):
        for mover in ("first", "second"):
            facts = {f"(heap {name} {size})" for name, size in zip("abc", heaps, strict=True)}
            facts.add(f"(control {mover})")
            number = solution.number(game.pack(np.array([str(f) in facts for f in game.terms.fluents])))
            if number is not None:
                seen.add(heaps)
                wins = (heaps[0] ^ heaps[1] ^ heaps[2] != 0) == (mover == "first")
                assert solution.value[number].tolist() == ([100, 0] if wins else [0, 100])
    assert len(seen) == 6**3


def test_halving_game_is_right_for_all_numbers_up_to_fifty():
    wins = [True]
    for number in range(1, 51):
        wins.append(not wins[number - 1] or not wins[number // 2])
    solution = solved("halving")
    seen = set()
    for state in decode_keys(solution.space.code, solution.space.keys.reshape(-1, 1)):
        facts = {str(fact) for fact, holds in zip(solution.game.terms.fluents, state, strict=True) if holds}
        (number,) = (int(fact[8:-1]) for fact in facts if fact.startswith("(number "))
        is_won = wins[number] == ("(control first)" in facts)
        assert solution.worth(solution.game.pack(state)).values == ((100, 0) if is_won else (0, 100))
        seen.add(number)
    assert seen == set(range(51))
    for start in (1, 18, 49):
        values = solve(changed("halving", ("(start 50)", f"(start {start})"))).values()
        assert values == ((100, 0) if wins[start] else (0, 100))


@pytest.mark.parametrize("size", [1, 2])
def test_first_player_wins_hex_on_tiny_boards(size):
    """3x3 is below; 4x4 in results/solved.md."""
    numbers = "".join(f"(index {i})\n" for i in range(1, size + 1))
    game = changed(
        "hex_3x3",
        ("(index 1)\n(index 2)\n(index 3)\n", numbers),
        ("(succ 1 2)\n(succ 2 3)\n", "(succ 1 2)\n" if size == 2 else ""),
        ("end_edge red 3 ?y", f"end_edge red {size} ?y"),
        ("end_edge blue ?x 3", f"end_edge blue ?x {size}"),
    )
    assert solve(game).values() == (100, 0)


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


def test_bucket_game_against_a_fair_coin_is_worth_five_before_scaling():
    drawers_goal = "(<= (goal drawer ?h)\n    (true (number ?n))\n    (worth ?n ?_g ?h))\n"
    game = changed("bucket", (drawers_goal, ""), ("drawer", "random"))
    solution = solve(game)
    assert solution.values()[0] - 50 == pytest.approx(5)
    best = solution.stage(game.initial_state()).best_moves[Symbol("picker")]
    assert [str(rated.move) for rated in best] == ["(pick c)"]


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


@pytest.mark.parametrize(("name", "moves"), [("rockpaperscissors", 3), ("goofspiel", None)])
def test_symmetric_simultaneous_games_are_worth_fifty(name, moves):
    solution = solved(name)
    assert solution.values() == pytest.approx((50, 50))
    stage = solution.stage(solution.game.initial_state())
    for rated in stage.best_moves.values():
        assert sum(each.probability for each in rated) == pytest.approx(1)
        assert moves in (None, len(rated))


def test_a_game_of_one_without_an_end_is_worth_nothing():
    rules = "(role a) (legal a go) (goal a 50) (init p) (next p) (<= terminal (true q))"
    assert solve(load(rules, "lanes")).values() == (0,)


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


def test_single_role_goes_round_no_cycle_for_nothing():
    rules = """
    (role r) (init (at a)) (way a b) (way b a) (way b c) (way c d) (way c a)
    (<= (legal r (go ?y)) (true (at ?x)) (way ?x ?y)) (<= (next (at ?y)) (does r (go ?y)))
    (<= terminal (true (at d))) (<= (goal r 70) (true (at d))) (<= (goal r 10) (not (true (at d))))
    """
    solution = solve(load(rules, "lanes"))
    assert (solution.values(), int(solution.depth[0])) == ((70,), 3)


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
    solution = solve(game, SolverLimits(mebibytes=6))
    assert any(isinstance(chunk.edge, np.memmap) for chunk in solution.space.chunks)
    assert (solution.value == solved("connectfour_4x4").value).all()
    assert (solution.depth == solved("connectfour_4x4").depth).all()
    with pytest.raises(SolverLimitError):
        solve(game, SolverLimits(mebibytes=2))


def test_interrupted_solving_goes_on(tmp_path):
    game = load("connectfour_4x4", "lanes")
    work = tmp_path / "work"
    with pytest.raises(SolverLimitError):
        solve(game, SolverLimits(states=50_000, work_folder=work))
    assert (work / "checkpoint.json").is_file()
    with pytest.raises(SolverError, match="another game"):
        solve(load("tictactoe", "lanes"), SolverLimits(work_folder=work))
    solution = solve(game, SolverLimits(work_folder=work))
    assert (solution.value == solved("connectfour_4x4").value).all()
    assert not work.exists()


@pytest.fixture
def full_disk(monkeypatch):
    def fail(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    for method in ("store", "save"):
        monkeypatch.setattr(WorkFolder, method, fail)


def test_a_full_disk_costs_only_the_chance_to_resume(full_disk, tmp_path, caplog):
    game = load("tictactoe", "lanes")
    with pytest.raises(SolverLimitError, match="states"):
        solve(game, SolverLimits(states=1000, work_folder=tmp_path / "work", chunk_seconds=0.0))
    assert solve(game, SolverLimits(work_folder=tmp_path / "other")).values() == (50.0, 50.0)
    assert caplog.text.count("the work folder cannot be written") == 2


def test_a_full_disk_and_full_memory_end_solving_at_a_limit(full_disk):
    with pytest.raises(SolverLimitError, match="hold no more"):
        solve(load("connectfour_4x4", "lanes"), SolverLimits(mebibytes=6))


def test_solve_refuses_what_it_cannot_value():
    with pytest.raises(UnsolvableError, match="sees"):
        solve(load("kuhn_poker", "lanes"))
    one_step = "(role r) (init a) (<= (legal r go) (true a)) (<= (next b) (does r go))"
    with pytest.raises(UnsolvableError, match="no legal move"):
        solve(load(one_step + "(<= terminal (true b) (true a)) (goal r 0)", "lanes"))
    with pytest.raises(UnsolvableError, match="goal value"):
        solve(load(one_step + "(<= terminal (true b)) (<= (goal r 10) (true a))", "lanes"))


def test_estimate_follows_the_layers():
    ends = solved("connectfour_4x4").space.layer_ends
    assert estimate_states(ends[:3]) is None
    for known in range(8, len(ends)):
        estimate = estimate_states(ends[:known])
        assert estimate is not None
        assert 0.2 < estimate / ends[-1] < 5


def test_estimate_of_growth_that_hardly_falls_is_finite():
    assert estimate_states([1, 11, 111, 1_111, 11_110]) == 10**18
