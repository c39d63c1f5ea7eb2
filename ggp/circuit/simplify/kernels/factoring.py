"""Factoring of whole circuits in compiled code; `ggp.circuit.simplify.factoring` is the readable twin.

Letters: G gates and K nodes of the given circuit, P literals read for one gate, L literals of the new
circuit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.kernels import GateTable, conj
from ggp.circuit.packed_gates import Int32Array, Int64Array
from ggp.circuit.simplify.kernels.cube_factoring import CubePool, add_cube, conj_cube, factor_cubes
from ggp.jit.compiling import kernel, piece
from ggp.jit.rows import Index

Flags = NDArray[np.uint8]
CHUNK_LITERALS = 400_000
"""Literals read before returning to the caller, which looks at the clock."""


class ReadCircuit(NamedTuple):
    """The circuit to factor and how its gates are read.

    See `_Reader` of the twin.

    gate0          node of the first gate
    first, input   its gates
    is_output      uint8[K]; nodes that outputs read
    read_by        int32[2K]; how many gates read each literal
    stands_alone   uint8[G]; the gate is not read as a part of its reader
    is_flat        uint8[G]; every gate that the gate reads stands alone
    in_cube        uint8[G]; scratch, zeros
    literal_of     int32[K]; the literal of each node in the new circuit
    """

    gate0: int
    first: Int64Array
    input: Int32Array
    is_output: Flags
    read_by: Int32Array
    stands_alone: Flags
    is_flat: Flags
    in_cube: Flags
    literal_of: Int32Array


class Scratch(NamedTuple):
    """Memory for reading one gate.

    conjunct   int32[P]; literals of the AND
    stack      int32[P]
    known      int32[L]; zeros: the gate + 1 in whose AND the literal was last known to hold
    """

    conjunct: Int32Array
    stack: Int32Array
    known: Int32Array


@kernel
def plan_reading(circuit: ReadCircuit, width: Int64Array) -> Index:
    """Fill in everything of `circuit` but literal_of.

    Returns the most literals read for one gate.

    width   int64[G], scratch: literals read for a gate
    """
    gate0, first = circuit.gate0, circuit.first
    gates = np.int64(first.shape[0] - 1)
    for place in range(first[gates]):
        circuit.read_by[circuit.input[place]] += 1
    for gate in range(gates):
        node = gate0 + gate
        readers = circuit.read_by[2 * node] + circuit.read_by[2 * node + 1]
        circuit.stands_alone[gate] = 1 if readers != 1 or circuit.is_output[node] else 0
        circuit.is_flat[gate] = 1
    for gate in range(gates - 1, -1, -1):
        _visit_inputs(circuit, gate)
    widest = np.int64(0)
    for gate in range(gates):
        read = first[gate + 1] - first[gate]
        for place in range(first[gate], first[gate + 1]):
            child = (np.int64(circuit.input[place]) >> 1) - gate0
            if child >= 0 and not circuit.stands_alone[child]:
                read += width[child]
        width[gate] = read
        widest = max(widest, read)
    return widest


@piece
def _visit_inputs(circuit: ReadCircuit, gate: Index) -> None:
    is_inside = circuit.in_cube[gate] and not circuit.stands_alone[gate]
    for place in range(circuit.first[gate], circuit.first[gate + 1]):
        x = circuit.input[place]
        child = (np.int64(x) >> 1) - circuit.gate0
        if child < 0 or circuit.stands_alone[child]:
            continue
        if x & 1 and is_inside:
            circuit.stands_alone[child] = 1
        else:
            circuit.in_cube[child] = 1 if is_inside or x & 1 else 0
            circuit.is_flat[gate] = 0


@kernel
def factor_gates(
    circuit: ReadCircuit, scratch: Scratch, pool: CubePool, table: GateTable, start: int, is_late: bool
) -> Index:
    """Make the new gates from gate `start` on, for a while.

    Returns the gate to resume with.

    is_late   leave ORs as they are
    """
    gate = np.int64(start)
    gates = np.int64(circuit.first.shape[0] - 1)
    read = np.int64(0)
    while gate < gates and read < CHUNK_LITERALS:
        if circuit.stands_alone[gate]:
            conjuncts, cubes = _read(circuit, scratch, pool, gate)
            if cubes > 1 or (cubes == 1 and conjuncts > 0):
                conjuncts, cubes = _simplify(scratch, pool, gate + 1, conjuncts, cubes)
            if cubes > 1 and not is_late:
                results = factor_cubes(pool, table, cubes)
            else:
                results = np.int64(max(cubes, 0))
                for cube in range(cubes):
                    pool.out[cube] = conj_cube(pool, table, cube)
            literal = np.int64(1) if cubes < 0 else _conj_all(scratch, pool, table, conjuncts, results)
            node = circuit.gate0 + gate
            circuit.literal_of[node] = literal
            pool.reads[literal] = circuit.read_by[2 * node]
            pool.reads[literal ^ 1] = circuit.read_by[2 * node + 1]
            read += conjuncts + 1 + (pool.end[cubes - 1] if cubes > 0 else 0)
        gate += 1
    return gate


@piece
def _conj_all(scratch: Scratch, pool: CubePool, table: GateTable, conjuncts: Index, results: Index) -> Index:
    """The AND of the conjuncts and of the negated results."""
    for i in range(conjuncts):
        table.key[i] = scratch.conjunct[i]
    for i in range(results):
        table.key[conjuncts + i] = pool.out[i] ^ 1
    return conj(table, conjuncts + results)


@piece
def _new_literal(circuit: ReadCircuit, x: Index) -> Index:
    return np.int64(circuit.literal_of[x >> 1]) ^ (x & 1)


@piece
def _read(circuit: ReadCircuit, scratch: Scratch, pool: CubePool, gate: Index) -> tuple[Index, Index]:
    """Read the literals and cubes of a gate.

    They are literals of the new circuit. Returns how many there are of both.
    """
    conjuncts = cubes = np.int64(0)
    top: Index = np.int64(0)
    for i in range(_flatten(circuit, scratch, gate, scratch.conjunct, np.int64(0))):
        x = np.int64(scratch.conjunct[i])
        child = (x >> 1) - circuit.gate0
        if child < 0 or circuit.stands_alone[child]:
            scratch.conjunct[conjuncts] = _new_literal(circuit, x)
            conjuncts += 1
        else:
            pool.begin[cubes] = top
            end = _flatten(circuit, scratch, child, pool.literal, top)
            for place in range(top, end):
                pool.literal[place] = _new_literal(circuit, np.int64(pool.literal[place]))
            top = add_cube(pool, cubes, end)
            cubes += 1
    return conjuncts, cubes


@piece
def _flatten(circuit: ReadCircuit, scratch: Scratch, gate: Index, out: Int32Array, top: Index) -> Index:
    """Write the literals of an AND to out[top:].

    Those of the ANDs that are part of it, too. Returns where they end.
    Negated gates that are read as parts are literals here (there are none in cubes).
    """
    scratch.stack[0] = gate
    waiting = np.int64(1)
    while waiting > 0:
        waiting -= 1
        parent = np.int64(scratch.stack[waiting])
        for place in range(circuit.first[parent], circuit.first[parent + 1]):
            x = np.int64(circuit.input[place])
            child = (x >> 1) - circuit.gate0
            if child < 0 or circuit.stands_alone[child] or x & 1:
                out[top] = x
                top += 1
            else:
                scratch.stack[waiting] = child
                waiting += 1
    return top


@piece
def _simplify(
    scratch: Scratch, pool: CubePool, stamp: Index, conjuncts: Index, cubes: Index
) -> tuple[Index, Index]:
    """Drop from the cubes what the conjuncts settle.

    Returns how many of both remain, -1 cubes if the whole AND is false.

    stamp   number that marks what is known in this gate
    """
    known, conjunct = scratch.known, scratch.conjunct
    for i in range(conjuncts):
        known[conjunct[i]] = stamp
    while True:
        if conjuncts > 0:
            cubes = _drop_settled(pool, known, stamp, cubes)
        kept = np.int64(0)
        for cube in range(cubes):
            length = pool.end[cube] - pool.begin[cube]
            if length == 0:
                return np.int64(0), np.int64(-1)
            if length == 1:
                x = pool.literal[pool.begin[cube]] ^ 1
                if known[x] != stamp:
                    known[x] = stamp
                    conjunct[conjuncts] = x
                    conjuncts += 1
            else:
                pool.begin[kept], pool.end[kept] = pool.begin[cube], pool.end[cube]
                kept += 1
        if kept == cubes:
            return conjuncts, cubes
        cubes = kept


@piece
def _drop_settled(pool: CubePool, known: Int32Array, stamp: Index, cubes: Index) -> Index:
    """Drop false cubes and literals known to hold. Returns how many cubes stay."""
    kept = np.int64(0)
    for cube in range(cubes):
        begin = pool.begin[cube]
        top = begin
        is_refuted = False
        for place in range(begin, pool.end[cube]):
            x = pool.literal[place]
            if known[x ^ 1] == stamp:
                is_refuted = True
                break
            if known[x] != stamp:
                pool.literal[top] = x
                top += 1
        if not is_refuted:
            pool.begin[kept], pool.end[kept] = begin, top
            kept += 1
    return kept
