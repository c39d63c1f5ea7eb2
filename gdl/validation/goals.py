"""Goal values, and rules about somebody who does not play."""

from __future__ import annotations

from gdl.errors import Related
from gdl.program import arguments_of
from gdl.terms import Compound, Symbol, Variable, is_ground
from gdl.validation.codes import Findings, error, warning
from gdl.validation.shapes import common_tokens
from gdl.validation.sheet import Sheet, atoms_of

ABOUT_ROLES = ("legal", "does", "goal", "sees", "input")
"""Keywords whose first argument is a role."""


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


def is_goal(value: Symbol | Compound) -> bool:
    """Whether a ground term is an integer in 0..100."""
    text = str(value)
    return text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= 100


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


def strangers(sheet: Sheet) -> Findings:
    """GDL212, unless rules may make further roles."""
    if not sheet.roles or sheet.has_role_rules:
        return
    roles = set(sheet.roles)
    listed = ", ".join(str(role) for role in sheet.roles[:8])
    for rule in sheet.program.rules:
        for atom in atoms_of(rule):
            arguments = arguments_of(atom)
            if atom.name not in ABOUT_ROLES or len(arguments) != 2:
                continue
            who = arguments[0]
            if is_ground(who) and who not in roles:
                message = f"'{atom.name}' of {who}, who is no role: the roles are {listed}"
                note = Related("the first role", sheet.roles[0].span)
                yield error("GDL212", message, who.span or atom.span, note)
