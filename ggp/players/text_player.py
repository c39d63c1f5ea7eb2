"""A player that runs any command: `text:COMMAND` receives everything as text and answers with a move.

For every move with a choice the command runs once, without a shell. On standard input it gets the rules
in KIF, its role, what happened so far, the state and the legal moves; the last line that it writes is its
move. In games with `sees` it gets its own moves and percepts instead of joint moves and state.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import IO

from gdl.syntax.printer import to_kif
from gdl.terms import Term
from ggp.beliefs.observation import Observation
from ggp.game import Move
from ggp.match.faults import Illegal, Late, Unreachable, shorten
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.players.move_menu import move_words
from ggp.processes.isolation import grouped_command
from ggp.protocol.messages import printable
from ggp.search.option_table import OptionError

_logger = logging.getLogger("ggp")

MAX_ANSWER_BYTES = 65_536
"""A command that writes more is killed."""
_NAME_CHARACTERS = 40
_DRAINING_SECONDS = 1.0
"""Time to wait for the remaining output of a command that has ended."""


class TextPlayer(Player):
    """Asks a command for every move.

    The command is killed after the deadline and the grace of the match.

    command   a program and its arguments, quoted as in a shell

    Raises OptionError if there is no such program.
    """

    keeps_time = True

    def __init__(self, command: str) -> None:
        try:
            self.arguments = shlex.split(command)
        except ValueError as error:
            raise OptionError(f"{command!r} is not a command: {str(error).lower()}") from None
        if not self.arguments:
            raise OptionError("expected text:COMMAND, such as text:'python3 agent.py'")
        if shutil.which(self.arguments[0]) is None:
            raise OptionError(f"there is no program {self.arguments[0]!r}")
        self.name = f"text:{command}"[:_NAME_CHARACTERS]
        self._has_warned = False

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._history: list[str] = []
        self._rules = to_kif(setup.game.program)

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        game = self.setup.game
        if joint_move is not None:
            plays = zip(game.roles, joint_move, strict=True)
            self._history.append(" ".join(f"(does {role} {move})" for role, move in plays))
        facts = "\n".join(map(str, game.facts(state)))
        return self._ask(self.legal_moves(state), f"State:\n{facts}\n\n", deadline)

    def observe(self, observation: Observation, deadline: float) -> None:
        super().observe(observation, deadline)
        role, own = self.setup.role, observation.own_move
        seen = [f"(sees {role} {percept})" for percept in observation.percepts]
        self._history.append(" ".join([f"(does {role} {own})", *seen] if own is not None else seen))

    def choose_by_observations(self, deadline: float) -> Move:
        return self._ask(self.belief.position.legal, "", deadline)

    def _ask(self, legal: Sequence[Move], state: str, deadline: float) -> Move:
        """The command's answer as a move; it is not asked if only one is legal."""
        if len(legal) == 1:
            return legal[0]
        steps = "".join(f"{number}. {line}\n" for number, line in enumerate(self._history, start=1))
        moves = "\n".join(map(str, legal))
        text = (
            f"Rules:\n{self._rules}\nYou play the role {self.setup.role}.\n\n"
            f"Steps so far:\n{steps or 'none'}\n\n{state}"
            f"Your legal moves:\n{moves}\n\n"
            f"Answer with one of them on the last line, within {deadline - time.monotonic():.1f} seconds.\n"
        )
        try:
            end = deadline + self.setup.grace_seconds
            return read_move(run_command(self.arguments, text, end), legal)
        except PlayerFaultError as error:
            if isinstance(error.fault, Unreachable) and not self._has_warned:
                _logger.warning("%s failed: %s", self.name, error)
                self._has_warned = True
            raise

    def stop(self, terms: tuple[Term, ...] | None) -> None:
        super().stop(terms)
        self._history = []


def read_move(answer: str, legal: Sequence[Move]) -> Move:
    """The legal move in the last line of an answer. Letter case, parentheses and commas do not matter.

    >>> from gdl.syntax.parser import parse_term
    >>> legal = [parse_term("(mark 1 2)"), parse_term("noop")]
    >>> str(read_move("Let me see ...\\nmark(1, 2).\\n", legal)), str(read_move("NOOP", legal))
    ('(mark 1 2)', 'noop')
    >>> read_move("(mark 9 9)", legal)
    Traceback (most recent call last):
    ggp.match.player.PlayerFaultError: IL (mark 9 9)

    Raises PlayerFaultError.
    """
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    words = move_words(last.strip("`*.").replace(",", " "))
    found = [move for move in legal if move_words(str(move)) == words]
    if len(found) != 1:
        raise PlayerFaultError(Illegal(printable(shorten(last)) or "no text"))
    return found[0]


def run_command(arguments: Sequence[str], text: str, deadline: float) -> str:
    """Run a program on `text`, and return what it writes to standard output.

    It is ended, with all processes that it started, at `deadline`, or when it has written too much.
    Raises PlayerFaultError: Late, Illegal (too much), Unreachable (it cannot be run, or fails).
    """
    with tempfile.TemporaryFile() as given:  # a pipe would block if the program does not read
        given.write(text.encode())
        given.seek(0)
        try:
            process = subprocess.Popen(
                grouped_command(*arguments),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise PlayerFaultError(Unreachable(), f"{arguments[0]}: {error.strerror}") from None
    assert process.stdout is not None
    assert process.stderr is not None
    written = _Reading(process.stdout, lambda: _end(process))
    errors = _Reading(process.stderr)
    try:
        code = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise PlayerFaultError(Late()) from None
    finally:
        _end(process)
        process.wait()
        for reading in (written, errors):
            reading.join(_DRAINING_SECONDS)
    if written.is_full:
        raise PlayerFaultError(Illegal(f"more than {MAX_ANSWER_BYTES:,} bytes"))
    if code != 0:
        why = errors.text.strip().rpartition("\n")[2] or f"exit code {code}"
        raise PlayerFaultError(Unreachable(), f"{arguments[0]}: {printable(why)}")
    return written.text


class _Reading(threading.Thread):
    """Reads a pipe to its end, and keeps its first bytes.

    on_full   called once when there are more
    """

    def __init__(self, pipe: IO[bytes], on_full: Callable[[], None] | None = None) -> None:
        super().__init__(daemon=True)
        self._pipe, self._on_full = pipe, on_full
        self._kept = bytearray()
        self.is_full = False
        self.start()

    @property
    def text(self) -> str:
        return bytes(self._kept).decode("utf-8", "replace")

    def run(self) -> None:
        with self._pipe, contextlib.suppress(OSError):
            while chunk := os.read(self._pipe.fileno(), MAX_ANSWER_BYTES):
                room = MAX_ANSWER_BYTES - len(self._kept)
                self._kept += chunk[:room]
                if len(chunk) > room and not self.is_full:
                    self.is_full = True
                    if self._on_full is not None:
                        self._on_full()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, and all of its session that still run."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()  # it has no session where this process must keep its own
