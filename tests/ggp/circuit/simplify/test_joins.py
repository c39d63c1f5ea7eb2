"""Tokens are exclusive in play, and joins with them keep it when they are taken apart."""

from __future__ import annotations

from dataclasses import replace
from time import thread_time

import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse
from ggp.circuit.construction import build
from ggp.circuit.simplify.factoring import factor
from ggp.circuit.simplify.joins import take_joins_apart
from ggp.circuit.simplify.rewriting import cost
from ggp.circuit.simplify.tokens import find_tokens
from tests.ggp.circuit.simplify.test_simplify import assert_exclusive
from tests.oracles.naive_circuit import assert_same_play
from tests.oracles.random_circuits import random_circuit

CELLS = 12
NEAR = " ".join(
    f"(near {x} {(x + d) % CELLS}) (jumps {x} {(x + 3 * d) % CELLS}) (jumps {x} {(x + 4 * d) % CELLS}) "
    f"(between {x} {(x + d) % CELLS} {(x + 2 * d) % CELLS})"
    for x in range(CELLS)
    for d in (1, -1)
)
PINS = f"""
(role white) (init (king 1)) (init (man 2)) (init (man 4)) (init (rook 6)) (init (rook 8)) (init (rook 9))
{NEAR} {" ".join(f"(cell {x})" for x in range(CELLS))}
(<= (empty ?x) (cell ?x) (not (true (man ?x))) (not (true (rook ?x))))
(<= (hits ?a ?k ?u) (near ?a ?k) (cell ?u))
(<= (hits ?a ?k ?u) (jumps ?a ?k) (cell ?u))
(<= (hits ?a ?k ?u) (between ?a ?m ?k) (empty ?m) (cell ?u))
(<= (hits ?a ?k ?u) (between ?a ?u ?k))
(<= (hit ?k ?x ?u) (true (rook ?a)) (cell ?x) (distinct ?a ?x) (hits ?a ?k ?u))
(<= (legal white (jump ?u ?x)) (true (man ?u)) (cell ?x) (distinct ?u ?x) (not (true (man ?x)))
    (true (king ?k)) (not (hit ?k ?x ?u)))
(<= (legal white (walk ?a ?b)) (true (king ?a)) (near ?a ?b))
(<= (next (king ?b)) (does white (walk ?a ?b)))
(<= (next (king ?a)) (true (king ?a)) (does white (jump ?u ?x)))
(<= (next (man ?x)) (does white (jump ?u ?x)))
(<= (next (man ?c)) (true (man ?c)) (does white (jump ?u ?x)) (distinct ?c ?u))
(<= (next (man ?c)) (true (man ?c)) (does white (walk ?a ?b)))
(<= (next (rook ?c)) (true (rook ?c)) (does white (jump ?u ?x)) (distinct ?c ?x))
(<= (next (rook ?b)) (true (rook ?a)) (near ?a ?b) (does white (walk ?c ?a)))
(<= (next (rook ?a)) (true (rook ?a)) (does white (walk ?c ?b)) (distinct ?a ?b))
(<= terminal (true (rook 0)) (true (rook 3)) (true (rook 5)))
(goal white 100)
"""


@pytest.fixture(scope="module")
def pins():
    circuit = factor(build(ground(parse(PINS))), thread_time() + 20)
    return replace(circuit, gates=tuple(circuit.gates))


def test_a_king_is_a_token_and_rooks_are_none(pins):
    names = {frozenset(str(pins.terms.fluents[f]) for f in group) for group in find_tokens(pins)}
    assert names == {frozenset(f"(king {x})" for x in range(CELLS))}


def test_joins_are_taken_apart_and_play_stays(pins):
    smaller = take_joins_apart(pins, thread_time() + 20)
    assert cost(smaller) < 0.8 * cost(pins)
    for seed in range(3):
        assert_same_play(pins, smaller, seed=seed, steps=80)


def test_past_the_deadline_nothing_changes(pins):
    assert take_joins_apart(pins, thread_time() - 1) is pins


@pytest.mark.parametrize("seed", range(300, 320))
def test_tokens_of_random_circuits_hold_in_play(seed):
    circuit = random_circuit(seed)
    assert_exclusive(replace(circuit, exclusive=tuple(find_tokens(circuit))), 256, seed=seed, steps=60)
