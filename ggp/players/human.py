"""The player `human`: a person at the keyboard."""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import sys
import textwrap
from collections.abc import Callable, Hashable
from typing import Any

from gdl.terms import Term
from ggp.analysis.figures import words_of
from ggp.analysis.notation import IDLE, Notation
from ggp.analysis.picture import Picture, find_picture
from ggp.beliefs.observation import Observation
from ggp.game import Game, GameError, Move, Role, hides_information
from ggp.match.player import MatchQuitError, MatchSetup, Player, TakeBackError
from ggp.players.move_menu import MoveMenu

HINT_SECONDS = 1.0
"""Time of the search for a hint."""
ROW_LIMIT = 12
"""Maximum lines of a list of moves; half a screen if that is less."""

HELP = {
    "a move": "its number if shown, its text, its term, or the part that distinguishes it",
    "part of it": "lists the moves with these words",
    "moves": "lists all moves again",
    "board": "shows the board again (also Ctrl-L)",
    "hint": "asks the computer for a move",
    "undo": "takes your last move back",
    "resign": "gives up: the match ends without a result",
    "quit": "ends the match (also Ctrl-D)",
}
"""Command → what it does."""

REDRAW = "\f"
"""The character that Ctrl-L enters."""


class HumanPlayer(Player):
    """Asks a person, who enters a move or a command: `help` lists them.

    Moves take precedence: in a game with a move `hint`, that word is the move. Forced moves are made without
    asking. In games with hidden information the person is shown the percepts of every step, and before a
    choice what is certain: the facts that are true in all states that agree with everything observed.
    """

    name = "human"
    is_human = True

    def __init__(
        self, *, ask: Callable[[str], str] | None = None, show: Callable[[str], None] | None = None
    ) -> None:
        self._ask = ask or ask_terminal
        self._show = show or print
        self._moves_made = 0
        self._pictured: tuple[Game[Any], Picture] | None = None

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._moves_made = 0

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        game, role = self.setup.game, self.setup.role
        legal = self.legal_moves(state)
        if len(legal) > 1:
            return self._ask_move(legal, state, game.facts(state))
        if not any(len(game.legal_moves(state, other)) > 1 for other in game.roles if other != role):
            self._show_forced(legal[0])
        return legal[0]

    def observe(self, observation: Observation, deadline: float) -> None:
        super().observe(observation, deadline)
        self._show_percepts(observation.percepts)

    def choose_by_observations(self, deadline: float) -> Move:
        position = self.belief.position
        if len(position.legal) > 1:
            self._show_knowledge()
            return self._ask_move(position.legal, position.state, None)
        self._show_forced(position.legal[0])
        return position.legal[0]

    def _show_forced(self, move: Move) -> None:
        if str(move) != IDLE:
            self._show(f"{self.setup.role}: {self._picture.notation.text(move)} is the only legal move")

    def stop(self, terms: tuple[Term, ...] | None) -> None:
        if terms is not None and hides_information(self.setup.game):
            self._show_percepts(terms)
        super().stop(terms)

    def _show_percepts(self, percepts: tuple[Term, ...]) -> None:
        self._say(f"{self.setup.role} sees: {', '.join(map(words_of, percepts)) or 'nothing'}")

    def _show_knowledge(self) -> None:
        """Show the facts that are true in all possible states, drawn as states are."""
        certain = self.belief.certain_facts()
        if certain is None:
            self._say(f"{self.setup.role}: too many states are possible to say what is certain")
            return
        count = len(self.belief.states)
        states = "the state" if count == 1 else f"certain in {count:,} possible states"
        self._show(f"{self.setup.role} knows ({states}):")
        for line in self._picture_lines(certain):
            self._show(f"  {line}")

    def _show_position(self, state: Hashable) -> None:
        """Show the position and percepts before the choice again."""
        if hides_information(self.setup.game):
            self._show_knowledge()
            return
        for line in self._picture_lines(self.setup.game.facts(state)):
            self._show(line)

    @property
    def _picture(self) -> Picture:
        game = self.setup.game
        if self._pictured is None or self._pictured[0] is not game:
            found = find_picture(game.program, game.facts(game.initial_state()), self.notation)
            self._pictured = game, found
        return self._pictured[1]

    def _picture_lines(self, facts: tuple[Term, ...]) -> list[str]:
        return list(self._picture.text(facts))

    def _ask_move(self, legal: tuple[Move, ...], state: Hashable, facts: tuple[Term, ...] | None) -> Move:
        """Ask for one of the moves. facts: of the state, None if it is hidden."""
        role, menu = self.setup.role, MoveMenu(legal, self._picture.notation.texts(legal, facts))
        self._show(f"{role}, legal moves:")
        self._list(menu, legal)
        while True:
            answer = self._read(f"{role}> ")
            if REDRAW in answer:
                self._obey("board", menu, state)
                continue
            move = menu.find(answer)
            if move is not None:
                self._moves_made += 1
                return move
            if answer.strip():
                self._obey(answer, menu, state)

    def _obey(self, answer: str, menu: MoveMenu, state: Hashable) -> None:
        """Execute a command, or list the moves with the words of `answer`."""
        word = answer.strip().lower()
        if word in ("help", "?"):
            for name, meaning in HELP.items():
                self._say(f"  {name:<12}{meaning}", indent=14)
        elif word in ("quit", "exit"):
            raise MatchQuitError("the human player left")
        elif word == "resign":
            raise MatchQuitError("the human player resigned")
        elif word == "undo":
            self._undo()
        elif word == "hint":
            self._say(hint_text(self.setup.game, state, self.setup.role, self._picture.notation))
        elif word in ("board", "moves"):
            if word == "board":
                self._show_position(state)
            self._list(menu, menu.legal)
        elif found := menu.matching(answer):
            self._list(menu, found)
        else:
            wanted = f"a number from 1 to {len(menu.legal)} or a move" if menu.is_numbered else "a move"
            self._say(f"{answer.strip()!r} is not legal here; type {wanted} of the list, or help")

    def _undo(self) -> None:
        if not self.setup.can_take_back:
            self._say("moves cannot be taken back in this match")
        elif not self._moves_made:
            self._say("there is no move of yours to take back")
        else:
            self._moves_made -= 1
            raise TakeBackError(self.setup.role)

    def _say(self, text: str, indent: int = 0) -> None:
        """Show a sentence, wrapped to the width of the terminal."""
        columns = max(20, shutil.get_terminal_size().columns - 1)
        self._show("\n".join(textwrap.wrap(text, columns, subsequent_indent=" " * indent)))

    def _list(self, menu: MoveMenu, moves: tuple[Move, ...] | list[Move]) -> None:
        columns, rows = shutil.get_terminal_size()
        for line in menu.lines(moves, columns, min(ROW_LIMIT, max(1, rows // 2))):
            self._show(line)

    def _read(self, prompt: str) -> str:
        try:
            return self._ask(prompt)
        except (EOFError, KeyboardInterrupt):
            raise MatchQuitError("the human player left") from None


def ask_terminal(prompt: str) -> str:
    """A line from the keyboard; in a terminal with arrow keys and history, if readline is available."""
    if sys.stdin.isatty():
        _prepare_terminal()
    return input(prompt)


@functools.cache
def _prepare_terminal() -> None:
    """Enable line editing, and discard input typed ahead when the program ends."""
    with contextlib.suppress(ImportError):
        import readline

        if "libedit" not in (readline.__doc__ or ""):  # which has other key bindings
            readline.parse_and_bind(r'"\C-x\C-l": clear-screen')
            readline.parse_and_bind(r'"\C-l": "\C-x\C-l\C-a\C-k\C-v\C-l\C-m"')
    import termios

    @atexit.register
    def drop() -> None:
        with contextlib.suppress(OSError, ValueError, termios.error):  # the terminal is gone
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def hint_text(game: Game[Any], state: Hashable, role: Role, notation: Notation) -> str:
    """The move that a short tree search would choose, and what it expects."""
    from ggp.search.one_state import search_state

    if hides_information(game):
        return "no hints in a game with hidden information"
    try:
        report = search_state(game, state, role, seconds=HINT_SECONDS)
    except GameError as error:
        return f"no hint: {error}"
    if report.best_move is None or report.expectation is None:
        return "no hint found in time"
    move = notation.text(report.best_move, game.facts(state))
    return f"hint: {move}, expects {report.expectation:.0f} of 100"
