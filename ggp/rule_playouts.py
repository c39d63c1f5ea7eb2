"""What many random matches say about a rule sheet: `ggp validate --play`.

Where the rules could be compiled to lanes, those play by the ten thousands first. Whatever they find
wrong, and everything about single facts and moves, is looked for by the slow and exact reasoner, which
keeps the moves that led there.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from gdl.errors import ReasoningError
from ggp.compiled_game import CompiledGame
from ggp.game import Game, Move, NoLegalMoveError, Role
from ggp.game_properties import (
    CLAIMS,
    LONGEST_SEEN,
    Declarations,
    Outcome,
    PlayLimits,
    Property,
    Witness,
    counted,
    goal_fault,
    players_of,
)

SEARCH_FACTOR = 20
"""How many times as many matches are played to find one that lanes have seen go wrong."""


@dataclass
class Sampling:
    """What was found so far.

    playouts, states   matches and states that the reasoner went through; `lane_playouts` came before
    ended, longest     matches that came to a terminal state, and joint moves of the longest of them
    sums               sums of goals met at the end of matches
    winners            roles that had 100 at the end of one
    witnesses          code → (what is wrong, the match)
    """

    playouts: int = 0
    states: int = 0
    lane_playouts: int = 0
    ended: int = 0
    longest: int = 0
    sums: set[int] = field(default_factory=set)
    is_turn_taking: bool = True
    winners: set[Role] = field(default_factory=set)
    witnesses: dict[str, tuple[str, Witness]] = field(default_factory=dict)


def play_randomly(
    game: Game[Any],
    exact: Game[Any],
    declarations: Declarations,
    limits: PlayLimits,
    progress: Callable[[int], None] | None = None,
) -> list[Property]:
    """The properties that random matches can refute, each with how often it was looked at.

    game    the fastest form of the game, `exact` the one of the reasoner (they may be the same)
    """
    sampling = Sampling()
    suspicions = _play_on_lanes(game, limits, sampling) if isinstance(game, CompiledGame) else set()
    rng = random.Random(limits.seed)
    deadline = time.monotonic() + limits.seconds
    count = limits.playouts * (SEARCH_FACTOR if suspicions else 1)
    for number in range(count):
        is_enough = number >= limits.playouts and suspicions <= sampling.witnesses.keys()
        if is_enough or (number and time.monotonic() > deadline):
            break
        _Match(exact, declarations, limits, sampling, rng, deadline).play()
        if progress is not None:
            progress(number + 1)
    for code, text in _without_witness(game, suspicions - sampling.witnesses.keys()):
        sampling.witnesses[code] = (text, Witness((), ()))
    return _properties(exact, sampling, declarations, suspicions)


def _play_on_lanes(game: CompiledGame, limits: PlayLimits, sampling: Sampling) -> set[str]:
    """Play by lanes; the codes of what went wrong."""
    statistics = game.playouts(
        game.initial_state(),
        limits.lane_playouts,
        limits.seed,
        step_limit=limits.step_limit,
        deadline=time.monotonic() + limits.seconds,
    )
    sampling.lane_playouts = statistics.playouts
    sampling.ended = statistics.finished
    sampling.longest = statistics.longest
    players = players_of(game)
    seats = [r for r, role in enumerate(game.roles) if role in players]
    sampling.winners |= {game.roles[r] for r in seats if statistics.goal_counts[r].get(100)}
    found = {
        "GDL401": statistics.cut,
        "GDL402": statistics.stuck,
        "GDL403": sum(statistics.without_goal[r] + statistics.with_several_goals[r] for r in seats),
    }
    return {code for code, count in found.items() if count}


def _without_witness(game: Game[Any], codes: set[str]) -> list[tuple[str, str]]:
    texts = {
        "GDL401": "some random matches do not end within the step limit",
        "GDL402": "in some random matches a role has no legal move",
        "GDL403": "some random matches end without exactly one goal value for every role",
    }
    return [(code, texts[code]) for code in sorted(codes)]


class _Match:
    """One random match by the reasoner, everything about its states checked."""

    def __init__(
        self,
        game: Game[Any],
        declarations: Declarations,
        limits: PlayLimits,
        sampling: Sampling,
        rng: random.Random,
        deadline: float,
    ) -> None:
        self.game = game
        self.declarations = declarations
        self.limits = limits
        self.sampling = sampling
        self.rng = rng
        self.deadline = deadline
        self.joint_moves: list[tuple[Move, ...]] = []
        self.is_interrupted = False

    def play(self) -> None:
        """Play to the end, to the step limit, to the deadline or to a role that has no move."""
        game = self.game
        state: Hashable = game.initial_state()
        try:
            while not self.is_over(state):
                moves = self.moves(state)
                if moves is None:
                    break
                joint_move = tuple(self.rng.choice(of_role) for of_role in moves)
                state = game.next_state(state, joint_move)
                self.joint_moves.append(joint_move)
        except ReasoningError as error:
            self.note("GDL407", str(error), state)
        self.sampling.playouts += not self.is_interrupted

    def is_over(self, state: Hashable) -> bool:
        """Whether the match ends in `state`, which is checked on the way."""
        sampling = self.sampling
        sampling.states += 1
        outside = self.declarations.undeclared_fact(self.game.facts(state))
        if outside is not None:
            self.note("GDL404", f"the fact {outside} holds, but base does not list it", state)
        steps = len(self.joint_moves)
        if self.game.is_terminal(state):
            sampling.ended += 1
            sampling.longest = max(sampling.longest, steps)
            fault = goal_fault(self.game, state)
            if fault:
                self.note("GDL403", f"at the end, {fault}", state)
            else:
                goals = {role: self.game.goal(state, role) for role in players_of(self.game)}
                sampling.sums.add(sum(goals.values()))
                sampling.winners |= {role for role, goal in goals.items() if goal == 100}
            return True
        if steps >= self.limits.step_limit:
            self.note("GDL401", f"a random match is not over within {steps} steps", state)
            return True
        self.is_interrupted = time.monotonic() > self.deadline
        return self.is_interrupted

    def moves(self, state: Hashable) -> list[tuple[Move, ...]] | None:
        """The legal moves per role; None where a role has none."""
        found = []
        for role in self.game.roles:
            try:
                moves = self.game.legal_moves(state, role)
            except NoLegalMoveError as error:
                self.note("GDL402", error.message, state)
                return None
            outside = self.declarations.undeclared_move(role, moves)
            if outside is not None:
                self.note("GDL405", f"{role} may do {outside}, but input does not list it", state)
            found.append(moves)
        if sum(len(moves) > 1 for moves in found) > 1:
            self.sampling.is_turn_taking = False
        return found

    def note(self, code: str, text: str, state: Hashable) -> None:
        """Keep the first, or a shorter, match that shows what `code` stands for."""
        known = self.sampling.witnesses.get(code)
        if known is None or len(known[1].joint_moves) > len(self.joint_moves):
            witness = Witness(tuple(self.joint_moves), self.game.facts(state))
            self.sampling.witnesses[code] = (text, witness)


_COUNTED_ON_LANES = ("GDL401", "GDL402")


def _properties(
    game: Game[Any], sampling: Sampling, declarations: Declarations, suspicions: set[str]
) -> list[Property]:
    found = []
    for code, statement in CLAIMS.items():
        if (code == "GDL404" and declarations.base is None) or (
            code == "GDL405" and declarations.input is None
        ):
            continue
        if code in sampling.witnesses:
            text, witness = sampling.witnesses[code]
            is_shown = bool(witness.joint_moves or witness.facts or code not in suspicions)
            found.append(Property(statement, Outcome.REFUTED, text, witness if is_shown else None, code))
        elif code == "GDL403":
            if sampling.ended:
                found.append(Property(statement, Outcome.SAMPLED, f"{sampling.ended:,} matches", code=code))
        elif code != "GDL407":
            count = sampling.playouts + (sampling.lane_playouts if code in _COUNTED_ON_LANES else 0)
            found.append(Property(statement, Outcome.SAMPLED, f"{count:,} matches", code=code))
    return found + _character(game, sampling)


def _character(game: Game[Any], sampling: Sampling) -> list[Property]:
    """What kind of game it seems to be."""
    matches = f"{sampling.playouts + sampling.lane_playouts:,} matches"
    by_reasoner = f"{sampling.playouts:,} matches"
    found = []
    if sampling.ended:
        longest = f"{LONGEST_SEEN} {counted(sampling.longest, 'step')}"
        found.append(Property(longest, Outcome.SAMPLED, f"{sampling.ended:,} matches"))
    players = players_of(game)
    if len(players) > 1:
        if sampling.is_turn_taking:
            found.append(Property("at most one role has a choice at a time", Outcome.SAMPLED, by_reasoner))
        if len(sampling.sums) == 1:
            statement = f"the goals always add up to {min(sampling.sums)}"
            found.append(Property(statement, Outcome.SAMPLED, by_reasoner))
    for role in players:
        has_won = role in sampling.winners
        outcome = Outcome.PROVED if has_won else Outcome.SAMPLED
        detail = "it happened" if has_won else f"not seen in {matches}"
        found.append(Property(f"{role} can get 100", outcome, detail))
    return found
