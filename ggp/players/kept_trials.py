"""Trial matches of earlier start clocks: verdicts, and open trials.

Challengers of the tree's options come one after the other: the policies, then C of UCT with the best of
them. Each plays the best options so far, at first the default, until a sequential test decides. Those that
win do so again with more time for a move before they are used.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ggp.game import RANDOM_ROLE, Game, hides_information, is_compiled
from ggp.knowledge.folder import KnowledgeFileError, alone_with, kept_file
from ggp.knowledge.trial import MOST_MATCHES, MOST_MOVES, LongTrial, OptionTrial, Trial
from ggp.knowledge.tuned import TunedOptions
from ggp.players.kept_knowledge import open_kept
from ggp.players.options import AUTO

POLICIES = ("mast", "rave", "grave", "fast", "past")
"""The challengers; first those that won more matches elsewhere (results/default_agent.md)."""
EXPLORATIONS = (20.0, 80.0)

_COUNTS = {"won": MOST_MATCHES, "lost": MOST_MATCHES, "drawn": MOST_MATCHES, "moves": MOST_MOVES}

_AnyTrial = TypeVar("_AnyTrial", bound=Trial)

_logger = logging.getLogger("ggp.players")


def may_play_trials(game: Game[Any]) -> bool:
    """Whether the game is of a kind that trial matches decide.

    There must be two roles, no chance, and nothing hidden: what alpha-beta may be able to search as well.

    >>> import ggp
    >>> may_play_trials(ggp.load("tictactoe", engine="reasoner"))
    False
    """
    has_two = len(game.roles) == 2 and RANDOM_ROLE not in game.roles
    return has_two and is_compiled(game) and not hides_information(game)


def tried_options(game: Game[Any]) -> TunedOptions:
    """The best options by the trial matches so far."""
    return option_trials(game)[0]


def open_trials(game: Game[Any]) -> list[OptionTrial]:
    """The trials against the best options so far that are not decided."""
    best, trials = option_trials(game)
    return [trial for trial in trials if not trial.is_over and trial.rival == str(best)]


def option_trials(game: Game[Any]) -> tuple[TunedOptions, list[OptionTrial]]:
    """The best options so far, and all trials in their order.

    Later challengers do not wait for an open trial, which may need a longer start clock. If one of them wins
    meanwhile, that trial is not resumed: its rival is no longer the best.
    """
    best, trials = TunedOptions(), list[OptionTrial]()
    if not may_play_trials(game):
        return best, trials
    for place in range(len(POLICIES) + len(EXPLORATIONS)):
        short = kept_trial(game, OptionTrial.between(game, _challenger(place, best), str(best)))
        trials.append(short)
        if not short.is_won:
            continue
        confirmation = kept_trial(game, LongTrial.after(short))
        trials.append(replace(confirmation, expected_moves=short.mean_moves))
        if confirmation.is_won:
            best = short.challenger
    return best, trials


def _challenger(place: int, best: TunedOptions) -> TunedOptions:
    if place < len(POLICIES):
        return TunedOptions(POLICIES[place])
    return replace(best, exploration=EXPLORATIONS[place - len(POLICIES)])


def kept_trial(game: Game[Any], empty: _AnyTrial) -> _AnyTrial:
    """The matches so far between the sides of `empty`, which is returned if there were none."""
    kept = load_trial(game, empty)
    return kept if kept is not None and kept.has_same_sides(empty) else empty


def load_trial(game: Game[Any], like: _AnyTrial) -> _AnyTrial | None:
    """The matches in the file of `like`, whatever the sides."""
    kind = type(like)

    def load(path: str | Path) -> _AnyTrial:
        trial = kind.load(path)
        trial.require_rules(game.program)
        return trial

    return open_kept(game, AUTO, like.file_name, load, "trial matches begin again")


def keep_trial(game: Game[Any], trial: _AnyTrial, before: _AnyTrial) -> _AnyTrial:
    """Keep trial matches for later start clocks, and return all that are known.

    before   what was kept when they began: matches that others have counted meanwhile stay
    """
    place = kept_file(game.program, trial.file_name)
    if place is None:
        return trial
    try:
        with alone_with(place):
            kept = kept_trial(game, before)
            counts = {
                name: min(most, getattr(kept, name) + getattr(trial, name) - getattr(before, name))
                for name, most in _COUNTS.items()
            }
            merged = replace(trial, **counts)
            merged.save(place)
            return merged
    except (OSError, KnowledgeFileError) as error:
        _logger.warning("%s: trial matches are not kept: %s", game.name, error)
        return trial
