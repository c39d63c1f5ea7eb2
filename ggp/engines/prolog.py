"""`Game` on SWI-Prolog (extra `prolog`): an independent second opinion on the meaning of rules.

A system that shares no code with `gdl.reasoning.reasoner` proves the rules top-down, so agreement of the two
on a trace is strong evidence. Slow: for checking, not for play.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import weakref
from collections.abc import Sequence

from gdl.normalize import normalize
from gdl.program import Program
from gdl.syntax.parser import parse_term
from gdl.terms import Compound, Term
from gdl.validation import require_valid
from ggp.engines.prolog_text import prolog_program, term_text
from ggp.game import (
    Fact,
    GameError,
    IllegalMoveError,
    JointMove,
    Move,
    NoLegalMoveError,
    Role,
    goal_of,
    roles_text,
)
from ggp.processes.isolation import isolated_command, isolated_environment


class PrologUnavailableError(GameError):
    """pyswip or SWI-Prolog is not installed."""


def missing_prolog() -> str | None:
    """What this engine lacks, as a sentence; None if it can run."""
    if importlib.util.find_spec("pyswip") is None:
        return "pyswip is not installed: pip install 'ggp-lanes[prolog]'"
    if shutil.which("swipl") is None:
        return "SWI-Prolog is not installed (Debian: swi-prolog-nox)"
    return None


class PrologGame:
    """The rules of `program` as a `Game`; a state is the frozenset of its facts. Raises
    PrologUnavailableError, GdlValidationError."""

    engine = "prolog"

    def __init__(self, program: Program, name: str = "game") -> None:
        reason = missing_prolog()
        if reason:
            raise PrologUnavailableError(reason)
        self.name = name
        self.program = program
        normalized = normalize(program)
        require_valid(normalized)
        self.roles = tuple(dict.fromkeys(_role_of(rule.head) for rule in normalized.rules_for("role", 1)))
        self._terms: dict[str, Term] = {}
        self._given: tuple[object, object] | None = None
        self._process = _start(prolog_program(normalized))
        self._finalizer = weakref.finalize(self, _stop, self._process)

    def __repr__(self) -> str:
        return f"<PrologGame {self.name}: {roles_text(self.roles)}; {len(self.program.rules):,} rules>"

    def initial_state(self) -> frozenset[Term]:
        """The state in which every match starts."""
        return frozenset(self._all("F", "'gdl init'(F)"))

    def is_terminal(self, state: frozenset[Term]) -> bool:
        """Whether the match is over in `state`."""
        self._give(state, ())
        return bool(self._request("once('gdl terminal')", wants=False))

    def legal_moves(self, state: frozenset[Term], role: Role) -> tuple[Move, ...]:
        """The moves of `role`, sorted by text. Raises NoLegalMoveError if it has none before the end."""
        self._give(state, ())
        moves = self._all("M", f"'gdl legal'({term_text(role)}, M)")
        if not moves and not self.is_terminal(state):
            raise NoLegalMoveError(f"{role} has no legal move in a state that is not terminal")
        return moves

    def next_state(self, state: frozenset[Term], joint_move: JointMove) -> frozenset[Term]:
        """The state after `joint_move`. Raises IllegalMoveError if it is not legal."""
        self._give_checked(state, joint_move)
        return frozenset(self._all("F", "'gdl next'(F)"))

    def goal(self, state: frozenset[Term], role: Role) -> int:
        """The goal of `role` in `state`. Raises GoalError unless there is exactly one value 0..100."""
        self._give(state, ())
        return goal_of(role, self._all("V", f"'gdl goal'({term_text(role)}, V)"))

    def facts(self, state: frozenset[Term]) -> tuple[Fact, ...]:
        """The facts true in `state`, sorted by text."""
        return tuple(sorted(state, key=str))

    def percepts(self, state: frozenset[Term], joint_move: JointMove, role: Role) -> tuple[Term, ...]:
        """The percepts of `role` when `joint_move` is made, sorted by text."""
        self._give_checked(state, joint_move)
        return self._all("P", f"'gdl sees'({term_text(role)}, P)")

    def _give_checked(self, state: frozenset[Term], joint_move: JointMove) -> None:
        if len(joint_move) != len(self.roles):
            raise IllegalMoveError(f"a joint move has {len(self.roles)} moves, not {len(joint_move)}")
        for role, move in zip(self.roles, joint_move, strict=True):
            if move not in self.legal_moves(state, role):
                raise IllegalMoveError(f"{move} is not legal for {role}")
        self._give(state, tuple(joint_move))

    def _give(self, state: frozenset[Term], joint_move: tuple[Move, ...]) -> None:
        if self._given == (state, joint_move):
            return
        facts = ", ".join(map(term_text, state))
        pairs = zip(self.roles, joint_move, strict=False)
        moves = ", ".join(f"{term_text(role)}-{term_text(move)}" for role, move in pairs)
        self._request(f"gdl_state([{facts}], [{moves}])", wants=False)
        self._given = (state, joint_move)

    def _all(self, template: str, goal: str) -> tuple[Term, ...]:
        texts = self._request(f"gdl_all({template}, {goal}, Texts)", wants=True)
        return tuple(sorted(map(self._term, texts), key=str))

    def _term(self, text: str) -> Term:
        if text not in self._terms:
            self._terms[text] = parse_term(text)
        return self._terms[text]

    def _request(self, goal: str, *, wants: bool) -> Sequence[str]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"goal": goal, "wants": wants}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise GameError("the Prolog process has ended")
        reply = json.loads(line)
        if "error" in reply:
            raise GameError(f"Prolog: {reply['error']}")
        texts: list[str] = reply["texts"]
        return texts


def _role_of(head: Term) -> Role:
    assert isinstance(head, Compound)
    return head.arguments[0]


def _start(source: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        isolated_command("ggp.engines.prolog_process"),
        env=isolated_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps({"program": source}) + "\n")
    process.stdin.flush()
    return process


def _stop(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
