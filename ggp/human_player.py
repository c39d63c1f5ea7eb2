"""The player that is a person at the keyboard."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ggp.game import Move
from ggp.players import LocalPlayer, MatchQuitError


class HumanPlayer(LocalPlayer):
    """Asks a person: shows the legal moves, takes a number of that list or a move as text.

    Where some moves are plain numbers themselves (a heap to take from), the list is not numbered
    and only moves count, so that `3` never means the fifth entry.
    """

    name = "human"
    is_human = True

    def __init__(
        self, *, ask: Callable[[str], str] | None = None, show: Callable[[str], None] | None = None
    ) -> None:
        super().__init__()
        self._ask = ask or input
        self._show = show or print

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        legal = self.legal_moves(state)
        role = self.setup.role
        if len(legal) == 1:
            self._show(f"{role}: {legal[0]} is the only legal move")
            return legal[0]
        is_numbered = not any(str(move).isdigit() for move in legal)
        self._show(f"{role}, legal moves:")
        for number, move in enumerate(legal, start=1):
            self._show(f"  {number:>3}  {move}" if is_numbered else f"       {move}")
        while True:
            answer = self._read(f"{role}> ")
            chosen = find_move(answer, legal, is_numbered=is_numbered)
            if chosen is not None:
                return chosen
            if answer.strip():
                wanted = f"a number from 1 to {len(legal)} or a move" if is_numbered else "a move"
                self._show(f"{answer.strip()!r} is not legal here; type {wanted} of the list")

    def _read(self, prompt: str) -> str:
        try:
            return self._ask(prompt)
        except (EOFError, KeyboardInterrupt):
            raise MatchQuitError("the human player left") from None


def find_move(answer: str, legal: tuple[Move, ...], *, is_numbered: bool = True) -> Move | None:
    """The move of `legal` that a person means by `answer`; None if there is none.

    Letter case and blanks do not matter, and the outer parentheses may be left out.
    """
    text = answer.strip()
    if is_numbered and text.isascii() and text.isdigit():
        return legal[int(text) - 1] if 1 <= int(text) <= len(legal) else None
    words = _words(text)
    for move in legal:
        written = _words(str(move))
        if words in (written, written[1:-1]):
            return move
    return None


def _words(text: str) -> list[str]:
    return text.lower().replace("(", " ( ").replace(")", " ) ").split()
