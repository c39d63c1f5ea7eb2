"""Schedules: every agent has every role equally often, and every match has its own seed."""

from collections import Counter

import pytest

from ggp.tournament.plan import Plan
from ggp.tournament.schedule import Schedule, SelectionError, seatings
from tests.ggp.tournament.plans import ALONE, TRIO, small_plan

THREE = {"a": "random", "b": "legal", "c": "mcts"}


def tasks(plan):
    return [task for _, task in Schedule(plan).tasks()]


def test_two_roles_are_swapped(tmp_path):
    seats = Counter(task.seats for task in tasks(small_plan(tmp_path, agents=THREE)))
    assert seats == dict.fromkeys(map(tuple, ("ab", "ba", "ac", "ca", "bc", "cb")), 3)


@pytest.mark.parametrize("lineups", ["pairs", "all"])
def test_every_agent_has_every_role_equally_often(tmp_path, lineups):
    seen = Counter(
        (role, agent)
        for task in tasks(small_plan(tmp_path, rules=TRIO, agents=THREE, lineups=lineups))
        for role, agent in enumerate(task.seats)
    )
    assert len(seen) == 9
    assert len(set(seen.values())) == 1


def test_pairs_fill_three_seats_in_every_mixture():
    assert len(seatings(("a", "b"), 3)) == 6
    assert all(set(seats) == {"a", "b"} for seats in seatings(("a", "b"), 3))


def test_a_game_for_one_is_played_by_each_alone(tmp_path):
    assert Counter(task.seats for task in tasks(small_plan(tmp_path, rules=ALONE))) == {("a",): 3, ("b",): 3}


def test_the_random_role_has_no_agent():
    from ggp.tournament.config import plan_from_data

    plan = plan_from_data({"name": "d", "agents": {"a": "random", "b": "legal"}, "games": ["dicerace"]})
    assert {task.seats for task in tasks(plan)} == {("a", "b", None), ("b", "a", None)}


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
    first = tasks(plan)
    assert len({task.id for task in first}) == len({task.seed for task in first}) == len(first) == 18
    more = {task.id: task.seed for task in tasks(small_plan(tmp_path, agents=THREE, repetitions=5))}
    assert all(more[task.id] == task.seed for task in first)
    other = {task.seed for task in tasks(small_plan(tmp_path, agents=THREE, seed=1))}
    assert not other & {task.seed for task in first}


def test_cells_grow_evenly(tmp_path):
    repetitions = [task.repetition for task in tasks(small_plan(tmp_path, agents=THREE))]
    assert repetitions == sorted(repetitions)


FOUR = {"a": "random", "b": "legal", "c": "random", "d": "legal"}


def test_a_sample_of_lineups_is_fair_and_grows(tmp_path):
    plan = small_plan(tmp_path, rules=TRIO, agents=FOUR, lineups=8, repetitions=1)
    seats = [task.seats for task in tasks(plan)]
    assert len(set(seats)) == len(seats) == 8
    assert all(len(set(each)) == 3 for each in seats)
    assert set(Counter((role, agent) for each in seats for role, agent in enumerate(each)).values()) == {2}
    more = {task.seats for task in tasks(small_plan(tmp_path, rules=TRIO, agents=FOUR, lineups=13))}
    assert set(seats) < more
    assert len(more) == 13
    other = {task.seats for task in tasks(small_plan(tmp_path, rules=TRIO, agents=FOUR, lineups=8, seed=5))}
    assert other != set(seats)


def test_a_sample_larger_than_all_lineups_is_all_of_them(tmp_path):
    sampled = {t.seats for t in tasks(small_plan(tmp_path, rules=TRIO, agents=FOUR, lineups=10_000))}
    assert sampled == {t.seats for t in tasks(small_plan(tmp_path, rules=TRIO, agents=FOUR, lineups="all"))}


def test_a_sample_against_a_baseline_has_it_in_every_lineup(tmp_path):
    plan = small_plan(tmp_path, rules=TRIO, agents=FOUR, lineups=7, against=["d"], repetitions=1)
    assert len(tasks(plan)) == 7
    assert all("d" in task.seats for task in tasks(plan))


def test_twelve_agents_and_three_roles_need_not_play_all_1320_lineups(tmp_path):
    agents = {f"agent{number}": "random" for number in range(12)}
    counts = {
        lineups: len(tasks(small_plan(tmp_path, rules=TRIO, agents=agents, lineups=lineups, repetitions=1)))
        for lineups in ("all", 60)
    }
    assert counts == {"all": 1320, 60: 60}


def test_lineups_may_differ_between_games(tmp_path):
    small_plan(tmp_path, rules=TRIO)
    sheet = str(tmp_path / "small.kif")
    games = {"few": {"rules": sheet, "lineups": 4}, "whole": {"rules": sheet}}
    plan = small_plan(tmp_path, rules=TRIO, agents=FOUR, games=games, lineups="all", repetitions=1)
    assert Counter(task.game for task in tasks(plan)) == {"few": 4, "whole": 24}
    assert Plan.from_json(plan.to_json()) == plan
