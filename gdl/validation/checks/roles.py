"""Checks of terms in role position and of goal values.

`legal`, `does`, `goal`, `sees` and `input` take a role by definition. The argument of `init` and `next` is a
fact, which by definition takes none; yet `(control ?r)` does if a rule concludes `(legal ?r pass)` from it. A
name there that is not a role and that only `init` or `next` mention is most likely a misspelled role, if it
stands among roles alone and resembles one of them, or stands where no role does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gdl.dependencies import TRUE
from gdl.errors import Related
from gdl.keywords import RANDOM
from gdl.program import Predicate, arguments_of, predicate_of
from gdl.terms import Compound, Symbol, Variable, is_goal, is_ground
from gdl.validation.checks.names import Spelling
from gdl.validation.codes import Findings, error, warning
from gdl.validation.inference import Inference, Position, common_tokens
from gdl.validation.sheet import ABOUT_ROLES, Sheet

MAKERS = ("init", "next")
MAX_LISTED = 8
GOAL = Predicate("goal", 2)
_FACT_ARGUMENT = 4
"""Length of the position of an argument of a fact: `true`, its argument, the function, its argument."""


def unknown_roles(sheet: Sheet) -> Findings:
    """GDL212, for goals GDL330, unless rules may define further roles."""
    if not sheet.roles or sheet.has_role_rules:
        return
    roles = set(sheet.roles)
    spelling = Spelling(map(str, sheet.roles))
    for atom in sheet.atoms():
        arguments = arguments_of(atom)
        if atom.name not in ABOUT_ROLES or len(arguments) != 2:
            continue
        who = arguments[0]
        if is_ground(who) and who not in roles:
            hint = spelling.hint(str(who)) or f": the roles are {_listed(sheet)}"
            message = f"'{atom.name}' for {who}, which is not a role{hint}"
            note = Related("the first role", sheet.roles[0].span)
            report, code = (warning, "GDL330") if atom.name == "goal" else (error, "GDL212")
            yield report(code, message, who.span or atom.span, note)


def misspelled_roles(sheet: Sheet) -> Findings:
    """GDL325: non-roles at positions from which `legal` takes roles.

    Reported only for constants that nothing but `init` and `next` mention, at this position alone. A position
    may hold roles and other terms, such as who or what occupies a cell.
    """
    inference = sheet.inference
    if inference is None or not sheet.roles or sheet.has_role_rules:
        return
    roles = {role.name for role in sheet.roles if isinstance(role, Symbol)}
    movers = _positions_of_movers(sheet, inference)
    spelling = Spelling(sorted(roles))
    made = [place for rule in sheet.program.rules for place in _written(rule.head)]
    if all(symbol.name in roles for position, symbol in made if position in movers):
        return
    uses = Counter(term.name for term in sheet.terms() if isinstance(term, Symbol))
    makes = Counter((position, symbol.name) for position, symbol in made)
    for position, symbol in made:
        if position not in movers or symbol.name in roles:
            continue
        is_unique = uses[symbol.name] == makes[position, symbol.name]
        shape, hint = inference.shapes.at(position), spelling.hint(symbol.name)
        if is_unique and (not shape & roles or (hint and not shape - roles - {symbol.name})):
            hint = hint or f": the roles are {_listed(sheet)}"
            message = f"{symbol} is not a role, although 'legal' gives moves to what occurs here{hint}"
            yield warning("GDL325", message, symbol.span, Related("the first role", sheet.roles[0].span))


def _positions_of_movers(sheet: Sheet, inference: Inference) -> set[Position]:
    """The arguments of facts from which rules for `legal` take the role."""
    found: set[Position] = set()
    for rule in sheet.plain.rules_for("legal", 2):
        who = arguments_of(rule.head)[0]
        if isinstance(who, Variable):
            found.update(inference.sources[id(rule)].get(who.name, ()))
    return {position for position in found if position[0] == TRUE and len(position) == _FACT_ARGUMENT}


def _written(atom: Symbol | Compound) -> Iterator[tuple[Position, Symbol]]:
    """The constants in the fact that `init` or `next` makes, with positions under `true`."""
    fact = arguments_of(atom)[0] if atom.name in MAKERS and arguments_of(atom) else None
    if isinstance(fact, Compound):
        functor = (fact.name, len(fact.arguments))
        for index, argument in enumerate(fact.arguments):
            if isinstance(argument, Symbol):
                yield (TRUE, 0, functor, index), argument


def _listed(sheet: Sheet) -> str:
    return ", ".join(str(role) for role in sheet.roles[:MAX_LISTED])


def idle_roles(sheet: Sheet) -> Findings:
    """GDL322: roles to which no rule for legal or goal applies."""
    for name, lack in (("legal", "can never move"), ("goal", "never gets a goal value")):
        subjects = {arguments_of(rule.head)[0] for rule in sheet.program.rules_for(name, 2)}
        if not subjects or not all(map(is_ground, subjects)):
            continue
        for role in sheet.roles:
            is_chance = name == "goal" and role == Symbol(RANDOM)
            if role not in subjects and not is_chance:
                message = f"role {role} {lack}: no rule for '{name}' applies to it"
                yield warning("GDL322", message, role.span)


def impossible_goals(sheet: Sheet) -> Findings:
    """GDL209, wherever the value of a goal is not a variable."""
    for atom in sheet.atoms():
        if predicate_of(atom) == GOAL:
            value = arguments_of(atom)[1]
            if not isinstance(value, Variable) and not is_goal(value):
                message = f"goal {value}: goals are integers from 0 to 100"
                yield error("GDL209", message, value.span or atom.span)


def doubtful_goals(sheet: Sheet) -> Findings:
    """GDL324: goals given by a variable that may have other values."""
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
                f"goal {value} may be {odd[0]}, as far as can be determined without playing:"
                " goals are integers from 0 to 100"
            )
            yield warning("GDL324", message, value.span or rule.span)


CHECKS = (idle_roles, impossible_goals, doubtful_goals, unknown_roles, misspelled_roles)
