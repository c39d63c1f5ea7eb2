"""Schedules: every agent has every role equally often, and every match has its own seed."""

from collections import Counter

import pytest

from ggp.tournament.config import plan_from_data
from ggp.tournament.plan import Plan
from ggp.tournament.schedule import Schedule, SelectionError
from tests.ggp.tournament.plans import ALONE, TRIO, small_plan, tasks_of

THREE = {"a": "random", "b": "legal", "c": "mcts"}


def test_two_roles_are_swapped(tmp_path):
    seats = Counter(task.seats for task in tasks_of(small_plan(tmp_path, agents=THREE)))
    assert seats == dict.fromkeys(map(tuple, ("ab", "ba", "ac", "ca", "bc", "cb")), 3)


@pytest.mark.parametrize("lineups", ["pairs", "all"])
def test_every_agent_has_every_role_equally_often(tmp_path, lineups):
    seen = Counter(
        (role, agent)
        for task in tasks_of(small_plan(tmp_path, rules=TRIO, agents=THREE, lineups=lineups))
        for role, agent in enumerate(task.seats)
    )
    assert len(seen) == 9
    assert len(set(seen.values())) == 1


def test_a_game_for_one_is_played_by_each_alone(tmp_path):
    assert Counter(task.seats for task in tasks_of(small_plan(tmp_path, rules=ALONE))) == {
        ("a",): 3,
        ("b",): 3,
    }


def test_the_random_role_has_no_agent():
    plan = plan_from_data({"name": "d", "agents": {"a": "random", "b": "legal"}, "games": ["dicerace"]})
    assert {task.seats for task in tasks_of(plan)} == {("a", "b", None), ("b", "a", None)}


def test_only_pairs_with_a_baseline_are_played(tmp_path):
    cells = Schedule(small_plan(tmp_path, agents=THREE, against=["b"])).cells
    assert [cell.agents for cell in cells] == [("a", "b"), ("c", "b")]


def test_cells_can_be_selected_by_name(tmp_path):
    plan = small_plan(tmp_path, agents=THREE)
    whole = Schedule(plan)
    with_c = Schedule(plan, only=["c"])
    assert [cell.agents for cell in with_c.cells] == [("a", "c"), ("b", "c")]
    chosen = {task.id: task.seed for _, task in with_c.tasks()}
    assert chosen.items() < {task.id: task.seed for _, task in whole.tasks()}.items()
    assert Schedule(plan, only=["c", plan.games[0].name, plan.conditions[0].name]).cells == with_c.cells
    with pytest.raises(SelectionError, match="'nobody'"):
        Schedule(plan, only=["c", "nobody"])


def test_ids_and_seeds_are_all_different_and_stable(tmp_path):
    plan = small_plan(tmp_path, agents=THREE)
    first = tasks_of(plan)
    assert [task.repetition for task in first] == sorted(task.repetition for task in first)
    assert len({task.id for task in first}) == len({task.seed for task in first}) == len(first) == 18
    more = {task.id: task.seed for task in tasks_of(small_plan(tmp_path, agents=THREE, repetitions=5))}
    assert all(more[task.id] == task.seed for task in first)
    other = {task.seed for task in tasks_of(small_plan(tmp_path, agents=THREE, seed=1))}
    assert not other & {task.seed for task in first}


FOUR = {"a": "random", "b": "legal", "c": "random", "d": "legal"}


def sample(tmp_path, lineups, **changes):
    plan = small_plan(tmp_path, rules=TRIO, agents=FOUR, lineups=lineups, repetitions=1, **changes)
    return [task.seats for task in tasks_of(plan)]


def test_a_sample_of_lineups_is_fair_and_grows(tmp_path):
    seats = sample(tmp_path, 8)
    assert len(set(seats)) == len(seats) == 8
    assert all(len(set(each)) == 3 for each in seats)
    assert set(Counter((role, agent) for each in seats for role, agent in enumerate(each)).values()) == {2}
    more = sample(tmp_path, 13)
    assert set(seats) < set(more)
    assert len(more) == 13
    assert set(sample(tmp_path, 8, seed=5)) != set(seats)
    assert set(sample(tmp_path, 10_000)) == set(sample(tmp_path, "all"))
    against = sample(tmp_path, 7, against=["d"])
    assert len(against) == 7
    assert all("d" in each for each in against)


@pytest.mark.parametrize(("lineups", "count"), [("all", 1320), (60, 60)])
def test_twelve_agents_and_three_roles_need_not_play_all_lineups(tmp_path, lineups, count):
    agents = {f"agent{number}": "random" for number in range(12)}
    plan = small_plan(tmp_path, rules=TRIO, agents=agents, lineups=lineups, repetitions=1)
    assert len(tasks_of(plan)) == count


def test_lineups_may_differ_between_games(tmp_path):
    small_plan(tmp_path, rules=TRIO)
    sheet = str(tmp_path / "small.kif")
    games = {"few": {"rules": sheet, "lineups": 4}, "whole": {"rules": sheet}}
    plan = small_plan(tmp_path, rules=TRIO, agents=FOUR, games=games, lineups="all", repetitions=1)
    assert Counter(task.game for task in tasks_of(plan)) == {"few": 4, "whole": 24}
    assert Plan.from_json(plan.to_json()) == plan
