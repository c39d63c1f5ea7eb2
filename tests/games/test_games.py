"""Every sheet of `games/`: well-formed, and sound in seeded random playouts."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from docs.reference_pages import games_table
from gdl.normalize import normalize
from gdl.program import Predicate, Program
from gdl.reasoning.reasoner import Reasoner
from gdl.reasoning.values import Value, value_of
from gdl.syntax.parser import parse_file
from gdl.terms import Compound
from gdl.validation import check
from ggp.engines.reasoner import InterpretedGame
from ggp.game import RANDOM_ROLE
from tests.conftest import ROOT, mostly_slow

TABLE = games_table().splitlines()
SHEETS = sorted((ROOT / "games").glob("*.kif"))
LONGEST_GAME = 300
LARGE = {"amazons": 1}
"""Number of playouts for sheets that are too large for the usual number."""

USUAL_PLAYOUTS = 4


@cache
def interpreted(path: Path) -> InterpretedGame:
    return InterpretedGame(parse_file(path), path.stem)


@cache
def header(path: Path) -> dict[str, str]:
    """The `; key: value` lines of the opening comment."""
    return dict(re.findall(r"^; (\w+): +(.*)$", path.read_text(), re.MULTILINE))


@cache
def declared(path: Path, name: str, arity: int) -> frozenset[Value]:
    """What the rules for `base` or `input` derive: the initial state of a sheet that has them as `init`."""
    rules = []
    for rule in normalize(parse_file(path)).rules:
        if rule.predicate == Predicate(name, arity):
            rules.append(replace(rule, head=Compound("init", (rule.head,))))
        elif rule.predicate != Predicate("init", 1):
            rules.append(rule)
    facts = Reasoner(Program(tuple(rules))).initial_facts
    assert facts
    return facts


def playout(game: InterpretedGame, seed: int) -> Iterator[tuple[Any, list[tuple[Any, ...]]]]:
    """The states of a random playout, each with the legal moves per role (none at the end)."""
    rng = random.Random(seed)
    state = game.initial_state()
    while not game.is_terminal(state):
        legal = [game.legal_moves(state, role) for role in game.roles]
        yield state, legal
        state = game.next_state(state, [rng.choice(moves) for moves in legal])
    yield state, []


def playouts(path: Path) -> Iterator[list[tuple[Any, list[tuple[Any, ...]]]]]:
    for seed in range(LARGE.get(path.stem, USUAL_PLAYOUTS)):
        yield list(playout(interpreted(path), seed))


each_sheet = pytest.mark.parametrize("path", SHEETS, ids=[path.stem for path in SHEETS])
every_third_sheet = pytest.mark.parametrize(
    "path", mostly_slow(SHEETS, 3, first=2), ids=[path.stem for path in SHEETS]
)


def test_number_of_games() -> None:
    assert len(SHEETS) >= 30


@each_sheet
def test_sheet_has_no_diagnostics(path: Path) -> None:
    assert check(parse_file(path)) == []


@each_sheet
def test_sheet_is_written_in_lower_case(path: Path) -> None:
    code = re.sub(r";.*", "", path.read_text())
    assert code == code.lower()
    assert path.stem == path.stem.lower()


@each_sheet
def test_variables_used_once_begin_with_an_underscore(path: Path) -> None:
    code = re.sub(r";.*", "", path.read_text())
    for rule in re.findall(r"^\(<=(?:.|\n)*?(?=^\(|\Z)", code, re.MULTILINE):
        names = re.findall(r"\?(\w+)", rule)
        for name in names:
            assert name.startswith("_") == (names.count(name) == 1), f"?{name} in {rule}"


@each_sheet
def test_header_states_roles_kind_and_value(path: Path) -> None:
    fields = header(path)
    assert fields["roles"].split(", ") == [str(role) for role in interpreted(path).roles]
    assert re.match("turn-taking|simultaneous|puzzle", fields["kind"])
    assert fields["value"]


@every_third_sheet
def test_playouts_end_and_pay_one_goal_to_every_role(path: Path) -> None:
    game = interpreted(path)
    players = [role for role in game.roles if role != RANDOM_ROLE]
    is_zero_sum = re.search(r"(?<!not )zero-sum", header(path)["kind"]) is not None
    for states in playouts(path):
        assert len(states) <= LONGEST_GAME
        for state, _ in states:
            goals = [game.goal(state, role) for role in players]
            assert all(0 <= goal <= 100 for goal in goals)
            if is_zero_sum:
                assert sum(goals) == 100, game.facts(state)


@every_third_sheet
def test_every_role_has_a_move_and_the_kind_is_as_stated(path: Path) -> None:
    game = interpreted(path)
    roles_that_chose_together = 0
    for states in playouts(path):
        for state, legal in states[:-1]:
            assert all(legal), game.facts(state)
            roles_that_chose_together = max(roles_that_chose_together, sum(len(moves) > 1 for moves in legal))
    kind = header(path)["kind"]
    assert kind.startswith("puzzle") == (len(game.roles) == 1)
    assert kind.startswith("simultaneous") == (roles_that_chose_together > 1)
    assert ("random" in header(path)["roles"]) == ("chance" in kind)
    assert game.reasoner.has_percepts == ("hidden information" in kind)


@every_third_sheet
def test_facts_and_moves_stay_within_base_and_input(path: Path) -> None:
    game = interpreted(path)
    base = declared(path, "base", 1)
    inputs = declared(path, "input", 2)
    for states in playouts(path):
        for state, legal in states:
            assert base.issuperset(("base", fact) for fact in map(value_of, game.facts(state)))
            for role, moves in zip(game.roles, legal, strict=False):
                assert inputs.issuperset(("input", value_of(role), value_of(move)) for move in moves)


@every_third_sheet
def test_playouts_use_most_of_the_rules(path: Path) -> None:
    """If random playouts reach less than a tenth of base, the sheet is probably wrong."""
    game = interpreted(path)
    reached = {fact for states in playouts(path) for state, _ in states for fact in game.facts(state)}
    assert 10 * len(reached) >= len(declared(path, "base", 1))


@each_sheet
def test_table_of_games_repeats_the_header(path: Path) -> None:
    (row,) = (line for line in TABLE if f"[`{path.stem}`]" in line)
    assert row.count(" | ") == 4
    comment = " ".join(line.lstrip("; ") for line in path.read_text().split("\n\n")[0].splitlines())
    for cell in re.sub(r"\\(.)", r"\1", row).strip("| ").split(" | "):
        assert cell.startswith("[") or cell in comment
