"""`Game` on SWI-Prolog, if it is installed: an independent second opinion on the meaning of rules.

A system that shares no code with `gdl.reasoning.reasoner` proves the rules top-down, so agreement of the two
on a trace is strong evidence. Slow: for checking, not for play.

Constants become quoted atoms (numbers too, so that `01` stays `01`), compounds Prolog compounds, and each
predicate `p` of n arguments the Prolog predicate 'gdl p'/n, so that no name clashes with a built-in one.
Facts of a state are clauses of 'gdl true', moves of 'gdl does'.

Prolog runs as a program, since a query that never ends can only be stopped with its process. It reads the
source, then goals; it answers each by lines that begin with a blank, `!` and an error, or neither, and a `.`.
"""

from __future__ import annotations

import shutil
import subprocess
import weakref
from collections.abc import Iterable
from contextlib import suppress

from gdl.dependencies import DISTINCT, DOES, TRUE, Dependencies
from gdl.normalize import normalize
from gdl.program import Literal, Predicate, Program, Rule, arguments_of
from gdl.reasoning.join_order import names_in
from gdl.syntax.parser import parse_term
from gdl.terms import Compound, Symbol, Term, Variable
from gdl.validation import require_valid
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


def missing_prolog() -> str | None:
    """What this engine lacks, as a sentence; None if it can run."""
    return None if shutil.which("swipl") else "SWI-Prolog is not installed (Debian: swi-prolog-nox)"


class PrologGame:
    """The rules of `program` as a `Game`; a state is the frozenset of its facts.

    Raises GdlValidationError, and GameError if SWI-Prolog is not installed.
    """

    engine = "prolog"

    def __init__(self, program: Program, name: str = "game") -> None:
        if reason := missing_prolog():
            raise GameError(reason)
        self.name = name
        self.program = program
        normalized = normalize(program)
        require_valid(normalized)
        self.roles = tuple(
            dict.fromkeys(arguments_of(rule.head)[0] for rule in normalized.rules_for("role", 1))
        )
        self._terms: dict[str, Term] = {}
        self._given: tuple[object, object] | None = None
        self._process = _start(prolog_program(normalized))
        self._finalizer = weakref.finalize(self, _stop, self._process)

    def __repr__(self) -> str:
        return f"<PrologGame {self.name}: {roles_text(self.roles)}; {len(self.program.rules):,} rules>"

    def initial_state(self) -> frozenset[Term]:
        return frozenset(self._all("F", "'gdl init'(F)"))

    def is_terminal(self, state: frozenset[Term]) -> bool:
        self._give(state, ())
        return bool(self._request("'gdl terminal'"))

    def legal_moves(self, state: frozenset[Term], role: Role) -> tuple[Move, ...]:
        self._give(state, ())
        moves = self._all("M", f"'gdl legal'({term_text(role)}, M)")
        if not moves and not self.is_terminal(state):
            raise NoLegalMoveError(f"{role} has no legal move in a state that is not terminal")
        return moves

    def next_state(self, state: frozenset[Term], joint_move: JointMove) -> frozenset[Term]:
        self._give_checked(state, joint_move)
        return frozenset(self._all("F", "'gdl next'(F)"))

    def goal(self, state: frozenset[Term], role: Role) -> int:
        self._give(state, ())
        return goal_of(role, self._all("V", f"'gdl goal'({term_text(role)}, V)"))

    def facts(self, state: frozenset[Term]) -> tuple[Fact, ...]:
        return tuple(sorted(state, key=str))

    def percepts(self, state: frozenset[Term], joint_move: JointMove, role: Role) -> tuple[Term, ...]:
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
        self._request(f"gdl_state([{facts}], [{moves}])")
        self._given = (state, joint_move)

    def _all(self, template: str, goal: str) -> tuple[Term, ...]:
        texts = self._request(f"gdl_all({template}, {goal})")
        return tuple(sorted(map(self._term, texts), key=str))

    def _term(self, text: str) -> Term:
        if text not in self._terms:
            self._terms[text] = parse_term(text)
        return self._terms[text]

    def _request(self, goal: str) -> list[str]:
        """The lines that a goal writes, one that succeeds `true` at the end. Raises GameError."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        lines: list[str] = []
        try:
            process.stdin.write(goal + ".\n")
            process.stdin.flush()
            while (line := process.stdout.readline()) != ".\n":
                if not line:
                    raise GameError("the Prolog process has ended")
                lines.append(line.rstrip("\n"))
        except BrokenPipeError:
            raise GameError("the Prolog process has ended") from None
        if lines and lines[-1].startswith("!"):
            raise GameError(f"Prolog: {lines[-1][1:]}")
        return [line[1:] for line in lines]


def _start(source: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        ["swipl", "-q", "-f", "none", "-g", "prompt(_, ''), consult(user), gdl_serve", "-t", "halt"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    process.stdin.write(source)
    process.stdin.flush()
    return process


def _stop(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # what was not sent to a process that has ended
                stream.close()


SUPPORT = r"""
gdl_write(Term) :- atom(Term), !, write(Term).
gdl_write(Term) :- compound_name_arguments(Term, Name, Arguments),
    write('('), write(Name), forall(member(A, Arguments), (write(' '), gdl_write(A))), write(')').
gdl_all(Template, Goal) :- findall(Template, Goal, Found), sort(Found, Unique),
    forall(member(Term, Unique), (write(' '), gdl_write(Term), nl)), fail.
gdl_state(Facts, Moves) :- abolish_all_tables, retractall('gdl true'(_)), retractall('gdl does'(_, _)),
    forall(member(F, Facts), assertz('gdl true'(F))),
    forall(member(R-M, Moves), assertz('gdl does'(R, M))).
gdl_answer(Goal) :- catch(Goal, Error, (format("!~q~n", [Error]), fail)), !, write(' true'), nl.
gdl_answer(_).
gdl_serve :- repeat, read(Goal),
    ( Goal == end_of_file, ! ; gdl_answer(Goal), write('.'), nl, flush_output, fail ).
end_of_file.
"""
"""Prolog predicates for the engine: gdl_state loads facts and moves, gdl_all writes answers as KIF."""


def prolog_program(program: Program) -> str:
    """Prolog source of a normalized program: declarations, then one clause per rule."""
    dependencies = Dependencies(program)
    predicates = dependencies.predicates
    lines = [":- style_check(-singleton).", ":- style_check(-discontiguous)."]
    lines += [f":- set_stream({stream}, encoding(utf8))." for stream in ("user_input", "user_output")]
    declared = sorted({*predicates, TRUE, DOES, *ASKED})
    lines += [f":- dynamic {_name(predicate.name)}/{predicate.arity}." for predicate in declared]
    for component in dependencies.components:
        if dependencies.is_recursive(component) and not _negates_itself(component, program):
            lines += [f":- table {_name(p.name)}/{p.arity}." for p in component]
    lines += [clause(rule) for rule in program.rules]
    return "\n".join(lines) + SUPPORT


ASKED = tuple(
    Predicate(name, arity)
    for name, arity in (("init", 1), ("legal", 2), ("next", 1), ("goal", 2), ("terminal", 0), ("sees", 2))
)


def clause(rule: Rule) -> str:
    """One rule as a clause; filters come after the literals that bind their variables."""
    goals = [_goal(literal) for literal in _ordered(rule.literals)]
    head = _atom(rule.head)
    return f"{head} :- {', '.join(goals)}." if goals else f"{head}."


def term_text(term: Term) -> str:
    """A term in Prolog syntax.

    >>> from gdl.syntax.parser import parse_term
    >>> term_text(parse_term("(cell 01 ?x it's)"))
    "'cell'('01', Vx, 'it\\\\'s')"
    """
    if isinstance(term, Variable):
        return "V" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in term.name)
    if isinstance(term, Symbol):
        return _quoted(term.name)
    return f"{_quoted(term.name)}({', '.join(map(term_text, term.arguments))})"


def _ordered(literals: Iterable[Literal]) -> list[Literal]:
    ordered: list[Literal] = []
    waiting: list[Literal] = []
    bound: frozenset[str] = frozenset()
    for literal in literals:
        if literal.is_positive and literal.predicate != DISTINCT:
            ordered.append(literal)
            bound |= names_in(literal.atom)
        else:
            waiting.append(literal)
        ready = [other for other in waiting if names_in(other.atom) <= bound]
        ordered += ready
        waiting = [other for other in waiting if other not in ready]
    return ordered


def _goal(literal: Literal) -> str:
    if literal.predicate == DISTINCT:
        left, right = map(term_text, arguments_of(literal.atom))
        operator = "\\==" if literal.is_positive else "=="
        return f"{left} {operator} {right}"
    return _atom(literal.atom) if literal.is_positive else f"\\+ {_atom(literal.atom)}"


def _atom(atom: Symbol | Compound) -> str:
    arguments = ", ".join(map(term_text, arguments_of(atom)))
    return f"{_name(atom.name)}({arguments})" if arguments else _name(atom.name)


def _name(name: str) -> str:
    return _quoted(f"gdl {name}")


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _negates_itself(component: tuple[Predicate, ...], program: Program) -> bool:
    return any(
        literal.predicate in component and not literal.is_positive
        for predicate in component
        for rule in program.rules_for(*predicate)
        for literal in rule.literals
    )
