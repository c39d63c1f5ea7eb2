"""Small tournaments and made-up match results for tests."""

import json
from dataclasses import replace

from ggp.tournament.config import plan_from_data
from ggp.tournament.play import MatchResult, SeatResult
from ggp.tournament.schedule import MatchTask, Schedule

ONE_SHOT = """
; Both name a number at once; the higher one wins.
(role left) (role right)
(init start)
(pick 1) (pick 2) (pick 3)
(greater 2 1) (greater 3 1) (greater 3 2)
(<= (legal ?r ?n) (role ?r) (pick ?n) (true start))
(<= (next (picked ?r ?n)) (does ?r ?n))
(<= terminal (not (true start)))
(<= (goal ?r 100) (true (picked ?r ?n)) (true (picked ?s ?m)) (distinct ?r ?s) (greater ?n ?m))
(<= (goal ?r 50) (true (picked ?r ?n)) (true (picked ?s ?n)) (distinct ?r ?s))
(<= (goal ?r 0) (true (picked ?r ?n)) (true (picked ?s ?m)) (distinct ?r ?s) (greater ?m ?n))
(<= (goal ?r 50) (role ?r) (true start))
"""
"""The shortest possible match: one step, nine joint moves."""

ALONE = """
; One role, one step: the number it names is its goal.
(role only)
(init start)
(worth a 30) (worth b 70)
(<= (legal only ?m) (worth ?m ?_g) (true start))
(<= (next (named ?m)) (does only ?m))
(<= terminal (not (true start)))
(<= (goal only ?g) (true (named ?m)) (worth ?m ?g))
(<= (goal only 0) (true start))
"""

TRIO = """
; Three roles, one step: a role gets 100 for b and 0 for a.
(role r1) (role r2) (role r3)
(init start)
(<= (legal ?r a) (role ?r) (true start))
(<= (legal ?r b) (role ?r) (true start))
(<= (next (named ?r ?m)) (does ?r ?m))
(<= terminal (not (true start)))
(<= (goal ?r 100) (true (named ?r b)))
(<= (goal ?r 0) (true (named ?r a)))
(<= (goal ?r 0) (role ?r) (true start))
"""


def small_plan(tmp_path, **changes):
    """A plan for a new rule sheet; `rules` is its text, other keywords replace keys of the plan."""
    sheet = tmp_path / "small.kif"
    sheet.write_text(changes.pop("rules", ONE_SHOT), encoding="utf-8")
    data = {
        "name": "small",
        "agents": {"a": "random", "b": "legal"},
        "games": {"small": {"rules": str(sheet)}},
        "repetitions": 3,
        "engine": "reasoner",
    }
    return plan_from_data({**data, **changes})


def tasks_of(plan) -> list[MatchTask]:
    return [task for _, task in Schedule(plan).tasks()]


def result_of(task: MatchTask, goals, *, is_completed: bool = True, **changes) -> MatchResult:
    """A result of `task` with these goals; other keywords are set in the result, or in every seat."""
    facts = {"moves": 1, "late": 0, "illegal": 0, "lost": 0, "think_seconds": 0.5, "simulations": None}
    result = {name: changes.pop(name) for name in ("fault", "version") if name in changes}
    seats = tuple(
        SeatResult(role=f"role{number}", agent=agent, player=player, goal=goal, **{**facts, **changes})
        for number, (agent, player, goal) in enumerate(zip(task.seats, task.players, goals, strict=True))
    )
    record = {"matchId": task.id, "states": ["( start )"], "moves": [], "x-roles": ["left", "right"]}
    defaults = MatchResult(
        task=task,
        seats=seats,
        is_completed=is_completed,
        fault="" if is_completed else "broken",
        started_ms=1_700_000_000_000,
        seconds=0.25,
        steps=1,
        record=json.dumps(record),
        version="ggp 1",
        host="here",
        processor="slow",
    )
    return replace(defaults, **result)
