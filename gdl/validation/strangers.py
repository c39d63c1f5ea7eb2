"""Rules and facts about somebody who does not play.

`legal`, `does`, `goal`, `sees` and `input` are about roles by definition. The argument of `init` and `next`
is a fact, and no fact is about a role by definition; yet `(control ?r)` is where a rule says
`(legal ?r pass)` because of it. A name that is no role and that only `init` or `next` write there is most
likely a misspelled role.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gdl.dependencies import TRUE
from gdl.errors import Related
from gdl.program import arguments_of
from gdl.terms import Compound, Symbol, Variable, is_ground
from gdl.validation.codes import Findings, error, warning
from gdl.validation.inference import Inference
from gdl.validation.shapes import Position
from gdl.validation.sheet import ABOUT_ROLES, Sheet, atoms_of, terms_below
from gdl.validation.spelling import Spelling

MAKERS = ("init", "next")
MAX_LISTED = 8
_FACT_ARGUMENT = 4
"""Parts of the position of an argument of a fact: `true`, its argument, the function, its argument."""


def strangers(sheet: Sheet) -> Findings:
    """GDL212, unless rules may make further roles."""
    if not sheet.roles or sheet.has_role_rules:
        return
    roles = set(sheet.roles)
    spelling = Spelling(map(str, sheet.roles))
    for rule in sheet.program.rules:
        for atom in atoms_of(rule):
            arguments = arguments_of(atom)
            if atom.name not in ABOUT_ROLES or len(arguments) != 2:
                continue
            who = arguments[0]
            if is_ground(who) and who not in roles:
                hint = spelling.hint(str(who)) or f": the roles are {_listed(sheet)}"
                message = f"'{atom.name}' of {who}, who is no role{hint}"
                note = Related("the first role", sheet.roles[0].span)
                yield error("GDL212", message, who.span or atom.span, note)


def facts_about_strangers(sheet: Sheet) -> Findings:
    """GDL325."""
    inference = sheet.inference
    if inference is None or not sheet.roles or sheet.has_role_rules:
        return
    roles = {role.name for role in sheet.roles if isinstance(role, Symbol)}
    movers = _positions_of_movers(sheet, inference)
    spelling = Spelling(sorted(roles))
    made = [place for rule in sheet.program.rules for place in _written(rule.head, MAKERS)]
    if all(symbol.name in roles for position, symbol in made if position in movers):
        return
    uses = Counter(
        term.name
        for rule in sheet.program.rules
        for atom in atoms_of(rule)
        for term in terms_below(atom)
        if isinstance(term, Symbol)
    )
    makes = Counter((position, symbol.name) for position, symbol in made)
    with_roles = {position for position, symbol in _all_written(sheet) if symbol.name in roles}
    for position, symbol in made:
        if position not in movers or symbol.name in roles:
            continue
        is_unique = uses[symbol.name] == makes[position, symbol.name]
        if is_unique and (position in with_roles or not inference.shapes.at(position) & roles):
            hint = spelling.hint(symbol.name) or f": the roles are {_listed(sheet)}"
            message = f"{symbol} is no role, yet whoever stands here is given moves by 'legal'{hint}"
            yield warning("GDL325", message, symbol.span, Related("the first role", sheet.roles[0].span))


def _positions_of_movers(sheet: Sheet, inference: Inference) -> set[Position]:
    """The arguments of facts from which rules for `legal` take the role."""
    found: set[Position] = set()
    for rule in sheet.plain.rules_for("legal", 2):
        who = arguments_of(rule.head)[0]
        if isinstance(who, Variable):
            found.update(inference.sources[id(rule)].get(who.name, ()))
    return {position for position in found if position[0] == TRUE and len(position) == _FACT_ARGUMENT}


def _all_written(sheet: Sheet) -> Iterator[tuple[Position, Symbol]]:
    for rule in sheet.program.rules:
        for atom in atoms_of(rule):
            yield from _written(atom, (*MAKERS, "true"))


def _written(atom: Symbol | Compound, keywords: Sequence[str]) -> Iterator[tuple[Position, Symbol]]:
    """The constants in the fact inside of a keyword, with their positions under `true`."""
    fact = arguments_of(atom)[0] if atom.name in keywords and arguments_of(atom) else None
    if isinstance(fact, Compound):
        functor = (fact.name, len(fact.arguments))
        for index, argument in enumerate(fact.arguments):
            if isinstance(argument, Symbol):
                yield (TRUE, 0, functor, index), argument


def _listed(sheet: Sheet) -> str:
    return ", ".join(str(role) for role in sheet.roles[:MAX_LISTED])
