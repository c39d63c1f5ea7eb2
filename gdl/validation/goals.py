"""Goal values."""

from __future__ import annotations

from gdl.program import arguments_of
from gdl.terms import Compound, Symbol, Variable, is_goal
from gdl.validation.codes import Findings, error, warning
from gdl.validation.shapes import common_tokens
from gdl.validation.sheet import Sheet, atoms_of


def impossible_goals(sheet: Sheet) -> Findings:
    """GDL209, wherever a goal's value is written down."""
    for rule in sheet.program.rules:
        for atom in atoms_of(rule):
            if atom.name != "goal" or not isinstance(atom, Compound) or len(atom.arguments) != 2:
                continue
            value = atom.arguments[1]
            if not isinstance(value, Variable) and not is_goal(value):
                message = f"goal {value}: goals are whole numbers from 0 to 100"
                yield error("GDL209", message, value.span or atom.span)


def doubtful_goals(sheet: Sheet) -> Findings:
    """GDL324: a goal that a variable holds which may have other values as far as shapes tell."""
    inference = sheet.inference
    if inference is None:
        return
    for rule in sheet.plain.rules_for("goal", 2):
        value = arguments_of(rule.head)[1]
        if not isinstance(value, Variable) or id(rule) in inference.misfits:
            continue
        values = common_tokens(inference.sources[id(rule)].get(value.name, ()), inference.shapes)
        odd = sorted(
            str(token) for token in values if not isinstance(token, str) or not is_goal(Symbol(token))
        )
        if odd:
            message = (
                f"goal {value} may be {odd[0]}, as far as can be told without playing:"
                " goals are whole numbers from 0 to 100"
            )
            yield warning("GDL324", message, value.span or rule.span)
