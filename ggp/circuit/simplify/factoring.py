"""Factoring: literals that ANDs of an OR share are taken out.

An OR of ANDs that share a literal becomes that literal AND the OR of the rest.
The literal taken out is the one that most ANDs share, repeatedly ("literal factoring", Brayton et al., MIS,
1987). ANDs that only one OR reads are factored in place; an AND that several gates read stays whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from math import inf
from time import thread_time

import numpy as np

from ggp.circuit.circuit import TRUE_LITERAL, Circuit, GateBuilder, rebuilt, with_outputs
from ggp.circuit.packed_gates import as_tuples, packed
from ggp.circuit.simplify.rewriting import DEPTH_LIMIT, literal_fanouts, shared_gates

COMPILED_LITERALS = 100_000
"""Gate inputs from which a kernel does it; with fewer, loading it takes longer than it saves."""


def factor(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with ORs of ANDs factored. Gates met after `deadline` are left as they are."""
    compiled = factor_by_kernel(circuit, deadline) if circuit.literal_count >= COMPILED_LITERALS else None
    return factor_plainly(circuit, deadline) if compiled is None else compiled


def prepare_kernels(circuit: Circuit) -> None:
    """Compile or load the kernels that `factor` needs for `circuit`."""
    if circuit.literal_count >= COMPILED_LITERALS:
        factor_by_kernel(with_outputs(circuit, (), lambda _: TRUE_LITERAL), inf)


def factor_by_kernel(circuit: Circuit, deadline: float) -> Circuit | None:
    """`factor_plainly` in compiled code, about fifty times faster; None without a compiler."""
    from ggp.circuit.kernels import gates_of, make_gate_table
    from ggp.circuit.simplify.kernels.cube_factoring import make_cube_pool
    from ggp.circuit.simplify.kernels.factoring import ReadCircuit, Scratch, factor_gates, plan_reading
    from ggp.jit.compiling import IS_COMPILED, announced_compilation

    if not IS_COMPILED:
        return None
    gates, gate0 = packed(circuit.gates), circuit.gate0
    count, inputs = len(gates), len(gates.input)
    nodes = gate0 + count
    is_output = np.zeros(nodes, np.uint8)
    is_output[np.array(circuit.all_outputs(), np.int64) >> 1] = 1
    read = ReadCircuit(
        gate0=gate0,
        first=gates.first,
        input=gates.input,
        is_output=is_output,
        read_by=np.zeros(2 * nodes, np.int32),
        stands_alone=np.zeros(count, np.uint8),
        is_flat=np.zeros(count, np.uint8),
        in_cube=np.zeros(count, np.uint8),
        literal_of=np.zeros(nodes, np.int32),
    )
    read.literal_of[:gate0] = np.arange(0, 2 * gate0, 2)
    with announced_compilation():
        widest = int(plan_reading(read, np.zeros(count, np.int64)))
        # Taking a literal out of k cubes frees k inputs and adds at most k + 2: none of these overflows.
        new_gates, new_inputs = inputs + 2 * count, 4 * inputs + 2 * count
        pool = make_cube_pool(widest, 2 * (gate0 + new_gates))
        pool.reads[: 2 * gate0] = read.read_by[: 2 * gate0]
        table = make_gate_table(gate0, new_gates, new_inputs, 2 * widest)
        scratch = Scratch(
            conjunct=np.empty(2 * widest + 1, np.int32),
            stack=np.empty(widest + 1, np.int32),
            known=np.zeros(2 * (gate0 + new_gates), np.int32),
        )
        gate = int(factor_gates(read, scratch, pool, table, 0, thread_time() > deadline))
        while gate < count:
            gate = int(factor_gates(read, scratch, pool, table, gate, thread_time() > deadline))
    return rebuilt(circuit, gates_of(table), read.literal_of.tolist())


def factor_plainly(circuit: Circuit, deadline: float) -> Circuit:
    """`factor` in plain Python."""
    gate0 = circuit.gate0
    circuit = replace(circuit, gates=as_tuples(circuit.gates))
    gates = circuit.gates
    builder = GateBuilder(gate0)
    literal_of = list(range(0, 2 * gate0, 2)) + [0] * len(gates)
    reader = _Reader(circuit, literal_of)
    read_by = literal_fanouts(circuit)
    readers = dict(enumerate(read_by[: 2 * gate0]))
    for gate in range(len(gates)):
        if reader.stands_alone[gate]:
            conjuncts, cubes = reader.read(gate)
            if cubes and (len(cubes) > 1 or conjuncts):
                conjuncts, cubes = simplify_cubes(conjuncts, cubes)
            if len(cubes) > 1 and thread_time() < deadline:
                conjuncts += [cube ^ 1 for cube in factor_cubes(cubes, builder, readers)]
            else:
                conjuncts += [builder.conj(cube) ^ 1 for cube in cubes]
            literal = literal_of[gate0 + gate] = builder.conj(conjuncts)
            readers[literal] = read_by[2 * (gate0 + gate)]
            readers[literal ^ 1] = read_by[2 * (gate0 + gate) + 1]
    return rebuilt(circuit, builder.gates, literal_of)


class _Reader:
    """Reads a gate as an AND of literals and of negated ANDs ("cubes").

    A gate with a single reader does not stand alone: it is read as part of its reader, unless it is a negated
    AND inside a cube.
    """

    def __init__(self, circuit: Circuit, literal_of: list[int]) -> None:
        self.gates = circuit.gates
        self.gate0 = circuit.gate0
        self.literal_of = literal_of
        self.stands_alone = shared_gates(circuit)
        self.is_flat = [True] * len(self.gates)
        in_cube = [False] * len(self.gates)
        for gate in reversed(range(len(self.gates))):
            inside = in_cube[gate] and not self.stands_alone[gate]
            for x in self.gates[gate]:
                child = (x >> 1) - self.gate0
                if child < 0 or self.stands_alone[child]:
                    continue
                if x & 1 and inside:
                    self.stands_alone[child] = True
                else:
                    in_cube[child] = inside or bool(x & 1)
                    self.is_flat[gate] = False

    def read(self, gate: int) -> tuple[list[int], list[set[int]]]:
        """The literals and the cubes of `gate`, in terms of the new circuit."""
        gate0, literal_of, stands_alone = self.gate0, self.literal_of, self.stands_alone
        conjuncts: list[int] = []
        cubes: list[set[int]] = []
        stack = [gate]
        while stack:
            for x in self.gates[stack.pop()]:
                node = x >> 1
                if node < gate0 or stands_alone[node - gate0]:
                    conjuncts.append(literal_of[node] ^ (x & 1))
                elif not x & 1:
                    stack.append(node - gate0)
                elif self.is_flat[node - gate0]:
                    cubes.append({literal_of[y >> 1] ^ (y & 1) for y in self.gates[node - gate0]})
                else:
                    cubes.append(set(self.read(node - gate0)[0]))
        return conjuncts, cubes


def simplify_cubes(conjuncts: Iterable[int], cubes: list[set[int]]) -> tuple[list[int], list[set[int]]]:
    """Simplify the AND of `conjuncts` and negated `cubes`, without what the conjuncts settle."""
    known = set(conjuncts)
    left = cubes
    while True:
        if known:
            refuted = {literal ^ 1 for literal in known}
            left = [cube - known for cube in left if refuted.isdisjoint(cube)]
        single = [cube for cube in left if len(cube) < 2]
        if not single:
            return list(known), left
        if not all(single):
            return [1], []
        known.update([next(iter(cube)) ^ 1 for cube in single])
        left = [cube for cube in left if len(cube) > 1]


def factor_cubes(
    cubes: Iterable[Collection[int]], builder: GateBuilder, readers: Mapping[int, int], depth: int = 0
) -> list[int]:
    """Literals whose OR is the OR of `cubes`.

    readers   literal -> how often it is read in the circuit. Of literals that equally many cubes share,
              the one with the fewest readers is taken out: what stays together may then serve others, too.
    """
    distinct = list(dict.fromkeys([tuple(sorted(cube)) for cube in cubes]))
    if len(distinct) == 1 or depth > DEPTH_LIMIT:
        return [builder.conj(cube) for cube in distinct]
    holders: dict[int, list[int]] = {}
    for place, cube in enumerate(distinct):
        for literal in cube:
            holders.setdefault(literal, []).append(place)
    heap = [
        (-len(places), readers.get(literal, 0), literal)
        for literal, places in holders.items()
        if len(places) > 1
    ]
    heapify(heap)
    taken = [False] * len(distinct)
    disjuncts: list[int] = []
    while heap:
        count, popularity, literal = heappop(heap)
        places = holders[literal] = [place for place in holders[literal] if not taken[place]]
        if len(places) < 2:
            continue
        if len(places) < -count:
            heappush(heap, (-len(places), popularity, literal))
            continue
        for place in places:
            taken[place] = True
        disjuncts.append(_factored([distinct[place] for place in places], builder, readers, depth))
    disjuncts += [builder.conj(cube) for place, cube in enumerate(distinct) if not taken[place]]
    return disjuncts


def _factored(
    cubes: Sequence[tuple[int, ...]], builder: GateBuilder, readers: Mapping[int, int], depth: int
) -> int:
    """The OR of cubes that have literals in common."""
    common = set(cubes[0]).intersection(*cubes[1:])
    rests = [[x for x in cube if x not in common] for cube in cubes]
    if not all(rests):
        return builder.conj(common)
    if all(len(rest) == 1 for rest in rests):
        rest = [x for (x,) in rests]
    else:
        rest = factor_cubes(rests, builder, readers, depth + 1)
    return builder.conj([*common, builder.disj(rest)])
