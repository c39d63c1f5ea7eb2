"""Diagnosis of the rule with most instances, after a limit was exceeded.

gringo's fast output does not name predicates before its end, so gringo runs again for a few seconds with
readable output and a label on every rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from gdl.errors import GroundingError
from gdl.grounding.asp import INPUTS, Names, rule_to_asp
from gdl.grounding.gringo import GroundingLimitError, GroundingLimits, stream_text
from gdl.program import Literal, Predicate, Program, Rule, arguments_of, atom_with
from gdl.terms import Span

DIAGNOSIS_SECONDS = 5.0

_LABELED = re.compile(rb"^p(\d+)", re.MULTILINE)


class Explosion(NamedTuple):
    """A rule with very many instances.

    predicate   predicate of the rule as written
    span        place of the rule as written
    instances   number counted until the diagnosis ended
    """

    predicate: Predicate
    span: Span | None
    instances: int


class ExplodingRulesError(GroundingLimitError):
    """A limit was exceeded. `explosion` is the rule with most instances by then."""

    def __init__(self, limit: str, source_name: str, explosion: Explosion) -> None:
        place = f"{source_name}:{explosion.span.line}" if explosion.span else source_name
        GroundingError.__init__(
            self,
            f"{place}: grounding exceeded its limit of {limit};"
            f" the rule for {explosion.predicate} has {explosion.instances:,} instances so far",
        )
        self.limit = limit
        self.source_name = source_name
        self.explosion = explosion

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.limit, self.source_name, self.explosion))


def find_explosion(rules: Sequence[Rule], program: Program, limits: GroundingLimits) -> Explosion | None:
    """The rule with most instances after a few seconds of grounding. Returns None if none was printed.

    rules     as given to gringo: parts of split rules have the span of the original
    program   the normalized program, for the predicates of the original rules
    """
    names = Names()
    lines: list[str] = []
    labels: dict[int, Rule] = {}
    for index, rule in enumerate(rules):
        # A unique head; its blank makes its name differ from all names of the sheet.
        label = atom_with(f"rule {index}", arguments_of(rule.head))
        labels[names.number(label.name)] = rule
        lines.append(rule_to_asp(Rule(label, rule.body), names))
        lines.append(rule_to_asp(Rule(rule.head, (Literal(label),)), names))
    asp = "\n".join([*lines, INPUTS])
    counts: Counter[int] = Counter()
    with suppress(GroundingError):  # the same limit again; the count so far is the result
        for text in stream_text(asp, replace(limits, seconds=min(limits.seconds, DIAGNOSIS_SECONDS))):
            counts.update(number for number in map(int, _LABELED.findall(text)) if number in labels)
    if not counts:
        return None
    (number, instances), *_ = counts.most_common(1)
    rule = labels[number]
    written = {one.span: one.predicate for one in program.rules if one.span}
    predicate = written.get(rule.span, rule.predicate) if rule.span else rule.predicate
    return Explosion(predicate, rule.span, instances)
