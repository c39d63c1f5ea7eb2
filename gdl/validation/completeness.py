"""What every game needs: roles, and rules for the relations that a match consists of."""

from __future__ import annotations

from gdl.keywords import KEYWORDS, RANDOM
from gdl.program import arguments_of
from gdl.terms import Symbol, is_ground
from gdl.validation.codes import Findings, error, warning
from gdl.validation.sheet import Sheet

NEEDED = ("init", "legal", "next", "goal", "terminal")
"""Relations beside `role` without which there is hardly a game."""

WITHOUT = {
    "init": "without one the match starts in a state in which nothing holds",
    "legal": "without one nobody can move",
    "next": "without one nothing holds after the first moves",
    "goal": "without one no state is worth anything",
    "terminal": "without one no match ends",
}


def missing_roles(sheet: Sheet) -> Findings:
    """GDL201."""
    if not sheet.program.rules_for("role", 1):
        yield error("GDL201", "no roles: say who plays, for instance (role robot)", None)


def missing_relations(sheet: Sheet) -> Findings:
    """GDL214."""
    for name in NEEDED:
        keyword = KEYWORDS[name]
        if keyword.name not in sheet.names_defined:
            message = f"no rules for '{name}', which says {keyword.meaning}: {WITHOUT[name]}"
            yield error("GDL214", message, None)


def idle_roles(sheet: Sheet) -> Findings:
    """GDL322: a role for which no rule for legal, or for goal, can be meant."""
    for name, lack in (("legal", "can never move"), ("goal", "is never given a value")):
        subjects = {arguments_of(rule.head)[0] for rule in sheet.program.rules_for(name, 2)}
        if not subjects or not all(map(is_ground, subjects)):
            continue
        for role in sheet.roles:
            is_chance = name == "goal" and role == Symbol(RANDOM)
            if role not in subjects and not is_chance:
                message = f"role {role} {lack}: no rule for '{name}' is about it"
                yield warning("GDL322", message, role.span)
