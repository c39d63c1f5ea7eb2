"""How the moves and positions of a game are written: in the notation of its board, or in KIF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ggp.analysis.figures import words_of
from ggp.analysis.picture import Picture, find_picture
from ggp.explain.bare_trees import BareTree
from ggp.game import Game, Move


@dataclass(frozen=True)
class Writing:
    """The writing of one game; a bare tree has no picture, and its moves are names."""

    game: Game[Any]
    picture: Picture | None

    @property
    def is_plain(self) -> bool:
        """Whether moves are written as their terms."""
        return self.picture is None or self.picture.notation.is_kif

    def moves(self, moves: Sequence[Move], state: Any = None) -> list[str]:
        """The texts of the moves of a role; the state, if given, shows what they capture."""
        if self.picture is None or self.is_plain:
            return list(map(words_of, moves))
        return self.picture.notation.texts(moves, None if state is None else self.game.facts(state))

    def move(self, move: Move) -> str:
        """The text of one move."""
        return self.moves([move])[0]

    def positions(self, states: Mapping[int, Any]) -> dict[int, str]:
        """States by the number of their node, as text; nothing of a bare tree, or where no state is known."""
        if self.picture is None:
            return {}
        known = {number: self.game.facts(state) for number, state in states.items() if state is not None}
        return {number: "\n".join(self.picture.text(facts)) for number, facts in known.items()}


def writing_of(game: Game[Any], notation: str = "kif") -> Writing:
    """The writing by a notation of `ggp.analysis.notation`.

    >>> from ggp.engines.loading import load
    >>> game = load("tictactoe", "reasoner")
    >>> moves = game.legal_moves(game.initial_state(), game.roles[0])[:2]
    >>> writing_of(game).moves(moves), writing_of(game, "short").moves(moves)
    (['mark 1 1', 'mark 1 2'], ['a1', 'a2'])
    """
    if isinstance(game, BareTree):
        return Writing(game, None)
    return Writing(game, find_picture(game.program, game.facts(game.initial_state()), notation))
