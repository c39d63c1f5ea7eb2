"""Matches of plain UCT side by side: the same matches as one by one, only faster."""

import json
from functools import partial

import pytest

from gdl.syntax.parser import parse_term
from ggp.engines.loading import load
from ggp.match.record import MatchRecord, state_text
from ggp.match.terms import MatchTerms
from ggp.search.forest.self_play import MatchBatch
from ggp.tournament.play import UnplayableError, play_batch, play_task
from ggp.tournament.pool import WorkerDiedError
from ggp.tournament.runner import Runner
from ggp.tournament.schedule import MAX_UNTIL_DECIDED, Schedule, batches, is_side_by_side
from tests.conftest import ROOT
from tests.ggp.tournament.plans import small_plan, tasks_of
from tests.ggp.tournament.test_runner import Inline

WALK = """
(role a) (role b) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?r step) (role ?r) {legal})
(<= (next (at ?m)) (true (at ?n)) (succ ?n ?m))
(<= (next (at ?n)) (true (at ?n)) (not (moved ?n)))
(<= (moved ?n) (succ ?n ?_m))
(<= terminal {end})
{goals}
"""
"""Everybody has one move, so that every player plays the same match."""

GOALS = "(goal a 70) (goal b 30)"
WALKS = {
    "ends": WALK.format(legal="(true (at ?_n))", end="(true (at 3))", goals=GOALS),
    "gets stuck": WALK.format(legal="(true (at ?n)) (distinct ?n 2)", end="(true (at 3))", goals=GOALS),
    "has no goals": WALK.format(legal="(true (at ?_n))", end="(true (at 3))", goals="(goal a 70)"),
    "never ends": WALK.format(legal="(true (at ?_n))", end="(true (at 4))", goals=GOALS),
}


def plan_of(tmp_path, agents, **changes):
    counted = {} if "conditions" in changes else {"simulations": 1000}
    return small_plan(tmp_path, **{"agents": agents, "engine": "lanes", **counted, **changes})


def steps_of(result):
    record = MatchRecord.from_json(result.record)
    return record.states, record.moves, record.goals, record.is_completed, record.fault


UCT = {"a": "uct:simulations=20", "b": "random"}


@pytest.mark.parametrize(
    ("agents", "changes", "is_expected"),
    [
        ({"a": "uct", "b": "uct:c=20,simulations=5"}, {}, True),
        (UCT, {}, True),
        ({"a": "uct", "b": "legal"}, {}, False),
        ({"a": "uct", "b": "mcts:simulations=5"}, {}, False),
        ({"a": "random", "b": "random"}, {}, False),
        (UCT, {"conditions": {"time": {"play_clock": 0.5}}}, False),
        (UCT, {"conditions": {"both": {"simulations": 20, "play_clock": 10}}}, False),
    ],
)
def test_plain_searches_without_clocks_are_played_side_by_side(tmp_path, agents, changes, is_expected):
    plan = plan_of(tmp_path, agents, **changes)
    assert {is_side_by_side(task) for task in tasks_of(plan)} == {is_expected}


@pytest.mark.parametrize("change", [str.lower, str.upper])
def test_games_that_hide_something_are_played_one_by_one(tmp_path, change, monkeypatch):
    rules = change((ROOT / "games" / "kuhn_poker.kif").read_text(encoding="utf-8"))
    tasks = tasks_of(plan_of(tmp_path, UCT, rules=rules))
    assert not any(map(is_side_by_side, tasks))
    monkeypatch.setattr("ggp.tournament.side_by_side.play_side_by_side", None)
    for result in play_batch(tasks[:2]):  # even if they were taken for others
        assert result.is_completed
        assert not any(seat.late + seat.illegal + seat.lost for seat in result.seats)


def test_trees_get_the_room_they_need(tmp_path, monkeypatch):
    monkeypatch.setattr("ggp.tournament.side_by_side.MEBIBYTES", 1)
    monkeypatch.setattr("ggp.tournament.side_by_side.MIN_MEBIBYTES", 1)
    sizes = []
    search = MatchBatch.search_states

    def watched(self, forest, states, simulations):
        is_done = search(self, forest, states, simulations)
        sizes.append((len(states), forest.is_full))
        return is_done

    monkeypatch.setattr(MatchBatch, "search_states", watched)
    agents = {"a": "uct:simulations=400", "b": "random"}
    plan = plan_of(tmp_path, agents, games=["connectfour_4x4"], repetitions=32)
    results = play_batch(tasks_of(plan))
    assert any(is_full for _, is_full in sizes)
    assert {size for size, is_full in sizes if not is_full} < set(range(1, 32))
    for result in results:
        seat = next(seat for seat in result.seats if seat.agent == "a")
        assert seat.simulations % 400 == 0


def test_a_batch_is_of_one_game_and_condition_and_loses_no_match(tmp_path):
    plan = plan_of(
        tmp_path,
        {"a": "uct", "b": "uct:c=20", "c": "legal"},
        games=["tictactoe", "nim"],
        conditions={"few": {"simulations": 5}, "more": {"simulations": 50}},
        repetitions=4,
    )
    schedule = Schedule(plan)
    found = list(batches(schedule.tasks(), most=5))
    assert sorted(task.id for batch in found for _, task in batch) == sorted(t.id for t in tasks_of(plan))
    for batch in found:
        assert len({(task.game, task.condition) for _, task in batch}) == 1
    # 8 matches of a against b in each of four: batches of 5 and 3; all others meet c, who is slow.
    assert sorted(len(batch) for batch in found if len(batch) > 1) == [3] * 4 + [5] * 4
    assert sum(len(batch) == 1 for batch in found) == schedule.match_count - 32


@pytest.mark.parametrize(("matches", "sizes"), [(100, [100]), (300, [150, 150]), (1200, [512, 512, 88, 88])])
def test_two_workers_share_the_last_batch(tmp_path, matches, sizes):
    plan = plan_of(tmp_path, {"a": "uct", "b": "random"}, repetitions=matches // 2)
    assert [len(batch) for batch in batches(Schedule(plan).tasks())] == sizes


@pytest.mark.parametrize("name", ["tictactoe", "dicerace", "goofspiel", "connectfour_3p"])
def test_what_is_recorded_was_played(tmp_path, name):
    agents = {"a": "uct:simulations=30", "b": "uct:simulations=10,c=20,solver=on", "c": "random"}
    if name == "dicerace":
        agents = {"a": agents["a"], "c": "random"}
    plan = plan_of(tmp_path, agents, games=[name], repetitions=1)
    tasks = [task for task in tasks_of(plan) if is_side_by_side(task)]
    results = play_batch(tasks)
    game = load(name, engine="lanes")
    assert [result.task for result in results] == tasks
    for result in results:
        record = MatchRecord.from_json(result.record)
        state, decisions = game.initial_state(), [0] * len(game.roles)
        for before, joint_move in zip(record.states, record.moves, strict=False):
            assert before == state_text(game.facts(state))
            moves = tuple(parse_term(text) for text in joint_move)
            for index, role in enumerate(game.roles):
                legal = game.legal_moves(state, role)
                assert moves[index] in legal
                decisions[index] += len(legal) > 1
            state = game.next_state(state, moves)
        assert game.is_terminal(state)
        assert result.is_completed
        for index, seat in enumerate(result.seats):
            assert seat.goal == game.goal(state, game.roles[index])
            assert (seat.moves, seat.late, seat.illegal, seat.lost) == (len(record.moves), 0, 0, 0)
            limit = {"a": 30, "b": 10}.get(seat.agent)
            if limit is None:
                assert seat.simulations is None
            else:
                # Trees whose root is proven need fewer.
                assert seat.simulations <= limit * decisions[index]
                assert seat.agent == "b" or seat.simulations == limit * decisions[index]


@pytest.mark.parametrize("name", WALKS)
def test_matches_without_a_choice_are_those_of_the_referee(tmp_path, name, monkeypatch):
    monkeypatch.setattr("ggp.tournament.play.MatchTerms", partial(MatchTerms, step_limit=12))
    tasks = tasks_of(plan_of(tmp_path, {"a": "uct", "b": "random"}, rules=WALKS[name], repetitions=1))
    for one, task in zip(play_batch(tasks), tasks, strict=True):
        other = play_task(task)
        assert steps_of(one) == steps_of(other)
        assert json.loads(one.record).keys() == json.loads(other.record).keys()
        assert (one.is_completed, one.fault, one.steps) == (other.is_completed, other.fault, other.steps)
        assert [(seat.role, seat.agent, seat.goal, seat.moves) for seat in one.seats] == [
            (seat.role, seat.agent, seat.goal, seat.moves) for seat in other.seats
        ]


def test_a_batch_can_be_repeated(tmp_path):
    plan = plan_of(tmp_path, UCT, games=["tictactoe"], repetitions=6)
    first, again = (list(map(steps_of, play_batch(tasks_of(plan)))) for _ in range(2))
    assert first == again
    assert len({str(each) for each in first}) > 1


def test_the_stronger_search_wins_side_by_side_and_alone(store, tmp_path):
    agents = {"a": "uct:simulations=200", "b": "random"}
    plan = plan_of(tmp_path, agents, games=["tictactoe"], repetitions=20)
    workers = Inline()
    run = store.begin(plan)
    assert Runner(store, run, workers).play().stored == 40
    assert [len(tasks) for tasks in workers.tasks] == [40]
    goals = [seat.goal for match in store.matches(run) for seat in match.seats if seat.agent == "a"]
    assert sum(goals) / len(goals) > 90
    alone = [play_task(task) for task in tasks_of(plan)[:4]]
    assert all(seat.goal >= 50 for result in alone for seat in result.seats if seat.agent == "a")


def test_runs_that_may_end_early_play_small_batches(store, tmp_path):
    agents = {"a": "uct:simulations=50", "b": "random"}
    plan = plan_of(
        tmp_path, agents, games=["tictactoe"], repetitions=200, until={"rule": "width", "width": 0.4}
    )
    workers = Inline(size=1)
    progress = Runner(store, store.begin(plan), workers).play()
    assert [len(tasks) for tasks in workers.tasks] == [MAX_UNTIL_DECIDED]
    assert progress.saved == 400 - MAX_UNTIL_DECIDED


def test_a_batch_that_kills_its_worker_is_halved(store, tmp_path):
    plan = plan_of(tmp_path, {"a": "uct:simulations=5", "b": "random"}, repetitions=5)

    def script(tasks):
        if isinstance(tasks, tuple) and len(tasks) > 3:
            raise WorkerDiedError("its worker died 3 times")
        return play_batch(tasks) if isinstance(tasks, tuple) else play_task(tasks)

    workers = Inline(script)
    progress = Runner(store, store.begin(plan), workers).play()
    assert (progress.stored, progress.failures) == (10, {})
    assert sorted(len(tasks) for tasks in workers.tasks if isinstance(tasks, tuple)) == [2, 2, 3, 3, 5, 5, 10]


def test_sheets_without_a_circuit_are_refused_in_a_sentence(store, tmp_path):
    plan = plan_of(tmp_path, {"a": "uct", "b": "random"}, engine="reasoner")
    with pytest.raises(UnplayableError, match="uct plays on lanes") as refused:
        play_batch(tasks_of(plan))
    assert refused.value.agent == "a"
    progress = Runner(store, store.begin(plan), Inline()).play()
    assert (progress.stored, len(progress.failures)) == (0, 6)
