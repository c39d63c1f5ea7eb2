"""sequence_form: the information sets of each agent, and the payoffs of pairs of sequences.

The tree of histories is unrolled breadth-first from the state graph. A history is known by its state and by
what each agent has observed, its own moves and percepts: histories that agree in all of this continue alike
and are one, with the sum of their chances. Agents that choose at the same time need no order, since neither
sees the other's move. What remains of the tree is, for each agent, its information sets, and one number per
pair of sequences that ends a match.

Recall is perfect because an agent remembers all of its observations; see `_Unrolling._decide` for the one
thing that rules can get wrong.

Sources: Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person
games" (1996); the arrays are those of the treeplex of Hoda, Gilpin, Peña and Sandholm (2010).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.slices import slice_offsets, slice_places
from ggp.solver.cfr.state_graph import Int32Array, Int64Array, StateGraph
from ggp.solver.limits import SolverLimitError, SolverLimits, UnsolvableError

BLOCK = 1 << 20
"""Histories unrolled at a time, in joint moves."""
BYTES_PER_HISTORY = 48
"""Memory per history of a layer while it is unrolled, with the arrays that sort it."""
BYTES_PER_PAYOFF = 48
"""Memory per payoff, the arrays that sort them included."""


@dataclass(frozen=True)
class Treeplex:
    """The information sets and sequences of one agent. D sets, Q sequences, X observation histories.

    Sequence 0 is empty; the others are moves of information sets, set by set. A set comes after the set that
    its parent belongs to.

    first      int64[D+1]; the sequences of set d are first[d] .. first[d+1]-1
    parent     int32[D]: the last own sequence before set d
    history    int64[D]: what was observed before set d, a number of `observed`
    origin     int64[X]: the observation history before the last step; -1 for the empty history 0
    slot       int32[X]: place of the own move of the last step among the legal moves before it
    percept    int32[X]: number of the percept set of the last step in the state graph
    known      int32[X]: number of the set of legal moves after observation history x
    """

    first: Int64Array
    parent: Int32Array
    history: Int64Array
    origin: Int64Array
    slot: Int32Array
    percept: Int32Array
    known: Int32Array

    @property
    def set_count(self) -> int:
        return len(self.parent)

    @property
    def sequence_count(self) -> int:
        return int(self.first[-1])


@dataclass(frozen=True, repr=False)
class SequenceForm:
    """A game of two agents and constant sum in sequence form. P payoffs, Q0 sequences of agent 0.

    graph       the states behind it
    plexes      the information sets of agents 0 and 1
    row_start   int64[Q0+1]; payoffs of sequence q of agent 0 are row_start[q] .. row_start[q+1]-1
    column      int32[P]: sequence of agent 1
    payoff      float64[P]: what agent 0 gets above half the constant sum, times the chances of the ends
    histories   how many histories were unrolled, equal ones counted once
    seconds     time it took to unroll them
    """

    graph: StateGraph
    plexes: tuple[Treeplex, Treeplex]
    row_start: Int64Array
    column: Int32Array
    payoff: NDArray[np.float64]
    histories: int
    seconds: float

    def __repr__(self) -> str:
        sets = " and ".join(f"{plex.set_count:,}" for plex in self.plexes)
        return (
            f"<SequenceForm of {self.graph.game.name}: {sets} information sets, {len(self.payoff):,} payoffs>"
        )


@dataclass(frozen=True)
class UnrollingProgress:
    """Progress of unrolling: histories so far, joint moves made, seconds."""

    histories: int
    depth: int
    seconds: float


def sequence_form(
    graph: StateGraph,
    limits: SolverLimits | None = None,
    report: Callable[[UnrollingProgress], None] | None = None,
) -> SequenceForm:
    """Unroll a state graph into its sequence form.

    Raises SolverLimitError; UnsolvableError if a match need not end, or if an agent cannot tell from its
    observations which moves are legal.
    """
    return _Unrolling(graph, limits or SolverLimits(), report).run()


class _Layer(NamedTuple):
    """Unfinished histories of equal length: states, by agent its observation history within the layer, and
    chances."""

    state: Int32Array
    view: list[Int64Array]
    chance: NDArray[np.float64]


class _Views:
    """What one agent observes: histories layer by layer, and the information sets among them."""

    def __init__(self, agent: int, graph: StateGraph) -> None:
        self.agent = agent
        self.percepts = len(graph.percept_sets[agent]) or int(np.diff(graph.first_edge).max(initial=1))
        self.moves: Int64Array = np.array([len(legal) for legal in graph.legal_sets[agent]], np.int64)
        self.most_moves = int(self.moves.max())
        # Of the current layer: the number of its first observation history, and by view the last own
        # sequence and the first one of the information set (-1 without a choice).
        self.offset, self.following_offset, self.sequences = 0, 1, 1
        self.sequence, self.opening = np.zeros(1, np.int64), np.zeros(1, np.int64)
        names = ["count", "parent", "history", "origin", "slot", "percept", "known"]
        self.parts: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
        self._append(origin=np.array([-1]), slot=np.array([0]), percept=np.array([0]))

    def _append(self, **columns: Int64Array) -> None:
        for name, values in columns.items():
            self.parts[name].append(values)

    def decide(self, layer: _Layer, graph: StateGraph) -> None:
        """Make the information sets of a layer. Raises UnsolvableError if legal moves are not known."""
        view, legal = layer.view[self.agent], graph.legal[layer.state, self.agent]
        known = np.zeros(len(self.sequence), np.int64)
        known[view] = legal
        if (known[view] != legal).any():
            role = graph.agents[self.agent]
            raise UnsolvableError(
                f"{role} cannot tell from its percepts which moves are legal:"
                " states that it cannot tell apart must have the same"
            )
        moves = self.moves[known]
        has_choice = moves > 1
        count = np.where(has_choice, moves, 0)
        self.opening = np.where(has_choice, self.sequences + slice_offsets(count)[:-1], -1)
        self.sequences += int(count.sum())
        where = np.flatnonzero(has_choice)
        self._append(
            count=count[where],
            parent=self.sequence[where],
            history=self.offset + where,
            known=known,
        )

    def sequence_after(self, view: Int64Array, slot: Int64Array) -> Int64Array:
        opening = self.opening[view]
        return np.where(opening >= 0, opening + slot, self.sequence[view])

    def key(self, view: Int64Array, slot: Int64Array, percept: Int64Array) -> Int64Array:
        return (view * self.most_moves + slot) * self.percepts + percept

    def follow(self, keys: Int64Array) -> Int64Array:
        """Go to the next layer by the keys of its histories; return the views of these."""
        different, view = np.unique(keys, return_inverse=True)
        rest, percept = np.divmod(different, self.percepts)
        before, slot = np.divmod(rest, self.most_moves)
        self._append(origin=self.offset + before, slot=slot, percept=percept)
        self.sequence = self.sequence_after(before, slot)
        self.offset, self.following_offset = self.following_offset, self.following_offset + len(different)
        return view.astype(np.int64)

    def treeplex(self) -> Treeplex:
        whole: dict[str, Any] = {
            name: np.concatenate([*parts, np.zeros(0, np.int64)]) for name, parts in self.parts.items()
        }
        first = 1 + slice_offsets(whole.pop("count"))
        narrow = {name: whole.pop(name).astype(np.int32) for name in ("parent", "slot", "percept", "known")}
        return Treeplex(first=first, **narrow, **whole)


class _Unrolling:
    def __init__(
        self,
        graph: StateGraph,
        limits: SolverLimits,
        report: Callable[[UnrollingProgress], None] | None,
    ) -> None:
        self.graph, self.limits, self.report = graph, limits, report
        self.start = time.perf_counter()
        self.agents = len(graph.agents)
        self.views = [_Views(agent, graph) for agent in range(self.agents)]
        self.histories, self.depth = 1, 0
        self.ends: list[tuple[Int32Array, Int32Array, NDArray[np.float64]]] = []
        self.end_count = 0
        self.degree = np.diff(graph.first_edge)
        self.share = graph.chance
        self.merges = bool((graph.chance < 1).any()) or self.agents == 1

    def run(self) -> SequenceForm:
        layer = _Layer(np.zeros(1, np.int32), [np.zeros(1, np.int64)] * self.agents, np.ones(1))
        if not self.degree[0]:
            self.ends.append((np.zeros(1, np.int32), np.zeros(1, np.int32), self.graph.payoff[:1]))
            layer = layer._replace(state=layer.state[:0])
        while len(layer.state):
            for views in self.views:
                views.decide(layer, self.graph)
            layer = self._next_layer(layer)
            self.depth += 1
            if self.depth > self.graph.state_count:
                raise UnsolvableError("a match need not end, so the tree of histories has no end either")
        payoffs = self._payoffs()
        plexes = [views.treeplex() for views in self.views]
        if len(plexes) == 1:
            plexes.append(_Views(0, self.graph).treeplex())
        seconds = time.perf_counter() - self.start
        return SequenceForm(self.graph, (plexes[0], plexes[1]), *payoffs, self.histories, seconds)

    def _next_layer(self, layer: _Layer) -> _Layer:
        ends = np.cumsum(self.degree[layer.state])
        self._check_limits(len(layer.state), int(ends[-1]))
        parts: list[tuple[list[Int64Array], Int32Array, NDArray[np.float64]]] = []
        first = 0
        while first < len(layer.state):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
            parts.append(self._expand(layer, first, last))
            first = last
            self._check_limits(len(layer.state), sum(len(part[1]) for part in parts))
        state, chance = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        view = [
            views.follow(np.concatenate([part[0][agent] for part in parts]))
            for agent, views in enumerate(self.views)
        ]
        following = _Layer(state, view, chance)
        if self.merges and len(state):
            following = _merged(following)
        self.histories += len(following.state)
        return following

    def _expand(
        self, layer: _Layer, first: int, last: int
    ) -> tuple[list[Int64Array], Int32Array, NDArray[np.float64]]:
        """Make all joint moves of some histories; keep those that end, return keys of the others."""
        graph = self.graph
        state = layer.state[first:last]
        degree = self.degree[state]
        edge = slice_places(graph.first_edge[state], degree)
        owner = np.repeat(np.arange(first, last), degree)
        chance = (layer.chance[first:last] * self.share[state])[owner - first]
        reached = graph.successor[edge]
        goes_on = self.degree[reached] > 0
        on, over = np.flatnonzero(goes_on), np.flatnonzero(~goes_on)
        slot, percept = graph.slot[edge].astype(np.int64), graph.percept[edge].astype(np.int64)
        sequences = [
            views.sequence_after(layer.view[a][owner[over]], slot[over, a])
            for a, views in enumerate(self.views)
        ]
        worth = chance[over] * graph.payoff[reached[over]]
        column = sequences[1] if self.agents == 2 else np.zeros(len(over), np.int64)
        self.ends.append((sequences[0].astype(np.int32), column.astype(np.int32), worth))
        self.end_count += len(over)
        self.histories += len(over)
        keys = [
            views.key(layer.view[a][owner[on]], slot[on, a], percept[on, a])
            for a, views in enumerate(self.views)
        ]
        return keys, reached[on], chance[on]

    def _check_limits(self, layer: int, following: int) -> None:
        limits, seconds = self.limits, time.perf_counter() - self.start
        if self.report is not None:
            self.report(UnrollingProgress(self.histories + following, self.depth, seconds))
        if limits.histories is not None and self.histories + following > limits.histories:
            raise SolverLimitError(f"more than {limits.histories:,} histories")
        views = sum(views.following_offset for views in self.views)
        wanted = BYTES_PER_HISTORY * (layer + following) + BYTES_PER_PAYOFF * self.end_count + 64 * views
        if wanted > limits.mebibytes << 20:
            raise SolverLimitError(
                f"{self.histories:,} histories found after {self.depth} joint moves;"
                f" {limits.mebibytes} MiB of memory hold no more"
            )
        limits.check_time(f"{self.histories:,} histories found")

    def _payoffs(self) -> tuple[Int64Array, Int32Array, NDArray[np.float64]]:
        """The payoffs of pairs of sequences, sorted; those of the same pair added up."""
        rows = self.views[0].sequences
        columns = self.views[1].sequences if self.agents == 2 else 1
        row, column, worth = (np.concatenate(parts) for parts in zip(*self.ends, strict=True))
        self.ends.clear()
        pair = row.astype(np.int64) * columns + column
        different, place = np.unique(pair, return_inverse=True)
        payoff: NDArray[np.float64] = np.bincount(place, worth, len(different)).astype(np.float64)
        row_start = np.searchsorted(different, np.arange(rows + 1, dtype=np.int64) * columns)
        return row_start.astype(np.int64), (different % columns).astype(np.int32), payoff


def _merged(layer: _Layer) -> _Layer:
    """Merge histories that agree in state and views, adding up their chances."""
    order = np.lexsort(np.array([layer.state, *layer.view]))
    state, view = layer.state[order], [of_agent[order] for of_agent in layer.view]
    is_new = np.append(True, state[1:] != state[:-1])
    for of_agent in view:
        is_new[1:] |= of_agent[1:] != of_agent[:-1]
    first = np.flatnonzero(is_new)
    chance = np.add.reduceat(layer.chance[order], first)
    return _Layer(state[first], [of_agent[first] for of_agent in view], chance)
