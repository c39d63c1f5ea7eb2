"""Trial matches of earlier start clocks: what they found for a game, and which are to be played next.

Challengers of the tree's options come one after the other: the policies, then C of UCT with the best of
them. Each plays the best options so far, at first the default, until a sequential test decides. Those that
win do so again with more time for a move before they are used.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ggp.game import RANDOM_ROLE, Game, has_percepts, is_compiled
from ggp.knowledge.folder import KnowledgeFileError, kept_file
from ggp.knowledge.trial import MOST_MATCHES, LongTrial, OptionTrial, Trial
from ggp.knowledge.tuned import TunedOptions
from ggp.players.kept_knowledge import open_kept
from ggp.players.options import AUTO

POLICIES = ("mast", "rave", "fast", "past", "grave")
"""The challengers; first those that won more matches elsewhere (results/default_agent.md)."""
EXPLORATIONS = (20.0, 80.0)

_AnyTrial = TypeVar("_AnyTrial", bound=Trial)

_logger = logging.getLogger("ggp.players")


def may_try_options(game: Game[Any]) -> bool:
    """Whether trial matches of the tree's options can be played: two roles, no chance, and nothing hidden."""
    has_two = len(game.roles) == 2 and RANDOM_ROLE not in game.roles
    return has_two and is_compiled(game) and not has_percepts(game)


def tried_options(game: Game[Any]) -> TunedOptions:
    """The best options by the trial matches so far; the default if none were played."""
    return option_trials(game)[0]


def open_trial(game: Game[Any]) -> OptionTrial | None:
    """The trial of options to go on with; None if there is none left, or the game is not suitable."""
    trials = option_trials(game)[1]
    return trials[-1] if trials and not trials[-1].is_over else None


def option_trials(game: Game[Any]) -> tuple[TunedOptions, list[OptionTrial]]:
    """The best options so far, and the trials in their order up to the first that is not over."""
    best, trials = TunedOptions(), list[OptionTrial]()
    if not may_try_options(game):
        return best, trials
    for place in range(len(POLICIES) + len(EXPLORATIONS)):
        challenger = _challenger(place, best)
        for kind in (OptionTrial, LongTrial):
            trials.append(kept_trial(game, kind.between(game, challenger, str(best))))
            if not trials[-1].is_over:
                return best, trials
            if not trials[-1].is_won:
                break
        else:
            best = challenger
    return best, trials


def _challenger(place: int, best: TunedOptions) -> TunedOptions:
    if place < len(POLICIES):
        return TunedOptions(POLICIES[place])
    return replace(best, exploration=EXPLORATIONS[place - len(POLICIES)])


def kept_trial(game: Game[Any], empty: _AnyTrial) -> _AnyTrial:
    """The matches of earlier start clocks between the sides of `empty`; `empty` if there were none."""
    kept = load_trial(game, empty)
    return kept if kept is not None and kept.has_same_sides(empty) else empty


def load_trial(game: Game[Any], like: _AnyTrial) -> _AnyTrial | None:
    """The matches that are kept in the file of `like`, between whatever sides."""
    kind = type(like)

    def load(path: str | Path) -> _AnyTrial:
        trial = kind.load(path)
        trial.require_rules(game.program)
        return trial

    return open_kept(game, AUTO, like.file_name, load, "trial matches begin again")


def keep_trial(game: Game[Any], trial: Trial, before: Trial) -> None:
    """Keep trial matches for the next start clock of this game, if that is possible.

    before   what was kept when they began: matches that others have counted meanwhile stay
    """
    kept = kept_trial(game, before)
    counted = {
        name: min(MOST_MATCHES, getattr(kept, name) + getattr(trial, name) - getattr(before, name))
        for name in ("won", "lost", "drawn")
    }
    try:
        place = kept_file(game.program, trial.file_name)
        if place is not None:
            replace(trial, **counted).save(place)
    except (OSError, KnowledgeFileError) as error:
        _logger.warning("%s: trial matches are not kept: %s", game.name, error)
