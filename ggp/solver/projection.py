"""Projection: keys of one match's states without irrelevant facts.

Two states that differ only in a clock (`ggp.circuit.subgames`) count as one, and the clock's state follows
from the depth. Idle facts stay as they are at the start. So a step counter does not multiply the states of a
puzzle, nor do subgames that neither ends nor goals depend on.

What is found among projected states has to be followed in the game: an idle fact may decide what is legal,
and a state is kept with the depth at which it was reached first.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.circuit import cone_of
from ggp.circuit.subgames import find_subgames, find_supports
from ggp.circuit.tables import CircuitTables
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.lanes.keys.state_code import StateCode, decode_keys, make_code

_logger = logging.getLogger("ggp.solver")


class ProjectedFacts:
    """The facts of a game that keys hold, and the evolution of those that they do not. F fluents.

    left_out   fluents that keys do not hold, in ascending order: idle ones, and clocks on which neither legal
               moves nor other facts depend
    ticking    the places in `left_out` of those that belong to clocks
    clock      the step function of these
    code       the state code in which all fluents left out are false
    """

    def __init__(self, game: CompiledGame) -> None:
        """Take the facts of `game` apart. Nothing is left out if its circuit is too large for that."""
        tables = game.tables
        ticking, idle = _facts_to_leave_out(game)
        self.left_out = sorted([*ticking, *idle])
        self.ticking = [self.left_out.index(f) for f in ticking]
        self.clock = _ClockStates(tables, ticking)
        dropped = set(self.left_out)
        kept = [[f for f in group if f not in dropped] for group in game.exclusive]
        self.code = make_code(tables.fluent_count, kept, left_out=self.left_out)


class Projection:
    """The states that can follow one state, as keys without the facts that are left out."""

    def __init__(self, game: CompiledGame, facts: ProjectedFacts, start: PackedState) -> None:
        """Idle facts stay as they are in `start`, and clocks run on from there."""
        self._game = game
        self._facts = facts
        self._place = facts.code.first_digit[facts.left_out]
        self._values = [game.unpack(start)[facts.left_out].astype(np.int32)]

    def code_at(self, depth: int) -> StateCode:
        """The state code of the states after `depth` joint moves."""
        while len(self._values) <= depth:
            values = self._values[-1].copy()
            ticking = self._facts.ticking
            values[ticking] = self._facts.clock.following(values[ticking])
            self._values.append(values)
        digit = self._facts.code.digit.copy()
        # The literal of a plane that is always 0: as it is for what is false, negated for what is true.
        digit[self._place] |= self._values[depth]
        return self._facts.code._replace(digit=digit)

    def state(self, key: NDArray[np.uint64], depth: int) -> PackedState:
        """The state of a key uint64[D] after `depth` joint moves."""
        return self._game.pack(decode_keys(self.code_at(depth), key[None, :])[0])


class _ClockStates:
    """The clocks of one game as a step function."""

    def __init__(self, tables: CircuitTables, fluents: list[int]) -> None:
        self._tables = tables
        self._fluents = fluents
        self._next = [int(tables.next[f]) for f in fluents]
        self._cone = [node for node in cone_of(self._next, self._inputs) if node >= tables.gate0]

    def following(self, values: NDArray[np.int32]) -> NDArray[np.int32]:
        """The facts after one step; `values` and the result by fluent, 0 or 1."""
        value = {0: 1, **{1 + f: int(each) for f, each in zip(self._fluents, values, strict=True)}}
        for node in self._cone:
            value[node] = int(all(value[x >> 1] ^ (x & 1) for x in self._inputs(node)))
        return np.array([value[x >> 1] ^ (x & 1) for x in self._next], np.int32)

    def _inputs(self, node: int) -> list[int]:
        gate = node - self._tables.gate0
        if gate < 0:
            return []
        first = self._tables.first_input
        literals: list[int] = self._tables.input[first[gate] : first[gate + 1]].tolist()
        return literals


def _facts_to_leave_out(game: CompiledGame) -> tuple[list[int], tuple[int, ...]]:
    """The facts of clocks on which neither legal moves nor other facts depend, ascending; and idle facts."""
    try:
        supports = find_supports(game.tables)
    except OverflowError as error:
        _logger.info("%s: keys keep all facts: %s", game.name, error)
        return [], ()
    subgames = find_subgames(game.tables, supports)
    read = 0
    for mask in (*supports.legal, *(supports.next[f] for part in subgames.parts for f in part)):
        read |= mask
    clocks = [clock for clock in subgames.clocks if not any(read >> (1 + f) & 1 for f in clock)]
    return sorted(f for clock in clocks for f in clock), subgames.idle
