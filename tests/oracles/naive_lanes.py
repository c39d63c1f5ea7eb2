"""Naive twins of the kernels: one lane at a time, plain Python, nothing clever."""

import itertools
import random

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables

Bools = NDArray[np.bool_]


def random_tables(
    seed: int, *, fluents: int = 7, moves: tuple[int, ...] = (5, 3), gates: int = 60, widest: int = 9
) -> CircuitTables:
    """A random circuit: gates in four phases; outputs read only phases that they may."""
    rng = random.Random(seed)
    first_move = np.cumsum([0, *moves]).astype(np.int32)
    total = int(first_move[-1])
    gate0 = 1 + fluents + total
    phase_end = [*sorted(rng.randrange(gates + 1) for _ in range(3)), gates]
    first_input, inputs = [0], []
    for g in range(gates):
        sources = [*range(1, 1 + fluents), *range(gate0, gate0 + g)]
        if g >= phase_end[1]:
            sources += range(1 + fluents, gate0)
        chosen = rng.choices(sources, k=rng.randint(2, widest))
        inputs += [2 * node + rng.randrange(2) for node in chosen]
        first_input.append(len(inputs))

    def literals(count: int, end_gate: int) -> NDArray[np.int32]:
        nodes = [0, *range(1, 1 + fluents), *range(gate0, gate0 + end_gate)]
        return np.array([2 * rng.choice(nodes) + rng.randrange(2) for _ in range(count)], np.int32)

    return CircuitTables(
        node_count=gate0 + gates,
        fluent_count=fluents,
        role_count=len(moves),
        first_move=first_move,
        gate0=gate0,
        phase_end=np.array(phase_end, np.int32),
        first_input=np.array(first_input, np.int32),
        input=np.array(inputs, np.int32),
        legal=literals(total, phase_end[0]),
        terminal=int(literals(1, phase_end[0])[0]),
        next=literals(fluents, phase_end[2]),
        initial=np.array([rng.randrange(2) for _ in range(fluents)], np.uint8),
        goal_role=np.repeat(np.arange(len(moves)), 2).astype(np.int32),
        goal_value=np.tile([0, 100], len(moves)).astype(np.int32),
        goal_literal=literals(2 * len(moves), phase_end[1]),
        percept_role=np.zeros(0, np.int32),
        percept_literal=np.zeros(0, np.int32),
    )


def choice_tables(moves: tuple[int, ...]) -> CircuitTables:
    """No gates: fluent m is the legality of move m; nothing ends and nothing changes."""
    total = sum(moves)
    nothing = np.zeros(0, np.int32)
    return CircuitTables(
        node_count=1 + 2 * total,
        fluent_count=total,
        role_count=len(moves),
        first_move=np.cumsum([0, *moves]).astype(np.int32),
        gate0=1 + 2 * total,
        phase_end=np.zeros(4, np.int32),
        first_input=np.zeros(1, np.int32),
        input=nothing,
        legal=2 * np.arange(1, 1 + total, dtype=np.int32),
        terminal=1,
        next=2 * np.arange(1, 1 + total, dtype=np.int32),
        initial=np.ones(total, np.uint8),
        goal_role=nothing,
        goal_value=nothing,
        goal_literal=nothing,
        percept_role=nothing,
        percept_literal=nothing,
    )


def settle(tables: CircuitTables, fluents: Bools, moves: Bools) -> Bools:
    """bool[K]: every node's value in one lane, gates one after the other."""
    value = np.zeros(tables.node_count, np.bool_)
    value[0] = True
    value[1 : 1 + tables.fluent_count] = fluents
    value[1 + tables.fluent_count : tables.gate0] = moves
    for g in range(len(tables.first_input) - 1):
        inputs = tables.input[tables.first_input[g] : tables.first_input[g + 1]]
        value[tables.gate0 + g] = all(value[literal >> 1] != (literal & 1) for literal in inputs)
    return value


def holds(value: Bools, literals: NDArray[np.int32]) -> Bools:
    """The values of literals, given those of all nodes."""
    return np.array([value[literal >> 1] != (literal & 1) for literal in literals], np.bool_)


def transpose(block: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """64x64 bits, transposed bit by bit."""
    return np.array([sum((int(block[i]) >> j & 1) << i for i in range(64)) for j in range(64)], np.uint64)


def roulette(
    first_move: NDArray[np.int32], legal: Bools, weight: NDArray[np.int32], random_words: NDArray[np.uint64]
) -> Bools:
    """Moves, bool[M, lanes], chosen by weight of those in `legal`; random_words uint64[2, W] advances.

    Roles share 32 random bits per lane until one has a choice where another before it has one.
    """
    chosen = np.zeros_like(legal)
    lanes = [[np.flatnonzero(own) for own in legal[a:b].T] for a, b in itertools.pairwise(first_move)]
    waiting: dict[int, tuple[int, list[int]]] = {}

    def spin() -> None:
        shares = draw_shares(random_words) if waiting else []
        for lane, (first, moves) in waiting.items():
            weights = [int(weight[first + m]) for m in moves]
            k = int(shares[lane]) * sum(weights) >> 32
            place = next(i for i in range(len(moves)) if k < sum(weights[: i + 1]))
            chosen[first + moves[place], lane] = True
        waiting.clear()

    for first, of_role in zip(first_move.tolist(), lanes, strict=False):
        several = {lane: (first, moves.tolist()) for lane, moves in enumerate(of_role) if len(moves) > 1}
        if several.keys() & waiting.keys():
            spin()
        waiting |= several
        for lane, moves in enumerate(of_role):
            if len(moves) == 1:
                chosen[first + moves[0], lane] = True
    spin()
    return chosen


def draw_shares(state: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """32 random bits for every lane: 32 rows of xorshift128+ generators, one per word, which advance."""
    rows = []
    for _ in range(32):
        x = state[0] ^ (state[0] << np.uint64(23))
        x = x ^ state[1] ^ (x >> np.uint64(18)) ^ (state[1] >> np.uint64(5))
        rows.append(x + state[1])
        state[:] = state[1], x
    return np.concatenate(rows).view(np.uint32)
