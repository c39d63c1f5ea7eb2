"""choice: counting legal moves, and selecting the k-th, as operations with three inputs.

The same results as `ggp.lanes.choose`, without tables. The slots of a role are the leaves of a balanced
tree, split into 3 * 2**m and the rest:

    count    add up the legal moves of every subtree with full adders (2 operations for 3 rows), and keep the
             counts of left subtrees; per role, the planes of the count minus one and the lanes with a move
    select   walk from the root down: in a lane the move is in the left subtree if k is less than its count,
             else k is reduced by it: 2 operations for each plane of k

About 3 operations per move to count and 5 to select. A number that differs from lane to lane is a list of
planes, the lowest first, as in `ggp.lanes.choose`.

Roles that take turns (`Layout.turns`) share one tree: in a lane only the moves of the role to move are legal
in it, so a leaf is legal where any of its moves is. The moves of the roles that wait are selected apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from ggp.circuit.tables import TRUE_LITERAL
from ggp.native.parts import NO_MOVE, Layout, Part
from ggp.native.schedule import (
    NO_ROW,
    SCRATCH,
    Operations,
    Schedule,
    ScheduleError,
    Value,
    literal_value,
    pack_operations,
)

RECOUNTED = 3
"""Counts of subtrees with at most this many leaves are not kept but made again."""
TRUE = TRUE_LITERAL


def moves_of_role(layout: Layout, role: int) -> list[tuple[int, int]]:
    """Literal of legality and row of each move of a role."""
    first, end = layout.first_slot[role : role + 2].tolist()
    pairs = zip(layout.slot_literal[first:end].tolist(), layout.slot_node[first:end].tolist(), strict=True)
    return [(literal, row) for literal, row in pairs if row != layout.end_spare]


class ChoiceRows(NamedTuple):
    """Scratch rows that the two functions and `ggp.lanes.choose` share.

    limit     of role r from limit + r * planes on: count minus one; if roles take turns, of the one to move
    drawn     likewise: k
    has_move  one row per role; one row for all if they take turns: the lanes in which every role has one
    lanes     the lanes in which to select
    end       behind the last of all
    """

    limit: int
    drawn: int
    has_move: int
    lanes: int
    end: int


Planes = list[Value]


class LeafMove(NamedTuple):
    """A move that is selected where its leaf is and `turn` holds.

    literal, row   of its legality, and of the move
    turn           literal
    is_waiting     whether its role waits with it, too: it is legal where `turn` does not hold
    """

    literal: int
    row: int
    turn: int = TRUE
    is_waiting: bool = False


class Leaf(NamedTuple):
    """What is selected together: at most one of these moves is legal, in its role's turn, in a lane.

    row   where it is found whether one is; NO_ROW: nowhere
    """

    moves: list[LeafMove]
    row: int = NO_ROW

    @property
    def is_shared(self) -> bool:
        """Whether it has several moves, or one that is legal elsewhere."""
        return len(self.moves) > 1 or self.moves[0].is_waiting

    @property
    def selected(self) -> list[LeafMove]:
        """The moves but those that wait."""
        return [move for move in self.moves if not move.is_waiting]


def _xor(a: int, b: int, c: int = 0) -> int:
    return a ^ b ^ c


def _or(a: int, b: int = 0, c: int = 0) -> int:
    return a | b | c


def _majority(a: int, b: int, c: int = 0) -> int:
    return a & b | c & (a | b)


def _borrow(a: int, b: int, c: int = 0) -> int:
    """Of a - b - c."""
    return ~a & (b | c) | b & c


def _left_size(size: int) -> int:
    left = 3
    while 2 * left < size:
        left *= 2
    return left


def _merged(operations: Operations, values: Sequence[Value]) -> Value:
    """The lanes in which one of `values` holds."""
    some = list(values)
    while len(some) > 1:
        some = [operations.add(_or, *some[:3]), *some[3:]]
    return some[0]


class _Tree:
    """The tree of a role, or of all; `next_row` is the first free scratch row.

    kept        rows of counts, and of the legality of shared leaves, by range of leaves
    selected    where each leaf is
    """

    def __init__(self, leaves: list[Leaf], next_row: int) -> None:
        if not leaves:
            raise ScheduleError("a role has no moves")
        self.leaves, self.next_row = leaves, next_row
        self.kept: dict[tuple[int, int], list[int]] = {}
        self.selected: dict[int, Value] = {}

    def _keep(self, operations: Operations, leaves: tuple[int, int], values: Planes) -> None:
        rows = list(range(self.next_row, self.next_row + len(values)))
        self.next_row += len(values)
        self.kept[leaves] = rows
        for value, row in zip(values, rows, strict=True):
            operations.keep(value, row)

    def legal(self, operations: Operations, leaf: int) -> Value:
        """The lanes in which a move of the leaf is legal."""
        kept = self.kept.get((leaf, leaf + 1))
        if kept or self.leaves[leaf].row != NO_ROW:
            return Value(kept[0] if kept else self.leaves[leaf].row)
        legal = []
        for move in self.leaves[leaf].moves:
            both = [literal_value(x) for x in (move.literal, move.turn)]
            legal.append(operations.add(lambda a, b: a & b, *both) if move.is_waiting else both[0])
        return _merged(operations, legal)

    def count(self, operations: Operations, begin: int, end: int) -> Planes:
        """Add up the legal leaves begin .. end-1."""
        size = end - begin
        if size <= 3:
            legal = [self.legal(operations, leaf) for leaf in range(begin, end)]
            # Of these the last is not needed to select.
            for leaf in range(begin, end - 1):
                if self.leaves[leaf].is_shared and self.leaves[leaf].row == NO_ROW:
                    self._keep(operations, (leaf, leaf + 1), legal[leaf - begin : leaf - begin + 1])
            return _sum_few(operations, legal)
        middle = begin + _left_size(size)
        left = self.count(operations, begin, middle)
        if middle - begin > RECOUNTED:
            self._keep(operations, (begin, middle), left)
        return _sum(operations, left, self.count(operations, middle, end), size.bit_length())

    def select(self, operations: Operations, begin: int, end: int, active: Value, k: Planes) -> None:
        """Select the k-th legal one of the leaves begin .. end-1 in the active lanes, and no other."""
        size = end - begin
        if size == 1:
            self._put(operations, begin, active)
        elif size <= 3:
            self._select_few(operations, range(begin, end), active, k)
        else:
            middle = begin + _left_size(size)
            kept = self.kept.get((begin, middle)) if middle - begin > RECOUNTED else None
            if kept:
                left = [Value(row) for row in kept]
            else:
                left = _sum_few(operations, [self.legal(operations, leaf) for leaf in range(begin, middle)])
            k = k[: (size - 1).bit_length()]
            reduced, borrow = _difference(operations, k, left)
            inside = operations.add(lambda a, b: a & b, active, borrow)
            self.select(operations, begin, middle, inside, k[: (middle - begin - 1).bit_length()])
            outside = operations.add(lambda a, b: a & ~b, active, borrow)
            self.select(operations, middle, end, outside, reduced[: (end - middle - 1).bit_length()])

    def _select_few(self, operations: Operations, leaves: range, active: Value, k: Planes) -> None:
        legal = [self.legal(operations, leaf) for leaf in leaves[:-1]]
        if len(leaves) == 2:
            first = operations.add(lambda a, x, k: a & x & ~k, active, legal[0], k[0])
            self._put(operations, leaves[0], first)
            self._put(operations, leaves[1], operations.add(lambda a, b: a & ~b, active, first))
            return
        is_first = operations.add(lambda x, k0, k1: x & ~k0 & ~k1, legal[0], k[0], k[1])
        first = operations.add(lambda a, b: a & b, active, is_first)
        self._put(operations, leaves[0], first)
        is_next = operations.add(lambda x, k0, k1: ~k1 & ~(k0 ^ x), legal[0], k[0], k[1])
        second = operations.add(lambda a, b, x: a & b & x, active, is_next, legal[1])
        self._put(operations, leaves[1], second)
        third = operations.add(lambda a, b, c: a & ~b & ~c, active, first, second)
        self._put(operations, leaves[2], third)

    def _put(self, operations: Operations, leaf: int, selected: Value) -> None:
        leaf_row, first = self.leaves[leaf].row, self.leaves[leaf].moves[0]
        if leaf == len(self.leaves) - 1 and not self.leaves[leaf].is_shared and first.turn != TRUE:
            # What no other leaf takes is left to the last, even where it is no role's turn.
            selected = operations.add(lambda a, b: a & b, selected, literal_value(first.turn))
        self.selected[leaf] = selected
        for move in self.leaves[leaf].selected[: 1 if leaf_row != NO_ROW else None]:
            if not self.leaves[leaf].is_shared or leaf_row != NO_ROW:
                operations.keep(selected, move.row)
            else:
                operations.add(lambda a, b: a & b, selected, literal_value(move.turn), target=move.row)


def _sum_few(operations: Operations, legal: Planes) -> Planes:
    """How many of one to three values hold."""
    if len(legal) == 1:
        return legal
    return [operations.add(_xor, *legal), operations.add(_majority, *legal)]


def _sum(operations: Operations, left: Planes, right: Planes, planes: int) -> Planes:
    """The sum of two numbers; its `planes` planes suffice."""
    total: Planes = []
    carry: list[Value] = []
    for p in range(planes):
        given = [*left[p : p + 1], *right[p : p + 1], *carry]
        if len(given) < 2:
            return total + given
        total.append(operations.add(_xor, *given))
        carry = [operations.add(_majority, *given)] if p + 1 < planes else []
    return total


def _difference(operations: Operations, k: Planes, count: Planes) -> tuple[Planes, Value]:
    """k - count, and the lanes in which k is less."""
    reduced: Planes = []
    borrow: list[Value] = []
    for p in range(max(len(k), len(count))):
        given = [*k[p : p + 1], *count[p : p + 1], *borrow]
        if p < len(k):
            reduced.append(operations.add(_xor, *given) if len(given) > 1 else given[0])
            borrow = [operations.add(_borrow, *given)] if len(given) > 1 else borrow
        else:
            # k has no such plane, so it is less wherever the count has.
            borrow = [operations.add(_or, *given)]
    return reduced, borrow[0]


class Choice(NamedTuple):
    """Counting and selecting as operations, their scratch rows, and the leaves if all roles share a tree."""

    counting: Operations
    selecting: Operations
    rows: ChoiceRows
    leaves: list[Leaf]


def choice_operations(layout: Layout, *, is_fused: bool = False) -> Choice:
    """The operations of counting and selecting the moves of all roles. Raises ScheduleError.

    is_fused   leaves of several moves are known, and selected, as a whole: counting and selecting read the
               row of each, and selecting writes that of its first move only
    """
    roles, planes = len(layout.first_slot) - 1, layout.planes
    if not all(moves_of_role(layout, role) for role in range(roles)):
        raise ScheduleError("a role has no moves")
    drawn, has_move = SCRATCH + roles * planes, SCRATCH + (roles + 3) * planes
    counting, selecting = Operations(), Operations()
    leaves: list[Leaf] = []
    if len(layout.turns.literal):
        rows = ChoiceRows(has_move - planes, drawn, has_move, has_move + roles, has_move + roles + 1)
        end, leaves = _choose_in_turns(layout, counting, selecting, rows, is_fused)
    else:
        rows = ChoiceRows(SCRATCH, SCRATCH, has_move, has_move + roles, has_move + roles + 1)
        end = _choose_by_role(layout, counting, selecting, rows)
    if end - SCRATCH > layout.scratch_rows:
        raise ScheduleError(f"choosing moves needs {end - SCRATCH} rows")
    return Choice(counting, selecting, rows._replace(end=end), leaves)


def _choose_by_role(layout: Layout, counting: Operations, selecting: Operations, rows: ChoiceRows) -> int:
    """A tree for each role; return the first free scratch row."""
    end, planes = rows.end, layout.planes
    for role in range(len(layout.first_slot) - 1):
        moves = moves_of_role(layout, role)
        tree = _Tree([Leaf([LeafMove(*move)]) for move in moves], end)
        total = tree.count(counting, 0, len(moves))
        end, first = tree.next_row, rows.limit + role * planes
        some = _merged(counting, total)
        counting.keep(some, rows.has_move + role)
        _keep_limit(counting, total, some, range(first, first + planes))
        k = [Value(row) for row in range(first, first + planes)]
        tree.select(selecting, 0, len(moves), Value(rows.lanes), k)
    return end


def _leaves_in_turns(layout: Layout) -> list[Leaf]:
    """The leaves of the tree of all roles: leaf i is the i-th move under each literal of `Turns`."""
    turns = layout.turns
    first: list[int] = turns.first_leaf.tolist()
    numbers: list[int] = turns.leaf_move.tolist()
    moves = [move for role in range(len(turns.waiting)) for move in moves_of_role(layout, role)]
    waiting = {*turns.waiting.tolist()}
    under = [
        [LeafMove(*moves[m], turn, m in waiting) for m in numbers[begin:end]]
        for turn, begin, end in zip(turns.literal.tolist(), first, first[1:], strict=False)
    ]
    return [Leaf([each for each in leaf if each]) for leaf in zip_longest(*under)]


def _choose_in_turns(
    layout: Layout, counting: Operations, selecting: Operations, rows: ChoiceRows, is_fused: bool
) -> tuple[int, list[Leaf]]:
    """One tree for all roles; return the first free scratch row, and its leaves."""
    end, turns, leaves = rows.end, layout.turns, _leaves_in_turns(layout)
    if is_fused:
        of_all = len(turns.literal) > 1
        placed = [i for i, leaf in enumerate(leaves) if of_all or leaf.is_shared]
        for row, i in enumerate(placed, end):
            leaves[i] = leaves[i]._replace(row=row)
        end += len(placed)
    tree = _Tree(leaves, end)
    total = tree.count(counting, 0, len(leaves))
    can_move = some = _merged(counting, total)
    owned = turns.literal[: turns.first[-1]].tolist()
    if len(owned) < len(turns.literal) or not turns.is_exact:
        # Where it is no role's turn, each has the move that waits.
        has_turn = _merged(counting, [literal_value(x) for x in owned])
        can_move = counting.add(lambda a, t: a | ~t, some, has_turn)
    counting.keep(can_move, rows.has_move)
    _keep_limit(counting, total, some, range(rows.limit, rows.limit + layout.planes))
    k = [Value(row) for row in range(rows.drawn, rows.drawn + layout.planes)]
    tree.select(selecting, 0, len(leaves), Value(rows.lanes), k)
    _select_waiting(layout, selecting, tree, Value(rows.lanes))
    return tree.next_row, leaves


def _select_waiting(layout: Layout, selecting: Operations, tree: _Tree, lanes: Value) -> None:
    """Select the move that waits of each role in `lanes`, where it waits or that leaf is selected."""
    turns = layout.turns
    moves = [move for role in range(len(turns.waiting)) for move in moves_of_role(layout, role)]
    within = {m.row: (m, leaf) for leaf, each in enumerate(tree.leaves) for m in each.moves if m.is_waiting}
    for role, waiting in enumerate(turns.waiting.tolist()):
        if waiting != NO_MOVE:
            _, row = moves[waiting]
            selected = lanes
            for x in turns.literal[turns.first[role] : turns.first[role + 1]].tolist():
                selected = selecting.add(lambda a, t: a & ~t, selected, literal_value(x))
            if row in within:
                move, leaf = within[row]
                passing = (tree.selected[leaf], literal_value(move.turn))
                selected = selecting.add(lambda a, s, t: a | s & t, selected, *passing)
            selecting.keep(selected, row)


def schedule_choice(layout: Layout, part: Part) -> Schedule:
    """The schedule of COUNT or SELECT. Raises ScheduleError."""
    choice = choice_operations(layout)
    operations = choice.counting if part == Part.COUNT else choice.selecting
    return pack_operations(operations, range(choice.rows.end, SCRATCH + layout.scratch_rows))


def _keep_limit(operations: Operations, total: Planes, some: Value, rows: range) -> None:
    """Keep the count minus one, where it is not zero."""
    borrow = some
    for p, row in enumerate(rows):
        if p < len(total):
            operations.add(lambda x, b: x ^ b, total[p], borrow, target=row)
            borrow = operations.add(lambda x, b: b & ~x, total[p], borrow)
        else:
            operations.add(lambda a: 0, total[0], target=row)
