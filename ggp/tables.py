"""CircuitTables: a circuit as a handful of int32 arrays, the form that kernels read.

Letters used in every shape: F fluents, M moves (all roles together), R roles, G gates, E gate
inputs in all, K nodes.

Nodes are numbered 0..K-1: node 0 is the constant TRUE, then F fluents, then M moves role by role,
then G gates. A literal is `2*node + negated`; so literal 0 is true and literal 1 is false. Every gate
is the AND of its input literals (an OR is a negated AND of negated literals). Gates stand in
topological order: an input of a gate is the constant, a fluent, a move or an earlier gate.

Gates come in four phases, each a stretch of gates, to be settled in this order:

    LEGAL  what `legal` and `terminal` need     reads fluents only
    GOAL   what `goal` needs besides            reads fluents only
    NEXT   what `next` needs besides            reads fluents and moves
    SEES   what `sees` needs besides            reads fluents and moves

NEXT and SEES are right only while exactly one move of every role is selected; LEGAL and GOAL
never depend on the move rows. A phase may read gates of the phases before it, so NEXT needs LEGAL and
GOAL settled, SEES all three. Simplified circuits may differ from the rules in states that no play from
the initial state can reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term

Int32Array: TypeAlias = NDArray[np.int32]
TRUE_LITERAL = 0
FALSE_LITERAL = 1


class Phase(IntEnum):
    """The stretches of gates, in the order in which they are settled."""

    LEGAL = 0
    GOAL = 1
    NEXT = 2
    SEES = 3


class CircuitTables(NamedTuple):
    """What the kernels need of one game. Arrays are C-contiguous.

    node_count     K = 1 + F + M + G
    fluent_count   F; fluent f is node 1 + f
    role_count     R
    first_move     int32[R+1]; the moves of role r are first_move[r] .. first_move[r+1]-1, and
                   move m (counted over all roles) is node 1 + F + m; M = first_move[R]
    gate0          node of gate 0, = 1 + F + M
    phase_end      int32[4]; the gates of phase p are phase_end[p-1] (0 for p = 0) .. phase_end[p]-1;
                   G = phase_end[3]
    first_input    int32[G+1]; gate g reads input[first_input[g] : first_input[g+1]], two or more
    input          int32[E]; literals
    legal          int32[M]; literal that says whether the move is legal (settled by LEGAL)
    terminal       literal (settled by LEGAL)
    next           int32[F]; literal of the fluent in the next state (settled by NEXT)
    initial        uint8[F]; 1 where the fluent holds in the initial state
    goal_role, goal_value, goal_literal    int32[*]; role index, goal 0..100 (or any integer the rules
                   write) and the literal of `goal`, sorted by role, then by value (settled by GOAL)
    percept_role, percept_literal    int32[*]; role index and literal of each `sees`, sorted by role
                   (settled by SEES); their terms are `CircuitTerms.percepts`
    """

    node_count: int
    fluent_count: int
    role_count: int
    first_move: Int32Array
    gate0: int
    phase_end: Int32Array
    first_input: Int32Array
    input: Int32Array
    legal: Int32Array
    terminal: int
    next: Int32Array
    initial: NDArray[np.uint8]
    goal_role: Int32Array
    goal_value: Int32Array
    goal_literal: Int32Array
    percept_role: Int32Array
    percept_literal: Int32Array


@dataclass(frozen=True)
class CircuitTerms:
    """The terms behind the numbers of a CircuitTables.

    roles      in rule-sheet order
    fluents    fluents[f] is fluent f; sorted by text. Fluents that can never be true are left out
    moves      moves[r][i] is move first_move[r] + i; sorted by text within a role. Moves that can
               never be legal are left out
    percepts   percepts[i] belongs to percept_role[i], percept_literal[i]
    """

    roles: tuple[Term, ...]
    fluents: tuple[Term, ...]
    moves: tuple[tuple[Term, ...], ...]
    percepts: tuple[Term, ...]
