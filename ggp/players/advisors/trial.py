"""Alpha-beta within `mcts`: decide whether it replaces the tree in a match.

Which of the two is stronger depends on the game (results/alphabeta.md). What the shipped table has is used;
else both play trial matches in the start clock, counted from match to match until they are decided.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Game, GameError, Move, Role
from ggp.knowledge.folder import prepare_kept_file
from ggp.knowledge.trial import FILE_NAME, MAX_MATCHES, MAX_MOVES, Trial
from ggp.knowledge.tuned import TunedOptions
from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.advisors.alphabeta import AlphaBetaAdvisor
from ggp.players.kept_knowledge import kept_trial
from ggp.players.options import AlphaBetaOptions
from ggp.search.alphabeta.evaluation import prepare_evaluations
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError
from ggp.search.alphabeta.self_play import LONGEST, random_opening
from ggp.search.budget import NO_TIME, Budget
from ggp.search.protocol import Advice
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.fast import can_learn
from ggp.search.tree.policies.policy import NO_MOVES
from ggp.search.tree.search import LanesSearch

MARGIN_SECONDS = 0.02
"""Alpha-beta checks the clock slightly less often than the tree."""
MIN_SECONDS = 6.0
"""Minimum rest of the start clock for trial matches."""
LEARNING_SHARE, TRIAL_SHARE = 0.4, 0.9
"""End of learning the evaluation, and end of trial matches, as shares of the remaining start clock."""
MOVE_SECONDS = 0.016
"""With a quarter of it alpha-beta wins on hex and breakthrough, but not in a match (results/alphabeta.md)."""
TREE_MEBIBYTES = 64
LEARNING_SECONDS = 0.3
"""Search for each role before the first match, if its policy learns about moves."""

_COUNTS = {"won": MAX_MATCHES, "lost": MAX_MATCHES, "drawn": MAX_MATCHES, "moves": MAX_MOVES}

_logger = logging.getLogger("ggp.players")


class TrialAdvisor(Advisor):
    """Alpha-beta, if requested, tuned, or better than the tree in trial matches."""

    def __init__(self, rival: MctsOptions, *, is_certain: bool) -> None:
        """Set the options.

        rival        options of the tree to win trial matches against; with others than in the matches that
                     were counted, counting begins again
        is_certain   alpha-beta always chooses the moves if it can search the game
        """
        self._rival, self._is_certain = rival, is_certain
        self.alphabeta = AlphaBetaAdvisor(AlphaBetaOptions())

    def may_choose(self, game: Game[Any], start_clock_seconds: float) -> bool:
        """Whether alpha-beta may come to choose the moves, by the start clock and what is kept."""
        is_long = start_clock_seconds >= MIN_SECONDS
        return self._is_certain or is_long or self._trial_of(game).is_won

    def prepare(self, game: Game[Any]) -> None:
        prepare_evaluations()

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        if budget == NO_TIME:  # in mid-match, without an evaluation
            return False
        budget = budget.earlier(MARGIN_SECONDS)
        trial = None if self._is_certain else self._trial_of(setup.game)
        if trial is None or trial.is_won:
            self.leads = self._starts(setup, budget)
        elif not trial.is_over and budget.seconds_left() >= MIN_SECONDS:
            end = budget.part(TRIAL_SHARE).deadline
            self.leads = self._starts(setup, budget.part(LEARNING_SHARE)) and self._wins(trial, setup, end)
        return self.leads

    def follow(self, position: Position) -> None:
        self.alphabeta.follow(position)

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        found = None
        if self.alphabeta.search is not None:
            found = self.alphabeta.advise(position, budget.earlier(MARGIN_SECONDS))
        self.leads = self.alphabeta.search is not None
        return found if self.leads else None

    def ponder(self, budget: Budget) -> None:
        self.alphabeta.ponder(budget)

    def stop(self) -> None:
        self.alphabeta.stop()

    def _starts(self, setup: MatchSetup, budget: Budget) -> bool:
        self.alphabeta.start(setup, budget)
        return self.alphabeta.search is not None

    def _wins(self, trial: Trial, setup: MatchSetup, deadline: float) -> bool:
        """Play trial matches until the deadline; return whether those of all start clocks are won."""
        game, search, before = require_compiled(setup.game), self.alphabeta.search, replace(trial)
        assert search is not None
        if self._rival.parsed_policy.has_features:
            can_learn(game, self._rival, setup.seed, deadline)  # else the search falls back to another policy
        try:
            TrialMatches(game, search, self._rival, seed=setup.seed).play(trial, deadline)
        except (AlphaBetaError, GameError, IndexError) as error:  # IndexError: a role without a legal move
            _logger.info("%s: alpha-beta does not apply: %r", game.name, error)
            return False
        _logger.info("%s: alpha-beta (%s) against the tree: %s", game.name, self.alphabeta.evaluation, trial)
        return _keep_trial(game, trial, before).is_won

    def _trial_of(self, game: Game[Any]) -> Trial:
        """The trial matches so far, with the present options of the tree."""
        rival = TunedOptions(self._rival.policy, self._rival.exploration)
        empty = Trial.empty(game, rival=str(rival))
        kept = kept_trial(game)
        return kept if kept is not None and kept.has_same_sides(empty) else empty


def _keep_trial(game: Game[Any], trial: Trial, before: Trial) -> Trial:
    """Keep trial matches for later start clocks, and return all that are known.

    before   what was kept when they began: matches that other players have added since then stay
    """
    kept = kept_trial(game)
    if kept is None or not kept.has_same_sides(trial):
        kept = before
    counts = {
        name: min(most, getattr(kept, name) + getattr(trial, name) - getattr(before, name))
        for name, most in _COUNTS.items()
    }
    merged = replace(trial, **counts)
    try:
        place = prepare_kept_file(game.program, FILE_NAME)
        if place is not None:
            merged.save(place)
    except OSError as error:
        _logger.warning("%s: trial matches are not kept: %s", game.name, error)
    return merged


class TrialMatches:
    """Matches of two roles, seats in turn, after random openings."""

    def __init__(
        self,
        game: CompiledGame,
        alphabeta: AlphaBeta,
        options: MctsOptions,
        *,
        seed: int,
        move_seconds: float = MOVE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up the searches: `alphabeta` with its evaluation, and a tree for each role, its kernels loaded.

        move_seconds   for each move with a choice
        """
        self._game, self._alphabeta = game, alphabeta
        self._move_seconds, self._clock = move_seconds, clock
        self._rng = random.Random(seed)
        small = min(options.memory_mebibytes, TREE_MEBIBYTES * options.threads)
        options = replace(options, memory_mebibytes=small)
        self._trees = {role: LanesSearch(game, role, seed=seed, options=options) for role in game.roles}
        initial = game.initial_state()
        for tree in self._trees.values():
            tree.move_to(initial, None)
            tree.warm_up(time.monotonic())
            if options.parsed_policy.playouts.learns != NO_MOVES:
                tree.run(Budget(time.monotonic() + LEARNING_SECONDS))
                joint = tuple(game.legal_moves(initial, role)[0] for role in game.roles)
                tree.move_to(game.next_state(initial, joint), None)  # drops the tree, not what was learned

    def play(self, trial: Trial, deadline: float) -> None:
        """Play until `trial` is over or there is no time for a match.

        deadline   by the clock; a match that is not over by then is not counted
        """
        opening = None
        try:
            # As long as there is time for a match like those before.
            while not trial.is_over and (
                self._clock() + self._move_seconds * max(1.0, trial.mean_moves) < deadline
            ):
                place = trial.match_count % 2
                if opening is None or place == 0:
                    opening = random_opening(self._game, self._rng)
                played = self._play_match(self._game.roles[place], opening, deadline)
                if played is None:
                    return
                trial.add(*played)
        finally:
            for tree in self._trees.values():
                tree.close()

    def _play_match(self, own: Role, state: PackedState, deadline: float) -> tuple[int, int] | None:
        """The goal difference in favor of alpha-beta, and the moves; None if there was no time.

        own   the role of alpha-beta
        """
        game = self._game
        (other,) = (role for role in game.roles if role != own)
        tree = self._trees[other]
        joint: tuple[Move, ...] | None = None
        count = 0
        for _ in range(LONGEST):
            if game.is_terminal(state):
                return game.goal(state, own) - game.goal(state, other), count
            if self._clock() + self._move_seconds >= deadline:
                return None
            legal = {role: game.legal_moves(state, role) for role in game.roles}
            moves = {role: legal[role][0] for role in game.roles}
            tree.move_to(state, joint)
            if len(legal[own]) > 1:
                found = self._alphabeta.search(state, Budget(self._clock() + self._move_seconds))
                moves[own] = found.move or moves[own]
            if len(legal[other]) > 1:
                tree.run(Budget(self._clock() + self._move_seconds))
                moves[other] = tree.best_move()
            joint = tuple(moves[role] for role in game.roles)
            count += sum(len(moves) > 1 for moves in legal.values())
            state = game.next_state(state, joint)
        return 0, count
