"""Independent subgames: groups of facts that depend on each other and on nothing else.

What a fact depends on is read off the gates between it and the facts and moves of the state before.
Games are taken apart in this way by Günther, Schiffel and Thielscher (2009) and by Cox and others (2009).

A *clock* is a subgame that no move influences, such as a step counter: its state is known for each depth. An
*idle* fact is one that neither the end nor any goal depends on, even by way of other facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_

from ggp.circuit.circuit import bits_of
from ggp.circuit.tables import CircuitTables

Mask = int
"""A set of nodes: node n is bit n."""

MAX_MEBIBYTES = 256
"""Memory that the masks of all gates may take. Amazons on 10x10, with 174,000 moves, would take 4 GiB."""


@dataclass(frozen=True)
class Subgames:
    """Partition of the facts of a game. Fluents are indices in ascending order.

    clocks   facts that no move influences, one group for each clock
    parts    the other facts that ends or goals depend on, one group for each independent subgame
    idle     facts that ends and goals do not depend on
    """

    clocks: tuple[tuple[int, ...], ...]
    parts: tuple[tuple[int, ...], ...]
    idle: tuple[int, ...]


@dataclass(frozen=True)
class Supports:
    """The facts and moves that each output of a circuit depends on, as masks of nodes.

    ends    of `terminal` and of all goals
    legal   by move
    next    by fluent
    """

    ends: Mask
    legal: tuple[Mask, ...]
    next: tuple[Mask, ...]


def find_subgames(tables: CircuitTables, supports: Supports | None = None) -> Subgames:
    """Partition the facts of a game into independent groups.

    supports   of the same tables, if they are known
    Raises OverflowError as `find_supports` does.
    """
    fluents = tables.fluent_count
    supports = supports or find_supports(tables)
    runs_alone = _facts_without_moves(tables, supports)
    relevant = _relevant_facts(tables, supports)
    clocks = _groups(runs_alone, (1 << (1 + f) | supports.next[f] for f in runs_alone))
    played = sorted(relevant - runs_alone)
    parts = _groups(played, _links(tables, supports, played))
    idle = tuple(f for f in range(fluents) if f not in relevant and f not in runs_alone)
    return Subgames(clocks, parts, idle)


def find_supports(tables: CircuitTables) -> Supports:
    """Follow the gates to the outputs. Raises OverflowError if that may exceed MAX_MEBIBYTES."""
    if (tables.node_count - tables.gate0) * tables.gate0 > MAX_MEBIBYTES << 23:
        raise OverflowError("the circuit is too large to follow each fact and move through its gates")
    masks: list[Mask] = [0] + [1 << node for node in range(1, tables.gate0)]
    nodes = (tables.input >> 1).tolist()
    for begin, end in pairwise(tables.first_input.tolist()):
        masks.append(reduce(or_, map(masks.__getitem__, nodes[begin:end])))
    legal, following, goals = (
        tuple(masks[node] for node in (literals >> 1).tolist())
        for literals in (tables.legal, tables.next, tables.goal_literal)
    )
    return Supports(reduce(or_, goals, masks[tables.terminal >> 1]), legal, following)


def _facts_without_moves(tables: CircuitTables, supports: Supports) -> set[int]:
    """The largest set of facts that depend on each other and on no move."""
    fluents = tables.fluent_count
    move_mask = (1 << tables.gate0) - (1 << (1 + fluents))
    found = {f for f in range(fluents) if not supports.next[f] & move_mask}
    while True:
        outside = (1 << tables.gate0) - 1 - sum(1 << (1 + f) for f in found)
        leaving = {f for f in found if supports.next[f] & outside}
        if not leaving:
            return found
        found -= leaving


def _relevant_facts(tables: CircuitTables, supports: Supports) -> set[int]:
    """The facts that ends and goals depend on, by way of other facts and of what is legal as well."""
    move0 = 1 + tables.fluent_count
    seen = new = supports.ends
    while new:
        more = 0
        for node in bits_of(new):
            more |= supports.next[node - 1] if node < move0 else supports.legal[node - move0]
        new = more & ~seen
        seen |= new
    return {node - 1 for node in bits_of(seen) if node < move0}


def _links(tables: CircuitTables, supports: Supports, played: list[int]) -> Iterator[Mask]:
    """By fact of `played`: itself and the facts that it depends on, directly or by what is legal."""
    move0 = 1 + tables.fluent_count
    home: dict[int, int] = {}
    for f in played:
        linked = 1 << (1 + f) | supports.next[f] & ((1 << move0) - 1)
        for move in bits_of(supports.next[f] >> move0):
            linked |= supports.legal[move] | 1 << (1 + home.setdefault(move, f))
        yield linked


def _groups(members: Iterable[int], links: Iterable[Mask]) -> tuple[tuple[int, ...], ...]:
    """`members` by connected components; each of `links` connects those members that it holds."""
    within = sum(1 << (1 + f) for f in members)
    groups: list[Mask] = []
    for link in links:
        joined = [group for group in groups if group & link]
        apart = [group for group in groups if not group & link]
        groups = [*apart, reduce(or_, joined, link & within)]
    return tuple(sorted(tuple(node - 1 for node in bits_of(group)) for group in groups))
