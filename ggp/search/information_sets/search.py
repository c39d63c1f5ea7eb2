"""Search over information sets by regret matching on lanes, thousands of simulations at a time.

A role chooses by the statistics of its *information set*: all that it has observed since the start of the
match, its own moves and percepts. Every simulation starts in the initial state, so histories are weighted by
the strategies that the search itself has found for the other roles, and never by a model of them.

Outcome-sampling Monte Carlo counterfactual regret minimization (Lanctot, Waugh, Zinkevich and Bowling 2009,
section 4) with a baseline per move against variance (Schmid and others 2019) and, after every batch, without
negative regrets (regret matching+, Tammelin 2014). In two-role games of constant sum the average strategies
approach an equilibrium; elsewhere they are a heuristic. A simulation adds at most
one set per role, the first decision that is new to it; from there on the role moves uniformly at random.

The simulations of a batch read the statistics as they were when it began. Batches are small at first, because
strategies that change more often approach an equilibrium with fewer simulations.
`ggp.search.information_sets.plain` is the readable twin.

Shapes: L lanes of one pass, R roles, F fluents, P percepts of a role, M moves of a role.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.observation import Observation
from ggp.beliefs.observation_keys import ObservationKeys, UInt64Array
from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Move, Role
from ggp.lanes.engine import Lanes
from ggp.search.information_sets.draws import draws
from ggp.search.information_sets.set_table import UNKNOWN, Float64Array, Int64Array, SetTable, shares
from ggp.search.stopping import stops_at

EXPLORATION = 0.6
"""How often the role whose regrets are learned tries a move at random."""
STEP_LIMIT = 1000
"""Joint moves after which a simulation ends without being learned from."""
DEEPEST = 100
"""Steps after which no sets are kept: each of them takes memory in every lane."""
LEAST_BATCH = 32
MOST_BATCH = 512
_BATCH_SHARE = 64
_MOST_CELLS = 1 << 17
"""Cells of the arrays that a batch keeps of one role's choices in a step: games of strangers may be wide."""

BoolArray = NDArray[np.bool_]


def batch_size(simulation_count: int, moves: int) -> int:
    """Simulations of the next batch: a 64th of those made so far, within limits.

    moves   the most moves of any role: the arrays of a batch have a place for each of them

    >>> batch_size(0, 9), batch_size(6400, 9), batch_size(10**6, 9), batch_size(10**6, 5000)
    (32, 100, 512, 26)
    """
    affordable = max(1, _MOST_CELLS // moves)
    return min(affordable, MOST_BATCH, max(LEAST_BATCH, simulation_count // _BATCH_SHARE))


@dataclass(frozen=True)
class _Choices:
    """Decisions of one role in known sets, in one step of one pass. V: such decisions.

    simulation   int64[V]; place within the pass
    row          int64[V]: of the set
    strategy     float64[V, M]
    is_legal     bool[V, M]
    chosen       int64[V]: number of the move
    chance       float64[V]: probability with which it was sampled
    reach        float64[V]: probability of sampling the learner's earlier moves
    """

    role: int
    simulation: Int64Array
    row: Int64Array
    strategy: Float64Array
    is_legal: BoolArray
    chosen: Int64Array
    chance: Float64Array
    reach: Float64Array

    def of(self, chosen: BoolArray) -> _Choices:
        """Those that bool[V] selects."""
        parts = {each.name: getattr(self, each.name)[chosen] for each in fields(self) if each.name != "role"}
        return _Choices(self.role, **parts)


class _Pass:
    """Up to 64*W simulations side by side. L of its N simulations still go on.

    number       int64[N]: simulations are numbered from the first one of the search
    learner      int64[N]: the role that learns
    goal         float64[N]: the learner's; NaN if the match did not come to an end with one goal
    choices      in order of time
    simulation   int64[L]: those that go on, places within N
    state        bool[F, L]
    key          per role uint64[L]: of what it has observed
    is_inside    bool[R, L]: whether all sets of the role so far are known
    reach        float64[L]: probability of sampling the learner's moves
    """

    def __init__(self, number: Int64Array, learner: Int64Array, initial: BoolArray, roles: int) -> None:
        count = len(number)
        self.number, self.learner = number, learner
        self.goal = np.full(count, np.nan)
        self.choices: list[_Choices] = []
        self.simulation = np.arange(count)
        self.state = np.repeat(initial[:, None], count, axis=1)
        self.key = [np.zeros(count, np.uint64) for _ in range(roles)]
        self.is_inside = np.ones((roles, count), np.bool_)
        self.reach = np.ones(count)

    def keep(self, going_on: BoolArray) -> None:
        """Drop the lanes of bool[L] that are over."""
        self.simulation = self.simulation[going_on]
        self.state = self.state[:, going_on]
        self.key = [key[going_on] for key in self.key]
        self.is_inside = self.is_inside[:, going_on]
        self.reach = self.reach[going_on]


class InformationSetSearch:
    """Statistics of the information sets of all roles, grown by simulations from the initial state.

    >>> import ggp
    >>> game = ggp.load("wire_cutting")
    >>> search = InformationSetSearch(game, seed=1)
    >>> search.run(simulations=2000)
    >>> before = Observation(ggp.parse_term("noop"), ())
    >>> shares = search.average_strategy(game.roles[0], [before])
    >>> str(max(shares, key=shares.__getitem__))
    'ask'
    """

    def __init__(
        self, game: CompiledGame, *, seed: int = 0, exploration: float = EXPLORATION, mebibytes: float = 256
    ) -> None:
        """Set up the lanes and `mebibytes` of statistics, shared evenly by the roles that choose."""
        self._game = game
        self._seed = seed
        self._exploration = exploration
        self._lanes = Lanes(game.lane_tables, words=game.words)
        self._learners = np.array([i for i, role in enumerate(game.roles) if role != RANDOM_ROLE], np.int64)
        self._first_move = np.asarray(game.tables.first_move, np.int64)
        self._keys = [ObservationKeys(game, i) for i in range(len(game.roles))]
        share = mebibytes / max(1, len(self._learners))
        self._tables = {int(i): SetTable(len(game.moves[i]), share) for i in self._learners}
        self._new: dict[int, list[tuple[UInt64Array, BoolArray]]] = {i: [] for i in self._tables}
        self._widest = max(map(len, game.moves))
        self._legal = np.split(game.legal_literals, self._first_move[1:-1])
        self._terminal = np.array([game.lane_tables.terminal], np.int32)
        self._initial = game.unpack(game.initial_state())
        self.simulation_count = 0

    @property
    def set_count(self) -> int:
        """Information sets with statistics, of all roles."""
        return sum(table.set_count for table in self._tables.values())

    @property
    def is_full(self) -> bool:
        """Whether some role's statistics take all their memory."""
        return any(table.is_full for table in self._tables.values())

    def run(
        self,
        *,
        simulations: int | None = None,
        deadline: float | None = None,
        is_stopped: Callable[[], bool] | None = None,
    ) -> None:
        """Simulate so many matches, or until `deadline` (`time.monotonic()` seconds) or `is_stopped()`.

        The batch under way at that time is lost. Raises ValueError without any end.
        """
        if simulations is None and deadline is None and is_stopped is None:
            raise ValueError("a search needs an end")
        is_over = stops_at(deadline, is_stopped)
        end = None if simulations is None else self.simulation_count + simulations
        while (end is None or self.simulation_count < end) and not is_over():
            count = batch_size(self.simulation_count, self._widest)
            self._run_batch(count if end is None else min(count, end - self.simulation_count), is_over)

    def average_strategy(self, role: Role, observations: Iterable[Observation]) -> dict[Move, float]:
        """The average strategy of `role` after `observations`; empty where the search has no statistics."""
        found = self.statistics(role, observations)
        if not found:
            return {}
        is_legal = found["is_legal"].astype(np.bool_)
        average = shares(found["weight"][None], is_legal[None])[0]
        moves = self._game.moves[self._game.roles.index(role)]
        return {moves[i]: float(average[i]) for i in np.flatnonzero(is_legal).tolist()}

    def statistics(self, role: Role, observations: Iterable[Observation]) -> dict[str, Float64Array]:
        """The arrays of one set, float64[M], by their names in `SetTable`; empty if it has none."""
        index = self._game.roles.index(role)
        key = self._keys[index].of(observations)
        if key is None or index not in self._tables:
            return {}
        table = self._tables[index]
        (row,) = table.rows(np.array([key], np.uint64)).tolist()
        if row == UNKNOWN:
            return {}
        kinds = ("regret", "weight", "total", "tries", "is_legal")
        return {kind: np.array(getattr(table, kind)[row], np.float64) for kind in kinds}

    def _run_batch(self, count: int, is_over: Callable[[], bool]) -> None:
        """Simulate `count` matches, then learn from all of them; from none if `is_over()` comes first."""
        most = self._lanes.lane_count
        first, end = self.simulation_count, self.simulation_count + count
        numbers = [np.arange(start, min(start + most, end)) for start in range(first, end, most)]
        passes = [self._simulate(each, is_over) for each in numbers]
        if all(each is not None for each in passes):
            self._learn_batch([each for each in passes if each is not None])
            self.simulation_count = end
        for parts in self._new.values():
            parts.clear()

    def _learn_batch(self, passes: list[_Pass]) -> None:
        """Learn from all passes, then add the sets that were new."""
        baselines = [self._baselines(each) for each in passes]
        for each, baseline in zip(passes, baselines, strict=True):
            self._learn(each, baseline)
        for made in (made for each in passes for made in each.choices):
            self._tables[made.role].forget_negative_regrets(made.row)
        for role, parts in self._new.items():
            if parts:
                keys, legal = zip(*parts, strict=True)
                self._tables[role].add(np.concatenate(keys), np.concatenate(legal))

    def _simulate(self, number: Int64Array, is_over: Callable[[], bool]) -> _Pass | None:
        """One match in each lane; None if `is_over()` comes first."""
        learner = self._learners[number % len(self._learners)]
        found = _Pass(number, learner, self._initial, len(self._game.roles))
        for step in range(STEP_LIMIT):
            if not len(found.simulation) or not self._step(found, step):
                break
            if is_over():
                return None
        return found

    def _step(self, found: _Pass, step: int) -> bool:
        """One joint move in every lane that goes on; False if there is none."""
        lanes, roles = self._lanes, range(len(self._game.roles))
        lanes.set_states(found.state)
        lanes.settle(Phase.LEGAL, Phase.GOAL)
        count = len(found.simulation)
        is_over = lanes.read(self._terminal, count)[0]
        legal = [lanes.read(literals, count) for literals in self._legal]
        is_stuck = ~np.all([each.any(axis=0) for each in legal], axis=0)
        if is_over.any():
            found.goal[found.simulation[is_over]] = self._goals(found)[is_over]
        going_on = ~(is_over | is_stuck)
        if not going_on.any():
            return False
        found.keep(going_on)
        count = len(found.simulation)
        choices = [self._choose(found, step, role, legal[role][:, going_on].T) for role in roles]
        moves = [move for move, _ in choices]
        found.reach = np.prod([found.reach, *(factor for _, factor in choices)], axis=0)
        selected = np.zeros((int(self._first_move[-1]), count), np.bool_)
        for role in roles:
            selected[self._first_move[role] + moves[role], np.arange(count)] = True
        lanes.set_states(found.state)
        lanes.set_moves(selected)
        lanes.settle(Phase.LEGAL, Phase.SEES)
        found.state = lanes.read(self._game.lane_tables.next, count)
        for role, keys in enumerate(self._keys):
            if role in self._tables:
                seen = lanes.read(keys.percept_literals, count)
                found.key[role] = keys.extended(found.key[role], moves[role], seen)
        return True

    def _goals(self, found: _Pass) -> Float64Array:
        """float64[L]: the learner's goals, NaN if a lane has none or several."""
        tables, count = self._game.lane_tables, len(found.simulation)
        goal = np.full(count, np.nan)
        learner = found.learner[found.simulation]
        for role in self._tables:
            part = slice(tables.goal_first[role], tables.goal_first[role + 1])
            holds = self._lanes.read(tables.goal_literal[part], count)
            value = (holds * tables.goal_value[part, None]).sum(axis=0)
            goal = np.where((learner == role) & (holds.sum(axis=0) == 1), value, goal)
        return goal

    def _choose(
        self, found: _Pass, step: int, role: int, is_legal: BoolArray
    ) -> tuple[Int64Array, Float64Array]:
        """The moves of one role, int64[L], and the factors of `reach`, float64[L].

        Its decisions in known sets are added to `found`.
        """
        number = found.number[found.simulation]
        if step >= DEEPEST:
            found.is_inside[role] = False
        row = self._rows(found, role, is_legal)
        is_known = row != UNKNOWN
        is_own = is_known & (found.learner[found.simulation] == role)
        table = self._tables.get(role)
        strategy = (
            shares(np.zeros(is_legal.shape), is_legal) if table is None else table.strategy(row, is_legal)
        )
        even = is_legal / is_legal.sum(axis=1, keepdims=True)
        sampling = np.where(
            is_own[:, None], self._exploration * even + (1 - self._exploration) * strategy, strategy
        )
        sums = np.cumsum(sampling, axis=1)
        point = draws(self._seed, number, step, role) * sums[:, -1]
        chosen = np.argmax(sums > point[:, None], axis=1)
        chance = sampling[np.arange(len(chosen)), chosen]
        if is_known.any():
            made = _Choices(role, found.simulation, row, strategy, is_legal, chosen, chance, found.reach)
            found.choices.append(made.of(is_known))
        return chosen, np.where(is_own, chance, 1.0)

    def _rows(self, found: _Pass, role: int, is_legal: BoolArray) -> Int64Array:
        """int64[L]: the sets of the role, UNKNOWN where it has no choice or no statistics."""
        is_choice = (is_legal.sum(axis=1) > 1) & found.is_inside[role]
        if role not in self._tables or not is_choice.any():
            return np.full(len(is_choice), UNKNOWN)
        table, key = self._tables[role], found.key[role]
        row = np.where(is_choice, table.rows(key), UNKNOWN)
        is_new = is_choice & (row == UNKNOWN)
        found.is_inside[role] &= ~is_new
        if is_new.any() and not table.is_full:
            self._new[role].append((key[is_new], is_legal[is_new]))
        return row

    def _baselines(self, found: _Pass) -> list[Float64Array]:
        return [self._tables[each.role].baseline(each.row) for each in found.choices]

    def _learn(self, found: _Pass, baselines: list[Float64Array]) -> None:
        """Add the regrets and average strategies of one pass."""
        value = found.goal.copy()
        for made, baseline in zip(reversed(found.choices), reversed(baselines), strict=True):
            table = self._tables[made.role]
            is_ended = np.isfinite(found.goal[made.simulation])
            is_own = found.learner[made.simulation] == made.role
            averaged = made.of(is_ended & (is_own if len(self._learners) == 1 else ~is_own))
            reach = 1.0 if len(self._learners) == 1 else averaged.reach[:, None]
            np.add.at(table.weight, averaged.row, averaged.strategy / reach)
            own, values = made.of(is_ended & is_own), baseline[is_ended & is_own]
            visit = np.arange(len(own.row))
            old = values[visit, own.chosen]
            values[visit, own.chosen] = old + (value[own.simulation] - old) / own.chance
            mean = (own.strategy * values).sum(axis=1)
            regret = np.where(own.is_legal, values - mean[:, None], 0.0)
            np.add.at(table.regret, own.row, regret / own.reach[:, None])
            np.add.at(table.tries, (own.row, own.chosen), 1.0)
            np.add.at(table.total, (own.row, own.chosen), found.goal[own.simulation])
            value[own.simulation] = mean
