"""Duplicated and permuted facts change nothing but the order of roles, on any engine."""

import random

import pytest

from ggp import load
from tests.conftest import mostly_slow

ENGINES = ["lanes", "reasoner"]

RULES = """
(<= (legal ?role (take ?n)) (true (control ?role)) (amount ?n) (true (heap ?m)) (less ?n ?m))
(<= (legal ?role wait) (role ?role) (not (true (control ?role))))
(<= (next (control ?next)) (true (control ?role)) (after ?role ?next))
(<= (next (heap ?rest)) (true (heap ?m)) (does ?role (take ?n)) (minus ?m ?n ?rest))
(<= terminal (true (heap 1)))
(<= terminal (true (heap 0)))
(<= (goal ?role 100) (true (control ?role)))
(<= (goal ?role 0) (role ?role) (not (true (control ?role))))
(<= (less ?n ?m) (amount ?n) (minus ?m ?n ?rest))
"""

ROLES = ["(role zoe)", "(role ann)", "(role mia)"]

FACTS = [
    "(after zoe ann)",
    "(after ann mia)",
    "(after mia zoe)",
    "(init (control ann))",
    "(init (heap 5))",
    "(amount 1)",
    "(amount 2)",
    *(f"(minus {m} {n} {m - n})" for m in range(1, 6) for n in (1, 2) if n <= m),
]


def match_of(game, seed: int) -> list[object]:
    """Roles, then facts, legal moves and goals of every state of a random match."""
    rng = random.Random(seed)
    state = game.initial_state()
    seen: list[object] = [game.roles]
    while not game.is_terminal(state):
        legal = {role: game.legal_moves(state, role) for role in sorted(game.roles, key=str)}
        seen += [set(game.facts(state)), legal]
        chosen = {role: rng.choice(moves) for role, moves in legal.items()}
        state = game.next_state(state, [chosen[role] for role in game.roles])
    return [*seen, {role: game.goal(state, role) for role in game.roles}]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", mostly_slow(range(8), 4))
def test_duplicated_and_permuted_facts_change_only_the_order_of_roles(engine, seed):
    rng = random.Random(seed)
    facts = ROLES + FACTS
    sheet = facts + rng.choices(ROLES, k=3) + rng.choices(FACTS, k=5)
    rng.shuffle(sheet)
    texts = [line for line in dict.fromkeys(sheet) if line in ROLES]
    expected_roles = [line.removeprefix("(role ").removesuffix(")") for line in texts]
    game = load("\n".join([*sheet, RULES]), engine=engine, use_cache=False)
    plain = load("\n".join([*facts, RULES]), engine="reasoner")
    roles, *states = match_of(game, seed)
    assert [str(role) for role in roles] == expected_roles
    assert states == match_of(plain, seed)[1:]
