"""gringo's output (the ASP intermediate format, aspif) as arrays, and constant propagation.

Parsing the text with numpy costs about 30 ns per number; clingo's Python callbacks cost about 5 µs per
rule. Statements (Kaminski, Schaub & Wanko, "A tutorial on hybrid answer set solving with clingo",
appendix): `1 choice 1 head 0 n literal…` is a rule, `4 length text n literal…` names an atom.

Letters: N rules, E body literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.ground_program import BoolArray
from gdl.slices import slice_offsets, slice_places

Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]

UNKNOWN, FALSE, TRUE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class GroundRules:
    """Ground rules in gringo's numbering.

    names       mangled text of an atom → its number; 0 if it is a fact
    is_input    bool[atoms], atoms that a choice rule leaves open
    head        int32[N]
    first_body  int64[N + 1]
    body        int32[E], negative means negated
    """

    names: dict[str, int]
    is_input: BoolArray
    head: Int32Array
    first_body: Int64Array
    body: Int32Array


_BLOCK_BYTES = 1 << 23
"""Text parsed at a time; its numbers temporarily take about ten times its size."""

_OUTPUT = re.compile(rb"^4 \d+ (\S+) (?:0|1 (\d+))$", re.MULTILINE)
_OTHER_THAN_RULES = re.compile(rb"^(?:[^1\n]|1\S).*\n", re.MULTILINE)


def read_aspif(chunks: Iterable[bytes]) -> GroundRules:
    """The rules and names of a whole aspif text. Chunks may end anywhere."""
    names: dict[str, int] = {}
    rules: list[_Rules] = []
    for block in _blocks_of_lines(chunks):
        for found in _OUTPUT.finditer(block):
            names[found[1].decode()] = int(found[2]) if found[2] else 0
        rules.append(_read_rules(_OTHER_THAN_RULES.sub(b"", block)))
    whole = _Rules(*(np.concatenate(parts) for parts in zip(_NO_RULES, *rules, strict=True)))
    highest = max(
        (int(np.abs(part).max(initial=0)) for part in (whole.head, whole.body, whole.inputs)), default=0
    )
    is_input = np.zeros(max(highest, max(names.values(), default=0)) + 1, bool)
    is_input[whole.inputs] = True
    is_input[0] = False
    return GroundRules(names, is_input, whole.head, slice_offsets(whole.length), whole.body)


def _blocks_of_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same text in larger blocks that end at a line end."""
    pending: list[bytes] = []
    size = 0
    for chunk in chunks:
        pending.append(chunk)
        size += len(chunk)
        if size >= _BLOCK_BYTES:
            lines, newline, rest = b"".join(pending).rpartition(b"\n")
            yield lines + newline
            pending, size = [rest], len(rest)
    yield b"".join(pending)


class _Rules(NamedTuple):
    """Rules of one block, and the heads of its choice rules."""

    head: Int32Array
    length: Int32Array
    body: Int32Array
    inputs: Int32Array


_NO_RULES = _Rules(*(np.zeros(0, np.int32) for _ in range(4)))


def _read_rules(text: bytes) -> _Rules:
    """The rules of a text that consists of rule statements only."""
    if not text.strip():
        return _NO_RULES
    number = np.fromstring(text.decode("ascii"), dtype=np.int32, sep=" ")
    letter = np.frombuffer(text, np.uint8)
    blank = np.flatnonzero((letter == 32) | (letter == 10))
    first = np.concatenate(([0], np.flatnonzero(letter[blank] == 10)[:-1] + 1))
    is_choice = number[first + 1] == 1
    head = number[first + 3]
    kept = first[~is_choice]
    length = number[kept + 5]
    return _Rules(head[~is_choice], length, number[slice_places(kept + 6, length)], head[is_choice])


def _rule_of(first: Int64Array) -> Int32Array:
    return np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))


def propagate(rules: GroundRules) -> tuple[GroundRules, NDArray[np.int8]]:
    """Rules without constants, and per atom UNKNOWN, FALSE or TRUE.

    Facts are true; atoms that are neither the head of a rule nor an input are false. If negation is
    stratified between predicates, gringo has already done most of this.
    """
    value = np.zeros(len(rules.is_input), np.int8)
    value[0] = TRUE
    head, first, body = rules.head, rules.first_body, rules.body
    while True:
        value[head[np.diff(first) == 0]] = TRUE
        open_head = value[head] != TRUE
        has_rule = np.zeros(len(value), bool)
        has_rule[head] = True
        value[~has_rule & ~rules.is_input & (value != TRUE)] = FALSE
        truth = value[np.abs(body)]
        satisfied = np.where(body > 0, truth == TRUE, truth == FALSE)
        violated = (truth != UNKNOWN) & ~satisfied
        rule_of = _rule_of(first)
        kept = open_head.copy()
        kept[rule_of[violated]] = False
        if kept.all() and not satisfied.any():
            break
        keep_literal = kept[rule_of] & ~satisfied
        length = np.bincount(rule_of[keep_literal], minlength=len(head))[kept]
        head, body = head[kept], body[keep_literal]
        first = slice_offsets(length)
    return GroundRules(rules.names, rules.is_input, head, first, body), value


def restrict(rules: GroundRules, wanted: Int64Array) -> GroundRules:
    """The rules on which the atoms `wanted` depend. Tautologies `a :- a, …` are dropped."""
    order = np.argsort(rules.head, kind="stable")
    sorted_head = rules.head[order]
    reached = np.zeros(len(rules.is_input), bool)
    frontier = np.unique(wanted)
    while len(frontier):
        reached[frontier] = True
        low, high = (np.searchsorted(sorted_head, frontier, side) for side in ("left", "right"))
        chosen = order[slice_places(low, high - low)]
        begin = rules.first_body[chosen]
        atoms = np.unique(np.abs(rules.body[slice_places(begin, rules.first_body[chosen + 1] - begin)]))
        frontier = atoms[~reached[atoms]]
    rule_of = _rule_of(rules.first_body)
    kept = reached[rules.head]
    kept[rule_of[rules.body == rules.head[rule_of]]] = False
    first = slice_offsets(np.diff(rules.first_body)[kept])
    return GroundRules(rules.names, rules.is_input, rules.head[kept], first, rules.body[kept[rule_of]])
