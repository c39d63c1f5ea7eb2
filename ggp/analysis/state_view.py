"""Display of a state: text in a terminal, a picture in a notebook."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from html import escape
from typing import Any

from ggp.analysis.board import Board
from ggp.analysis.board_svg import board_svg
from ggp.analysis.picture import Picture, find_picture
from ggp.game import Fact, Game


@dataclass(frozen=True, repr=False)
class StateView:
    """One state of a game for display; `ggp.show` creates it.

    It prints as text. In a notebook it is an SVG picture of the recognized board, or a list of facts
    if no board is recognized.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> view = ggp.show(game)
    >>> str(view.facts[0]), view.to_svg().count("<rect")
    ('(control x)', 10)

    game      name of the game
    facts     what holds, sorted by text
    picture   how to draw it, as recognized from the rules
    is_over   whether the state is terminal
    """

    game: str
    facts: tuple[Fact, ...]
    picture: Picture
    is_over: bool = False

    @property
    def board(self) -> Board | None:
        """The recognized board, or None."""
        return self.picture.board

    def __str__(self) -> str:
        return "\n".join(self.picture.text(self.facts, is_over=self.is_over))

    def __repr__(self) -> str:
        return str(self)

    def to_svg(self) -> str | None:
        """The board as an SVG document; None if no board is recognized."""
        return None if self.board is None else board_svg(self.board, self.facts)

    def _repr_svg_(self) -> str | None:
        return self.to_svg()

    def _repr_html_(self) -> str | None:
        if self.board is not None:
            return None
        items = "".join(f"<li><code>{escape(str(fact))}</code></li>" for fact in self.facts)
        return f"<b>{escape(self.game)}</b><ul>{items}</ul>"


def show(game: Game[Any], state: Hashable | None = None) -> StateView:
    """A state (if none is given, the initial one) as text and picture.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> state = game.initial_state()
    >>> state = game.next_state(state, [game.legal_moves(state, role)[0] for role in game.roles])
    >>> ggp.show(game, state)
    3 . . .
    2 . . .
    1 x . .
      a b c
    o to move

    Raises GameError if `state` is not a state of `game`.
    """
    initial = game.facts(game.initial_state())
    facts = initial if state is None else game.facts(state)
    is_over = game.is_terminal(game.initial_state() if state is None else state)
    return StateView(game.name, facts, find_picture(game.program, initial), is_over)
