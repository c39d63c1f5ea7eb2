"""Recognize figures from the rules and the facts of the initial state alone, knowing no game by name.

A fluent that names roles shows what they hold; one that names the role in control shows whose turn it is. A
fluent with a number for each name is a heap, and two families of terms that fit between the same dots are
lines.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import permutations, product

from gdl.dependencies import TRUE
from gdl.program import Formula, Literal, Predicate, Program, arguments_of, body_literals
from gdl.terms import Compound, Term
from ggp.analysis.board import Board, Layer, is_of
from ggp.analysis.board_finder import AXIS_LIMIT, ordered, successor_relations
from ggp.analysis.figures import (
    Counters,
    Figure,
    Holdings,
    LineFamily,
    Lines,
    Piles,
    Turn,
    axis_of,
    is_card,
    natural_order,
)
from ggp.analysis.fluent_domains import fluent_domains, nested_domains, stated_relations
from ggp.analysis.sheet_comment import read_comment

PILE_LIMIT = 36
"""Maximum size of a heap drawn as pieces."""
CALL_LIMIT = 3
"""How far `legal` is followed into the rules that it calls."""

Domains = Mapping[tuple[str, int], tuple[frozenset[str], ...]]
_Lattice = tuple[str, str, tuple[tuple[str, ...], ...]]
"""Fluent, functor or "", and the values of both coordinates."""


def find_figures(program: Program, facts: Sequence[Term], board: Board | None = None) -> tuple[Figure, ...]:
    """The figures for all fluents that are not on `board`."""
    on_board = {(layer.name, layer.arity) for layer in board.layers} if board else set()
    domains = {family: values for family, values in fluent_domains(program).items() if family not in on_board}
    roles = tuple(dict.fromkeys(str(arguments_of(rule.head)[0]) for rule in program.rules_for("role", 1)))
    figures: list[Figure] = []
    lines = _find_lines(domains, nested_domains(program))
    if lines is not None:
        figures.append(lines)
    drawn = {family for family in ("level", "upright") if lines for family in [getattr(lines, family).fluent]}
    counters, turns, holdings = [], [], []
    for (name, arity), values in sorted(domains.items(), key=lambda item: item[0]):
        if name in drawn or not all(values):
            continue
        own = [tuple(map(str, arguments_of(fact))) for fact in facts if is_of(fact, name, arity)]
        positions = [index for index, domain in enumerate(values) if domain <= set(roles)]
        if arity == 1 and positions:
            turns += [Turn(name)] if len(own) == 1 and _decides_who_moves(program, name) else []
        elif arity == 1:
            counters += [name] if all(map(_is_number, values[0])) or is_card(name) else []
        elif arity == 2 and len(positions) == 1:
            holdings.append(Holdings(name, positions[0], roles))
        elif _is_pile(values, own):
            figures.append(Piles(name))
    figures += [*turns, *holdings]
    if not counters:
        return tuple(figures)
    labels = read_comment(program.source.text).counters
    return (*figures, Counters(frozenset(counters), labels, _limits(program, facts, counters)))


def _limits(program: Program, facts: Sequence[Term], names: Collection[str]) -> dict[str, str]:
    """Counters that end a match at one number above the first one: name → that number."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for rule in program.rules_for("terminal", 0):
        for literal, is_positive in body_literals(rule):
            fact = arguments_of(literal.atom)[0] if literal.predicate == TRUE else literal.atom
            if is_positive and fact.name in found and len(arguments_of(fact)) == 1:
                found[fact.name].add(str(arguments_of(fact)[0]))
    first = {fact.name: str(arguments_of(fact)[0]) for fact in facts if len(arguments_of(fact)) == 1}
    ends = ((name, *values) for name, values in found.items() if len(values) == 1)
    return {
        name: end
        for name, end in ends
        if end.isdigit() and first.get(name, "").isdigit() and int(end) > int(first[name])
    }


def find_map(program: Program, facts: Sequence[Term]) -> Board | None:
    """The map on which one thing moves: its coordinates, within the cells that a relation of facts names."""
    found: list[tuple[bool, Board]] = []
    for (name, arity), values in fluent_domains(program).items():
        own = [tuple(map(str, arguments_of(fact))) for fact in facts if is_of(fact, name, arity)]
        if arity != 2 or len(own) != 1:
            continue
        orders = [ordered(domain, successor_relations(program)) or () for domain in values]
        named = _cells(program, own[0], set(product(orders[0], orders[1])))
        if named is None:
            continue
        relation, cells = named
        across, down = (
            tuple(value for value in order if value in {cell[side] for cell in cells})
            for side, order in enumerate(orders)
        )
        if not 3 <= min(len(across), len(down)) <= max(len(across), len(down)) <= AXIS_LIMIT:
            continue
        places = set(product(range(len(across)), range(len(down))))
        present = {(across.index(column), down.index(row)) for column, row in cells}
        layer = Layer(name, 2, axis_of(0, across), axis_of(1, down))
        holes = frozenset(places - present)
        board = Board((layer,), True, (None,), {name: name[0]}, holes)
        found.append((_meet(program, name, relation), board))
    return max(found, key=lambda each: each[0])[1] if found else None


def _cells(
    program: Program, start: tuple[str, ...], grid: set[tuple[str, str]]
) -> tuple[Predicate, set[tuple[str, str]]] | None:
    """The first relation of facts that has `start` and lies in `grid`, with half of the cells it spans.

    The cells may have further arguments, such as a section of the map; a sum, which has one for all pairs of
    numbers, is no map.
    """
    for predicate, rows in stated_relations(program, 2, 3):
        pairs = {(row[0], row[1]) for row in rows}
        spanned = len({column for column, _ in pairs}) * len({row for _, row in pairs})
        is_map = predicate.arity == 2 or len(pairs) < spanned
        if is_map and start in pairs and pairs <= grid and 2 * len(pairs) >= spanned:
            return predicate, pairs
    return None


def _meet(program: Program, name: str, relation: Predicate) -> bool:
    """Whether a rule asks for a fact of the fluent `name` and a cell of `relation` in the same place."""
    for rule in program.rules:
        literals = [part for part in rule.body if isinstance(part, Literal)]
        asked = [arguments_of(part.atom)[0] for part in literals if part.atom.name == "true"]
        places = [arguments_of(fact) for fact in asked if is_of(fact, name, 2)]
        if any(part.predicate == relation and arguments_of(part.atom)[:2] in places for part in literals):
            return True
    return False


def _is_number(value: str) -> bool:
    return value.removeprefix("-").isdigit()


def _decides_who_moves(program: Program, name: str) -> bool:
    """Whether a role may move because `(true (name role))` holds, by a rule of `legal` or what it calls."""
    return any(
        _requires(program, rule.body, arguments_of(rule.head)[0], name, CALL_LIMIT)
        for rule in program.rules_for("legal", 2)
    )


def _requires(program: Program, body: Sequence[Formula], role: Term, name: str, depth: int) -> bool:
    """Whether a literal of `body` is `(true (name role))`, or calls a rule with `role` that requires it."""
    for part in body:
        if not isinstance(part, Literal) or not part.is_positive:
            continue
        arguments = arguments_of(part.atom)
        if part.atom.name == "true":
            if isinstance(arguments[0], Compound) and arguments[0] == Compound(name, (role,)):
                return True
        elif role in arguments and depth:
            position = arguments.index(role)
            for rule in program.rules_for(part.atom.name, len(arguments)):
                own_role = arguments_of(rule.head)[position]
                if _requires(program, rule.body, own_role, name, depth - 1):
                    return True
    return False


def _is_pile(values: Sequence[frozenset[str]], own: Sequence[tuple[str, ...]]) -> bool:
    """Whether facts such as `(heap c 5)` give a size to each of the names that they can have."""
    if len(values) != 2 or {fact[0] for fact in own} != values[0]:
        return False
    return len(own) == len(values[0]) and all(
        value.isdigit() and int(value) <= PILE_LIMIT for value in values[1]
    )


def _find_lines(
    domains: Domains, nested: Mapping[str, Mapping[str, tuple[frozenset[str], ...]]]
) -> Lines | None:
    """Two families of coordinates that fit between the same dots, level and upright lines."""
    families = [(name, *each) for name, terms in nested.items() for each in terms.items()]
    families += [(name, "", values) for (name, _), values in domains.items()]
    pairs = [
        (name, functor, tuple(orders))
        for name, functor, values in families
        if len(values) == 2
        and all(map(_is_number, values[0] | values[1]))
        and all(orders := [natural_order(domain) for domain in values])
    ]
    for one, other in permutations(pairs, 2):
        if bool(one[1]) == bool(other[1]) and (lines := _fit_lines(one, other)) is not None:
            return lines
    return None


def _fit_lines(one: _Lattice, other: _Lattice) -> Lines | None:
    """`one` as level and `other` as upright lines between the same dots; None if they do not fit.

    The values of terms are known roughly only: of too many, those that fit are taken.
    """
    (name, functor, (left, rows)), (other_name, other_functor, (columns, lower)) = one, other
    width, height = len(left), len(lower)
    if not functor and (len(columns), len(rows)) != (width + 1, height + 1):
        return None
    columns, rows = columns[: width + 1], rows[: height + 1]
    if columns[:-1] != left or rows[:-1] != lower or max(len(columns), len(rows)) > AXIS_LIMIT:
        return None
    if (functor or name).startswith("v"):  # row and column, not column and row
        level = LineFamily(other_name, other_functor, axis_of(1, lower), axis_of(0, columns))
        return Lines(level, LineFamily(name, functor, axis_of(1, rows), axis_of(0, left)))
    level = LineFamily(name, functor, axis_of(0, left), axis_of(1, rows))
    return Lines(level, LineFamily(other_name, other_functor, axis_of(0, columns), axis_of(1, lower)))
