"""What a role has perceived, as the page shows it, and the moves of others that its percepts report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from gdl.dependencies import DOES
from gdl.program import Predicate, Program, arguments_of, body_literals
from gdl.terms import Compound, Term, Variable
from ggp.analysis.figures import drawing_of, words_of
from ggp.analysis.notation import Notation

Reports: TypeAlias = Mapping[tuple[str, int], str]
"""Percepts that report a role and its move, by name and number of arguments → name of the move, or "" if the
last argument is the whole move."""
_SEES = Predicate("sees", 2)


def find_reports(program: Program) -> Reports:
    """The percepts that report moves, because every rule for them asks for that move.

    They are read from the rules alone, never from a match, whose moves may be hidden.

    >>> from gdl.syntax.parser import parse
    >>> find_reports(parse("(<= (sees a (bid_of ?r ?n)) (role a) (does ?r (bid ?n)))"))
    {('bid_of', 2): 'bid'}
    """
    found: dict[tuple[str, int], set[str | None]] = {}
    for rule in program.by_predicate.get(_SEES, ()):
        percept = arguments_of(rule.head)[1]
        if isinstance(percept, Variable):
            return {}  # it may be of any shape
        shape = percept.name, len(arguments_of(percept))
        made = (
            arguments_of(each.atom) for each in rule.literals if each.is_positive and each.predicate == DOES
        )
        names = (_reported(arguments_of(percept), role, move) for role, move in made)
        found.setdefault(shape, set()).add(next((name for name in names if name is not None), None))
    only = ((shape, next(iter(names))) for shape, names in found.items() if len(names) == 1)
    return {shape: name for shape, name in only if name is not None}


def _reported(arguments: Sequence[Term], role: Term, move: Term) -> str | None:
    """The name of the move if `arguments` are a role and its move, or the arguments of that; None if not."""
    if arguments == (role, move):
        return ""
    is_said = (
        not isinstance(move, Variable) and len(arguments) > 1 and arguments == (role, *arguments_of(move))
    )
    return move.name if is_said else None


def find_public(program: Program) -> frozenset[tuple[str, int]]:
    """The percepts, by name and number of arguments, that all players get at once by every rule for them.

    >>> from gdl.syntax.parser import parse
    >>> find_public(parse("(<= (sees ?p (up ?c)) (role ?p) (true (up ?c))) (<= (sees a (own ?c)) (true ?c))"))
    frozenset({('up', 1)})
    """
    is_public: dict[tuple[str, int], bool] = {}
    for rule in program.by_predicate.get(_SEES, ()):
        role, percept = arguments_of(rule.head)
        of_role = [literal for literal, _ in body_literals(rule) if role in _parts(literal.atom)]
        is_open = isinstance(role, Variable) and all(
            each.atom == Compound(each.atom.name, (role,)) for each in of_role
        )
        shape = percept.name, len(arguments_of(percept))
        is_public[shape] = is_public.get(shape, True) and is_open
    return frozenset(shape for shape, is_open in is_public.items() if is_open)


def _parts(term: Term) -> list[Term]:
    """A term and all terms inside it."""
    return [term, *chain.from_iterable(map(_parts, arguments_of(term)))]


def reported_moves(reports: Reports, percepts: Sequence[Term]) -> dict[Term, Term]:
    """Roles → their moves, as far as `percepts` report them.

    >>> from gdl.syntax.parser import parse_term
    >>> reported_moves({("bid_of", 2): "bid"}, [parse_term("(bid_of first 3)"), parse_term("hit")])
    {Symbol('first'): Compound('bid', (Symbol('3'),))}
    """
    found = dict[Term, Term]()
    for percept in percepts:
        name = reports.get((percept.name, len(arguments_of(percept))))
        if name is not None:
            role, *said = arguments_of(percept)
            found[role] = Compound(name, tuple(said)) if name else said[0]
    return found


def percept_view(term: Term, roles: Collection[str], notation: Notation, reports: Reports) -> dict[str, str]:
    """A percept as a piece of a line: its text, and what a page may draw of it, with a label.

    reports   moves that percepts report are written in `notation`

    >>> from gdl.syntax.parser import parse_term
    >>> percept_view(parse_term("(card king)"), ["north"], Notation(), {})
    {'label': 'card', 'text': 'king', 'drawn': 'card'}
    >>> percept_view(parse_term("(move north fold)"), ["north"], Notation(), {})
    {'label': '', 'text': 'north: fold', 'drawn': ''}
    """
    for role, move in reported_moves(reports, [term]).items():
        return {"label": "", "text": f"{role}: {notation.text(move)}", "drawn": ""}
    arguments = arguments_of(term)
    if len(arguments) > 1 and str(arguments[0]) in roles:
        said = " ".join(words_of(argument) for argument in arguments[1:])
        return {"label": "", "text": f"{arguments[0]}: {said}", "drawn": ""}
    value = str(arguments[-1]) if len(arguments) == 1 else ""
    drawn = drawing_of(term.name, value) if value else ""
    return {"label": term.name if drawn else "", "text": value if drawn else words_of(term), "drawn": drawn}
