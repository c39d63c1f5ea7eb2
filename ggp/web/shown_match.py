"""One match on a page, played here or a record; the reasoner computes the states without compiling.

`match_process` calls the methods that answer its requests, then `run_on`, which sends what has changed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gdl.program import arguments_of
from gdl.syntax.parser import parse, parse_term
from gdl.terms import Term
from ggp.analysis.figures import words_of
from ggp.analysis.picture import Picture, find_picture
from ggp.analysis.sheet_comment import read_comment
from ggp.beliefs.observation import Observation
from ggp.engines.loading import make_game
from ggp.game import RANDOM_ROLE, Role, hides_information
from ggp.knowledge.folder import checked_count, checked_list, checked_text
from ggp.match.outcome import outcome_text
from ggp.match.record import MatchRecord, Step
from ggp.processes.child_end import RequestError
from ggp.protocol.client import ABORT_SECONDS, RemotePlayer
from ggp.web.agent_process import AgentProcess
from ggp.web.agent_thread import Finding, Task
from ggp.web.catalog import short_title
from ggp.web.changes import changes
from ggp.web.ending import explanation
from ggp.web.explained import fitting
from ggp.web.exploration import Exploration
from ggp.web.match_history import STEP_LIMIT, MatchHistory
from ggp.web.match_review import MatchReview
from ggp.web.match_view import (
    arrows,
    legal_moves_view,
    moves_view,
    report_view,
    shown_state,
)
from ggp.web.percepts import find_public, find_reports, percept_view, reported_moves
from ggp.web.seats import PERSON, check_seat, is_remote, with_memory

_MOVE_SECONDS = (0.1, 600.0)
_ANALYSIS_SECONDS = 60.0
_SEATS_SHARE, _ANALYSIS_SHARE = 0.375, 0.125
"""Shares of the process's memory for the trees and proofs of all seats, and of all analyses."""
PACE_SECONDS = 0.4
"""Minimum time between two steps without a person's choice, so that people can follow."""

_CUT = "no result: the match is too long"


class ShownMatch:
    """One match and its seats.

    send        an event for the page: `state` with what has changed since the last one, `phase`, `think`,
                `review`, `failed`
    found       is called in another thread with every Finding; pass it to `take`
    mebibytes   memory of the process for searches, of which all together get half
    """

    def __init__(
        self,
        send: Callable[[Mapping[str, Any]], None],
        found: Callable[[Finding], None],
        mebibytes: int = 4096,
    ) -> None:
        self._send, self._found, self._mebibytes = send, found, mebibytes
        self._is_open = self._is_replay = False
        self._prepared: tuple[str, str] | None = None
        self._seats: tuple[str, ...] = ()
        self._seconds = 0.0
        self._viewer: Role | None = None
        """The role whose view is shown, if the rules hide the state; until the end of a match played here."""
        self._asked: set[Role] = set()
        """Roles whose searches run."""
        self._forced: set[tuple[int, int]] = set()
        """Step and seat of moves that were made for persons."""
        self._review: MatchReview | None = None
        self._shown: dict[str, Any] = {}
        self._is_changed = self._is_stopped = self._is_revealed = False
        self._next_pace = 0.0
        self._fault = ""

    @property
    def history(self) -> MatchHistory:
        """The match. Raises RequestError before it is open."""
        if not self._is_open:
            raise RequestError("no match is open")
        return self._history

    # --- opening ----------------------------------------------------------------------------------

    def open(
        self,
        rules: str,
        name: str,
        seats: list[str],
        seconds: float,
        seed: int,
        progress: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Load the rules and seat the players, `person` or as `make_player` reads them, in role order.

        seconds         of agents for a move
        progress        of a match that was kept, see `progress`; None: a new one
        """
        for seat in seats:
            check_seat(seat)
        self._load(rules, name)
        game = self._history.game
        for seat in filter(is_remote, seats if progress is None else ()):
            RemotePlayer(seat).require_listener()
        wanted = [role for role in game.roles if role != RANDOM_ROLE]
        if not seats:
            seats = [PERSON, *(["mcts"] * (len(wanted) - 1))]
        if len(seats) != len(wanted):
            raise RequestError(f"{name} has {len(wanted)} roles, not {len(seats)}")
        if hides_information(game) and seats.count(PERSON) > 1:
            raise RequestError("in a game with hidden information only one person can sit at this page")
        least, most = _MOVE_SECONDS
        if not least <= seconds <= most:
            raise RequestError(f"a move takes {least:g} to {most:g} seconds")
        given = iter(seats)
        self._seats = tuple("chance" if role == RANDOM_ROLE else next(given) for role in game.roles)
        self._seconds, self._is_open = seconds, True
        persons = self._persons()
        if persons and hides_information(game):
            self._viewer = persons[0]
        self._rng = random.Random(seed)
        if progress is not None:
            self._resume(progress)
        is_eager = not self._is_over and any(each not in (PERSON, "chance") for each in self._seats)
        self._agents = AgentProcess(rules, seed, self._found, self._mebibytes, is_eager)
        return self._described()

    def replay(self, text: str) -> dict[str, Any]:
        record = MatchRecord.from_json(text)
        if not record.rules.strip():
            raise RequestError("the record contains no rules")
        self._load(record.rules, record.game_name or "recorded match")
        reports = record.reports or [[] for _ in record.moves]
        self._play_again(record.moves, reports)
        self._seats = tuple(record.player_names) or ("",) * len(self._history.game.roles)
        self._agents = AgentProcess(record.rules, 0, self._found, self._mebibytes)
        self._is_open = self._is_replay = True
        return self._described()

    def _play_again(self, moves: Sequence[Sequence[str]], reports: Sequence[Sequence[object]]) -> None:
        """Make the joint moves of a file. Raises RequestError, GdlError, GameError."""
        if len(moves) > STEP_LIMIT:
            raise RequestError(f"the record has more than {STEP_LIMIT} steps")
        for texts, row in zip(moves, reports, strict=False):
            self._history.play([parse_term(each) for each in texts], list(map(_expectation, row)))

    def progress(self) -> dict[str, Any]:
        """What `open` needs to resume a match that is played here: moves and verdict."""
        history, persons = self.history, self._persons()
        chosen = {str(role): str(move) for role, move in history.committed.items() if role in persons}
        return {
            "moves": [list(map(str, step.joint_move)) for step in history.steps],
            "reports": [[{"expectation": value} for value in step.values] for step in history.steps],
            "committed": chosen,
            "forced": sorted(map(list, self._forced)),
            "settlement": {"verdict": self._verdict, "goals": self._verdict_goals},
        }

    def _resume(self, progress: Mapping[str, Any]) -> None:
        """Continue from `progress`, which is read from a file. Raises RequestError, GdlError, GameError."""
        try:
            self._play_again(progress["moves"], progress["reports"])
            for role in self._persons() if not self.history.is_over else ():
                chosen = progress["committed"].get(str(role))
                if chosen is not None:
                    self.history.commit(role, next(x for x in self.history.legal(role) if str(x) == chosen))
            places, steps = len(self.history.game.roles), len(self.history.steps)
            goals = checked_list(progress["settlement"]["goals"], places)
            self._verdict = checked_text(progress["settlement"]["verdict"])
            self._verdict_goals = [None if goal is None else checked_count(goal, 100) for goal in goals]
            self._forced = {
                (checked_count(step, steps + 1), checked_count(place, places - 1))
                for step, place in progress.get("forced", [])
            }
        except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
            raise RequestError(f"the kept match is damaged ({error!r})") from None

    def prepare(self, rules: str, name: str) -> None:
        """Load rules that are likely to be opened next."""
        self._load(rules, name)
        for role in self._history.game.roles:
            self._history.legal(role)
        self._prepared = rules, name

    def _load(self, rules: str, name: str) -> None:
        if self._prepared == (rules, name):
            return
        program = parse(rules + "\n", name=name)
        game = make_game(program, name, "reasoner")
        self._text, self._history = rules, MatchHistory(game)
        self._reopen()
        self._picture: Picture = find_picture(game.program, game.facts(game.initial_state()))
        self._exploration = Exploration(self._history, self._picture)
        self._reports = find_reports(game.program)
        self._public = find_public(game.program)

    def _described(self) -> dict[str, Any]:
        game = self.history.game
        comment = read_comment(self._text)
        return {
            "name": game.name,
            "title": comment.title,
            "short": short_title(comment.title) or game.name,
            "about": list(comment.rules),
            "roles": [str(role) for role in game.roles],
            "seats": list(self._seats),
            "turned": [] if self._picture.board is None else list(self._picture.board.style.turned),
            "is_hidden": hides_information(game),
            "is_blind": self._blind is not None,
            "explained": list(fitting(game.roles)),
            "is_replay": self._is_replay,
            "seconds": self._seconds,
            "has_remote_players": self._has_remote_players,
        }

    @property
    def _has_remote_players(self) -> bool:
        return not self._is_replay and any(map(is_remote, self._seats))

    def _persons(self) -> list[Role]:
        roles = zip(self.history.game.roles, self._seats, strict=True)
        return [role for role, seat in roles if seat == PERSON and not self._is_replay]

    @property
    def _is_over(self) -> bool:
        return bool(self._verdict) or self.history.is_over

    @property
    def _blind(self) -> Role | None:
        """The role to whose knowledge the page is limited: at the end everything is turned over."""
        return None if self._is_over else self._viewer

    # --- what is shown ----------------------------------------------------------------------------

    def show(self) -> None:
        self._shown = {}
        self._is_changed = True
        self._show_change()

    def _show_change(self) -> None:
        if not self._is_changed:
            return
        steps = self.history.steps
        is_new_end = bool(steps) and self._is_over and self._blind is None and steps[-1].decided_by is None
        if not self._is_replay:
            self._send({"event": "progress", "progress": self.progress()})
        for is_explained in (False, True) if is_new_end else (True,):  # why it ended may take a second
            before, self._shown = self._shown, self.snapshot(is_explained=is_explained)
            self._send({"event": "state", **changes(before, self._shown)})
        self._is_changed = False

    def snapshot(self, *, is_explained: bool = True) -> dict[str, Any]:
        """The last state and the roles whose choice is awaited.

        is_explained   say and mark why the match is over
        """
        history, viewer, is_over = self.history, self._blind, self._is_over
        roles = list(map(str, history.game.roles))
        if self._viewer is not None and viewer is None and not self._is_revealed:
            self._is_revealed = True
            history.forget_notes()  # they were made without what was hidden
        person, last = self._next_person(), len(self.history.steps)
        goals = self._goals()
        result = self._verdict or outcome_text(roles, goals)
        seat = None if viewer is None else history.game.roles.index(viewer)
        notation = self._picture.notation
        return {
            "step": last,
            **({} if viewer is not None else shown_state(history, self._picture, last, is_explained)),
            "is_over": is_over,
            "is_blind": viewer is not None,
            "because": self._because() if is_over and is_explained and viewer is None else "",
            "outcome": "" if not is_over else _CUT if history.is_cut else result,
            "goals": goals,
            "person": None if person is None else str(person),
            **legal_moves_view(
                self._picture,
                () if person is None else history.legal(person),
                history.facts() if viewer is None else None,
            ),
            "arrows": [] if person is None or viewer is not None else arrows(history, self._picture, person),
            "waiting": sorted(map(str, self._asked)) if viewer is None else [],
            "fault": self._fault,
            **moves_view(history, self._picture, viewer, self._reports),
            "forced": sorted(each for each in self._forced if each[0] <= last),
            "values": [] if viewer is not None else [list(step.values) for step in history.steps],
            "percepts": [
                list(map(words_of, step.percepts[seat])) for step in history.steps if seat is not None
            ],
            "drawn": [
                [
                    {**percept_view(term, roles, notation, self._reports), "is_public": self._is_public(term)}
                    for term in step.percepts[seat]
                    if viewer not in reported_moves(self._reports, [term])  # it knows its own move
                ]
                for step in history.steps
                if seat is not None
            ],
            "can_undo": self._undo_count() > 0,
            "review": None if self._review is None else self._review.view(goals),
        }

    def _is_public(self, percept: Term) -> bool:
        """Whether all players get this percept, so that what it shows is not one's own."""
        return (percept.name, len(arguments_of(percept))) in self._public

    def _goals(self) -> list[int | None] | None:
        """The goals of the end, in role order; None while the match runs."""
        return self._verdict_goals if self._verdict else self.history.goals()

    def _because(self) -> str:
        """Why the match is over; found once."""
        persons, steps = self._persons(), self.history.steps
        you = persons[0] if len(persons) == 1 else None
        if steps and steps[-1].because is None and not self._verdict:
            steps[-1].because = explanation(self.history, self._picture, you)
        return (steps and steps[-1].because) or ""

    def _require_seen(self, what: str) -> None:
        if self._blind is not None:
            raise RequestError(f"{what} would show what the rules hide")

    def _require_reached(self, step: int) -> None:
        if not 0 <= step <= len(self.history.steps):
            raise RequestError(f"the match has not reached step {step}")

    def view(self, step: int) -> dict[str, Any]:
        self._require_reached(step)
        self._require_seen("a position")
        return {"step": step, **shown_state(self.history, self._picture, step)}

    def explore(self, step: int, line: list[list[str]]) -> dict[str, Any]:
        """The position after `step` and the joint moves `line`, with the choices there."""
        self._require_reached(step)
        self._require_seen("a position")
        return self._exploration.view(step, line)

    def position(self, step: int, line: list[list[str]]) -> dict[str, Any]:
        """Rules, name and facts of a position, to be explained; none while some is hidden."""
        self._require_reached(step)
        self._require_seen("an explanation")
        if hides_information(self.history.game) and not self._is_over:
            raise RequestError("an explanation would show what the rules hide until the match is over")
        facts = self._exploration.reach(step, line).facts()
        return {"rules": self._text, "name": self.history.game.name, "facts": list(map(str, facts))}

    def record(self) -> str:
        """The match as the JSON text of a record."""
        self._require_seen("the record")
        history, roles = self.history, tuple(map(str, self.history.game.roles))
        record = MatchRecord(
            "web", history.game.name, roles, 0, round(self._seconds), self._seats, self._text
        )
        for step in range(len(history.steps) + 1):
            moves = history.steps[step - 1].joint_move if step else ()
            facts = " ".join(map(str, history.facts(step)))
            record.steps.append(Step(tuple(map(str, moves)), f"( {facts} )"))
        if (goals := history.goals()) is not None:
            record.complete(goals)
        return record.to_json()

    # --- played -----------------------------------------------------------------------------------

    def _is_choosing_at_once(self) -> bool:
        """Whether a person has a choice in this step, so that the rules hide what the others will choose."""
        return any(len(self.history.legal(role)) > 1 for role in self._persons())

    def _next_person(self) -> Role | None:
        persons = self._persons()
        if not persons or self._fault or self._is_over:
            return None
        waiting = (role for role in persons if role not in self.history.committed)
        return next((role for role in waiting if len(self.history.legal(role)) > 1), None)  # see run_on

    def play(self, step: int, role: str, move: str) -> None:
        """Commit a person's move for the step that the page shows."""
        history, person = self.history, self._next_person()
        if step < len(history.steps) or (person is not None and str(person) != role):
            raise RequestError("this seat is played in another tab: the move made there counts")
        if step != len(history.steps) or person is None:
            raise RequestError("that move comes too late: the match has changed")
        legal = {str(each): each for each in history.legal(person)}
        if move not in legal:
            raise RequestError(f"{move} is not legal here")
        history.commit(person, legal[move])
        self._agents.generation += not self._asked
        self._is_changed = True

    def undo(self) -> None:
        count = self._undo_count()
        if not count:
            raise RequestError("there is no move of yours to take back")
        self.history.undo(count)
        self._fault, self._review = "", None
        self._reopen()
        self._begin_step()

    def resign(self, role: str) -> None:
        """End the match as lost for a person."""
        if self._is_replay or self._is_over:
            raise RequestError("the match is over")
        roles = self.history.game.roles
        loser = next((each for each in self._persons() if str(each) == role), None)
        if loser is None:
            raise RequestError("no person of this name plays here")
        others = [each for each in roles if each not in (loser, RANDOM_ROLE)]
        is_duel = len(others) == 1
        self._verdict = f"{role} resigns{f': {others[0]} wins' if is_duel else ''}"
        self._verdict_goals = [
            0 if each == loser else 100 if is_duel and each in others else None for each in roles
        ]
        self._begin_step()

    def _reopen(self) -> None:
        """Let the match go on after a resignation."""
        self._verdict, self._verdict_goals = "", list[int | None]()

    def _begin_step(self) -> None:
        """Forget the searches for another position."""
        self._asked.clear()
        self._agents.generation += 1
        self._is_changed = True

    def _undo_count(self) -> int:
        """Steps back to the last choice of a person; 0 without one.

        There is no way back if that would reveal something, or with players over HTTP.
        """
        history, persons = self.history, self._persons()
        if self._viewer is not None or self._has_remote_players:
            return 0
        counts = range(1, len(history.steps) + 1 if persons else 1)
        return next((n for n in counts if any(len(history.legal(role, n)) > 1 for role in persons)), 0)

    def abort(self) -> None:
        """Abort the match for players over HTTP when the page leaves it."""
        if not self._is_stopped:
            self._is_stopped = True
            self._agents.stop(None, wait_seconds=ABORT_SECONDS)

    def fail(self, text: str) -> None:
        """End the match because of a fault in the rules."""
        self._fault = text
        self._is_changed = True
        self._show_change()

    def run_on(self) -> float | None:
        """Make the forced moves and ask the agents; return the seconds until the next call is due, or None.

        Raises GameError if the rules are at fault.
        """
        if not self._is_open:
            return None
        if self._shown:
            self._agents.start()  # after the first board, which its imports would delay
        if self._is_replay or self._fault or self._is_over:
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
            self._begin_step()
            return 0.0
        self._ask_agents()
        self._show_change()
        return None

    def _stop_players(self) -> None:
        """Send players over HTTP the last step, once."""
        if not self._is_stopped and self._has_remote_players:
            self._is_stopped = True
            terms: list[tuple[Term, ...]] | None = None
            if self.history.steps and not self._fault:
                last, roles = self.history.steps[-1], self.history.game.roles
                terms = (
                    list(last.percepts)
                    if hides_information(self.history.game)
                    else [last.joint_move] * len(roles)
                )
            self._agents.stop(terms)

    def _commit_forced(self) -> None:
        """Commit chance and moves without an alternative."""
        history = self.history
        for place, (role, seat) in enumerate(zip(history.game.roles, self._seats, strict=True)):
            if role in history.committed:
                continue
            legal = history.legal(role)
            if role == RANDOM_ROLE:
                history.commit(role, self._rng.choice(legal))
            elif len(legal) == 1 and not is_remote(seat):
                history.commit(role, legal[0])  # players over HTTP follow the match by PLAY messages
                if seat == PERSON:
                    self._forced.add((len(history.steps) + 1, place))

    def _ask_agents(self) -> None:
        """Start the searches of the agents that have a choice."""
        game, steps = self.history.game, self.history.steps
        busy = (*self.history.committed, *self._persons(), *self._asked)
        searches = sum(seat.startswith("mcts") for seat in self._seats)
        for index, (role, seat) in enumerate(zip(game.roles, self._seats, strict=True)):
            if role in busy:
                continue
            observed: tuple[Observation, ...] = ()
            if is_hidden := hides_information(game):
                observed = tuple(Observation(step.joint_move[index], step.percepts[index]) for step in steps)
            spec = with_memory(seat, _SEATS_SHARE * self._mebibytes / max(1, searches))
            moves = () if is_hidden else self._moves(None)
            self._agents.put(Task(self._agents.generation, role, spec, self._seconds, moves, observed))
            self._asked.add(role)
            self._is_changed = True

    def _moves(self, step: int | None) -> tuple[tuple[Term, ...], ...]:
        return tuple(each.joint_move for each in self.history.steps[:step])

    # --- analysis ---------------------------------------------------------------------------------

    def think(self, seconds: float, step: int, line: list[list[str]]) -> None:
        """Search the position after `step` and `line` for the person to move, else for one with a choice."""
        self._require_analysis("no analysis")
        self._require_reached(step)
        history = self._exploration.reach(step, line)
        role = self._choosing(history)
        if role is None:
            raise RequestError("no role has a choice in this position")
        self.rest()
        moves = tuple(each.joint_move for each in history.steps)
        self._analyze(role, moves, min(max(seconds, 0.1), _ANALYSIS_SECONDS), len(line))

    def rest(self) -> None:
        """End the analysis, and let the review pause."""
        if self._review is not None:
            self._review.task = None
        self._agents.rest()

    def _require_analysis(self, refusal: str) -> None:
        if hides_information(self.history.game):
            raise RequestError(f"{refusal} in a game with hidden information")

    def _analyze(
        self, role: Role, moves: tuple[tuple[Term, ...], ...], seconds: float, line_length: int = 0
    ) -> Task:
        spec = with_memory("mcts:book=off", _ANALYSIS_SHARE * self._mebibytes / len(self.history.game.roles))
        task = Task(self._agents.generation, role, spec, seconds, moves, (), True, line_length)
        self._agents.put(task)
        return task

    def _choosing(self, position: MatchHistory) -> Role | None:
        """The person to move in the last position of the match, else the first role with a choice."""
        if position.is_over:
            return None
        legal = {role: position.legal(role) for role in position.game.roles if role != RANDOM_ROLE}
        person = self._next_person()
        if person is not None and position.state() == self.history.state() and len(legal[person]) > 1:
            return person
        return next((role for role, moves in legal.items() if len(moves) > 1), None)

    def review(self) -> None:
        """Search every position of a match that is over, one after the other; an analysis pauses it."""
        self._require_analysis("no review")
        if not self._is_over and not self._is_replay:
            raise RequestError("only a finished match can be reviewed")
        self._review = self._review or MatchReview(self.history, self._picture)
        self._review.begin()
        self._review_next(self._review)

    def _review_next(self, review: MatchReview) -> None:
        review.task = None
        if review.position is None:
            self._is_changed = True  # later pages get the review with the state
        else:
            role, step = review.position
            review.task = self._analyze(role, self._moves(step), review.seconds)

    def _take_review(self, review: MatchReview, finding: Finding) -> None:
        if finding.error:
            review.task = None
        elif finding.move is not None:
            entry = review.note(finding.expectation, finding.move)
            news = {"entry": entry, "mistakes": review.mistakes(self._goals()), "of": len(self.history.steps)}
            self._send({"event": "review", **news})
            self._review_next(review)

    def take(self, finding: Finding) -> None:
        """Take the report of a search; outdated ones are dropped."""
        task, history = finding.task, self.history
        if task.generation != self._agents.generation:
            return
        if finding.phase:
            phase = {"phase": finding.phase, "is_yours": task.is_analysis}
            self._send({"event": "phase", "role": str(task.role), **phase})
            return
        if finding.error:
            self._send({"event": "failed", "role": str(task.role), "text": finding.error})
        if self._review is not None and task is self._review.task:
            self._take_review(self._review, finding)
            return
        is_shown = self._viewer is None and (task.is_analysis or not self._is_choosing_at_once())
        if finding.report is not None and is_shown:
            position = self._exploration.at(task.moves) if task.is_analysis else history
            thought = {
                "step": len(position.steps),
                "line": [list(map(str, row)) for row in task.moves[len(task.moves) - task.line_length :]],
                "role": str(task.role),
                "is_yours": task.is_analysis,
                "is_done": finding.move is not None,
                "move": None if finding.move is None else str(finding.move),
                "report": report_view(self._picture.notation, finding.report, position.facts()),
            }
            self._send({"event": "think", **thought})
        if task.is_analysis or (finding.move is None and not finding.error):
            return
        self._asked.discard(task.role)
        legal = history.legal(task.role)
        if finding.move in legal:
            history.commit(task.role, finding.move, finding.expectation)
        else:  # the event `failed` has the reason
            history.commit(task.role, self._rng.choice(legal))


def _expectation(report: object) -> float | None:
    """The expected goal of a report in a record, which a stranger may have written.

    >>> _expectation({"expectation": 40}), _expectation({"expectation": "x"}), _expectation(None)
    (40.0, None, None)
    """
    value = report.get("expectation") if isinstance(report, dict) else None
    return float(value) if isinstance(value, int | float) and 0 <= value <= 100 else None
