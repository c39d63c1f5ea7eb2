"""Sheets that explode if derived bottom-up ground to few rules, and play as the reasoner plays them."""

import random

import pytest

import gdl.grounding
import gdl.grounding.accumulation as accumulation
import gdl.grounding.demand as demand
from gdl.grounding import ground, rewrite
from gdl.normalize import normalize
from gdl.syntax.parser import parse
from gdl.validation.checks.recursion import growing_rule
from ggp.engines.reasoner import InterpretedGame
from tests import hard_sheets
from tests.conftest import mostly_slow
from tests.oracles.naive_ground import NaiveGround

SHEETS = {
    "counting": (hard_sheets.counting(), 15_000),  # bottom-up: 300,000 rules
    "counting on a large board": (hard_sheets.counting(60), 150_000),  # bottom-up: 25 million
    "lists": (hard_sheets.lists(), 1_000),  # bottom-up: without end
    "exactly once": (hard_sheets.exactly_once(), 25_000),  # bottom-up: 200 million
    "armies": (hard_sheets.armies(), 150_000),
}


def check_match(text: str, seed: int, steps: int) -> None:
    """A random match of the ground program has the facts, legal moves and goals of the reasoner."""
    rng = random.Random(seed)
    program = parse(text)
    naive, game = NaiveGround(ground(program)), InterpretedGame(program)
    state, expected = naive.initial_state(), game.initial_state()
    for _ in range(steps):
        assert sorted(map(str, naive.facts(state))) == sorted(map(str, game.facts(expected)))
        model = naive.model(state)
        assert naive.is_terminal(model) == game.is_terminal(expected)
        for index, role in enumerate(game.roles):
            assert naive.goals(model, index) == [game.goal(expected, role)]
        if game.is_terminal(expected):
            break
        moves = []
        for index, role in enumerate(game.roles):
            legal = game.legal_moves(expected, role)
            assert [str(move) for move in naive.legal_moves(model, index)] == list(map(str, legal))
            moves.append(rng.choice(legal))
        state = naive.next_state(naive.model(state, moves))
        expected = game.next_state(expected, moves)


@pytest.mark.parametrize("name", mostly_slow(SHEETS, 2))
def test_hard_sheet_grounds_to_few_rules(name):
    text, most_rules = SHEETS[name]
    assert ground(parse(text), seconds=60).rule_count < most_rules


PLAYED = {
    "counting, 6": (hard_sheets.counting(6), 8),
    "counting": (hard_sheets.counting(), 8),
    "lists, 3": (hard_sheets.lists(3), 8),
    "lists": (hard_sheets.lists(), 8),
    "exactly once": (hard_sheets.exactly_once(), 8),
    "armies, 6": (hard_sheets.armies(6, 4), 8),
    "armies": (hard_sheets.armies(), 2),
}


@pytest.mark.parametrize("name", mostly_slow(PLAYED, 3, first=2))
def test_hard_sheet_plays_as_the_reasoner_plays_it(name):
    text, steps = PLAYED[name]
    check_match(text, seed=1, steps=steps)


@pytest.mark.slow
def test_demand_ends_the_growth_of_lists():
    program = parse(hard_sheets.lists())
    assert growing_rule(program) is not None
    assert growing_rule(gdl.grounding.demanded(program)) is None


def right_linear_sheet(seed: int) -> str:
    """A recursion over cells with random steps, ends, accumulators, keys and callers."""
    rng = random.Random(seed)
    cells = range(4)
    reads = ["(true (cell ?p on))", "(true (cell ?p off))", "(not (true (cell ?p on)))"]
    reads += ["(odd ?p)", "(not (odd ?p))"]
    steps = []
    for _ in range(rng.randint(2, 4)):
        condition = " ".join(rng.sample(reads, rng.randint(1, 2)))
        if rng.choice([False, True]):
            steps.append(f"(<= (walk ?k ?p ?n ?r) {condition} (succ ?p ?q) (walk ?k ?q ?n ?r))")
        else:
            steps.append(f"(<= (walk ?k ?p ?n ?r) {condition} (succ ?p ?q) (succ ?n ?o) (walk ?k ?q ?o ?r))")
    ends = [
        "(<= (walk ?k 4 ?n ?n) (number ?n) (kind ?k))",
        "(<= (walk a ?p ?n (stop ?n)) (number ?n) (true (cell ?p off)) (odd ?p))",
        "(<= (walk b ?p ?n ?k) (number ?n) (kind ?k) (true (cell ?p on)))",
    ]
    callers = [
        "(<= (legal robot (say ?r)) (walk a 0 0 ?r))",
        "(<= (legal robot (tell ?k ?r)) (kind ?k) (walk ?k 0 1 ?r))",
        "(<= (legal robot (call ?n ?r)) (number ?n) (odd ?n) (walk b 1 ?n ?r))",
        "(<= (legal robot deny) (not (walk a 0 0 2)))",
    ]
    chosen = rng.sample(callers, rng.randint(1, 3))
    return f"""
    (role robot) (legal robot noop) (kind a) (kind b) (odd 1) (odd 3) {hard_sheets.chain("succ", 7)}
    {" ".join(f"(number {n})" for n in range(8))} {" ".join(f"(init (cell {p} off))" for p in cells)}
    {" ".join(steps)} {" ".join(rng.sample(ends, rng.randint(1, 3)))} {" ".join(chosen)}
    (<= (legal robot (flip ?p)) (true (cell ?p off)))
    (<= (next (cell ?p on)) (does robot (flip ?p)))
    (<= (next (cell ?p off)) (true (cell ?p off)) (not (does robot (flip ?p))))
    (<= (next (cell ?p on)) (true (cell ?p on)))
    (<= terminal (true (cell 3 on))) (goal robot 50)
    """


@pytest.fixture
def eager(monkeypatch):
    """Derive from calls whatever can be, profitable or not."""
    monkeypatch.setattr(gdl.grounding, "COSTLY", -1.0)
    monkeypatch.setattr(accumulation, "COSTLY", -1.0)
    monkeypatch.setattr(accumulation, "CLEAR_GAIN", 1e9)


@pytest.mark.parametrize("seed", mostly_slow(range(25), 6))
@pytest.mark.parametrize("is_guarded", [False, True])
def test_derivation_from_calls_keeps_the_meaning(seed, is_guarded, eager, monkeypatch):
    monkeypatch.setattr(accumulation, "CLEAR_GAIN", 0.0 if is_guarded else 1e9)
    monkeypatch.setattr(demand, "COSTLY", -1.0)
    monkeypatch.setattr(demand, "CLEAR_GAIN", 1e9)
    text = right_linear_sheet(seed)
    names = {rule.head.name.split()[0] for rule in rewrite(normalize(parse(text)))}
    assert ("ask" if is_guarded else "reach") in names
    check_match(text, seed, steps=5)


def test_recursion_that_changes_its_result_is_not_derived_from_calls(eager):
    text = right_linear_sheet(1)
    changed = text.replace("(walk ?k ?q ?n ?r))", "(walk ?k ?q ?n ?s) (succ ?s ?r))")
    changed = changed.replace("(walk ?k ?q ?o ?r))", "(walk ?k ?q ?o ?s) (succ ?s ?r))")
    for rule in rewrite(normalize(parse(changed))):
        assert not rule.head.name.startswith("reach")
    check_match(changed, seed=1, steps=4)


def test_calls_that_bind_each_other_are_not_derived_from_calls(eager):
    numbers = " ".join(f"(number {n})" for n in range(7))
    check_match(
        f"""
        (role robot) {hard_sheets.chain("succ", 6)} {numbers} (init (at 0)) (goal robot 50)
        (<= (sum ?x 0 ?x) (number ?x))
        (<= (sum ?x ?y ?z) (succ ?v ?y) (sum ?x ?v ?w) (succ ?w ?z))
        (<= (legal robot (reach ?total)) (true (at ?n)) (sum ?n 1 ?m) (sum ?m 2 ?k) (sum ?k ?n ?total))
        (<= (legal robot stay) (true (at ?n)))
        (<= (next (at ?n)) (does robot (reach ?n)))
        (<= (next (at 1)) (does robot stay))
        """,
        seed=1,
        steps=4,
    )
