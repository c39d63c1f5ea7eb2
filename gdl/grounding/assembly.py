"""Assembly of a `GroundProgram` from gringo's numbered rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GroundingError
from gdl.grounding.asp import Names, split_arguments
from gdl.grounding.aspif import FALSE, TRUE, GroundRules, propagate, restrict
from gdl.grounding.ground_program import FALSE_ATOM, TRUE_ATOM, GroundProgram, Int32Array
from gdl.terms import Term, is_goal


class _Atoms:
    """Named atoms: predicate → terms → gringo's number, 0 for a fact."""

    def __init__(self, rules: GroundRules, names: Names) -> None:
        self._tables: dict[str, dict[tuple[Term, ...], int]] = {}
        for text, number in rules.names.items():
            predicate, opening, inside = text.partition("(")
            arguments = split_arguments(inside[:-1]) if opening else []
            self.table(predicate)[tuple(map(names.term, arguments))] = number

    def table(self, predicate: str) -> dict[tuple[Term, ...], int]:
        return self._tables.setdefault(predicate, {})

    def column(self, predicate: str) -> dict[Term, int]:
        return {terms[0]: number for terms, number in self.table(predicate).items()}

    def of_role(self, predicate: str, role: Term) -> dict[Term, int]:
        found = {terms[1]: number for terms, number in self.table(predicate).items() if terms[0] == role}
        return dict(sorted(found.items(), key=lambda item: str(item[0])))


def assemble(rules: GroundRules, names: Names, role_order: Sequence[Term]) -> GroundProgram:
    """The ground program of gringo's output.

    role_order   roles in the order of the sheet, the first of equal ones counts; roles that only rules
                 define follow, sorted by text
    Raises GroundingError if there is no role, or if the initial state cannot be decided.
    """
    rules, value = propagate(rules)
    atoms = _Atoms(rules, names)
    roles = _roles(atoms.column("role"), role_order)
    fluents = dict(sorted(atoms.column("true").items(), key=lambda item: str(item[0])))
    moves, legal, goals, percepts = (
        [atoms.of_role(name, role) for role in roles] for name in ("does", "legal", "goal", "sees")
    )
    following, terminal = atoms.column("next"), atoms.table("terminal").get(())
    outputs = [*following.values(), *([] if terminal is None else [terminal])]
    for table in (*legal, *goals, *percepts):
        outputs += table.values()
    rules = restrict(rules, np.array(outputs, np.int64))
    inputs = [*fluents.values(), *(number for table in moves for number in table.values())]
    renumbered = _renumbering(rules, value, np.array(inputs, np.int64))

    def atom(number: int | None) -> int:
        return FALSE_ATOM if number is None else int(renumbered[number])

    def numbers(values: Iterable[int | None]) -> Int32Array:
        return np.array([atom(number) for number in values], np.int32)

    def pairs(table: dict[Term, int]) -> list[tuple[Term, int]]:
        return [(term, found) for term, number in table.items() if (found := atom(number)) != FALSE_ATOM]

    initial = set()
    for fact, number in atoms.column("init").items():
        if value[number] not in (TRUE, FALSE):
            raise GroundingError(f"cannot decide if {fact} is true initially")
        if value[number] == TRUE:
            initial.add(fact)
    return GroundProgram(
        roles=roles,
        fluents=tuple(fluents),
        moves=tuple(map(tuple, moves)),
        atom_count=max(int(renumbered.max(initial=1)), 1),
        fluent_atom=numbers(fluents.values()),
        move_atom=tuple(numbers(table.values()) for table in moves),
        initial=np.array([fluent in initial for fluent in fluents], np.bool_),
        legal_atom=tuple(
            numbers(table.get(move) for move in own) for own, table in zip(moves, legal, strict=True)
        ),
        next_atom=numbers(following.get(fluent) for fluent in fluents),
        terminal_atom=atom(terminal),
        goals=tuple(
            tuple(sorted((int(str(term)), found) for term, found in pairs(table) if is_goal(term)))
            for table in goals
        ),
        percepts=tuple(tuple(pairs(table)) for table in percepts),
        rule_head=renumbered[rules.head],
        first_body=rules.first_body.astype(np.int32),
        body=np.where(rules.body < 0, -renumbered[np.abs(rules.body)], renumbered[np.abs(rules.body)]),
    )


def _roles(found: dict[Term, int], order: Sequence[Term]) -> tuple[Term, ...]:
    if not found:
        raise GroundingError("the rules define no role")
    place = {role: number for number, role in enumerate(dict.fromkeys(order))}
    return tuple(sorted(found, key=lambda role: (place.get(role, len(place)), str(role))))


def _renumbering(rules: GroundRules, value: NDArray[np.int8], inputs: NDArray[np.int64]) -> Int32Array:
    """Our number of each of gringo's atoms. Constants come first, then inputs in order, then heads."""
    renumbered = np.full(len(value), FALSE_ATOM, np.int32)
    renumbered[inputs] = np.arange(len(inputs)) + 2
    heads = np.unique(rules.head)
    renumbered[heads] = np.arange(len(heads)) + 2 + len(inputs)
    renumbered[value == TRUE] = TRUE_ATOM
    return renumbered
