"""The `Game` protocol: the interface of every engine.

A game is the rules, never a match: it holds no current state. States are opaque hashable values, equal
exactly when the same facts are true in them. Moves, facts and roles are ground terms; `str(term)` is their
canonical KIF text.

    GameError
    ├── IllegalMoveError     a joint move that the rules do not allow
    ├── NoLegalMoveError     a role without a move in a state that is not terminal
    └── GoalError            a role without exactly one goal value that is an integer in 0..100
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from gdl.dependencies import may_unify
from gdl.program import Literal, Program, arguments_of
from gdl.terms import Symbol, Term, Variable, is_goal, variables

Role: TypeAlias = Term
Move: TypeAlias = Term
Fact: TypeAlias = Term
JointMove: TypeAlias = Sequence[Move]
State = TypeVar("State", bound=Hashable)
_Key = TypeVar("_Key")

RANDOM_ROLE = Symbol("random")
"""The chance role of GDL-II: it moves uniformly at random and has no goal."""


class GameError(Exception):
    """A fault of the rules or of a move, met in one state.

    step   number of the state in the match (0 = initial state), if known

    >>> str(GameError("a fault").at_step(3))
    'step 3: a fault'
    """

    def __init__(self, message: str, *, step: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.step = step

    def at_step(self, step: int) -> GameError:
        """This error with its place in the match, for `raise error.at_step(n)`."""
        self.step = step
        return self

    def __str__(self) -> str:
        return self.message if self.step is None else f"step {self.step}: {self.message}"


class IllegalMoveError(GameError):
    """A joint move of the wrong length, or with a move that is not legal for its role.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> game.next_state(game.initial_state(), [ggp.parse_term("(mark 9 9)"), ggp.parse_term("noop")])
    Traceback (most recent call last):
    ggp.game.IllegalMoveError: (mark 9 9) is not legal for x
    """


class NoLegalMoveError(GameError):
    """A role has no legal move although the state is not terminal: the rules are at fault.

    >>> import ggp
    >>> game = ggp.load("(role x) (init off) (<= (legal x wait) (true on))", engine="reasoner")
    >>> game.legal_moves(game.initial_state(), game.roles[0])
    Traceback (most recent call last):
    ggp.game.NoLegalMoveError: x has no legal move in a state that is not terminal
    """


class GoalError(GameError):
    """A role has no goal value in a state, or several, or one that is not an integer in 0..100.

    >>> import ggp
    >>> game = ggp.load("(role x) (legal x wait) terminal", engine="reasoner")
    >>> game.goal(game.initial_state(), game.roles[0])
    Traceback (most recent call last):
    ggp.game.GoalError: x needs one goal value in 0..100, the rules give: none
    """


class Game(Protocol[State]):
    """The rules of one game, ready to be played.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> game
    <InterpretedGame tictactoe: roles x, o; 28 rules>
    >>> state = game.initial_state()
    >>> joint_move = [game.legal_moves(state, role)[0] for role in game.roles]
    >>> [str(move) for move in joint_move]
    ['(mark 1 1)', 'noop']
    >>> state = game.next_state(state, joint_move)
    >>> game.is_terminal(state), game.goal(state, game.roles[0]), str(game.facts(state)[0])
    (False, 50, '(cell 1 1 x)')

    name      short, for titles and records
    program   the rules as read, positions kept
    roles     in rule-sheet order; this is the order of every joint move
    """

    @property
    def name(self) -> str: ...
    @property
    def program(self) -> Program: ...
    @property
    def roles(self) -> tuple[Role, ...]: ...

    def initial_state(self) -> State:
        """The state in which every match starts."""
        ...

    def is_terminal(self, state: State) -> bool:
        """Whether the match is over in `state`."""
        ...

    def legal_moves(self, state: State, role: Role) -> tuple[Move, ...]:
        """The moves `role` may choose from, sorted by text; the same order in every engine.

        May be empty in terminal states. Raises NoLegalMoveError if `state` is not terminal and the role has
        no move.
        """
        ...

    def next_state(self, state: State, joint_move: JointMove) -> State:
        """The state after `joint_move`, which has one move per role in role order.

        Raises IllegalMoveError if the length is wrong or a move is not legal.
        """
        ...

    def goal(self, state: State, role: Role) -> int:
        """The goal value of `role` in `state`, 0..100. Raises GoalError unless there is exactly one."""
        ...

    def facts(self, state: State) -> tuple[Fact, ...]:
        """The facts true in `state`, sorted by text."""
        ...

    def percepts(self, state: State, joint_move: JointMove, role: Role) -> tuple[Term, ...]:
        """What `role` sees when `joint_move` is made in `state` (GDL-II `sees`), sorted by text.

        Empty in games without `sees` (GDL-I), in which every role sees the whole state.
        """
        ...


class RoleTable(dict[Role, _Key]):
    """A mapping from roles; its error for another key lists the roles."""

    def __missing__(self, role: object) -> _Key:
        known = ", ".join(map(str, self))
        raise GameError(f"{role!r} is not a role of this game ({known}): use game.roles")


def illegal(move: object, role: Role) -> IllegalMoveError:
    """The error for a move that is not legal, with a hint if it is text instead of a term."""
    hint = "; a move is a term: ggp.parse_term reads one from text" if isinstance(move, str) else ""
    return IllegalMoveError(f"{move} is not legal for {role}{hint}")


def no_state(game: Game[Any]) -> GameError:
    """The error for a value that is not a state of `game`."""
    return GameError(f"not a state of {game.name}: use states from its initial_state() and next_state()")


def engine_of(game: Game[Any]) -> str:
    """The engine of `game`: "lanes", "reasoner"; "other" for a game of your own class."""
    return str(getattr(game, "engine", "other"))


def is_compiled(game: Game[Any]) -> bool:
    """Whether `game` is a circuit on lanes: searches may share it between threads, and kernels run it."""
    return engine_of(game) == "lanes"


def has_percepts(game: Game[Any]) -> bool:
    """Whether the game has `sees` rules, so that roles receive percepts instead of joint moves."""
    return bool(game.program.rules_for("sees", 2))


def hides_information(game: Game[Any]) -> bool:
    """Whether roles may not know the state: the game has `sees` rules, none of which shows all moves."""
    return has_percepts(game) and not _shows_all_moves(game.program)


def _shows_all_moves(program: Program) -> bool:
    """Whether a rule such as `(<= (sees ?p (did ?r ?m)) (role ?p) (does ?r ?m))` shows all moves to everyone.

    By induction from the initial state every role then knows the state: the embedding of GDL in GDL-II
    (Thielscher 2010). `?p` and `?r` may be asked to be distinct; no other rule may show such terms.
    """
    rules = program.rules_for("sees", 2)
    for rule in rules:
        who, what = arguments_of(rule.head)
        atoms = [part.atom for part in rule.body if isinstance(part, Literal) and part.is_positive]
        made = [arguments_of(atom) for atom in atoms if atom.name == "does"]
        role, move = made[0] if len(made) == 1 else (who, who)
        known = {who, role, move}
        plain = {f"(does {role} {move})", *(f"(role {each})" for each in (who, role))}
        plain |= {f"(distinct {who} {role})", f"(distinct {role} {who})"}
        if (
            len(known) == 3
            and all(isinstance(each, Variable) for each in known)
            and {role, move} <= set(variables(what))
            and len(atoms) == len(rule.body)
            and plain.issuperset(map(str, atoms))
            and all(other is rule or not may_unify(arguments_of(other.head)[1], what) for other in rules)
        ):
            return True
    return False


def legal_or_none(game: Game[Any], state: Hashable, role: Role) -> tuple[Move, ...]:
    """The legal moves of `role`, sorted by text; empty also if the rules are at fault."""
    try:
        return game.legal_moves(state, role)
    except GameError:
        return ()


def goals_or_none(game: Game[Any], state: Hashable) -> list[int | None]:
    """Each role's goal in `state`; None if the rules give no value, or not exactly one."""
    goals: list[int | None] = []
    for role in game.roles:
        try:
            goals.append(game.goal(state, role))
        except GoalError:
            goals.append(None)
    return goals


def goal_faults(game: Game[Any], state: Hashable) -> list[str]:
    """Faults in the goals of `state`, one sentence per role; empty in well-formed games."""
    faults = []
    for role in game.roles:
        try:
            game.goal(state, role)
        except GoalError as error:
            faults.append(str(error))
    return faults


def roles_text(roles: Sequence[Role]) -> str:
    """The roles of a game in a few words, for `repr`.

    >>> roles_text([Symbol("x"), Symbol("o")]), roles_text([Symbol("robot")])
    ('roles x, o', 'role robot')
    """
    return f"role{'' if len(roles) == 1 else 's'} {', '.join(map(str, roles))}"


def goal_of(role: Role, values: Sequence[Term]) -> int:
    """The goal of `role` if the rules derive `values` for it; 0 for the chance role without one.

    Values that are not integers in 0..100 are left out, on every engine.
    Raises GoalError unless one value remains.
    """
    goals = [int(str(value)) for value in values if is_goal(value)]
    if len(goals) == 1:
        return goals[0]
    if not goals and role == RANDOM_ROLE:
        return 0
    found = " ".join(sorted(map(str, values))) or "none"
    raise GoalError(f"{role} needs one goal value in 0..100, the rules give: {found}")
