"""`AdvisedPlayer`: the one player that asks an ordered list of advisors.

Which advisors those are, and with which options, is a row of the table in `ggp.players.factory`.

    order       each is asked in turn until its advice is final; of other advice the one that expects more
                counts, of equal advice the later one
    fallback    the first legal move
    clocks      all share the budget of a clock, the margin of the player subtracted
    leading     an advisor that leads has advice on every move: those after it do not begin before it fails
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from gdl.terms import Term
from ggp.beliefs.observation import Observation
from ggp.game import Game, GameError, Move, hides_information, is_compiled
from ggp.match.faults import Late
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.players.advisors.advisor import Advisor, Position
from ggp.search.budget import NO_TIME, Budget
from ggp.search.protocol import Advice
from ggp.search.report import SearchReport

_logger = logging.getLogger("ggp.players")


class Row:
    """The composition of a kind of player, with the options of one player."""

    def __init__(self, make: Callable[[Game[Any]], Sequence[Advisor]]) -> None:
        """make: advisors of the same classes for each match of a game."""
        self._make = make

    def advisors(self, game: Game[Any], player: AdvisedPlayer) -> Sequence[Advisor]:
        """The advisors of one match, in order."""
        return self._make(game)

    def prepare(self, game: Game[Any], player: AdvisedPlayer) -> None:
        """Compile what these advisors need, before any clock starts."""
        for advisor in self.advisors(game, player):
            advisor.prepare(game)

    def tuned(self, game: Game[Any]) -> str:
        """Options of the shipped table for the game, as reports show them; mostly empty."""
        return ""


@dataclass(frozen=True)
class Traits:
    """The options that the player itself uses.

    simulations      per move, instead of the clock; nodes: positions to expand, likewise
    margin_seconds   left of each clock, at most half of it
    is_counted       see `Player`, like the others
    has_head_start   the start clock already builds something to ponder on
    native_seconds   CPU seconds to compile a circuit to machine code; None: as the game has it
    """

    simulations: int | None = None
    nodes: int | None = None
    margin_seconds: float = 0.0
    is_counted: bool = False
    ponders: bool = False
    ponders_on_observations: bool = False
    needs_lanes: bool = False
    takes_quick_games: bool = False
    has_head_start: bool = True
    native_seconds: float | None = None


class Team:
    """The advisors of one match. Those after a leading one have not begun."""

    def __init__(self, advisors: Sequence[Advisor], setup: MatchSetup) -> None:
        self.advisors = advisors
        self._setup = setup
        self._waiting = list(advisors)
        self._begun: list[Advisor] = []

    def begin(self, position: Position, budget: Budget) -> None:
        """Begin with the start clock, up to the first that leads."""
        while self._waiting and not any(each.leads for each in self._begun):
            self._begin_next(position, budget)

    def active(self) -> Iterator[Advisor]:
        """Those that have begun, up to the first that leads."""
        for advisor in self._begun:
            yield advisor
            if advisor.leads:
                return

    def asked(self, position: Position) -> Iterator[Advisor]:
        """All in order; those that have not begun do so now."""
        yield from self._begun
        while self._waiting:
            count = len(self._begun)
            self._begin_next(position, NO_TIME)
            yield from self._begun[count:]

    def _begin_next(self, position: Position, budget: Budget) -> None:
        advisor = self._waiting.pop(0)
        if advisor.start(self._setup, budget):
            self._begun.append(advisor)
            advisor.follow(position)

    def follow(self, position: Position) -> None:
        """Pass the position to all that have begun."""
        for advisor in self._begun:
            advisor.follow(position)

    def take_over(self, earlier: Team) -> None:
        """Keep what the same advisors have found on another circuit."""
        for mine, theirs in zip(self.advisors, earlier.advisors, strict=True):
            mine.take_over(theirs)

    def simulation_count(self) -> int | None:
        """Playouts of all; None if none counts them."""
        counts = [each.simulation_count for each in self.advisors]
        known = [each for each in counts if each is not None]
        return sum(known) if known else None

    def stop(self) -> None:
        """End the match for all that have begun."""
        for advisor in self._begun:
            advisor.stop()


class AdvisedPlayer(Player):
    """Asks the advisors of its row, in order.

    name          of the row
    options       the tables that the player was made from
    best_move     so far, or made last; may be read from another thread at any time
    on_progress   called with the best move so far whenever it changes
    on_report     called with a SearchReport a few times per second
    """

    def __init__(
        self,
        name: str,
        row: Row,
        traits: Traits,
        *,
        options: Sequence[Any] = (),
        on_progress: Callable[[Move], None] | None = None,
        on_report: Callable[[SearchReport], None] | None = None,
    ) -> None:
        self.name, self.row, self.traits, self.options = name, row, traits, tuple(options)
        self.is_counted, self.needs_lanes = traits.is_counted, traits.needs_lanes
        self.ponders, self.ponders_on_observations = traits.ponders, traits.ponders_on_observations
        self.takes_quick_games = traits.takes_quick_games
        self.on_progress, self.on_report = on_progress, on_report
        self.last_report: SearchReport | None = None
        self.best_move: Move | None = None
        self._team: Team | None = None
        self._next: tuple[Game[Any], Team] | None = None
        self._is_pondering = False

    @property
    def advisors(self) -> Sequence[Advisor]:
        """The advisors of the present match, in order; none between matches."""
        return () if self._team is None else self._team.advisors

    def prepare(self, game: Game[Any]) -> None:
        self.row.prepare(self._without_code(game), self)

    def start(self, setup: MatchSetup, deadline: float) -> None:
        setup = self._with_compile_limit(setup)
        super().start(setup, deadline)
        self.best_move = self.last_report = self.simulation_count = self._next = None
        self._earlier_simulations = 0
        self._observations: tuple[Observation, ...] = ()
        self._rng = random.Random(setup.seed)
        self._position = Position(setup.game.initial_state(), rng=self._rng)
        self._has_moved = self._is_ready = False
        self._tuned = self.row.tuned(setup.game)
        self._team = team = Team(self.row.advisors(setup.game, self), setup)
        if hides_information(setup.game) and is_compiled(setup.game):
            for advisor in team.advisors:
                advisor.watch(self.belief)
        team.begin(self._position, self._budget(deadline))
        self._is_ready = True

    def _with_compile_limit(self, setup: MatchSetup) -> MatchSetup:
        """`setup`, in which compiling the game takes at most the start clock."""
        from ggp.engines.batches import require_compiled

        seconds = self.traits.native_seconds
        if seconds and is_compiled(setup.game):
            native = require_compiled(setup.game).native
            native.limit.cpu_seconds = min(seconds, setup.start_clock_seconds)
        return replace(setup, game=self._without_code(setup.game))

    def _without_code(self, game: Game[Any]) -> Game[Any]:
        """`game`, or with `native=off` its copy that has no machine code."""
        if self.traits.native_seconds != 0 or not is_compiled(game):
            return game
        from ggp.engines.batches import require_compiled
        from ggp.engines.compiled import interpreted

        return interpreted(require_compiled(game))

    def _budget(self, deadline: float) -> Budget:
        budget = Budget(deadline, self.traits.simulations, self.traits.nodes)
        return budget.earlier(self.traits.margin_seconds)

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        return self._choose(Position(state, joint_move, self.legal_moves(state)), deadline)

    def observe(self, observation: Observation, deadline: float) -> None:
        super().observe(observation, deadline)
        self._observations = (*self._observations, observation)
        self._position = replace(self._position, own_move=None)

    def choose_by_observations(self, deadline: float) -> Move:
        position = self.belief.position
        return self._choose(Position(position.state, None, position.legal, self._observations), deadline)

    def _choose(self, position: Position, deadline: float) -> Move:
        self._position = position = replace(position, rng=self._rng)
        move, self.last_report = position.legal[0], None
        if self._team is None or not self._is_ready:
            raise PlayerFaultError(Late(), f"{self.name} is not ready for this match")
        self.note(move)
        # Also before a forced move: searches follow the match by one joint move at a time.
        self._team.follow(position)
        has_choice = len(position.legal) > 1
        advice = self._advice(self._team, position, self._budget(deadline)) if has_choice else None
        if advice is not None:
            move, report = advice.move, advice.report
            self.last_report = report and replace(report, tuned=self._tuned)
            self.note(move)
        self._position, self._has_moved = replace(position, own_move=move), True
        self.simulation_count = self._count_simulations()
        return move

    def _advice(self, team: Team, position: Position, budget: Budget) -> Advice | None:
        best: Advice | None = None
        for advisor in team.asked(position):
            found = advisor.advise(replace(position, advice=best), budget)
            if found is not None and found.move not in position.legal:
                _logger.warning("%s advises %s, which is not legal", type(advisor).__name__, found.move)
            elif found is not None and found.is_final:
                return found
            elif found is not None and (best is None or found.expectation >= best.expectation):
                best = found
        return best

    def ponder(self, is_over: Callable[[], bool], deadline: float) -> None:
        """Ponder until `is_over()` or `deadline`: the leading advisor, or all.

        From the state after the own last move if no other role has a choice. The next `choose` uses the
        searched. Ends at most one slice of a search after `is_over()`.
        """
        if self._team is None or not (self.traits.has_head_start or self._has_moved):
            return
        self._is_pondering = True
        try:
            self._follow_own_move(self._team)
            for advisor in self._team.active():
                advisor.ponder(Budget(deadline, is_stopped=is_over))
        finally:
            self._is_pondering = False

    def _follow_own_move(self, team: Team) -> None:
        """Resume in the state after the last move, if the other roles had no choice there."""
        position, game = self._position, self.setup.game
        if position.own_move is None:
            return
        if not (hides_information(game) and is_compiled(game)):
            self._position = replace(position, own_move=None)
            with suppress(GameError):  # the rules are at fault: continue from the last position
                following = self.after_own_move(position.state, position.own_move)
                if following is None:
                    return
                position = Position(following[1], following[0], rng=self._rng)
        team.follow(position)

    def prepare_change(self, game: Game[Any]) -> None:
        if self._team is not None:
            setup = replace(self.setup, game=game)
            team = Team(self.row.advisors(game, self), setup)
            team.begin(Position(game.initial_state(), rng=self._rng), NO_TIME)
            self._next = game, team
            if self._team is None:  # the match has ended meanwhile
                team.stop()

    def change_game(self, game: Game[Any]) -> None:
        if self._team is not None and (self._next is None or self._next[0] is not game):
            self.prepare_change(game)
        super().change_game(game)
        if self._team is not None and self._next is not None:
            self._earlier_simulations = self._count_simulations() or 0
            earlier, self._team, self._next = self._team, self._next[1], None
            self._team.take_over(earlier)
            earlier.stop()
            self._position = Position(game.initial_state(), rng=self._rng)

    def stop(self, terms: tuple[Term, ...] | None) -> None:
        super().stop(terms)
        if self._team is not None:
            self.simulation_count = self._count_simulations()
            self._team.stop()
        self._team = self._next = None

    def _count_simulations(self) -> int | None:
        count = None if self._team is None else self._team.simulation_count()
        return None if count is None else count + self._earlier_simulations

    def note(self, move: Move) -> None:
        """Note the best move so far that a search reports."""
        if move != self.best_move and not self._is_pondering:
            self.best_move = move
            if self.on_progress is not None:
                self.on_progress(move)

    def pass_on(self, report: SearchReport) -> None:
        """Pass a search report on to the listener of the player."""
        if self.on_report is not None and not self._is_pondering:
            self.on_report(report)
