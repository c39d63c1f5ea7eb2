"""The `Player` base class: the interface between referee and seat.

A player gets one match at a time: `start`, then `choose` in every state, then `stop`. It never sees the
referee's objects, only values. In games with `sees` rules a player gets no state: there `observe` receives
the role's own move and percepts of every step, and `choose_by_observations` chooses a move. By default these
update a belief, and call `choose` with a state that agrees with all observations. So an agent must override
only `choose`:

    class Greedy(Player):
        name = "greedy"

        def choose(self, state, deadline, joint_move):
            return self.legal_moves(state)[-1]

    PlayerError
    ├── PlayerSpecError    the text names no player, or an option that the player does not have
    ├── PlayerFaultError   a player gave no usable answer; the match continues
    ├── TakeBackError      the person at the keyboard takes a move back
    └── MatchQuitError     the person at the keyboard, or the operator, ends the match; it is aborted
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gdl.terms import Term
from ggp.beliefs.belief import Belief
from ggp.beliefs.observation import Observation
from ggp.game import Game, Move, Role
from ggp.integers import check_integers
from ggp.match.faults import Fault
from ggp.match.terms import GRACE_SECONDS, derived_seed


class PlayerError(Exception):
    """Base of the errors that players raise on purpose.

    >>> issubclass(PlayerSpecError, PlayerError)
    True
    """


class PlayerSpecError(PlayerError):
    """The text names no player, or an option that the player does not have.

    >>> import ggp
    >>> ggp.make_player("agents.py:Greedy")
    Traceback (most recent call last):
    ggp.match.player.PlayerSpecError: player 'agents.py:Greedy': there is no file ...agents.py
    """


class PlayerFaultError(PlayerError):
    """A player gave no usable answer; the referee replaces its move and continues.

    fault   as the match record notes it
    move    move that a player over HTTP sent nevertheless, which its agent did not choose

    >>> from ggp.match.faults import Late
    >>> str(PlayerFaultError(Late(), "took too long"))
    'took too long'
    """

    def __init__(self, fault: Fault, message: str = "", move: Move | None = None) -> None:
        super().__init__(message or str(fault))
        self.fault, self.move = fault, move


class MatchQuitError(PlayerError):
    """A person ends the match early."""


class TakeBackError(PlayerError):
    """A person takes back their last move; the referee returns to the state in which it was chosen.

    role   of the person
    """

    def __init__(self, role: Role) -> None:
        super().__init__(f"{role} takes a move back")
        self.role = role


@dataclass(frozen=True)
class MatchSetup:
    """The parameters of a match for one player. `seed` is the player's own, not the match's.

    game            the rules; it holds no state of the match
    can_take_back   whether TakeBackError is allowed in this match
    grace_seconds   as in MatchTerms; for players that wait for another process

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> ggp.MatchSetup("m.1", game, game.roles[0], 5.0, 1.0, seed=7).play_clock_seconds
    1.0
    """

    match_id: str
    game: Game[Any]
    role: Role
    start_clock_seconds: float
    play_clock_seconds: float
    seed: int
    can_take_back: bool = False
    grace_seconds: float = GRACE_SECONDS

    def __post_init__(self) -> None:
        """Raises TypeError for a seed that is not an integer."""
        check_integers(self, seed=None)


class Report(Protocol):
    """Report of a search, for records and views; see `ggp.search.report.SearchReport`."""

    def to_dict(self) -> dict[str, Any]:
        """This report as JSON-able data."""
        ...


class Player:
    """One seat of a match; a subclass must override `choose`. Deadlines are `time.monotonic()` seconds.

    >>> import ggp
    >>> class Last(ggp.Player):
    ...     def choose(self, state, deadline, joint_move):
    ...         return self.legal_moves(state)[-1]
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> ggp.play_match(game, [Last(), Last()])
    <MatchRecord tictactoe: x (Last) 100, o (Last) 0; 7 steps>

    name              shown in records and views; by default the name of the class
    is_remote         spends its time waiting for another process: the referee asks all remote players
                      at the same time, all others one after the other
    is_human          is never late
    keeps_time        ends by itself what it waits for, and raises Late: the referee takes no time
    plays_unstarted   is asked for moves after a failed START also where all must start
    ponders           `ponder` is to be called while other players think
    ponders_on_observations   `ponder` may be called in games with `sees` too: it uses what was observed
    is_counted        searches a fixed number of simulations or nodes, whatever the clock
    needs_lanes       plays compiled games only
    takes_quick_games may begin on a game that is not finished, and be given the finished one by `change_game`
    notation          how a person reads moves, "short" or "kif"
    begins_early      may begin before kernels are compiled that it can do without at first
    start_clock_seconds   what coming matches give at most, if that is known before `prepare`
    last_report       how the search for the last move stood at its end; None without a search
    simulation_count  simulations of the last match; None if the player does not count them
    """

    name: str = "player"
    is_remote: bool = False
    is_human: bool = False
    keeps_time: bool = False
    plays_unstarted: bool = False
    ponders: bool = False
    ponders_on_observations: bool = False
    is_counted: bool = False
    needs_lanes: bool = False
    takes_quick_games: bool = False
    notation: str = "short"
    begins_early: bool = False
    start_clock_seconds: float = math.inf
    last_report: Report | None = None
    simulation_count: int | None = None
    _setup: MatchSetup | None = None
    _belief: Belief | None = None

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if cls.name == Player.name:
            cls.name = cls.__name__

    @property
    def setup(self) -> MatchSetup:
        """The setup of the current match, from `start` to `stop`."""
        assert self._setup is not None, "choose before start"
        return self._setup

    @property
    def belief(self) -> Belief:
        """The states that agree with the observations of this match, in games with `sees`."""
        if self._belief is None:
            setup = self.setup
            rng = random.Random(derived_seed(setup.seed, "belief"))
            self._belief = Belief(setup.game, setup.role, rng)
        return self._belief

    def legal_moves(self, state: Hashable) -> tuple[Move, ...]:
        """The legal moves of this player's role in `state`, sorted by text."""
        return self.setup.game.legal_moves(state, self.setup.role)

    def after_own_move(self, state: Hashable, move: Move) -> tuple[tuple[Move, ...], Hashable] | None:
        """The joint move and the state that `move` leads to; None if another role has a choice in `state`."""
        game, role = self.setup.game, self.setup.role
        possible = [(move,) if each == role else game.legal_moves(state, each) for each in game.roles]
        if any(len(moves) != 1 for moves in possible):
            return None
        joint_move = tuple(moves[0] for moves in possible)
        return joint_move, game.next_state(state, joint_move)

    def prepare(self, game: Game[Any]) -> None:
        """Compile what playing `game` needs, before any clock starts."""

    def get_ready(self) -> None:
        """Finish pending work before the next clock starts; called before every `start` and `choose`."""

    def start(self, setup: MatchSetup, deadline: float) -> None:
        """Get ready for a match. Raises PlayerFaultError if that fails; `choose` is called all the same."""
        self._setup = setup
        self._belief = None

    def prepare_change(self, game: Game[Any]) -> None:
        """Build what `change_game(game)` needs; called in another thread while the player plays."""

    def change_game(self, game: Game[Any]) -> None:
        """Continue the match on another game of the same rules, whose states `choose` gets from now on."""
        self._setup = replace(self.setup, game=game)

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        """Choose a legal move in `state`, reached by `joint_move` (None in the initial state).

        In games with `sees` this is called by `choose_by_observations`, with a possible state and
        without the joint move.
        """
        raise NotImplementedError(f"{type(self).__name__} does not override choose")

    def observe(self, observation: Observation, deadline: float) -> None:
        """Receive this role's observation of a step, in games with `sees`; called once per step.

        An override that uses the belief, or `choose` with a state, must call this method.
        """
        self.belief.advance(observation.percepts, observation.own_move, deadline)

    def choose_by_observations(self, deadline: float) -> Move:
        """Choose a move after the observations so far, in games with `sees`."""
        return self.choose(self.belief.position.state, deadline, None)

    def ponder(self, is_over: Callable[[], bool], deadline: float) -> None:
        """Continue to search between two calls of `choose`, until `is_over()` or `deadline`."""

    def stop(self, terms: tuple[Term, ...] | None) -> None:
        """End the match. `terms` is the last joint move, or in games with `sees` the role's percepts of it;
        None if the match was aborted.
        """
        self._setup = self._belief = None
