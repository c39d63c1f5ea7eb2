"""Regret: the goals that a player's moves lose in positions of solved games.

A position has one role's moves with the exact goal behind each; some of them keep the value of the position,
others do not. A suite of them shows in minutes what win rates show in days. The program that made
the bundled suite is benchmarks/make_regret_positions.py of commit 675d7e8.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from importlib import resources
from statistics import fmean
from typing import Any

from ggp.assessment.asking import Asker, AssessmentTerms, Faults
from ggp.assessment.positions import Place, rules_at
from ggp.confidence_intervals import mean_interval
from ggp.engines.batches import state_of_facts
from ggp.engines.loading import find_own_rules, load
from ggp.game import Game, GameError
from ggp.match.record import RecordError
from ggp.match.replay import read_state
from ggp.players.factory import seat_player

TOLERANCE = 1e-6
"""A move with less regret keeps the value: values of chance and mixed strategies are rounded."""


class PositionsError(ValueError):
    """A game without positions, or a position that is not one of its game."""


@dataclass(frozen=True)
class RegretPosition:
    """A position of the sheet `game` in `games/`; `facts` in the notation of match records.

    role    whose move is asked for
    goals   its exact goal after each of its moves, at best play; where another role chooses at once, against
            its optimal strategy
    """

    game: str
    facts: str
    role: str
    goals: dict[str, float]

    def regret(self, move: str | None) -> float:
        """The regret of `move` in goals; without a move the mean of all moves."""
        reached = fmean(self.goals.values()) if move is None else self.goals[move]
        return max(self.goals.values()) - reached


@dataclass(frozen=True)
class GameRegret:
    """The regret of a player in the positions of one game.

    regrets   goals, one per position
    chance    mean regret of a uniformly random move there
    """

    game: str
    regrets: tuple[float, ...]
    chance: float

    @property
    def mean(self) -> float:
        return fmean(self.regrets)

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval of the mean."""
        return mean_interval(self.regrets)[1]

    @property
    def mistakes(self) -> int:
        return sum(regret > TOLERANCE for regret in self.regrets)


@dataclass
class RegretReport:
    """The regret of one player, by game in the order of the positions."""

    player: str
    terms: AssessmentTerms
    games: list[GameRegret] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)

    @property
    def total(self) -> GameRegret:
        """All positions together, each counting once."""
        regrets = tuple(regret for game in self.games for regret in game.regrets)
        chance = sum(game.chance * len(game.regrets) for game in self.games) / max(1, len(regrets))
        return GameRegret("all", regrets, chance)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-serializable data."""
        return {
            "player": self.player,
            "terms": asdict(self.terms),
            "games": [
                {
                    "game": each.game,
                    "positions": len(each.regrets),
                    "mistakes": each.mistakes,
                    "regret": round(each.mean, 4),
                    "margin": round(each.margin, 4) if len(each.regrets) > 1 else None,
                    "regret_of_random_moves": round(each.chance, 4),
                }
                for each in [*self.games, self.total]
                if each.regrets
            ],
            "faults": asdict(self.faults),
        }


def read_positions(
    per_game: int | None = None, games: Collection[str] = ()
) -> dict[str, list[RegretPosition]]:
    """Game → its bundled positions, at most the first `per_game`, of these games only if any are named.

    Raises PositionsError for a game without positions.
    """
    data = (resources.files("ggp.assessment") / "regret_positions.json.gz").read_bytes()
    found: dict[str, list[RegretPosition]] = {}
    for entry in json.loads(gzip.decompress(data)):
        found.setdefault(entry["game"], []).append(RegretPosition(**entry))
    if unknown := sorted(set(games) - set(found)):
        raise PositionsError(f"no positions of {unknown[0]!r}; there are {', '.join(sorted(found))}")
    return {game: of_game[:per_game] for game, of_game in found.items() if not games or game in games}


def measure_regret(
    player: str,
    positions: dict[str, list[RegretPosition]],
    terms: AssessmentTerms,
    *,
    report: RegretReport | None = None,
    listen: Callable[[int, int], None] | None = None,
) -> RegretReport:
    """Ask `player` (a spec for `seat_player`) for a move in each position, each in a separate match.

    report   receives game after game, so that an interrupted caller keeps what is measured
    listen   called after each position with its number and how many there are

    Raises PlayerSpecError, and PositionsError for a position that is not one of its game.
    """
    found = report if report is not None else RegretReport(player, terms)
    total, number = sum(map(len, positions.values())), 0
    for name, of_game in positions.items():
        asker = Asker(lambda: seat_player(player), terms)
        asker.faults = found.faults
        is_remote = seat_player(player).is_remote
        regrets: list[float] = []
        try:
            for place, position in enumerate(of_game):
                regrets.append(position.regret(_answer(asker, position, place, is_remote=is_remote)))
                number += 1
                if listen is not None:
                    listen(number, total)
        finally:
            if regrets:
                chance = fmean(position.regret(None) for position in of_game[: len(regrets)])
                found.games.append(GameRegret(name, tuple(regrets), chance))
    return found


def state_of(game: Game[Any], facts: str) -> Any:
    """The state of `game` with these facts, written as in match records.

    Raises PositionsError for facts that the game does not have.
    """
    try:
        return state_of_facts(game, read_state(facts, 0))
    except (GameError, RecordError) as error:
        raise PositionsError(f"{game.name}: {error}") from None


def _answer(asker: Asker, position: RegretPosition, number: int, *, is_remote: bool) -> str | None:
    """The player's move; None after a fault.

    Local players are given the state, others rules whose `init` it is: the protocol knows no other way.
    """
    place = Place(f"{position.game}.{number}", "regret", position.game, position.facts, position.role)
    if is_remote:
        game = load(rules_at(place), asker.terms.engine, name=position.game)
        state = game.initial_state()
    else:
        game = asker.game_of(str(find_own_rules(position.game)))
        state = state_of(game, position.facts)
    role = next((role for role in game.roles if str(role) == position.role), None)
    if role is None or {str(move) for move in game.legal_moves(state, role)} != set(position.goals):
        raise PositionsError(f"{place.id}: the moves of this position are not those of the game")
    return asker.move_in(place, game, state)
