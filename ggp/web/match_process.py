"""The process of one match: `python -m ggp.web.match_process MIB`, started by the web server.

It computes states with the reasoner, so that the board is there at once; the searches load the rules on the
fastest engine in a thread of their own (`agent_thread`).

    open      rules, name, seats, seed    what does not change during the match
    replay    text                        the same for a match record
    view      step                        a state of the past
    play      step, role, move            null; the event `state` follows
    undo                                  null
    think     seconds, step               null; events `think` follow, on the position after `step`
    review                                null; events `review` follow, one for every choice of the match
    record                                the match as JSON of a match record
    animation                             the match as an SVG that plays by itself
    abort                                 null; players over HTTP are told that the match is over

Seats are texts in role order: "person", or a player as `make_player` reads it; players over HTTP only if they
run on this machine, so that the page is no way into other networks. Events: `state` after every change,
`think` while a search runs, `review`, `failed` if a search ended without a move.
"""

from __future__ import annotations

import queue
import random
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from gdl.syntax.parser import parse_term
from ggp.analysis.picture import Picture, find_picture
from ggp.beliefs.observation import Observation
from ggp.engines.loading import load
from ggp.game import RANDOM_ROLE, GameError, Role, hides_information
from ggp.match.record import MatchRecord
from ggp.players.factory import file_option, make_player
from ggp.processes.child_end import LineQueue
from ggp.protocol.client import ABORT_SECONDS, RemotePlayer
from ggp.web.agent_thread import AgentThread, Finding, Task
from ggp.web.match_export import animation_text, record_text
from ggp.web.match_history import STEP_LIMIT, MatchHistory
from ggp.web.match_review import MatchReview
from ggp.web.match_view import (
    described_rules,
    legal_moves_view,
    moves_view,
    outcome,
    percepts_view,
    shown_state,
)
from ggp.web.requests import TOO_DEEP, RequestError, Wire, answer, serve, unforeseen

PERSON = "person"
AGENTS = ("mcts", "alphabeta", "solving", "random", "legal")
"""Kinds of players that may take a seat: none that runs other code or reads files."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOVE_SECONDS = (0.1, 600.0)
ANALYSIS_SECONDS = 60.0
_SEATS_SHARE, _ANALYSIS_SHARE = 0.375, 0.125
"""Of the process's memory, for the trees and proofs of all seats and of all analyses."""
PACE_SECONDS = 0.4
"""Least time between two steps that nobody chooses, so that one can follow them."""


def with_memory(spec: str, mebibytes: float) -> str:
    """An `mcts` player that keeps within `mebibytes`, of which proofs get a fifth; others as they are.

    >>> with_memory("mcts:c=50", 500), with_memory("mcts", 500), with_memory("mcts:memory=9", 500)
    ('mcts:c=50,memory=400,proof_memory=100', 'mcts:memory=400,proof_memory=100', 'mcts:memory=9')
    >>> with_memory("random", 500)
    'random'
    """
    kind, _, options = spec.partition(":")
    if kind != "mcts" or "memory=" in options:
        return spec
    share = f"memory={max(8, int(0.8 * mebibytes))},proof_memory={max(2, int(0.2 * mebibytes))}"
    return f"{kind}:{options},{share}" if options else f"{kind}:{share}"


def is_remote(spec: str) -> bool:
    """Whether a seat is taken by a player over HTTP."""
    return spec.startswith("http://")


def check_seat(spec: str) -> None:
    """Raise RequestError or PlayerSpecError unless `spec` may take a seat.

    >>> check_seat("http://127.0.0.1:9147")
    >>> check_seat("http://example.org:9147")
    Traceback (most recent call last):
    ggp.web.requests.RequestError: only players on this machine can take a seat: http://127.0.0.1:PORT

    >>> check_seat("human")
    Traceback (most recent call last):
    ggp.web.requests.RequestError: 'human' cannot take a seat here: expected person, ...
    """
    kind, _, _ = spec.partition(":")
    if spec == PERSON:
        return
    if is_remote(spec):
        make_player(spec)
        if urlsplit(spec).hostname not in _LOOPBACK:
            raise RequestError("only players on this machine can take a seat: http://127.0.0.1:PORT")
        return
    if kind not in AGENTS:
        expected = ", ".join((PERSON, "http://127.0.0.1:PORT", *AGENTS))
        raise RequestError(f"{spec!r} cannot take a seat here: expected {expected}")
    if (option := file_option(spec)) is not None:
        raise RequestError(f"players that read files cannot take a seat here: {spec!r} has {option}")
    make_player(spec)


class BrowserMatch:
    """One match and its seats; methods named in the module's docstring answer the requests.

    mebibytes   memory of the process, of which all searches together get half
    """

    def __init__(self, wire: Wire, found: Callable[[Finding], None], mebibytes: int = 4096) -> None:
        self._mebibytes = mebibytes
        self._wire = wire
        self._found = found
        self._history: MatchHistory | None = None
        self._seats: tuple[str, ...] = ()
        self._seconds = 1.0
        self._asked: set[Role] = set()
        self._text = ""
        self._review: MatchReview | None = None
        self._is_changed = False
        self._next_pace = 0.0
        self._fault = ""
        self._is_stopped = False

    @property
    def history(self) -> MatchHistory:
        """The match. Raises RequestError before `open`."""
        if self._history is None:
            raise RequestError("no match is open")
        return self._history

    def open(self, rules: str, name: str, seats: list[str], seconds: float, seed: int) -> dict[str, Any]:
        """Load the rules and seat the players."""
        for spec in seats:
            check_seat(spec)
        game = load(rules + "\n", engine="reasoner", name=name)
        for spec in filter(is_remote, seats):
            RemotePlayer(spec).require_listener()
        wanted = [role for role in game.roles if role != RANDOM_ROLE]
        if not seats:
            seats = [PERSON, *(["mcts"] * (len(wanted) - 1))]
        if len(seats) != len(wanted):
            raise RequestError(f"{name} has {len(wanted)} roles, not {len(seats)}")
        if hides_information(game) and seats.count(PERSON) > 1:
            raise RequestError("in a game with hidden information only one person can sit at this page")
        least, most = MOVE_SECONDS
        if not least <= seconds <= most:
            raise RequestError(f"a move takes {least:g} to {most:g} seconds")
        given = iter(seats)
        self._seats = tuple("chance" if role == RANDOM_ROLE else next(given) for role in game.roles)
        self._seconds, self._text = seconds, rules
        self._history = MatchHistory(game)
        self._picture: Picture = find_picture(game.program, game.facts(game.initial_state()))
        self._rng = random.Random(seed)
        self._agents = AgentThread(rules + "\n", seed, self._found)
        return self._described()

    def replay(self, text: str) -> dict[str, Any]:
        """Open a match record; nobody plays on."""
        record = MatchRecord.from_json(text)
        if not record.rules.strip():
            raise RequestError("the record holds no rules")
        roles = load(record.rules + "\n", engine="reasoner", name="record").roles
        self.open(
            record.rules,
            record.game_name or "recorded match",
            ["legal"] * sum(role != RANDOM_ROLE for role in roles),
            1.0,
            0,
        )
        if len(record.moves) > STEP_LIMIT:
            raise RequestError(f"the record has more than {STEP_LIMIT} steps")
        reports = record.reports or [[] for _ in record.moves]
        for texts, row in zip(record.moves, reports, strict=False):
            values = list(map(_expectation, row))
            self.history.play([parse_term(each) for each in texts], values)
        self._seats = tuple(record.player_names) or ("",) * len(self.history.game.roles)
        self._agents.generation = -1
        return {**self._described(), "is_replay": True}

    def _described(self) -> dict[str, Any]:
        game = self.history.game
        return {
            "name": game.name,
            "roles": [str(role) for role in game.roles],
            "seats": list(self._seats),
            "is_hidden": hides_information(game),
            "is_blind": self._blind() is not None,
            "is_replay": False,
            "seconds": self._seconds,
            **described_rules(self._text),
            "has_remote_players": any(map(is_remote, self._seats)),
        }

    @property
    def _is_replay(self) -> bool:
        return self._agents.generation < 0

    def _persons(self) -> list[Role]:
        roles = zip(self.history.game.roles, self._seats, strict=True)
        return [] if self._is_replay else [role for role, seat in roles if seat == PERSON]

    def _blind(self) -> Role | None:
        """The person from whom the state is hidden, if there is one."""
        persons = self._persons()
        return persons[0] if persons and hides_information(self.history.game) else None

    def view(self, step: int) -> dict[str, Any]:
        """A state of the past. Raises RequestError if it is hidden or has not been reached."""
        if not 0 <= step <= len(self.history.steps):
            raise RequestError(f"the match has not reached step {step}")
        if self._blind() is not None:
            raise RequestError("the rules hide the state from you")
        return {"step": step, **shown_state(self.history, self._picture, step)}

    def snapshot(self) -> dict[str, Any]:
        """The event `state`: the last state, and whose choice is awaited."""
        history, blind = self.history, self._blind()
        person = self._next_person()
        last = len(history.steps)
        shown = {} if blind is not None else shown_state(history, self._picture, last)
        goals = history.goals()
        return {
            "event": "state",
            "step": last,
            **shown,
            "is_over": history.is_over,
            "outcome": outcome(history.game, history),
            "goals": goals,
            "person": None if person is None else str(person),
            **legal_moves_view(self._picture, () if person is None else history.legal(person)),
            "waiting": [] if blind is not None else sorted(map(str, self._asked)),
            "fault": self._fault,
            "history": moves_view(history, blind),
            "values": [] if blind is not None else [list(step.values) for step in history.steps],
            "percepts": [] if blind is None else percepts_view(history, blind),
            "can_undo": self._undo_count() > 0,
            "review": None if self._review is None else self._review.view(),
        }

    def _next_person(self) -> Role | None:
        """The person who is to choose now."""
        if self._fault or self.history.is_over:
            return None
        return next((role for role in self._persons() if role not in self.history.committed), None)

    def play(self, step: int, role: str, move: str) -> None:
        """Commit a person's move for the step that the page shows."""
        history, person = self.history, self._next_person()
        if step != len(history.steps) or person is None or str(person) != role:
            raise RequestError("that move comes too late: the match has gone on")
        legal = {str(each): each for each in history.legal(person)}
        if move not in legal:
            raise RequestError(f"{move} is not legal here")
        history.commit(person, legal[move])
        self._agents.generation += not self._asked
        self._is_changed = True

    def undo(self) -> None:
        """Take back the last step in which a person had a choice."""
        count = self._undo_count()
        if not count:
            raise RequestError("there is no move of yours to take back")
        self.history.undo(count)
        self._fault, self._review = "", None
        self._asked.clear()
        self._agents.generation += 1
        self._is_changed = True

    def _undo_count(self) -> int:
        """Steps back to the last choice of a person; 0 if there is none, or if going back would tell.

        Players over HTTP cannot go back.
        """
        history = self.history
        if self._blind() is not None or any(map(is_remote, self._seats)):
            return 0
        for count in range(1, len(history.steps) + 1):
            if any(len(history.legal(role, count)) > 1 for role in self._persons()):
                return count
        return 0

    def think(self, seconds: float, step: int) -> None:
        """Search the position after `step`, for the person who is to move, else for a role with a choice."""
        if hides_information(self.history.game):
            raise RequestError("no analysis in a game with hidden information")
        if not 0 <= step <= len(self.history.steps):
            raise RequestError(f"the match has not reached step {step}")
        role = self._choosing(step)
        if role is None:
            raise RequestError("nobody has a choice in this position")
        if self._review is not None:
            self._review.task = None
        limit = min(max(seconds, 0.1), ANALYSIS_SECONDS)
        self._agents.put(self._task(role, "mcts", limit, analyzed_step=step))

    def _choosing(self, step: int) -> Role | None:
        """The person who is to choose after `step`, else the first role with a choice."""
        history, person = self.history, self._next_person()
        if step == len(history.steps) and person is not None:
            return person
        if history.game.is_terminal(history.state(step)):
            return None
        back = len(history.steps) - step
        roles = [role for role in history.game.roles if role != RANDOM_ROLE]
        return next((role for role in roles if len(history.legal(role, back)) > 1), None)

    def review(self) -> None:
        """Search every position of a match that is over, one after the other; an analysis pauses it."""
        if hides_information(self.history.game):
            raise RequestError("no review in a game with hidden information")
        if not self._is_replay and not self.history.is_over:
            raise RequestError("a match can be reviewed when it is over")
        if self._review is None:
            self._review = MatchReview(self.history, self._picture)
        self._review_next(self._review)

    def _review_next(self, review: MatchReview) -> None:
        position, review.task = review.advance(), None
        if position is None:
            self._is_changed = True  # pages that come later get the review with the state
        else:
            role, step = position
            review.task = self._task(role, "mcts", review.seconds, analyzed_step=step)
            self._agents.put(review.task)

    def _take_review(self, review: MatchReview, finding: Finding) -> None:
        """What the search of a reviewed position reports."""
        if finding.error:
            review.task = None
            self._wire.send({"event": "failed", "role": str(finding.task.role), "text": finding.error})
        elif finding.move is not None:
            value = None if finding.report is None else finding.report["expectation"]
            entry = review.note(value, finding.move)
            self._wire.send({"event": "review", "entry": entry, "of": len(self.history.steps)})
            self._review_next(review)

    def record(self) -> str:
        """The match as the JSON text of a record. Raises RequestError if it holds what is hidden."""
        if self._blind() is not None:
            raise RequestError("the record would show what the rules hide from you")
        return record_text(self.history, self._text, self._seats, self._seconds)

    def animation(self) -> str:
        """The match as an SVG document that plays by itself.

        Raises RequestError if that would show what is hidden, and without a board.
        """
        if self._blind() is not None:
            raise RequestError("the animation would show what the rules hide from you")
        return animation_text(self.history, self._picture)

    def abort(self) -> None:
        """End the match for players over HTTP, because the page has left it."""
        if not self._is_stopped:
            self._is_stopped = True
            self._agents.stop(None, wait_seconds=ABORT_SECONDS)

    def fail(self, text: str) -> None:
        """The rules are at fault: nobody can move any more."""
        self._fault = text
        self._is_changed = True
        self._show_change()

    def run_on(self) -> float | None:
        """Make what nobody has to choose, and ask the agents; seconds until this is due again, or None.

        Raises GameError if the rules are at fault.
        """
        if self._history is None:
            return None
        if self._is_replay or self._fault or self._history.is_over:
            self._show_change()
            self._stop_players()
            return None
        self._commit_forced()
        if len(self.history.committed) == len(self.history.game.roles):
            left = self._next_pace - time.monotonic()
            if left > 0:
                self._show_change()
                return left
            self.history.advance()
            self._next_pace = time.monotonic() + (0.0 if self._persons() else PACE_SECONDS)
            self._asked.clear()
            self._agents.generation += 1
            self._is_changed = True
            return 0.0
        self._ask_agents()
        self._show_change()
        return None

    def _stop_players(self) -> None:
        """Tell players over HTTP the last step, once."""
        if not self._is_stopped and any(map(is_remote, self._seats)):
            self._is_stopped = True
            steps = self.history.steps
            self._agents.stop(steps[-1] if steps and not self._fault else None)

    def _commit_forced(self) -> None:
        """Commit what needs no thought: chance, and moves without an alternative."""
        history = self.history
        for role in history.game.roles:
            if role in history.committed:
                continue
            legal = history.legal(role)
            if role == RANDOM_ROLE:
                history.commit(role, self._rng.choice(legal))
            elif len(legal) == 1 and not is_remote(self._seats[history.game.roles.index(role)]):
                history.commit(role, legal[0])  # players over HTTP follow the match by being asked

    def _ask_agents(self) -> None:
        """Start the searches of the agents that have a choice."""
        persons = self._persons()
        roles = zip(self.history.game.roles, self._seats, strict=True)
        busy = (*self.history.committed, *persons, *self._asked)
        waiting = [(role, seat) for role, seat in roles if role not in busy]
        for role, seat in waiting:
            self._asked.add(role)
            self._agents.put(self._task(role, seat, self._seconds))
        self._is_changed = self._is_changed or bool(waiting)

    def _task(self, role: Role, spec: str, seconds: float, analyzed_step: int | None = None) -> Task:
        """A search; analyzed_step: of that position, instead of for a move in the last one."""
        history = self.history
        index = history.game.roles.index(role)
        is_hidden = hides_information(history.game)
        observations = tuple(
            Observation(step.joint_move[index], step.percepts[index]) for step in history.steps
        )
        searches = (
            len(history.game.roles)
            if analyzed_step is not None
            else sum(seat.startswith("mcts") for seat in self._seats)
        )
        share = _ANALYSIS_SHARE if analyzed_step is not None else _SEATS_SHARE
        return Task(
            self._agents.generation,
            role,
            with_memory(spec, share * self._mebibytes / max(1, searches)),
            seconds,
            () if is_hidden else tuple(history.joint_moves()[:analyzed_step]),
            observations if is_hidden else (),
            analyzed_step is not None,
        )

    def take(self, finding: Finding) -> None:
        """What a search reports; that of an earlier state is dropped."""
        task = finding.task
        if task.generation != self._agents.generation:
            return
        if self._review is not None and task is self._review.task:
            self._take_review(self._review, finding)
            return
        if finding.report is not None and self._blind() is None:
            self._wire.send(
                {
                    "event": "think",
                    "step": len(task.moves) if task.is_analysis else len(self.history.steps),
                    "role": str(task.role),
                    "is_yours": task.is_analysis,
                    "is_done": finding.move is not None,
                    "move": None if finding.move is None else str(finding.move),
                    "report": finding.report,
                }
            )
        if finding.error:
            self._wire.send({"event": "failed", "role": str(task.role), "text": finding.error})
        if task.is_analysis or (finding.move is None and not finding.error):
            return
        self._asked.discard(task.role)
        legal = self.history.legal(task.role)
        expected = None if finding.report is None else finding.report["expectation"]
        if finding.move in legal:
            self.history.commit(task.role, finding.move, expected)
        else:  # the event `failed` says why
            self.history.commit(task.role, self._rng.choice(legal))

    def _show_change(self) -> None:
        """Send the event `state` if there is something new; moves without an alternative are made by then."""
        if self._is_changed:
            self._is_changed = False
            self._wire.send(self.snapshot())


def _expectation(report: object) -> float | None:
    """The expected goal of a report in a record, which a stranger may have written.

    >>> _expectation({"expectation": 40}), _expectation({"expectation": "x"}), _expectation(None)
    (40.0, None, None)
    """
    value = report.get("expectation") if isinstance(report, dict) else None
    return float(value) if isinstance(value, int | float) and 0 <= value <= 100 else None


def run(lines: LineQueue, wire: Wire, mebibytes: int) -> None:
    """Answer requests, and let the match run on between them."""
    inbox: queue.SimpleQueue[bytes | Finding] = queue.SimpleQueue()

    def receive() -> None:
        while True:
            inbox.put(lines.wait())

    threading.Thread(target=receive, daemon=True).start()
    match = BrowserMatch(wire, inbox.put, mebibytes)
    methods = _methods(match)
    seconds: float | None = None
    while True:
        try:
            item = inbox.get(timeout=seconds)
        except queue.Empty:
            item = None
        if isinstance(item, bytes):
            wire.send(answer(item, methods))
        try:
            if isinstance(item, Finding):
                match.take(item)
            seconds = match.run_on()
        except MemoryError:
            raise
        except Exception as error:
            seconds = None
            match.fail(_sentence(error))


def _sentence(error: Exception) -> str:
    match error:
        case GameError():
            return str(error)
        case RecursionError():
            return TOO_DEEP
    return unforeseen(error)


def _methods(match: BrowserMatch) -> dict[str, Callable[..., Any]]:
    names = ["open", "replay", "view", "snapshot", "play", "undo", "think", "review", "record", "animation"]
    return {name: getattr(match, name) for name in (*names, "abort")}


if __name__ == "__main__":
    memory = int(sys.argv[1])
    serve(memory, partial(run, mebibytes=memory))
