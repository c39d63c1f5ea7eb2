"""`Game` by forward chaining: exact, with hardly any preparation, and slow. It is the oracle that faster
engines are tested against, and the fallback when they cannot be built."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.normalize import normalize
from gdl.program import Program
from gdl.reasoning.reasoner import Facts, Reasoner
from gdl.reasoning.relation_access import Context
from gdl.reasoning.values import Value, term_of, value_of
from gdl.terms import Term
from gdl.validation import require_valid
from ggp.game import (
    Fact,
    IllegalMoveError,
    JointMove,
    Move,
    NoLegalMoveError,
    Role,
    RoleTable,
    goal_of,
    illegal,
    no_state,
    roles_text,
)

REMEMBERED_STATES = 8
"""Number of states whose derived relations are kept, for legal moves, goals and successors to share."""

REMEMBERED_TERMS = 500_000
"""Maximum number of values whose terms are kept; then the table is cleared."""


class InterpretedGame:
    """The rules of `program` as a `Game`; a state is the frozenset of its facts' values.

    >>> from gdl import parse
    >>> InterpretedGame(parse("(role x) (init off) (legal x wait) (<= terminal (true on))"), "lamp")
    <InterpretedGame lamp: role x; 4 rules>

    Raises GdlValidationError if the rules break a restriction that gives them a meaning.
    """

    engine = "reasoner"

    def __init__(self, program: Program, name: str = "game") -> None:
        self.name = name
        self.program = program
        normalized = normalize(program)
        require_valid(normalized)
        self.reasoner = Reasoner(normalized)
        self.roles = tuple(term_of(role) for role in self.reasoner.roles)
        self._role_values = RoleTable(zip(self.roles, self.reasoner.roles, strict=True))
        self._contexts: dict[Facts, Context] = {}
        self._terms: dict[Value, Term] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return (InterpretedGame, (self.program, self.name))

    def __repr__(self) -> str:
        return f"<InterpretedGame {self.name}: {roles_text(self.roles)}; {len(self.program.rules):,} rules>"

    def initial_state(self) -> Facts:
        return self.reasoner.initial_facts

    def is_terminal(self, state: Facts) -> bool:
        return self.reasoner.is_terminal(self._context(state))

    def legal_moves(self, state: Facts, role: Role) -> tuple[Move, ...]:
        context = self._context(state)
        moves = self.reasoner.legal_moves(context, self._role_values[role])
        if not moves and not self.reasoner.is_terminal(context):
            raise NoLegalMoveError(f"{role} has no legal move in a state that is not terminal")
        return self._sorted(moves)

    def next_state(self, state: Facts, joint_move: JointMove) -> Facts:
        context = self._context(state)
        return self.reasoner.next_facts(self.reasoner.with_moves(context, self._moves(context, joint_move)))

    def goal(self, state: Facts, role: Role) -> int:
        return goal_of(role, self._sorted(self.reasoner.goals(self._context(state), self._role_values[role])))

    def facts(self, state: Facts) -> tuple[Fact, ...]:
        if not isinstance(state, frozenset):
            raise no_state(self)
        return self._sorted(state)

    def percepts(self, state: Facts, joint_move: JointMove, role: Role) -> tuple[Term, ...]:
        if not self.reasoner.has_percepts:
            return ()
        context = self._context(state)
        following = self.reasoner.with_moves(context, self._moves(context, joint_move))
        return self._sorted(self.reasoner.percepts(following, self._role_values[role]))

    def _moves(self, context: Context, joint_move: JointMove) -> dict[Value, Value]:
        if len(joint_move) != len(self.roles):
            raise IllegalMoveError(f"a joint move has {len(self.roles)} moves, not {len(joint_move)}")
        moves: dict[Value, Value] = {}
        for role, move in zip(self.roles, joint_move, strict=True):
            role_value = self._role_values[role]
            if isinstance(move, str):
                raise illegal(move, role)
            moves[role_value] = value_of(move)
            if moves[role_value] not in self.reasoner.legal_moves(context, role_value):
                raise illegal(move, role)
        return moves

    def _context(self, state: Facts) -> Context:
        context = self._contexts.get(state)
        if context is None:
            if not isinstance(state, frozenset):
                raise no_state(self)
            if len(self._contexts) >= REMEMBERED_STATES:
                del self._contexts[next(iter(self._contexts))]
            context = self._contexts[state] = self.reasoner.context(state)
        return context

    def _sorted(self, values: Iterable[Value]) -> tuple[Term, ...]:
        terms = self._terms
        if len(terms) > REMEMBERED_TERMS:
            terms.clear()
        found = []
        for value in values:
            term = terms.get(value)
            if term is None:
                term = terms[value] = term_of(value)
            found.append(term)
        found.sort(key=str)
        return tuple(found)
