"""Joins with a token: alternatives of which at most one is met are taken apart.

Rules often ask where a piece stands and then about that place: "the king stands on k, and nothing attacks k
but what is captured on x, the cell u being left". With e(k) for the king on k that is an OR over k of ANDs
with two parts, A and not B, for each pair of x and u. Since at most one e(k) holds,

    OR_k e(k) A(k) ~B(k)  =  (OR_k e(k) A(k)) and not (OR_k e(k) B(k))

and each half can serve all pairs that agree on it. B(k) is an OR of its own ("b attacks k"), so the second
half is an OR of *threats* e(k) b(k). Threats that the same ORs read become one gate, a *class*: all of one
attacker, say. An OR over a few k may read whole classes, since what they say of other k is not met; so few
different ORs are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from time import thread_time
from typing import NamedTuple

from ggp.circuit.circuit import Circuit, GateBuilder, bits_of
from ggp.circuit.simplify.rewriting import cost, fanouts, in_order
from ggp.circuit.simplify.tokens import Group, find_tokens

MIN_ALTERNATIVES = 6
"""Alternatives of an OR that is taken apart."""
WIDE = 4
"""Inputs of an AND that may be the negation of many threats."""
CUBE_LIMIT = 256
"""Alternatives that an OR within an AND is multiplied out to."""

DEPTH_LIMIT = 6
"""Levels of ORs and of wide ANDs that are opened."""
THREAT_LIMIT = 5_000
"""Threats to one member; with more, nothing is taken apart."""
READING_SHARE = 0.45
"""Part of the time after which the rest would not be done: finding parts takes about a third of all."""

Cube = frozenset[int]


class Part(NamedTuple):
    """The alternatives of an OR that share a literal, at most one for each member of a group.

    common        the literal, or none
    others, wide  by member: what else is ANDed with it: literals, and wide ANDs
    """

    group: int
    common: tuple[int, ...]
    others: dict[int, Cube]
    wide: dict[int, Cube]


def take_joins_apart(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with joins with tokens taken apart; unchanged if that saves nothing or time runs out."""
    begin = thread_time()
    end_of_reading = begin + READING_SHARE * (deadline - begin)
    tokens = [group for group in find_tokens(circuit, end_of_reading) if len(group) >= MIN_ALTERNATIVES]
    if not tokens:
        return circuit
    reader = _Reader(circuit, tokens)
    parts_of = reader.read(end_of_reading)
    parts = [part for parts in parts_of.values() for part in parts]
    if not parts or thread_time() > end_of_reading:
        return circuit
    builder = GateBuilder(circuit.gate0)
    builder.gates = list(circuit.gates)
    wide_of: dict[int, set[Cube]] = {}
    for part in parts:
        for k, wide in part.wide.items():
            wide_of.setdefault(k, set()).add(wide)
    threats = {k: _Threats(circuit, wide) for k, wide in wide_of.items()}
    if any(len(each.cubes) > THREAT_LIMIT for each in threats.values()):
        return circuit
    met = iter(_Classes(builder, threats, len(tokens), parts).literals(parts))
    for gate, of_gate in parts_of.items():
        inputs = set(reader.rest[gate])
        for part in of_gate:
            body = builder.disj([builder.conj([k, *others]) for k, others in part.others.items()])
            inputs.add(builder.conj([builder.conj([*part.common, body]), next(met) ^ 1]) ^ 1)
        builder.gates[gate] = tuple(sorted(inputs))
    smaller = in_order(circuit, builder.gates)
    return smaller if cost(smaller) < cost(circuit) else circuit


class _Reader:
    """Reads ORs as parts. `rest` has, by gate, the inputs that are no alternatives of a token."""

    def __init__(self, circuit: Circuit, tokens: Sequence[Group]) -> None:
        self.gates, self.gate0 = circuit.gates, circuit.gate0
        self.group_of = {2 * (1 + fluent): i for i, group in enumerate(tokens) for fluent in group}
        outputs = {literal >> 1 for literal in circuit.all_outputs()}
        self.is_single = [n == 1 and node not in outputs for node, n in enumerate(fanouts(circuit))]
        self.rest: dict[int, list[int]] = {}
        self._has_wide: dict[int, bool] = {}
        self._opened: dict[int, list[Cube]] = {}
        self.wide = {
            2 * node for node, inputs in enumerate(circuit.gates, start=circuit.gate0) if len(inputs) >= WIDE
        }
        members = self.group_of.keys()
        self.member = {
            2 * node + 1: next(x for x in inputs if x in members)
            for node, inputs in enumerate(circuit.gates, start=circuit.gate0)
            if not members.isdisjoint(inputs)
        }

    def read(self, deadline: float) -> dict[int, list[Part]]:
        """The parts of every gate (a negated OR) with enough alternatives."""
        found: dict[int, list[tuple[int, Cube]]] = {}
        for gate, inputs in enumerate(self.gates):
            if self.member.keys().isdisjoint(inputs):
                continue
            members = [self.member.get(x, 0) for x in inputs]
            groups = Counter(self.group_of[k] for k in members if k)
            group, count = groups.most_common(1)[0] if groups else (0, 0)
            if count >= MIN_ALTERNATIVES:
                pairs = list(zip(members, inputs, strict=True))
                mine = [(k, x) for k, x in pairs if k and self.group_of[k] == group]
                self.rest[gate] = [x for k, x in pairs if not k or self.group_of[k] != group]
                found[gate] = [
                    (k, cube) for k, x in mine for cube in self._cubes([y for y in self._inputs(x) if y != k])
                ]
                if thread_time() > deadline:
                    return {}
        frequency = Counter(x for cubes in found.values() for _, cube in cubes for x in cube - self.wide)
        return {gate: self._parts(cubes, frequency) for gate, cubes in found.items()}

    def _parts(self, cubes: Iterable[tuple[int, Cube]], frequency: Counter[int]) -> list[Part]:
        """Alternatives by their most frequent literal; a member's second one with it starts another part."""
        parts: dict[tuple[int, ...], list[Part]] = {}
        for k, cube in cubes:
            wide = cube & self.wide
            narrow = cube - wide
            common = (max(narrow, key=lambda x: (frequency[x], x)),) if narrow else ()
            layers = parts.setdefault(common, [])
            part = next((part for part in layers if k not in part.others), None)
            if part is None:
                part = Part(self.group_of[k], common, {}, {})
                layers.append(part)
            part.others[k] = narrow.difference(common)
            part.wide[k] = wide
        return [part for layers in parts.values() for part in layers]

    def _inputs(self, literal: int) -> Sequence[int]:
        node = literal >> 1
        return self.gates[node - self.gate0] if node >= self.gate0 else ()

    def _alternatives(self, literal: int, depth: int) -> list[Cube]:
        """An OR as ANDs."""
        if literal not in self._opened:
            found: list[Cube] = []
            for x in self._inputs(literal):
                inputs = self._inputs(x) if x & 1 else ()
                found += self._cubes(inputs, depth + 1) if inputs else [frozenset([x ^ 1])]
            self._opened[literal] = found if len(found) <= CUBE_LIMIT else [frozenset([literal])]
        return self._opened[literal]

    def _holds_wide(self, literal: int, depth: int) -> bool:
        """Whether an OR has alternatives with wide ANDs."""
        if literal not in self._has_wide:
            inner = [y for x in self._inputs(literal) if x & 1 for y in self._inputs(x)]
            self._has_wide[literal] = depth < DEPTH_LIMIT and any(
                y in self.wide or (y & 1 and self._holds_wide(y, depth + 1)) for y in inner
            )
        return self._has_wide[literal]

    def _cubes(self, literals: Iterable[int], depth: int = 0) -> list[Cube]:
        """The AND of literals, multiplied out; ANDs that others read are left whole, as wide ones are."""
        flat: list[int] = []
        ors: list[int] = []
        stack = list(literals)
        while stack:
            x = stack.pop()
            is_opened = self.is_single[x >> 1] or (x & 1 and self._holds_wide(x, depth))
            if not self._inputs(x) or x in self.wide or not is_opened or depth > DEPTH_LIMIT:
                flat.append(x)
            elif x & 1:
                ors.append(x)
            else:
                stack.extend(self._inputs(x))
        cubes = [frozenset(flat)]
        for x in ors:
            options = self._alternatives(x, depth)
            if len(cubes) * len(options) > CUBE_LIMIT:
                options = [frozenset([x])]
            cubes = [cube | option for cube in cubes for option in options]
        return cubes


class _Threats:
    """What the negations of one member's wide ANDs consist of: cubes, by number, and bit sets of numbers.

    cubes       the literals of each threat, ANDs and ORs multiplied out
    implying    by threat: bit set of the threats that ask for more
    """

    def __init__(self, circuit: Circuit, wide: Iterable[Cube]) -> None:
        self.gates, self.gate0 = circuit.gates, circuit.gate0
        self.cubes: list[Cube] = []
        self.implying: list[int] = []
        self._numbers: dict[Cube, int] = {}
        self._masks: dict[int, int] = {}
        self._closed: dict[Cube, int] = {}
        self._alternatives: dict[int, list[Cube]] = {}
        for literals in wide:
            if len(self.cubes) <= THREAT_LIMIT:
                self.of(literals)
        if len(self.cubes) <= THREAT_LIMIT:
            self._find_implying()

    def _inputs(self, literal: int) -> Sequence[int]:
        node = literal >> 1
        return self.gates[node - self.gate0] if node >= self.gate0 else ()

    def of(self, wide: Iterable[int], depth: int = 0) -> int:
        """The threats of an AND of wide ANDs."""
        mask = 0
        for x in wide:
            if x not in self._masks:
                inputs = () if x & 1 or depth > DEPTH_LIMIT else self._inputs(x)
                self._masks[x] = (
                    self.of(inputs, depth + 1) if inputs else self._number(self._cubes([x ^ 1], 0))
                )
            mask |= self._masks[x]
        return mask

    def closed(self, wide: Cube) -> int:
        """The threats of an AND of wide ANDs, with all that imply one of them."""
        if wide not in self._closed:
            mask = self.of(wide)
            self._closed[wide] = reduce(or_, [self.implying[threat] for threat in bits_of(mask)], mask)
        return self._closed[wide]

    def _number(self, cubes: Iterable[Cube]) -> int:
        mask = 0
        for cube in cubes:
            number = self._numbers.setdefault(cube, len(self.cubes))
            if number == len(self.cubes):
                self.cubes.append(cube)
            mask |= 1 << number
        return mask

    def _cubes(self, literals: Iterable[int], depth: int) -> list[Cube]:
        """An AND multiplied out, as far as the limits allow."""
        flat: set[int] = set()
        ors: list[int] = []
        stack = list(literals)
        while stack:
            x = stack.pop()
            if not self._inputs(x):
                flat.add(x)
            elif not x & 1:
                stack.extend(self._inputs(x))
            else:
                ors.append(x)
        cubes = [frozenset(flat)]
        for x in ors:
            if x not in self._alternatives:
                inner = self._inputs(x) if depth < DEPTH_LIMIT else ()
                found = [cube for y in inner for cube in self._cubes([y ^ 1], depth + 1)]
                self._alternatives[x] = found if 0 < len(found) <= CUBE_LIMIT else [frozenset([x])]
            options = self._alternatives[x]
            if len(cubes) * len(options) > CUBE_LIMIT:
                options = [frozenset([x])]
            cubes = [cube | option for cube in cubes for option in options]
        return cubes

    def _find_implying(self) -> None:
        holding: dict[int, list[int]] = {}
        for number, cube in enumerate(self.cubes):
            for x in cube:
                holding.setdefault(x, []).append(number)
        for cube in self.cubes:
            fewest = min((holding[x] for x in cube), key=len)
            self.implying.append(sum(1 << other for other in fewest if cube < self.cubes[other]))


class _Classes:
    """Classes of threats to members, and ORs of them.

    at, of     by member: the threats of each class to it, and the class of each threat
    common     by group: bit set of the classes that at least half of its largest parts read
    literal    of each class
    """

    def __init__(
        self, builder: GateBuilder, threats: Mapping[int, _Threats], groups: int, parts: Sequence[Part]
    ) -> None:
        self.builder, self.threats = builder, threats
        largest: Counter[int] = Counter()
        for part in parts:
            largest[part.group] = max(largest[part.group], len(part.wide))
        largest_parts = [part for part in parts if len(part.wide) == largest[part.group]]
        sizes = Counter(part.group for part in largest_parts)
        group_of = {k: part.group for part in parts for k in part.wide}
        classes = self._read_by(largest_parts)

        def order(rows: int) -> tuple[bool, int, int]:
            """Common classes of a group come first, then those that the same parts read together."""
            group = group_of[classes[rows][0][0]]
            is_rare = 2 * rows.bit_count() < sizes[group]
            return is_rare, (rows & -rows).bit_length() if is_rare else group, rows

        self.common = [0] * groups
        self.at: dict[int, dict[int, int]] = {k: {} for k in group_of}
        self.of: dict[int, dict[int, int]] = {k: {} for k in group_of}
        self.literal: list[int] = []
        for number, rows in enumerate(sorted(classes, key=order)):
            self.literal.append(self._some(classes[rows]))
            self.common[group_of[classes[rows][0][0]]] |= (not order(rows)[0]) << number
            for k, threat in classes[rows]:
                self.of[k][threat] = number
                self.at[k][number] = self.at[k].get(number, 0) | 1 << threat
        every = reduce(or_, self.common)
        self._common_at, self._rare_at, self._rare_classes = (dict.fromkeys(self.at, 0) for _ in range(3))
        for k, at in self.at.items():
            for number, mask in at.items():
                if every >> number & 1:
                    self._common_at[k] |= mask
                else:
                    self._rare_at[k] |= mask
                    self._rare_classes[k] |= 1 << number
        self._chosen: dict[tuple[int, Cube], tuple[int, int, bool]] = {}

    def _read_by(self, parts: Sequence[Part]) -> dict[int, list[tuple[int, int]]]:
        """(member, threat) by the bit set of the parts that read it."""
        readers: dict[tuple[int, Cube], int] = {}
        for number, part in enumerate(parts):
            for key in part.wide.items():
                readers[key] = readers.get(key, 0) | 1 << number
        present: dict[int, int] = {}
        for k, wide in readers:
            present[k] = present.get(k, 0) | self.threats[k].of(wide)
        at: dict[int, dict[int, int]] = {}
        for (k, wide), rows in readers.items():
            of_member = at.setdefault(k, {})
            for threat in bits_of(self.threats[k].closed(wide) & present[k]):
                of_member[threat] = of_member.get(threat, 0) | rows
        classes: dict[int, list[tuple[int, int]]] = {}
        for k, of_member in at.items():
            for threat, rows in of_member.items():
                classes.setdefault(rows, []).append((k, threat))
        return classes

    def _some(self, threats: Iterable[tuple[int, int]]) -> int:
        """The OR of threats to members, their most frequent literals taken out."""
        pairs = [(k, self.threats[k].cubes[threat]) for k, threat in threats]
        frequency = Counter(x for _, cube in pairs for x in cube)
        by_literal: dict[int, list[int]] = {}
        conj, disj = self.builder.conj, self.builder.disj
        for k, cube in pairs:
            first = max(cube, key=lambda x: (frequency[x], x))
            by_literal.setdefault(first, []).append(conj([k, conj(cube - {first})]))
        return disj([conj([first, disj(rest)]) for first, rest in sorted(by_literal.items())])

    def _choose(self, k: int, wide: Cube) -> tuple[int, int, bool]:
        """What the threats of `wide` to k say of classes.

        Bit sets of those with one of the threats (common ones only if they are in the second set, too) and of
        those with another one, and whether a threat is in no class.
        """
        if (k, wide) not in self._chosen:
            mask, closed = self.threats[k].of(wide), self.threats[k].closed(wide)
            of, at, common, rare = self.of[k], self.at[k], self._common_at[k], self._rare_at[k]
            denied = reduce(or_, [1 << of[threat] for threat in bits_of(common & ~closed)], 0)
            met = {of[threat] for threat in bits_of(rare & closed)}
            whole = reduce(or_, [1 << number for number in met if not at[number] & ~closed], 0)
            met.update(bits_of(denied))
            touched = reduce(or_, [1 << number for number in met if at[number] & mask], 0)
            denied |= self._rare_classes[k] & ~whole
            self._chosen[k, wide] = touched, denied, bool(mask & ~common & ~rare)
        return self._chosen[k, wide]

    def literals(self, parts: Sequence[Part]) -> list[int]:
        """By part: the literal that a wide AND of the member that holds is false."""
        sets: list[int] = []
        single: list[list[tuple[int, int]]] = []
        for part in parts:
            touched = denied = 0
            is_left = False
            for k, wide in part.wide.items():
                some, other, is_unknown = self._choose(k, wide)
                touched |= some
                denied |= other
                is_left |= is_unknown
            taken = (touched | self.common[part.group]) & ~denied if any(part.wide.values()) else 0
            sets.append(taken)
            single.append(list(self._left(part, taken)) if is_left or touched & ~taken else [])
        tree = _SetTree(self.builder, self.literal, set(sets))
        return [
            self.builder.disj([tree.literal(chosen), *([self._some(left)] if left else [])])
            for chosen, left in zip(sets, single, strict=True)
        ]

    def _left(self, part: Part, taken: int) -> Iterable[tuple[int, int]]:
        """The threats of a part that are in none of the classes taken."""
        for k, wide in part.wide.items():
            for threat in bits_of(self.threats[k].of(wide)):
                number = self.of[k].get(threat)
                if number is None or not taken >> number & 1:
                    yield k, threat


class _SetTree:
    """ORs of sets of literals, with gates for the subsets that several of them share.

    A set is a bit set over places; its halves are those of the smallest aligned range that splits it.
    """

    def __init__(self, builder: GateBuilder, literals: Sequence[int], sets: Iterable[int]) -> None:
        self.builder, self.literals_of_place = builder, literals
        self.halves: dict[int, tuple[int, int]] = {}
        self.readers: Counter[int] = Counter()
        self.made: dict[int, int] = {0: 1}
        for each in sets:
            self._split(each)

    def _split(self, mask: int) -> None:
        if mask in self.halves or mask & (mask - 1) == 0:
            return
        low = (mask & -mask).bit_length() - 1
        size = 1 << (low ^ (mask.bit_length() - 1)).bit_length() - 1
        middle = (mask.bit_length() - 1) // size * size
        left = mask & (1 << middle) - 1
        self.halves[mask] = left, mask ^ left
        for half in (left, mask ^ left):
            self.readers[half] += 1
            self._split(half)

    def _pieces(self, mask: int) -> list[int]:
        if mask not in self.halves:
            return [self.literals_of_place[mask.bit_length() - 1]]
        found: list[int] = []
        for half in self.halves[mask]:
            found += [self.literal(half)] if self.readers[half] > 1 else self._pieces(half)
        return found

    def literal(self, mask: int) -> int:
        """The OR of the literals of a set."""
        if mask not in self.made:
            self.made[mask] = self.builder.disj(self._pieces(mask))
        return self.made[mask]
