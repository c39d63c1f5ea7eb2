"""Scrambling changes names and keeps structure."""

import random
import re

import pytest

from gdl.syntax.parser import parse
from ggp.protocol.client import rules_on_wire
from ggp.protocol.messages import parse_term
from ggp.protocol.scrambling import Scrambler

RULES = """
(role xplayer) (role random) (init (cell 1 1 b)) (init (control xplayer))
(<= (legal xplayer (mark ?x ?y)) (true (cell ?x ?y b)) (or (true (control xplayer)) (distinct ?x -1)))
(<= (legal random noop) (not (true (control random)))) (<= (next ?f) (true ?f))
(<= (goal xplayer 100) (true (cell 1 1 b))) (<= terminal (true (step 10)))
"""


@pytest.fixture
def rules():
    return rules_on_wire(parse(RULES))


@pytest.fixture
def scrambler(rules):
    return Scrambler(rules, random.Random(1))


def test_scramble_text_keeps_keywords_integers_and_structure(rules, scrambler):
    scrambled = scrambler.scramble_text(rules)
    before, after = (re.findall(r"[^\s()]+", text) for text in (rules, scrambled))
    for word in ("role", "random", "init", "legal", "or", "distinct", "not", "<=", "100", "-1", "goal"):
        assert after.count(word) == before.count(word)
    assert not {"xplayer", "cell", "control", "mark", "noop", "step", "?x", "?y", "?f"} & set(after)
    assert [c for c in scrambled if c in "()"] == [c for c in rules if c in "()"]
    assert len(parse(scrambled).rules) == len(parse(RULES).rules)


def test_scrambling_is_one_to_one(rules):
    for seed in range(30):
        scrambler = Scrambler(rules, random.Random(seed))
        words = [
            scrambler.scramble_text(w) for w in ("xplayer", "cell", "control", "mark", "noop", "b", "step")
        ]
        assert len(set(words)) == len(words)


def test_unscramble_reads_any_letter_case(scrambler):
    move = parse_term("(mark 1 2)")
    told = scrambler.scramble(move)
    assert told != move
    assert str(told) == scrambler.scramble_text("(mark 1 2)")
    assert scrambler.unscramble(parse_term(str(told).upper())) == move
    assert scrambler.unscramble(move) != move  # true names are not accepted
    assert str(scrambler.unscramble(parse_term("(hello 7)"))) == "(hello 7)"


def test_scrambling_differs_between_matches(rules):
    first = Scrambler(rules, random.Random(1)).scramble_text(rules)
    assert first == Scrambler(rules, random.Random(1)).scramble_text(rules)
    assert first != Scrambler(rules, random.Random(2)).scramble_text(rules)
