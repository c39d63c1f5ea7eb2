"""Game-level properties: the claim, its status (proved, sampled, refuted) and a witness match.

`ggp.validation.playouts` samples these properties, `ggp.validation.proving` decides them over all reachable
states.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gdl.errors import Diagnostic, GdlError, Severity
from gdl.program import Program, Rule
from gdl.terms import Compound, Symbol
from ggp.game import RANDOM_ROLE, Fact, Game, GoalError, Move, Role, goals_or_none
from ggp.integers import check_integers
from ggp.match.record import MatchRecord, Step, new_record, now_ms, state_text
from ggp.match.terms import MatchTerms

CODES: Mapping[str, str] = {
    "GDL401": "match that does not end",
    "GDL402": "role without a legal move",
    "GDL403": "no goal value at the end, or several",
    "GDL404": "fact that holds but is not in base",
    "GDL405": "legal move that is not in input",
    "GDL406": "role that can never win",
    "GDL407": "rules that cannot be evaluated",
}
"""Titles of the diagnostics that need playing or exploring; `ggp.validation.output` explains them."""

CLAIMS = {
    "GDL401": "every match ends",
    "GDL402": "every role has a legal move in every non-terminal state",
    "GDL403": "every role has exactly one goal from 0 to 100 at the end",
    "GDL404": "base lists every fact that holds",
    "GDL405": "input lists every legal move",
    "GDL407": "the rules can be evaluated in every state",
}
"""Properties of every sound game, by the code of the diagnostic if one is refuted."""

TURN_TAKING = "at most one role has a choice at a time"

WARNINGS = frozenset({"GDL404", "GDL405", "GDL406"})
_ABOUT = {"GDL401": "terminal", "GDL402": "legal", "GDL403": "goal", "GDL404": "base", "GDL405": "input"}
"""The predicate at whose first rule a diagnostic is located."""

DECLARED_SECONDS = 10.0
"""Time limit for deriving base and input."""

LONGEST, LONGEST_SEEN = "the longest match has", "the longest match seen has"
"""Beginnings of the statements about the length of matches."""


@dataclass(frozen=True)
class PlayLimits:
    """Limits of --play; `seconds` of wall time, for lanes and again for the reasoner."""

    playouts: int = 100
    lane_playouts: int = 20_000
    step_limit: int = 1_000
    seconds: float = 20.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_integers(self, playouts=0, lane_playouts=0, step_limit=0, seed=None)


@dataclass(frozen=True)
class ProofLimits:
    """Limits of --prove: `seconds` of wall time, and `states` (None: 100 million).

    Answering the questions may take as long again as exploring.
    """

    states: int | None = None
    seconds: float = 60.0

    def __post_init__(self) -> None:
        check_integers(self, states=0)


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "step"), counted(2000, "step")
    ('1 step', '2,000 steps')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class Outcome(StrEnum):
    """The status of a property."""

    PROVED = "proved"
    REFUTED = "refuted"
    SAMPLED = "sampled"


@dataclass(frozen=True)
class Witness:
    """A match that decides a property: its joint moves, and the facts of its last state."""

    joint_moves: tuple[tuple[Move, ...], ...]
    facts: tuple[Fact, ...]

    def to_text(self, limit: int = 12) -> str:
        """The numbered moves, shortened in the middle, then the state."""
        steps = [f"{n}. {' '.join(map(str, moves))}" for n, moves in enumerate(self.joint_moves, start=1)]
        if len(steps) > limit:
            left_out = len(steps) - limit
            steps = [*steps[: limit // 2], f"… {left_out} more …", *steps[-(limit // 2) :]]
        moves = "; ".join(steps) or "none (initial state)"
        return f"moves: {moves}\nstate: {' '.join(map(str, self.facts)) or 'no facts'}"


@dataclass(frozen=True)
class Property:
    """One property of one game.

    statement   the claim
    detail      numbers, or what was found instead
    witness     a match that refutes a claim about all matches, or proves one about some
    code        the diagnostic if it is refuted; empty if it only describes the game
    """

    statement: str
    outcome: Outcome
    detail: str = ""
    witness: Witness | None = None
    code: str = ""

    def to_dict(self) -> dict[str, object]:
        data: dict[str, object] = {"property": self.statement, "outcome": self.outcome.value}
        if self.detail:
            data["detail"] = self.detail
        if self.witness:
            data["moves"] = [[str(move) for move in moves] for moves in self.witness.joint_moves]
            data["state"] = [str(fact) for fact in self.witness.facts]
        return data


def diagnostic_of(fact: Property, program: Program) -> Diagnostic | None:
    if fact.outcome is not Outcome.REFUTED or not fact.code:
        return None
    severity = Severity.WARNING if fact.code in WARNINGS else Severity.ERROR
    steps = len(fact.witness.joint_moves) if fact.witness else None
    place = "" if steps is None else f" (after {counted(steps, 'step')})"
    name = _ABOUT.get(fact.code)
    span = next((rule.head.span for rule in program.rules if rule.head.name == name), None)
    return Diagnostic(fact.code, severity, f"{fact.detail or fact.statement}{place}", span)


@dataclass(frozen=True)
class Declarations:
    """The facts of base and input; None if missing or too large."""

    base: frozenset[Fact] | None = None
    input: Mapping[Role, frozenset[Move]] | None = None

    def undeclared_fact(self, facts: Iterable[Fact]) -> Fact | None:
        """The first of `facts` that base does not list."""
        if self.base is None:
            return None
        return next((fact for fact in facts if fact not in self.base), None)

    def undeclared_move(self, role: Role, moves: Iterable[Move]) -> Move | None:
        """The first of a role's `moves` that input does not list."""
        if self.input is None:
            return None
        declared = self.input.get(role, frozenset())
        return next((move for move in moves if move not in declared), None)


def declarations_of(program: Program) -> Declarations:
    """Derive base and input, in place of the initial state and its legal moves."""
    from gdl.grounding import ground

    has_base, has_input = bool(program.rules_for("base", 1)), bool(program.rules_for("input", 2))
    if not has_base and not has_input:
        return Declarations()
    renamed = {"base": "init", "input": "legal"}
    rules = []
    for rule in program.rules:
        arity = len(rule.head.arguments) if isinstance(rule.head, Compound) else 0
        if (rule.head.name, arity) in (("base", 1), ("input", 2)):
            assert isinstance(rule.head, Compound)
            rules.append(Rule(Compound(renamed[rule.head.name], rule.head.arguments), rule.body, rule.span))
        elif rule.head.name not in ("init", "next", "legal", "goal", "terminal", "sees"):
            rules.append(rule)
    try:
        found = ground(Program((*rules, Rule(Symbol("terminal"))), program.source), seconds=DECLARED_SECONDS)
    except GdlError:
        return Declarations()
    moves = dict(zip(found.roles, map(frozenset, found.moves), strict=True))
    return Declarations(frozenset(found.fluents) if has_base else None, moves if has_input else None)


def players_of(game: Game[Any]) -> tuple[Role, ...]:
    """All roles except `random`, which has no goal."""
    return tuple(role for role in game.roles if role != RANDOM_ROLE)


def goal_fault(game: Game[Any], state: Hashable) -> str | None:
    """What is wrong with the goals of a terminal state, if anything."""
    for role in players_of(game):
        try:
            game.goal(state, role)
        except GoalError as error:
            return error.message
    return None


def record_of(game: Game[Any], witness: Witness, fault: str, player: str = "random") -> MatchRecord:
    """The match of a witness as a record, made by players of this name."""
    terms = MatchTerms(start_clock_seconds=0, play_clock_seconds=0, match_id=f"{game.name}.witness")
    record = new_record(game, terms, player_names=[player] * len(game.roles))
    record.seed = None
    state = game.initial_state()
    record.steps.append(Step((), state_text(game.facts(state)), now_ms()))
    for joint_move in witness.joint_moves:
        state = game.next_state(state, joint_move)
        texts, faults = tuple(map(str, joint_move)), (None,) * len(game.roles)
        record.steps.append(Step(texts, state_text(game.facts(state)), now_ms(), faults=faults))
    if game.is_terminal(state):
        record.complete(goals_or_none(game, state))
    record.fault = fault
    return record
