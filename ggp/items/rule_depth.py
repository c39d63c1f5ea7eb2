"""Length of the chains of rules that an answer needs."""

from __future__ import annotations

from gdl.dependencies import DISTINCT, Dependencies
from gdl.program import Program


def rule_depths(program: Program) -> dict[str, int]:
    """Relation → the longest chain of rules below it.

    A relation of facts alone has depth 0, like the state and the moves; one with rules has one more than the
    deepest relation in their bodies. Relations that need each other count as one.

    >>> from gdl.syntax.parser import parse
    >>> depths = rule_depths(parse("(<= terminal line) (<= line (row ?x)) (<= (row ?x) (true (cell ?x)))"))
    >>> depths["terminal"], depths["row"]
    (3, 1)
    """
    dependencies = Dependencies(program)
    depth = {DISTINCT: 0}
    for component in dependencies.components:
        callees = {callee for predicate in component for callee in dependencies.callees(predicate)}
        below = max((depth[callee] for callee in callees if callee in depth), default=0)
        for predicate in component:
            depth[predicate] = below + bool(callees)
    by_name: dict[str, int] = {}
    for predicate, value in depth.items():
        by_name[predicate.name] = max(value, by_name.get(predicate.name, 0))
    return by_name
