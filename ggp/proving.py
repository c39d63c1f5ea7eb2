"""Properties of a game decided over all its reachable states: `ggp validate --prove`.

Where the states are too many the same is asked of those that were explored: a match that refutes a
claim about all of them, or one that proves a claim about some, counts all the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

from ggp.compiled_game import CompiledGame
from ggp.explored_states import Bounds, ExploredStates, UndecidedError
from ggp.game import Game, NoLegalMoveError
from ggp.game_properties import (
    CLAIMS,
    LONGEST,
    Declarations,
    Outcome,
    ProofLimits,
    Property,
    Witness,
    counted,
    goal_fault,
    players_of,
)
from ggp.lane_states import explore_on_lanes
from ggp.solver import UnsolvableError
from ggp.state_space import explore

BEST_GOAL = 100
LANE_STATES = 100_000_000
PYTHON_STATES = 200_000
"""Most states where the request does not say. On lanes memory is bounded besides, see `ggp.lane_states`."""

_TURNS = "at most one role has a choice at a time"


def prove(
    game: Game[Any],
    declarations: Declarations,
    limits: ProofLimits,
    progress: Callable[[int], None] | None = None,
) -> list[Property]:
    """What is true of `game`, proved or refuted where all states could be explored, else sampled."""
    return judged(explored(game, limits, progress), declarations)


def explored(
    game: Game[Any], limits: ProofLimits, progress: Callable[[int], None] | None = None
) -> ExploredStates:
    """The states of `game`, by lanes where it has them."""
    if isinstance(game, CompiledGame):
        with contextlib.suppress(UnsolvableError):
            return explore_on_lanes(game, Bounds(limits.states or LANE_STATES, limits.seconds), progress)
    return explore(game, Bounds(limits.states or PYTHON_STATES, limits.seconds), progress)


def judged(states: ExploredStates, declarations: Declarations) -> list[Property]:
    """What the explored states say of the game."""
    return [*_judged(_Judge(states, declarations))]


def _judged(judge: _Judge) -> Iterable[Property]:
    yield judge.size()
    yield from judge.evaluation()
    yield from judge.ends()
    yield judge.moves()
    yield judge.goals()
    yield from judge.declared()
    yield from judge.winnable()
    yield from judge.forced()
    if len(judge.players) > 1:
        yield from judge.constant_sum()
        yield judge.turns()


class _Judge:
    """Puts questions to explored states, and the answers into words."""

    def __init__(self, states: ExploredStates, declarations: Declarations) -> None:
        self.states = states
        self.game = states.game
        self.declarations = declarations
        self.players = players_of(states.game)

    def every(self, statement: str, exception: int | None, detail: str = "", code: str = "") -> Property:
        """A claim about all states or matches; `exception` is a state that refutes it."""
        if exception is not None:
            return Property(statement, Outcome.REFUTED, detail, self.states.witness(exception), code)
        if self.states.is_complete:
            return Property(statement, Outcome.PROVED, code=code)
        return Property(statement, Outcome.SAMPLED, self._how_many, None, code)

    def undecided(self, statement: str, code: str = "") -> Property:
        """A claim for which time did not suffice."""
        return Property(
            statement, Outcome.SAMPLED, "time was up before all states were looked at", None, code
        )

    @property
    def _how_many(self) -> str:
        return f"{counted(self.states.explored, 'state')} nearest to the start"

    def size(self) -> Property:
        """The number of states."""
        states = self.states
        if states.is_complete:
            count, ends = states.state_count, states.terminal_count
            return Property(f"{count:,} states can be reached, {ends:,} of them terminal", Outcome.PROVED)
        return Property(f"more than {states.state_count - 1:,} states can be reached", Outcome.PROVED)

    def evaluation(self) -> Iterable[Property]:
        """Where the rules could not be evaluated."""
        if self.states.fault is not None:
            number, text = self.states.fault
            yield self.every(CLAIMS["GDL407"], number, text, "GDL407")

    def ends(self) -> Iterable[Property]:
        """Termination, and the longest match where there is one."""
        claim = CLAIMS["GDL401"]
        try:
            circle = self.states.circle()
            longest = self.states.longest_match() if self.states.is_complete and circle is None else None
        except UndecidedError:
            yield self.undecided(claim, "GDL401")
            return
        if circle is not None:
            steps = counted(len(circle.joint_moves), "step")
            detail = f"a match can come back to the state of {steps} before, and so go on forever"
            begin = self.states.witness(circle.state)
            witness = Witness((*begin.joint_moves, *circle.joint_moves), begin.facts)
            yield Property(claim, Outcome.REFUTED, detail, witness, "GDL401")
            return
        yield self.every(claim, None, code="GDL401")
        if longest is not None:
            yield Property(f"{LONGEST} {counted(longest, 'step')}", Outcome.PROVED)

    def moves(self) -> Property:
        """A legal move for every role in every live state."""
        number = self.states.stuck_state()
        detail = ""
        if number is not None:
            role = self._role_without_move(number)
            detail = f"{role} has no legal move in a state that is not terminal"
        return self.every(CLAIMS["GDL402"], number, detail, "GDL402")

    def _role_without_move(self, number: int) -> str:
        state = self._state(number)
        for role in self.game.roles:
            try:
                if not self.game.legal_moves(state, role):
                    return str(role)
            except NoLegalMoveError:
                return str(role)
        raise AssertionError("every role has a move")

    def _state(self, number: int) -> Any:
        """A state as the game knows it, by playing the match that leads there."""
        state = self.game.initial_state()
        for joint_move in self.states.witness(number).joint_moves:
            state = self.game.next_state(state, joint_move)
        return state

    def goals(self) -> Property:
        """One goal value for every player in every terminal state."""
        number = self.states.faulty_end()
        detail = "" if number is None else f"at the end, {goal_fault(self.game, self._state(number))}"
        return self.every(CLAIMS["GDL403"], number, detail, "GDL403")

    def declared(self) -> Iterable[Property]:
        """base and input against all facts and moves."""
        if self.declarations.base is not None:
            detail = "the fact {} holds, but base does not list it"
            yield self._listed("GDL404", self.states.undeclared_fact, detail)
        if self.declarations.input is not None:
            detail = "{} may do {}, but input does not list it"
            yield self._listed("GDL405", self.states.undeclared_move, detail)

    def _listed(
        self, code: str, find: Callable[[Declarations], tuple[Any, ...] | None], detail: str
    ) -> Property:
        """No state has what `find` finds: (number of the state, what `detail` tells of it)."""
        try:
            found = find(self.declarations)
        except UndecidedError:
            return self.undecided(CLAIMS[code], code)
        if found is None:
            return self.every(CLAIMS[code], None, code=code)
        number, *outside = found
        return self.every(CLAIMS[code], number, detail.format(*outside), code)

    def winnable(self) -> Iterable[Property]:
        """For each role: some match gives it 100."""
        for p, role in enumerate(self.players):
            statement = f"{role} can get {BEST_GOAL}"
            number = self.states.end_with_goal(p, BEST_GOAL)
            if number is not None:
                yield Property(statement, Outcome.PROVED, "", self.states.witness(number), "GDL406")
            elif self.states.is_complete:
                lack = f"{role} gets {BEST_GOAL} in no match: the game is not weakly winnable"
                yield Property(statement, Outcome.REFUTED, lack, None, "GDL406")
            else:
                yield Property(statement, Outcome.SAMPLED, f"not seen in {self._how_many}", None, "GDL406")

    def forced(self) -> Iterable[Property]:
        """For each role: it can make sure of 100 whatever others do, chance included."""
        if len(self.game.roles) == 1:
            return
        is_secret = bool(self.game.program.rules_for("sees", 2))
        for p, role in enumerate(self.players):
            statement = f"{role} can make sure of {BEST_GOAL} from the start"
            try:
                can_force = self.states.can_force(p, BEST_GOAL)
            except UndecidedError:
                yield self.undecided(statement)
                continue
            if can_force and is_secret:
                yield Property(statement, Outcome.SAMPLED, "true if roles saw everything, which they do not")
            elif can_force:
                yield Property(statement, Outcome.PROVED)
            elif self.states.is_complete:
                yield Property(statement, Outcome.REFUTED)
            else:
                yield Property(statement, Outcome.SAMPLED, f"not decided by the {self._how_many}")

    def constant_sum(self) -> Iterable[Property]:
        """Whether the goals add up to the same in every terminal state, if there is any."""
        sums = self.states.goal_sums()
        if sums.exception is not None:
            detail = f"they add up to {sums.total} elsewhere and to {sums.other} here"
            yield self.every("the goals always add up to the same", sums.exception, detail)
        elif sums.total is not None:
            yield self.every(f"the goals always add up to {sums.total}", None)

    def turns(self) -> Property:
        """Whether at most one role has a choice in every state."""
        return self.every(_TURNS, self.states.crowded_state(), "here several have")
