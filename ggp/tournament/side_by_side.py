"""Matches of plain UCT, hundreds of them in one worker: their searches are trees of one forest.

A match depends on the others of its batch, because all lanes of a forest share one random generator; the same
batch always gives the same matches.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.engines.compiled import CompiledGame
from ggp.game import GameError, goal_faults, goals_or_none
from ggp.match.record import MatchRecord, Step, new_record, now_ms, state_text
from ggp.match.terms import MatchTerms, derived_seed
from ggp.players.advised import AdvisedPlayer
from ggp.players.factory import make_player
from ggp.players.options import UctOptions
from ggp.players.rows import search_options
from ggp.search.forest.forest import MEBIBYTES, Forest
from ggp.search.forest.self_play import WORDS, EndedMatches, MatchBatch, MatchContext
from ggp.search.tree.kernels.arrays import Float64Array
from ggp.tournament.schedule import MatchTask, kind_of

MIN_MEBIBYTES = 64
"""Memory of the forest of each kind of search at least; all of a batch share MEBIBYTES otherwise."""


@dataclass(frozen=True)
class PlayedMatch:
    """One match of a batch, with the playouts of each role and its share of the time by them."""

    record: MatchRecord
    playouts: tuple[int, ...]
    seconds: tuple[float, ...]


def play_side_by_side(
    game: CompiledGame, tasks: Sequence[MatchTask], terms: Sequence[MatchTerms]
) -> list[PlayedMatch]:
    """Play matches of `game` that are `is_side_by_side` (`ggp.tournament.schedule`).

    All randomness derives from the seed of the first match.
    """
    begin, started_ms = time.monotonic(), now_ms()
    matches = _Matches(game, tasks, terms[0].step_limit)
    played = matches.play()
    seconds = (time.monotonic() - begin) * matches.playouts / max(1, int(matches.playouts.sum()))
    found = []
    for number, task in enumerate(tasks):
        names = [kind_of(player) for player in task.players]
        record = new_record(game, terms[number], player_names=names)
        record.start_time = started_ms
        _fill(record, game, matches.states[number], played.moves[number], terms[number].step_limit)
        playouts = tuple(matches.playouts[number].tolist())
        found.append(PlayedMatch(record, playouts, tuple(seconds[number].tolist())))
    return found


class _Matches(MatchBatch):
    """Matches of `uct` and `random`, with all their states.

    states     of each match, bool[F] each, the initial one included
    playouts   int64[N, R]: those of each match and role
    """

    def __init__(self, game: CompiledGame, tasks: Sequence[MatchTask], step_limit: int) -> None:
        seed = derived_seed(tasks[0].seed, "side by side")
        own = [[_options_of(player) for player in task.players] for task in tasks]
        kinds = list(dict.fromkeys(search_options(each) for seats in own for each in seats if each))
        mebibytes = max(MIN_MEBIBYTES, MEBIBYTES // len(kinds))
        forests = [
            Forest(game, words=WORDS, seed=seed, stream=number, options=kind, mebibytes=mebibytes)
            for number, kind in enumerate(kinds)
        ]
        simulations = np.array(
            [[each.simulations if each else 0 for each in seats] for seats in own], np.int64
        )
        searcher = np.array(
            [[kinds.index(search_options(each)) if each else 0 for each in seats] for seats in own], np.int32
        )
        context = MatchContext(game, seed, None, step_limit, EndedMatches(lambda count: False))
        super().__init__(context, 0, simulations, forests, searcher)
        initial = game.unpack(game.initial_state())
        self.states: list[list[NDArray[np.bool_]]] = [[initial] for _ in tasks]
        self.playouts = np.zeros(simulations.shape, np.int64)

    def observe_step(
        self, running: NDArray[np.int64], chosen: Int32Array, following: NDArray[np.bool_]
    ) -> None:
        for match, state in zip(running.tolist(), following, strict=True):
            self.states[match].append(state)

    def moves_of(
        self, forest: Forest, role: int, matches: NDArray[np.int64], is_role: NDArray[np.bool_]
    ) -> tuple[Int32Array, Float64Array]:
        found = forest.root_moves(role)
        of_tree = np.repeat(np.arange(len(matches)), np.diff(found.first))
        visits = np.bincount(of_tree, found.visits, len(matches)).astype(np.int64)
        self.playouts[matches[is_role], role] += visits[is_role]
        return found.best()


def _options_of(player: str | None) -> UctOptions | None:
    """None for `random` and chance."""
    made = make_player(player or "random")
    options = made.options if isinstance(made, AdvisedPlayer) else ()
    return next((each for each in options if isinstance(each, UctOptions)), None)


def _fill(
    record: MatchRecord,
    game: CompiledGame,
    states: Sequence[NDArray[np.bool_]],
    moves: Int32Array,
    step_limit: int,
) -> None:
    """Write the steps and the end of a match.

    states   bool[F], one more than joint moves
    moves    int32[P, R], counted within the role
    """
    none = (None,) * len(game.roles)
    for number, fluents in enumerate(states):
        state = game.pack(fluents)
        made = () if number == 0 else moves[number - 1].tolist()
        joint_move = tuple(str(game.moves[role][move]) for role, move in enumerate(made))
        record.steps.append(Step(joint_move, state_text(game.facts(state)), faults=none))
    last, step = game.pack(states[-1]), len(states) - 1
    if game.is_terminal(last):
        record.complete(goals_or_none(game, last))
        record.fault = "; ".join(goal_faults(game, last))
    elif step >= step_limit:
        record.abort(f"no end after {step_limit:,} steps")
    else:
        try:
            for role in game.roles:
                game.legal_moves(last, role)
            raise AssertionError("a match that could continue was left")
        except GameError as error:
            record.abort(str(error.at_step(step)))
