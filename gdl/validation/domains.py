"""`base` and `input` compared with the facts and moves that rules bring about.

Whatever can be told without playing is told by the shapes of arguments (`gdl.validation.shapes`): a fact
that fits no shape of `base` is certainly missing there. `ggp validate --play` compares whole facts and moves.
"""

from __future__ import annotations

from gdl.errors import Related
from gdl.program import Predicate, Rule, arguments_of
from gdl.terms import Compound, Symbol, Term, Variable
from gdl.validation.codes import Findings, warning
from gdl.validation.shapes import (
    Position,
    Shapes,
    Sources,
    below,
    common_tokens,
)
from gdl.validation.sheet import Sheet

BASE = Predicate("base", 1)
INPUT = Predicate("input", 2)
_DECLARED = (("init", BASE, "GDL316"), ("next", BASE, "GDL316"), ("legal", INPUT, "GDL317"))


def undeclared(sheet: Sheet) -> Findings:
    """GDL316 and GDL317: heads of init, next and legal none of whose atoms base or input lists."""
    if sheet.inference is None:
        return
    shapes = sheet.inference.shapes
    for name, declaration, code in _DECLARED:
        declared = sheet.program.by_predicate.get(declaration)
        if declared is None or declaration not in shapes.alive:
            continue
        for _, alternatives in sheet.alternatives:
            for rule in alternatives:
                if (
                    rule.predicate != Predicate(name, declaration.arity)
                    or id(rule) in sheet.inference.misfits
                ):
                    continue
                sources = sheet.inference.sources[id(rule)]
                outside = _first_outside(rule, declaration, sources, shapes)
                if outside is not None:
                    kind = "fact" if declaration == BASE else "move"
                    message = (
                        f"{arguments_of(rule.head)[-1]}: '{declaration.name}' lists no such {kind},"
                        f" as {outside} does not stand there"
                    )
                    note = Related(f"'{declaration.name}' is given here", declared[0].head.span)
                    yield warning(code, message, rule.head.span, note)


def _first_outside(rule: Rule, declaration: Predicate, sources: Sources, shapes: Shapes) -> Term | None:
    """The first part of the head that no atom of `declaration` has in its place."""
    for index, argument in enumerate(arguments_of(rule.head)):
        found = _outside(argument, (declaration, index), sources, shapes)
        if found is not None:
            return found
    return None


def _outside(term: Term, position: Position, sources: Sources, shapes: Shapes) -> Term | None:
    if isinstance(term, Variable):
        places = sources.get(term.name)
        return None if not places or common_tokens([*places, position], shapes) else term
    if isinstance(term, Symbol):
        return None if term.name in shapes.at(position) else term
    functor = (term.name, len(term.arguments))
    if functor not in shapes.at(position):
        return term
    for index, argument in enumerate(term.arguments):
        found = _outside(argument, below(position, functor, index), sources, shapes)
        if found is not None:
            return found
    return None


def overdeclared(sheet: Sheet) -> Findings:
    """GDL323: functions that base or input lists although no rule makes such a fact or move.

    Single facts that never hold are no fault: base is meant to be a superset.
    """
    if sheet.inference is None:
        return
    shapes = sheet.inference.shapes
    for declaration, made in ((BASE, Predicate("true", 1)), (INPUT, Predicate("does", 2))):
        if made not in shapes.alive:
            continue
        kind = "fact" if declaration == BASE else "move"
        possible = shapes.at((made, made.arity - 1))
        for rule in sheet.program.by_predicate.get(declaration, ()):
            term = arguments_of(rule.head)[-1]
            if isinstance(term, Variable):
                continue
            token = (term.name, len(term.arguments)) if isinstance(term, Compound) else term.name
            pattern = Compound(made.name, (*[Variable("_")] * (made.arity - 1), term))
            if token not in possible and not sheet.inference.is_awaited(pattern):
                message = f"'{declaration.name}' lists {term}, but no rule makes such a {kind}"
                yield warning("GDL323", message, term.span or rule.span)
