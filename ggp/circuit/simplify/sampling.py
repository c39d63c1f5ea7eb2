"""Random playouts on Python integers: one bit per game.

Slow compared with `ggp.lanes.engine`, but needs no compilation, so simplification can look at reachable
states before it tries to prove anything. Moves are drawn in a random order of preference, which reaches
varied states, though not uniformly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from random import Random
from typing import NamedTuple

from ggp.circuit.circuit import Circuit, Phase, phase_gates

PARTS = 8
"""Orders of preference in which moves are drawn."""


class Sample(NamedTuple):
    """Rows of one step.

    rows      rows[node] has bit i set if the node is true in game i
    running   bit i set if game i is not over and every role had a move; only in these games are the rows
              of NEXT and SEES gates meaningful
    """

    rows: list[int]
    running: int


class Sampler:
    """Plays `width` games of a circuit side by side."""

    def __init__(self, circuit: Circuit, width: int, seed: int) -> None:
        self.circuit = circuit
        self.width = width
        self.mask = (1 << width) - 1
        self.random = Random(seed)
        self.order = phase_gates(circuit)

    def steps(self) -> Iterator[Sample]:
        """Yield one sample per step, forever; games that are over start again."""
        circuit, mask = self.circuit, self.mask
        start = [mask if holds else 0 for holds in circuit.initial]
        state = start
        while True:
            rows = [mask, *state] + [0] * (circuit.gate0 - 1 - len(state) + len(circuit.gates))
            self._settle(rows, Phase.LEGAL)
            self._settle(rows, Phase.GOAL)
            running = self._choose(rows) & ~self._value(rows, circuit.terminal)
            self._settle(rows, Phase.NEXT)
            self._settle(rows, Phase.SEES)
            yield Sample(rows, running)
            following = [self._value(rows, literal) for literal in circuit.next]
            pairs = zip(following, start, strict=True)
            state = [(new & running) | (first & ~running) for new, first in pairs]

    def _settle(self, rows: list[int], phase: Phase) -> None:
        gate0, gates, mask = self.circuit.gate0, self.circuit.gates, self.mask
        for gate in self.order[phase].tolist():
            row = mask
            for x in gates[gate]:
                row &= ~rows[x >> 1] if x & 1 else rows[x >> 1]
            rows[gate0 + gate] = row

    def _value(self, rows: Sequence[int], literal: int) -> int:
        return self.mask & (~rows[literal >> 1] if literal & 1 else rows[literal >> 1])

    def _choose(self, rows: list[int]) -> int:
        """Select a legal move per role and game. Returns the games in which every role had one."""
        circuit, first = self.circuit, self.circuit.first_move
        everyone = self.mask
        parts = self._random_parts()
        for role in range(len(circuit.terms.roles)):
            legal = [
                (move, row)
                for move in range(first[role], first[role + 1])
                if (row := self._value(rows, circuit.legal[move]))
            ]
            self.random.shuffle(legal)
            for part in parts:
                begin = self.random.randrange(len(legal)) if legal else 0
                everyone &= ~self._select_first(rows, chain(legal[begin:], legal[:begin]), part)
        return everyone

    def _select_first(self, rows: list[int], legal: Iterable[tuple[int, int]], undecided: int) -> int:
        """Select in each undecided game its first legal move. Returns the games that have none."""
        for move, row in legal:
            chosen = row & undecided
            if chosen:
                rows[self.circuit.move0 + move] |= chosen
                undecided ^= chosen
                if not undecided:
                    break
        return undecided

    def _random_parts(self) -> list[int]:
        """The games, distributed at random over parts that share an order of preference."""
        parts = [0] * PARTS
        for game in range(self.width):
            parts[self.random.randrange(PARTS)] |= 1 << game
        return parts
