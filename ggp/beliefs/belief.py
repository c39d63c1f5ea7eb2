"""Beliefs: the states that are possible given what one role observed, with their probabilities.

After every step each state held is advanced by all joint moves that the other roles may have made; only
successors survive in which this role would have observed what it did. Chance moves uniformly, by the rules;
the other roles are assumed to do so too. While all possible states fit the belief is *exact*; beyond that it
is a sample, whose states are advanced in the same way, one step ahead.
If no state survives, histories are sampled again from the start; if that fails too, the percepts are ignored
for one step.

Source: the look-ahead of the proposals follows Schofield, Cerexhe & Thielscher, HyperPlay (AAAI 2012).
Limits: an improbable history may be missing from a sample.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, cast

from gdl.terms import Term
from ggp.beliefs.expansion import PATIENCE_SECONDS, Expansion, Weights
from ggp.beliefs.observation import Observation
from ggp.beliefs.tracking import Position, StateTracker, Tracker
from ggp.engines.batches import require_compiled
from ggp.game import Fact, Game, Move, Role, has_percepts, is_compiled, legal_or_none

if TYPE_CHECKING:
    from ggp.beliefs.lanes_expansion import LanesExpansion
    from ggp.beliefs.observation_keys import UInt64Array

_MAX_ATTEMPTS = 3000
"""Maximum random successors tried in a step after which no state held is possible."""

_ATTEMPTS_PER_STEP = 20
_MAX_RECOVERED = 100
"""Maximum successors or histories sampled in such a step."""

_MAX_FORESEEN = 8192
"""Maximum joint moves made to foresee a step."""

_SHARE_OF_CLOCK = 0.4
"""Share of the remaining time that one step may spend on tracking."""


class Belief:
    """Follows a match of a game with hidden information by one role's observations.

    >>> import ggp, random
    >>> game = ggp.load("kuhn_poker", engine="reasoner")
    >>> belief = Belief(game, game.roles[0], random.Random(0))
    >>> seen = (ggp.parse_term("(card queen)"),)
    >>> position = belief.advance(seen, ggp.parse_term("noop"), deadline=float("inf"))
    >>> len(belief.states), belief.is_exact, [str(fact) for fact in belief.certain_facts()]
    (2, True, ['(control first)', '(holds first queen)'])
    """

    def __init__(
        self, game: Game[Any], role: Role, rng: random.Random, expansion: Expansion | None = None
    ) -> None:
        """Begin at the initial state. expansion: None: one of its own; beliefs in one thread may share it."""
        self._game = game
        self._role = role
        self._rng = rng
        if expansion is None and is_compiled(game):
            from ggp.beliefs.lanes_expansion import LanesExpansion  # loads numba

            expansion = LanesExpansion(require_compiled(game), role)
        self._expansion = expansion or Expansion(game, role)
        self._most_recovered = min(_MAX_RECOVERED, self._expansion.sample_size)
        self._weights: Weights = {game.initial_state(): 1.0}
        self._is_exact = True
        self._history: list[Observation] = []
        self.position = self._describe("")

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The states held, all of them possible as far as known."""
        return tuple(self._weights)

    @property
    def probabilities(self) -> dict[Hashable, float]:
        """The states held with their probabilities, which add up to 1."""
        return dict(self._weights)

    def keep_keys(self) -> None:
        """Keep what each role has observed, from the first step on. The game must be compiled, and the
        expansion this belief's own."""
        assert not self._history
        self._on_lanes.keep_keys()

    def keys(self) -> UInt64Array:
        """uint64[N, R]: for each of `states` the keys of what each role has observed, see `ObservationKeys`.
        What the own role has observed is the same in all states. `keep_keys` comes first."""
        return self._on_lanes.keys_of(self.states, self._history)

    def foreseen(
        self, own_move: Move, deadline: float, is_over: Callable[[], bool] = lambda: False
    ) -> tuple[Weights, UInt64Array] | None:
        """States that may follow `own_move`, with weights, and the keys of each role's observations.

        They follow on a sample of the states held; nothing is known yet of what the role observes. None if
        time runs out, `is_over()`, or the states have too many joint moves. `keep_keys` comes first.
        """
        states = self._affordable(own_move, _MAX_FORESEEN)
        return self._on_lanes.foreseen(
            states, own_move, self._history, lambda: is_over() or time.monotonic() > deadline
        )

    @property
    def _on_lanes(self) -> LanesExpansion:
        return cast("LanesExpansion", self._expansion)

    @property
    def is_exact(self) -> bool:
        """Whether `states` are all that agree with the observations, not a sample."""
        return self._is_exact

    def certain_facts(self) -> tuple[Fact, ...] | None:
        """The facts true in all possible states, sorted by text; None if not all of them are held."""
        return self._expansion.common_facts(self.states) if self._is_exact else None

    def advance(self, terms: tuple[Term, ...] | None, own_move: Move | None, deadline: float) -> Position:
        """The position after a step; see `Tracker`. NIL before the first step changes nothing."""
        if terms is None and not self._history:
            return self.position
        observation = Observation(own_move, tuple(terms or ()))
        self._history.append(observation)
        now = time.monotonic()
        until = now + max(0.0, deadline - now) * _SHARE_OF_CLOCK
        self.position = self._describe(self._apply(observation, until))
        return self.position

    def _apply(self, observation: Observation, until: float) -> str:
        """Replace the states held by their successors; return the note."""
        found = self._advanced(observation, until)
        if found:
            self._keep(found)
            return ""
        was_exact, self._is_exact = self._is_exact, False
        found, note = self._recover(observation, until, was_exact=was_exact)
        if found:
            self._keep(found)
            return note
        return "no successor agrees with the percepts; ignored"

    def _advanced(self, observation: Observation, until: float) -> Weights:
        """The successors of the states held that agree, or as many of them as there is time for. Random ones
        if none was found among a part of them."""
        chosen = self._affordable(observation.own_move, self._expansion.limit)
        found, is_complete = self._expansion.successors(chosen, observation, until)
        is_complete &= len(chosen) == len(self._weights)
        self._is_exact &= is_complete
        if not found and not is_complete:
            return self._sample(observation, observation.own_move, until + PATIENCE_SECONDS)
        return found

    def _affordable(self, own_move: Move | None, limit: int) -> Weights:
        """The states held, or as many of them, drawn at random, as have `limit` joint moves in all."""
        counts = self._expansion.count(self.states, own_move)
        total = sum(counts)
        if total <= limit:
            return self._weights
        kept, made = {}, 0
        count_of = dict(zip(self._weights, counts, strict=True))
        for state, weight in _sampled(self._weights, len(counts) * limit // total, self._rng).items():
            made += count_of[state]
            if made > limit:
                break
            kept[state] = weight
        return kept

    def _recover(self, observation: Observation, until: float, *, was_exact: bool) -> tuple[Weights, str]:
        """States for a step that no state held explains, by weaker and weaker demands, and a note. A sample
        may lack the true state; if all possible states were held, the own move must be another one."""
        replayed = "histories sampled again from the start"
        if not was_exact:
            found = self._replay(until + PATIENCE_SECONDS)
            if found:
                return found, replayed
        if observation.own_move is not None:
            found = self._advanced(Observation(None, observation.percepts), until)
            if found:
                return found, "own move differs from the answer sent"
        found = self._replay(until + PATIENCE_SECONDS) if was_exact else {}
        if found:
            return found, replayed
        found = self._sample(None, observation.own_move, until + 0.2)
        if found:
            return found, "percepts contradict the states held"
        return self._sample(None, None, until + 0.2), "percepts and own move contradict the states held"

    def _keep(self, found: Weights) -> None:
        if len(found) > self._expansion.most_states:
            self._is_exact = False
            found = _sampled(found, self._expansion.sample_size, self._rng)
        total = sum(found.values())
        self._weights = {state: weight / total for state, weight in found.items()}

    def _sample(self, observation: Observation | None, own_move: Move | None, until: float) -> Weights:
        """Random successors of the states held that agree; any successors if `observation` is None."""
        found: Weights = {}
        for state in self._draw_states(_MAX_ATTEMPTS):
            if sum(found.values()) >= self._most_recovered or time.monotonic() > until:
                break
            successor = self._random_successor(state, observation, own_move)
            if successor is not None:
                found[successor] = found.get(successor, 0.0) + 1.0
        return found

    def _draw_states(self, count: int) -> Iterator[Hashable]:
        return iter(self._rng.choices(list(self._weights), weights=list(self._weights.values()), k=count))

    def _random_successor(
        self, state: Hashable, observation: Observation | None, own_move: Move | None
    ) -> Hashable | None:
        choices = self._expansion.choices(state, own_move)
        if not all(choices):
            return None
        return self._expansion.successor(state, tuple(map(self._rng.choice, choices)), observation)

    def _replay(self, until: float) -> Weights:
        """Sample whole histories from the initial state, with a few attempts per step."""
        found: Weights = {}
        for _ in range(_MAX_ATTEMPTS):
            if len(found) >= self._most_recovered or time.monotonic() > until:
                break
            state: Hashable | None = self._game.initial_state()
            for observation in self._history:
                tries = (
                    self._random_successor(state, observation, observation.own_move)
                    for _ in range(_ATTEMPTS_PER_STEP)
                )
                state = next((successor for successor in tries if successor is not None), None)
                if state is None:
                    break
            else:
                found[state] = found.get(state, 0.0) + 1.0
        return found

    def _describe(self, note: str) -> Position:
        (state,) = self._draw_states(1)
        return Position(len(self._history), state, None, self._legal_everywhere(), note)

    def _legal_everywhere(self) -> tuple[Move, ...]:
        """Moves that are legal in every state held; if there are none, in the likeliest states."""
        everywhere = self._expansion.common_moves(self.states)
        if everywhere:
            return everywhere
        common: set[Move] = set()
        for state in sorted(self._weights, key=lambda state: -self._weights[state]):
            legal = set(legal_or_none(self._game, state, self._role))
            if common and not common & legal:
                break
            common = common & legal if common else legal
        return tuple(sorted(common, key=str))


def make_tracker(game: Game[Any], role: Role, rng: random.Random) -> Tracker:
    """The tracker that `game` needs, at its initial state. `rng` samples states in GDL-II."""
    return Belief(game, role, rng) if has_percepts(game) else StateTracker(game, role)


def prepare_beliefs(game: Game[Any]) -> None:
    """Compile the kernels that beliefs of `game` run or load them from the cache, before any clock starts."""
    Belief(game, game.roles[0], random.Random(0))


def _sampled(weights: Weights, count: int, rng: random.Random) -> Weights:
    """`count` states drawn by weight, evenly spaced along the sum of weights; equal ones are merged.
    Systematic resampling: every state is drawn as often as expected, up to one time more or less."""
    total, drawn, found = sum(weights.values()), 0, {}
    offset = rng.random()
    for state, reached in zip(weights, itertools.accumulate(weights.values()), strict=True):
        end = min(count, int(reached / total * count - offset) + 1) if reached / total * count > offset else 0
        if end > drawn:
            found[state] = float(end - drawn)
            drawn = end
    return found
