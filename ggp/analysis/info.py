"""Traits and sizes of a game, from its rules and from random playouts.

Statements from playouts hold for the visited states only; each names its evidence.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from math import prod
from statistics import mean
from typing import Any

from gdl.dependencies import Dependencies
from gdl.program import Program, arguments_of
from gdl.terms import Variable
from ggp.analysis.fluent_domains import fluent_domains
from ggp.analysis.scale import Scale, sheet_scale
from ggp.analysis.sheet_comment import read_comment
from ggp.game import RANDOM_ROLE, Game, NoLegalMoveError, goals_or_none, hides_information
from ggp.integers import to_integer

STEP_LIMIT = 2_000
"""Steps after which a playout is cut."""


@dataclass(frozen=True)
class Trait:
    """One trait of a game, and the evidence for it."""

    name: str
    ground: str


@dataclass(frozen=True)
class PredicateInfo:
    """A predicate of the sheet. kind: "static", "state" (depends on `true`) or "move" (on `does`)."""

    name: str
    kind: str
    stratum: int
    rules: int
    facts: int


@dataclass
class PlayoutSummary:
    """Results of uniformly random playouts. Rows have one entry per role, in rule-sheet order.

    lengths       steps of each finished playout
    choices       per state with moves to choose from, the number of legal moves of each role
    goals         per finished playout, each role's goal; None if the rules give none
    stuck, cut    playouts in which a role had no move, or that met the step or time limit
    """

    playouts: int = 0
    lengths: list[int] = field(default_factory=list)
    choices: list[tuple[int, ...]] = field(default_factory=list)
    goals: list[tuple[int | None, ...]] = field(default_factory=list)
    stuck: int = 0
    cut: int = 0


@dataclass(frozen=True, repr=False)
class GameInfo:
    """Everything `ggp games info` shows. Means are over states and ends of random playouts; None: no data.

    `title`, `description` and `scale` (`ggp.analysis.scale`) are the sheet's own, from its opening comment.

    >>> import ggp
    >>> ggp.describe(ggp.load("tictactoe", engine="reasoner"), playouts=5)
    <GameInfo tictactoe: roles x, o; turn-taking, constant-sum; ... steps on average>
    """

    game: str
    title: str
    description: str
    roles: tuple[str, ...]
    traits: tuple[Trait, ...]
    rules: int
    predicates: tuple[PredicateInfo, ...]
    strata: int
    fluents: tuple[str, ...]
    initial_facts: int
    playouts: int
    stuck: int
    cut: int
    mean_moves: tuple[float, ...] | None
    mean_joint_moves: float | None
    most_moves: tuple[int, ...] | None
    mean_length: float | None
    shortest: int | None
    longest: int | None
    mean_goals: tuple[float | None, ...] | None
    scale: str = str(Scale())

    def __repr__(self) -> str:
        traits = ", ".join(trait.name for trait in self.traits) or "no traits found"
        length = "" if self.mean_length is None else f"; {self.mean_length:g} steps on average"
        return f"<GameInfo {self.game}: roles {', '.join(self.roles)}; {traits}{length}>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-serializable data."""
        return asdict(self)


def describe(
    game: Game[Any],
    *,
    playouts: int = 50,
    seconds: float = 2.0,
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> GameInfo:
    """Inspect the rules of `game` and run up to `playouts` random playouts within `seconds`.

    One-time work of an engine, such as compiling kernels, does not count as playout time.

    >>> import ggp
    >>> info = describe(ggp.load("tictactoe", engine="reasoner"), playouts=3)
    >>> [trait.name for trait in info.traits], info.most_moves
    (['turn-taking', 'constant-sum'], (9, 8))
    """
    initial = game.initial_state()
    with suppress(NoLegalMoveError):  # the playouts will meet it again, and count it
        if not game.is_terminal(initial):
            game.next_state(initial, [game.legal_moves(initial, role)[0] for role in game.roles])
    playouts, rng = to_integer(playouts, "playouts", 0), random.Random(to_integer(seed, "seed"))
    summary = sample(game, playouts, clock() + seconds, rng, clock)
    predicates, strata = list_predicates(game.program)
    lengths, choices = summary.lengths, list(zip(*summary.choices, strict=True))  # of each role
    comment = read_comment(game.program.source.text)
    return GameInfo(
        game=game.name,
        title=comment.title,
        description="\n".join(comment.rules),
        roles=tuple(map(str, game.roles)),
        traits=tuple(find_traits(game, summary)),
        rules=len(game.program.rules),
        predicates=predicates,
        strata=strata,
        fluents=_fluent_names(game),
        initial_facts=len(game.facts(initial)),
        playouts=summary.playouts,
        stuck=summary.stuck,
        cut=summary.cut,
        mean_moves=tuple(round(mean(own), 2) for own in choices) or None,
        mean_joint_moves=_mean(map(prod, summary.choices)),
        most_moves=tuple(map(max, choices)) or None,
        mean_length=_mean(lengths),
        shortest=min(lengths, default=None),
        longest=max(lengths, default=None),
        mean_goals=tuple(map(_mean, zip(*summary.goals, strict=True))) or None,
        scale=str(sheet_scale(game.program.source.text)),
    )


def sample(
    game: Game[Any], playouts: int, deadline: float, rng: random.Random, clock: Callable[[], float]
) -> PlayoutSummary:
    """Run random playouts until `playouts` are done or `deadline` (`clock` seconds) has passed."""
    summary = PlayoutSummary()
    while summary.playouts < playouts and clock() < deadline:
        state = game.initial_state()
        length = 0
        while not game.is_terminal(state):
            if length >= STEP_LIMIT or clock() >= deadline:
                summary.cut += 1
                break
            try:
                legal = [game.legal_moves(state, role) for role in game.roles]
            except NoLegalMoveError:
                summary.stuck += 1
                break
            summary.choices.append(tuple(map(len, legal)))
            state = game.next_state(state, [rng.choice(moves) for moves in legal])
            length += 1
        else:
            summary.lengths.append(length)
            summary.goals.append(tuple(goals_or_none(game, state)))
        summary.playouts += 1
    return summary


def find_traits(game: Game[Any], summary: PlayoutSummary) -> list[Trait]:
    """The traits of `game`, those stated by the rules first."""
    traits = []
    players = [index for index, role in enumerate(game.roles) if role != RANDOM_ROLE]
    names = ", ".join(str(game.roles[index]) for index in players)
    if len(players) == 1:
        traits.append(Trait("puzzle" if len(game.roles) == 1 else "one player", f"one role, {names}"))
    elif len(players) > 2:
        traits.append(Trait(f"{len(players)} players", names))
    total = len(summary.choices)
    if len(players) > 1 and total:
        together = sum(sum(row[index] > 1 for index in players) > 1 for row in summary.choices)
        traits.append(
            Trait("simultaneous", f"several roles had a choice in {together} of {total} visited states")
            if together
            else Trait("turn-taking", f"at most one role had a choice in each of {total} visited states")
        )
    if len(players) < len(game.roles):
        traits.append(Trait("chance", "the rules have the role random"))
    if game.program.rules_for("sees", 2):
        traits.append(
            Trait("hidden information", "the rules define what each role sees")
            if hides_information(game)
            else Trait("sees everything", "percepts show all moves to every role")
        )
    goals = [[row[index] for index in players] for row in summary.goals]
    sums = {None if None in row else sum(row) for row in goals}  # type: ignore[arg-type]
    if len(players) > 1 and len(sums) == 1 and None not in sums:
        where = f"at the end of all {len(goals)} finished playouts"
        traits.append(Trait("constant-sum", f"goals added up to {sums.pop()} {where}"))
    if summary.stuck:
        traits.append(Trait("faulty", f"a role had no legal move at the end of {summary.stuck} playouts"))
    return traits


def list_predicates(program: Program) -> tuple[tuple[PredicateInfo, ...], int]:
    """The predicates in the order of the sheet, and the number of strata.

    A cycle of predicates is in one stratum, even if it contains a negation (stratified by arguments only).
    """
    dependencies = Dependencies(program)
    strata = dependencies.strata
    found = []
    for predicate, rules in program.by_predicate.items():
        kind = "state" if predicate in dependencies.dynamic else "static"
        kind = "move" if predicate in dependencies.move_dependent else kind
        facts = sum(not rule.body for rule in rules)
        found.append(PredicateInfo(str(predicate), kind, strata[predicate], len(rules) - facts, facts))
    return tuple(found), max(strata.values(), default=0) + 1


def _fluent_names(game: Game[Any]) -> tuple[str, ...]:
    heads = (rule.head for key in ("init", "next", "base") for rule in game.program.rules_for(key, 1))
    fluents = (arguments_of(head)[0] for head in heads)
    atoms = {str(each) for each in fluents if not isinstance(each, Variable) and not arguments_of(each)}
    return tuple(sorted(atoms | {f"{name}/{arity}" for name, arity in fluent_domains(game.program)}))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(mean(known), 2) if known else None
