"""Properties of a game decided over all reachable states: `ggp validate --prove`.

If there are too many states, the explored ones answer the same questions: a match that refutes a claim about
all states, or proves a claim about some, remains valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ggp.engines.compiled import CompiledGame
from ggp.game import Game, NoLegalMoveError
from ggp.solver import UnsolvableError
from ggp.validation.explored_states import Bounds, ExploredStates, UndecidedError, explore
from ggp.validation.properties import (
    CLAIMS,
    LONGEST,
    TURN_TAKING,
    Declarations,
    Outcome,
    ProofLimits,
    Property,
    Witness,
    counted,
    goal_fault,
    players_of,
)

BEST_GOAL = 100
MAX_STATES = 100_000_000
"""Default limit on states; memory is limited as well."""


def prove(
    game: Game[Any],
    declarations: Declarations,
    limits: ProofLimits,
    progress: Callable[[int], None] | None = None,
) -> list[Property]:
    """Prove or refute the properties of `game`, or sample them if exploration is incomplete.

    Raises UnsolvableError for games that are not compiled, or too large.
    """
    if not isinstance(game, CompiledGame):
        raise UnsolvableError("the rules cannot be compiled")
    bounds = Bounds(limits.states or MAX_STATES, limits.seconds)
    return properties_of(explore(game, bounds, progress), declarations)


def properties_of(states: ExploredStates, declarations: Declarations) -> list[Property]:
    """The properties that follow from the explored states."""
    return [*_Proof(states, declarations).properties()]


class _Proof:
    """Asks questions of explored states and phrases the answers as properties."""

    def __init__(self, states: ExploredStates, declarations: Declarations) -> None:
        self.states = states
        self.game = states.game
        self.declarations = declarations
        self.players = players_of(states.game)

    def properties(self) -> Iterable[Property]:
        yield self.size()
        yield from self.ends()
        yield self.moves()
        yield self.goals()
        yield from self.declared()
        yield from self.winnable()
        yield from self.forced()
        if len(self.players) > 1:
            yield from self.constant_sum()
            yield self.turns()

    def every(self, statement: str, exception: int | None, detail: str = "", code: str = "") -> Property:
        """A claim about all states or matches; `exception` is a state that refutes it."""
        if exception is not None:
            return Property(statement, Outcome.REFUTED, detail, self.states.witness(exception), code)
        if self.states.is_complete:
            return Property(statement, Outcome.PROVED, code=code)
        return Property(statement, Outcome.SAMPLED, self._how_many, None, code)

    def undecided(self, statement: str, code: str = "") -> Property:
        """A claim that could not be decided in time."""
        return Property(statement, Outcome.SAMPLED, "time ran out before all states were checked", None, code)

    @property
    def _how_many(self) -> str:
        return f"{counted(self.states.explored, 'state')} nearest to the initial state"

    def size(self) -> Property:
        count, ends = self.states.state_count, self.states.terminal_count
        if self.states.is_complete:
            return Property(f"{count:,} reachable states, {ends:,} of them terminal", Outcome.PROVED)
        return Property(f"more than {count - 1:,} reachable states", Outcome.PROVED)

    def ends(self) -> Iterable[Property]:
        """Termination, and the length of the longest match."""
        claim = CLAIMS["GDL401"]
        try:
            cycle = self.states.cycle()
            longest = self.states.longest_match() if self.states.is_complete and cycle is None else None
        except UndecidedError:
            yield self.undecided(claim, "GDL401")
            return
        if cycle is not None:
            steps = counted(len(cycle.joint_moves), "step")
            detail = f"a match can return to its state of {steps} before, and continue forever"
            begin = self.states.witness(cycle.state)
            witness = Witness((*begin.joint_moves, *cycle.joint_moves), begin.facts)
            yield Property(claim, Outcome.REFUTED, detail, witness, "GDL401")
            return
        is_stuck = longest is not None and self.states.stuck_state() is not None
        if is_stuck:
            yield Property(claim, Outcome.PROVED, "or is stuck: a role has no legal move", code="GDL401")
        else:
            yield self.every(claim, None, code="GDL401")
        if longest is not None:
            yield Property(f"{LONGEST} {counted(longest, 'step')}", Outcome.PROVED)

    def moves(self) -> Property:
        """A legal move for every role in every non-terminal state."""
        number = self.states.stuck_state()
        role = None if number is None else self._role_without_move(number)
        detail = "" if role is None else f"{role} has no legal move in a non-terminal state"
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
        """The game's representation of a state, by playing the match that leads there."""
        state = self.game.initial_state()
        for joint_move in self.states.witness(number).joint_moves:
            state = self.game.next_state(state, joint_move)
        return state

    def goals(self) -> Property:
        """One goal value for every player in every terminal state."""
        number = self.states.faulty_end()
        if self.states.is_complete and not self.states.terminal_count:
            return Property(CLAIMS["GDL403"], Outcome.PROVED, "no reachable state is terminal", code="GDL403")
        detail = "" if number is None else f"at the end, {goal_fault(self.game, self._state(number))}"
        return self.every(CLAIMS["GDL403"], number, detail, "GDL403")

    def declared(self) -> Iterable[Property]:
        """base and input compared with all facts and moves."""
        if self.declarations.base is not None:
            detail = "base does not list the fact {}, which holds"
            yield self._listed("GDL404", self.states.undeclared_fact, detail)
        if self.declarations.input is not None:
            detail = "input does not list the legal move {1} of {0}"
            yield self._listed("GDL405", self.states.undeclared_move, detail)

    def _listed(
        self, code: str, find: Callable[[Declarations], tuple[Any, ...] | None], detail: str
    ) -> Property:
        """The claim that `find` finds nothing; else it returns (state, values for `detail`)."""
        try:
            found = find(self.declarations)
        except UndecidedError:
            return self.undecided(CLAIMS[code], code)
        if found is None:
            return self.every(CLAIMS[code], None, code=code)
        number, *outside = found
        return self.every(CLAIMS[code], number, detail.format(*outside), code)

    def winnable(self) -> Iterable[Property]:
        """For each role: it gets 100 in some match."""
        for p, role in enumerate(self.players):
            statement = f"{role} can get {BEST_GOAL}"
            number = self.states.end_with_goal(p, BEST_GOAL)
            if number is not None:
                yield Property(statement, Outcome.PROVED, "", self.states.witness(number), "GDL406")
            elif self.states.is_complete:
                lack = f"{role} never gets {BEST_GOAL}: the game is not weakly winnable"
                yield Property(statement, Outcome.REFUTED, lack, None, "GDL406")
            else:
                yield Property(statement, Outcome.SAMPLED, f"not seen in {self._how_many}", None, "GDL406")

    def forced(self) -> Iterable[Property]:
        """For each role: it can force 100 whatever the others and chance do."""
        if len(self.game.roles) == 1:
            return
        is_secret = bool(self.game.program.rules_for("sees", 2))
        for p, role in enumerate(self.players):
            statement = f"{role} can force {BEST_GOAL} from the initial state"
            try:
                can_force = self.states.can_force(p, BEST_GOAL)
            except UndecidedError:
                yield self.undecided(statement)
                continue
            if can_force and is_secret:
                yield Property(statement, Outcome.SAMPLED, "true only with perfect information")
            elif can_force or self.states.is_complete:
                yield Property(statement, Outcome.PROVED if can_force else Outcome.REFUTED)
            else:
                yield Property(statement, Outcome.SAMPLED, f"not decided by the {self._how_many}")

    def constant_sum(self) -> Iterable[Property]:
        """Whether the goals have the same sum in all terminal states, unless one lacks a goal."""
        sums = self.states.goal_sums()
        if sums.exception is not None:
            detail = f"the sum is {sums.total} elsewhere and {sums.other} here"
            yield self.every("the goals always have the same sum", sums.exception, detail)
        elif sums.total is not None and self.states.faulty_end() is None:
            yield self.every(f"the goals always add up to {sums.total}", None)

    def turns(self) -> Property:
        """Whether at most one role has a choice in every state."""
        return self.every(TURN_TAKING, self.states.simultaneous_state(), "several roles have one here")
