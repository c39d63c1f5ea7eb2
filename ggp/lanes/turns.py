"""turns: proof that roles take turns, whose moves then share one tree (`ggp.native.choice`).

A *clock* is a few literals of fluents of which one holds and says whose turn it is. Induction proves that one
holds: in every step they change places, so as many hold as at first. In the case of each literal, the gates
that follow from it alone show which moves may be legal, and that at most one role has a choice; each other
role has one move, with which it waits. Other fluents may be anything, so this is true of every state in which
one literal holds; whether one does is looked up in each tick (`ggp.lanes.choose.take_turns`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import TRUE_LITERAL, CircuitTables, Int32Array
from ggp.jit.compiling import kernel
from ggp.native.parts import NO_MOVE, NO_TURNS, Turns

UNKNOWN = -1
MAX_WAITING = 4
"""Moves that are tried as the one of a role that waits."""
MAX_CASES = 12
"""Literals of a clock."""


def find_turns(tables: CircuitTables) -> Turns:
    """Whose turn it is; NO_TURNS if several roles may have a choice at once, or nothing proves otherwise.

    >>> import ggp
    >>> [find_turns(ggp.load(name).tables).literal.size for name in ("tictactoe", "goofspiel")]
    [2, 0]
    """
    if not np.diff(tables.first_move).all():  # a role that never has a move
        return NO_TURNS
    if tables.role_count == 1:
        return _turns(tables, [TRUE_LITERAL], is_exact=True) or NO_TURNS
    found = (_turns(tables, clock, is_exact=True) for clock in _clocks(tables))
    return next(filter(None, found), None) or _turns_by_waiting(tables) or NO_TURNS


def _clocks(tables: CircuitTables) -> Iterator[list[int]]:
    """Literals that change places in every step, and one of which holds at first."""
    following, initial = tables.next.tolist(), np.asarray(tables.initial).tolist()
    known: set[int] = set()
    for start in range(2, 2 * tables.fluent_count + 2):
        clock = [start]
        while len(clock) <= MAX_CASES:
            literal = following[(clock[-1] >> 1) - 1] ^ clock[-1] & 1
            if not 0 < literal >> 1 <= tables.fluent_count or literal in clock:
                break
            clock.append(literal)
        is_cycle = len(clock) > 1 and following[(clock[-1] >> 1) - 1] ^ clock[-1] & 1 == start
        if is_cycle and start not in known:
            known.update(clock)
            if sum(initial[(x >> 1) - 1] ^ x & 1 for x in clock) == 1:
                yield clock


def _turns_by_waiting(tables: CircuitTables) -> Turns | None:
    """The turns of roles of which each has a move that is legal wherever a fluent says that it waits."""
    clock: list[int] = []
    for first, end in zip(tables.first_move[:-1].tolist(), tables.first_move[1:].tolist(), strict=True):
        legal = tables.legal[first:end]
        candidates = np.flatnonzero(legal >> 1 <= tables.fluent_count)[:MAX_WAITING].tolist()
        found = (i for i in candidates if _are_false(tables, legal, i))
        waiting = next(found, None)
        if waiting is None:
            return None
        if legal[waiting] != TRUE_LITERAL:
            clock.append(int(legal[waiting]) ^ 1)
    is_exact = len(clock) == 2 and clock[0] == clock[1] ^ 1
    return _turns(tables, clock, is_exact=is_exact) if len({*clock}) == len(clock) else None


def _are_false(tables: CircuitTables, legal: Int32Array, waiting: int) -> bool:
    """Whether all legal literals are false but one, wherever that one is true."""
    others = np.delete(legal, waiting)
    return bool((_truth(tables, [int(legal[waiting])], others) == 0).all())


def _turns(tables: CircuitTables, clock: list[int], *, is_exact: bool) -> Turns | None:
    """The turns that the literals of a clock show; None if they do not prove any."""
    cases = [[x if x == y else x ^ 1 for x in clock] for y in clock]
    if not is_exact:
        cases.append([x ^ 1 for x in clock])
    legal = np.array([_truth(tables, case, tables.legal) for case in cases])
    owner = np.full(len(cases), tables.role_count)
    leaf_moves: list[list[int]] = [[] for _ in clock]
    waiting = []
    for role, (first, end) in enumerate(zip(tables.first_move[:-1], tables.first_move[1:], strict=True)):
        is_possible = legal[:, first:end] != 0
        waits = (is_possible.sum(axis=1) == 1) & (legal[:, first:end] == 1).any(axis=1)
        moves = {int(move) for move in is_possible[waits].argmax(axis=1)}
        has_turn = np.flatnonzero(~waits)
        if (
            len(moves) > 1
            or (owner[has_turn] != tables.role_count).any()
            or (is_possible[~waits].sum(axis=0) > 1).any()
        ):
            return None
        owner[has_turn] = role
        waiting.append(int(first) + moves.pop() if moves else NO_MOVE)
        for case in has_turn[has_turn < len(clock)].tolist():
            leaf_moves[case] = (first + np.flatnonzero(is_possible[case])).tolist()
    others = np.setdiff1d(np.arange(len(tables.legal)), [*chain(*leaf_moves), *waiting])
    is_owned = owner[: len(clock)] < tables.role_count
    if (
        others.size
        or not is_owned.any()
        or owner[len(clock) :].min(initial=tables.role_count) < tables.role_count
    ):
        return None
    order = np.argsort(owner[: len(clock)], kind="stable")
    return Turns(
        literal=np.array(clock, np.int32)[order],
        first=np.searchsorted(owner[order], np.arange(tables.role_count + 1)).astype(np.int32),
        is_exact=int(is_exact),
        leaf_move=np.array([move for case in order for move in leaf_moves[case]], np.int32),
        first_leaf=np.cumsum([0, *(len(leaf_moves[case]) for case in order)]).astype(np.int32),
        waiting=np.array(waiting, np.int32),
    )


def _truth(tables: CircuitTables, true: list[int], literals: Int32Array) -> NDArray[np.int8]:
    """0 or 1 for each literal of constants, fluents or LEGAL, or UNKNOWN, where the literals `true` hold."""
    value = np.full(tables.node_count, UNKNOWN, np.int8)
    value[0] = 1
    for x in true:
        value[x >> 1] = x & 1 ^ 1
    _propagate(tables.first_input, tables.input, tables.gate0, int(tables.phase_end[0]), value)
    found = value[literals >> 1]
    return np.where(found == UNKNOWN, UNKNOWN, found ^ (literals & 1)).astype(np.int8)


@kernel
def _propagate(
    first_input: Int32Array, inputs: Int32Array, gate0: int, gates: int, value: NDArray[np.int8]
) -> None:
    """Compute which of the first `gates` gates are 0 or 1 whatever the UNKNOWN nodes are."""
    for g in range(gates):
        result = 1
        for j in range(first_input[g], first_input[g + 1]):
            x = value[inputs[j] >> 1]
            if x == UNKNOWN:
                result = UNKNOWN if result == 1 else result
            elif x == (inputs[j] & 1):
                result = 0
        value[gate0 + g] = result
