"""The states of one match, the moves that led to them, and the moves committed for the next step."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gdl.terms import Term
from ggp.game import Game, JointMove, Move, Role, goals_or_none

STEP_LIMIT = 5_000
"""Maximum number of joint moves; then the match is over without a result. Bounds its memory."""
_KEPT_LEGAL = 12
"""Number of results of `MatchHistory.legal` that are cached."""


@dataclass
class Step:
    """One joint move and its consequences, in role order.

    values       goals expected by the searches that chose the moves; None without a search
    decided_by   the facts that decide the match, once a page has shown its end
    because      the same in words
    owners       of the boxes between dots: number and name of the role, once a page has shown them
    notes        of each move notation, KIF and clicks, once they have been asked for
    """

    joint_move: tuple[Move, ...]
    state: Hashable
    percepts: tuple[tuple[Term, ...], ...]
    values: tuple[float | None, ...]
    decided_by: frozenset[Term] | None = None
    because: str | None = None
    owners: Mapping[tuple[int, int], tuple[int, str]] | None = None
    notes: tuple[tuple[str, str, str], ...] | None = None


@dataclass
class MatchHistory:
    """A match as far as it has been played.

    committed   moves chosen for the next step, hidden until all roles have chosen
    expected    goals that the searches for them expect
    """

    game: Game[Any]
    steps: list[Step] = field(default_factory=list)
    committed: dict[Role, Move] = field(default_factory=dict)
    expected: dict[Role, float | None] = field(default_factory=dict)
    _legal: dict[tuple[int, Role], tuple[Hashable, tuple[Move, ...]]] = field(default_factory=dict)

    def state(self, step: int | None = None) -> Hashable:
        """The state after `step` joint moves; None: the last one."""
        step = len(self.steps) if step is None else step
        return self.steps[step - 1].state if step else self.game.initial_state()

    def facts(self, step: int | None = None) -> tuple[Term, ...]:
        return self.game.facts(self.state(step))

    @property
    def is_over(self) -> bool:
        """Whether no move can follow."""
        return self.is_cut or self.game.is_terminal(self.state())

    @property
    def is_cut(self) -> bool:
        """Whether the match has met `STEP_LIMIT`."""
        return len(self.steps) >= STEP_LIMIT

    def legal(self, role: Role, steps_back: int = 0) -> tuple[Move, ...]:
        """The legal moves of `role` in the last state, or in one before. Raises NoLegalMoveError.

        Recent results are cached: one click requests thousands of moves several times.
        """
        state = self.state(len(self.steps) - steps_back)
        key = (id(state), role)
        if key not in self._legal:
            while len(self._legal) >= _KEPT_LEGAL:
                del self._legal[next(iter(self._legal))]
            self._legal[key] = state, self.game.legal_moves(state, role)
        return self._legal[key][1]

    def goals(self) -> list[int | None] | None:
        """Goals in role order; None while the match runs or if it was cut."""
        return None if self.is_cut or not self.is_over else goals_or_none(self.game, self.state())

    def commit(self, role: Role, move: Move, expected: float | None = None) -> None:
        self.committed[role], self.expected[role] = move, expected

    def advance(self) -> None:
        """Make the joint move that all roles have chosen."""
        self.play([self.committed[role] for role in self.game.roles])

    def play(self, joint_move: JointMove, values: Sequence[float | None] = ()) -> None:
        """Make a joint move. Raises IllegalMoveError."""
        game, state = self.game, self.state()
        after = game.next_state(state, joint_move)
        percepts = tuple(game.percepts(state, joint_move, role) for role in game.roles)
        known = tuple(values) or tuple(self.expected.get(role) for role in game.roles)
        self.steps.append(Step(tuple(joint_move), after, percepts, known))
        self.committed, self.expected = {}, {}

    def follow(self, moves: Sequence[JointMove]) -> None:
        """Make the joint moves of the match `moves`, after taking back those that differ."""
        made = [step.joint_move for step in self.steps]
        pairs = zip(made, moves, strict=False)
        common = next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(made), len(moves)))
        self.undo(len(made) - common)
        for joint_move in moves[common:]:
            self.play(joint_move)

    def forget_notes(self) -> None:
        """Let the notations of moves be made again, with what has become known."""
        for step in self.steps:
            step.notes = None

    def undo(self, count: int) -> None:
        """Take back the last `count` joint moves and what is committed."""
        del self.steps[len(self.steps) - count :]
        self.committed, self.expected = {}, {}
