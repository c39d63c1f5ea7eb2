"""Hand-coded games without a rule engine, for tests of what uses the `Game` protocol."""

from collections.abc import Sequence

from gdl.program import Program, Source
from gdl.terms import Compound, Symbol, Term
from ggp.game import GoalError, IllegalMoveError, NoLegalMoveError

NOOP = Symbol("noop")


def number(value: int) -> Symbol:
    return Symbol(str(value))


class FakeGame:
    """The checks that every `Game` makes, over `moves_of`, `after`, `is_terminal` and `goals`."""

    def __init__(self, name: str, roles: Sequence[str]) -> None:
        self.name = name
        self.roles: tuple[Term, ...] = tuple(Symbol(role) for role in roles)
        self.program = Program((), Source(f"{name}.kif", f"; {name} is hand-coded\n"))

    def legal_moves(self, state, role):
        if self.is_terminal(state):
            return ()
        moves = tuple(sorted(self.moves_of(state, self.roles.index(role)), key=str))
        if not moves:
            raise NoLegalMoveError(f"{role} has no legal move")
        return moves

    def next_state(self, state, joint_move):
        if len(joint_move) != len(self.roles):
            raise IllegalMoveError("wrong number of moves")
        for role, move in zip(self.roles, joint_move, strict=True):
            if move not in self.legal_moves(state, role):
                raise IllegalMoveError(f"{move} is not legal for {role}")
        return self.after(state, tuple(joint_move))

    def goal(self, state, role):
        goal = self.goals(state)[self.roles.index(role)]
        if goal is None:
            raise GoalError(f"no goal for {role}")
        return goal

    def percepts(self, state, joint_move, role):
        return ()


class Nim(FakeGame):
    """One heap, take 1 to 3, who takes the last wins; state = (heap, role to move)."""

    def __init__(self, heap: int = 10, roles: Sequence[str] = ("left", "right")) -> None:
        super().__init__("nim", roles)
        self.heap = heap

    def initial_state(self):
        return (self.heap, 0)

    def is_terminal(self, state):
        return state[0] == 0

    def moves_of(self, state, role):
        heap, mover = state
        if role != mover:
            return [NOOP]
        return [Compound("take", (number(n),)) for n in range(1, min(3, heap) + 1)]

    def after(self, state, joint_move):
        heap, mover = state
        taken = int(str(joint_move[mover].arguments[0]))
        return (heap - taken, (mover + 1) % len(self.roles))

    def goals(self, state):
        winner = (state[1] - 1) % len(self.roles)
        return [100 if index == winner else 0 for index in range(len(self.roles))]

    def facts(self, state):
        heap, mover = state
        return (Compound("control", (self.roles[mover],)), Compound("heap", (number(heap),)))


class Matrix(FakeGame):
    """One simultaneous move: `payoffs[row][column]` holds the goals; None is a missing goal."""

    def __init__(self, payoffs, moves=("a", "b")) -> None:
        super().__init__("matrix", ("row", "column"))
        self.payoffs = payoffs
        self.moves = tuple(Symbol(move) for move in moves)

    def initial_state(self):
        return ()

    def is_terminal(self, state):
        return bool(state)

    def moves_of(self, state, role):
        return list(self.moves)

    def after(self, state, joint_move):
        return joint_move

    def goals(self, state):
        if not state:
            return [0, 0]
        return self.payoffs[self.moves.index(state[0])][self.moves.index(state[1])]

    def facts(self, state):
        facts = [Compound("chose", (role, move)) for role, move in zip(self.roles, state, strict=False)]
        return tuple(sorted(facts, key=str))


class Dice(FakeGame):
    """`player` takes 60 for sure or gambles on a die with faces 1..6 that pays 100 for a six, else 0."""

    def __init__(self) -> None:
        super().__init__("dice", ("random", "player"))

    def initial_state(self):
        return ("start",)

    def is_terminal(self, state):
        return len(state) == 3

    def moves_of(self, state, role):
        if role == 0:
            return [NOOP] if len(state) == 1 else [Compound("roll", (number(n),)) for n in range(1, 7)]
        return [Symbol("gamble"), Symbol("safe")] if len(state) == 1 else [NOOP]

    def after(self, state, joint_move):
        return (*state, str(joint_move[1 if len(state) == 1 else 0]))

    def goals(self, state):
        if len(state) < 3:
            return [None, 0]
        gain = 60 if state[1] == "safe" else 100 if state[2] == "(roll 6)" else 0
        return [None, gain]

    def facts(self, state):
        return tuple(Symbol(part) for part in sorted(state) if "(" not in part)


class Stuck(Nim):
    """Nim whose rules forget the moves when one object is left."""

    def moves_of(self, state, role):
        return [] if state[0] == 1 and role == state[1] else super().moves_of(state, role)
