"""choose: a random legal move of every role in every lane.

The work is bit-sliced: a number that differs from lane to lane is kept as *bit planes*, where plane p is a
row with bit p of every lane's number. For each role:

1. *count*: add up the legal rows, eight at a time in registers (a tree of carry-save adders), then add the
   sums of these blocks to a counter of P planes.
2. *draw* k < count in every lane: random planes masked to the width of count - 1, by rejection; at least
   half of the waiting lanes accept in each round.
3. *select* the k-th legal row: walk the blocks and subtract each block's count from k; in lanes in which that
   borrows, the move is in this block, and a tree of comparisons of 3, 2 and 1 bits finds it.

Lanes in which only one role has a choice (all lanes of a turn-taking game) share one draw. Exact: every
legal move has the same probability. About 16 row operations per move.

Scratch (`choice_scratch_rows` rows): planes of each role, of the draw, then block sums.

With machine code (`ggp.native.choice`) steps 1 and 3 are one call each, with the same results.
"""

from __future__ import annotations

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, stage
from ggp.jit.entry_points import call_on_rows
from ggp.jit.rows import (
    ALL_ONES,
    Index,
    Row,
    Rows,
    add,
    any_lane,
    fill,
    literal,
    load,
    make_rows,
    shift_left,
    shift_right,
    store,
    words_of,
)
from ggp.lanes.layout import (
    AFTER_DRAW_CODE,
    BEFORE_DRAW_CODE,
    COUNT_CODE,
    SELECT_CODE,
    LaneTables,
    native_column,
)
from ggp.native.parts import Layout


def seeded_random(words: int, seed: int, stream: int = 0) -> Rows:
    """State of W generators, one per word, two rows; independent for every (seed, stream).

    >>> words_of(seeded_random(8, seed=1)).shape
    (2, 8)
    """
    state = make_rows(2, words)
    sequence = np.random.SeedSequence([seed & (2**64 - 1), stream])
    words_of(state)[:] = sequence.generate_state(2 * words, np.uint64).reshape(2, words)
    words_of(state)[0] |= np.uint64(1)  # the all-zero state would stay zero
    return state


@inlined
def next_random(older: Row, newer: Row) -> tuple[Row, Row, Row]:
    """Return (older, newer, random row); pass the first two to the next call. xorshift128+ (Vigna 2017)."""
    x = older ^ shift_left(older, np.uint64(23))
    x = x ^ newer ^ shift_right(x, np.uint64(18)) ^ shift_right(newer, np.uint64(5))
    return newer, x, add(x, newer)


@inlined
def add_three(a: Row, b: Row, c: Row) -> tuple[Row, Row]:
    """Full adder: (sum, carry)."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@inlined
def borrow_of(a: Row, b: Row, c: Row) -> Row:
    """The borrow of a - b - c."""
    return (~a & (b | c)) | (b & c)


def planes_for(slots: int) -> int:
    """Planes of a counter up to `slots`.

    >>> planes_for(7), planes_for(8)
    (3, 4)
    """
    return max(1, int(slots).bit_length())


def choice_planes(tables: LaneTables) -> int:
    """P, the number of planes reserved per role."""
    return planes_for(int(np.diff(tables.first_slot).max(initial=1)))


def choice_scratch_rows(tables: LaneTables) -> int:
    """Number of scratch rows that `choose` needs, as much for leaves of machine code and their counts."""
    blocks = len(tables.slot_literal) // 4 + 1
    return (tables.role_count + 3) * choice_planes(tables) + 8 * blocks


def make_scratch(tables: LaneTables, words: int) -> Rows:
    """Scratch rows for `choose`, then for machine code: the lanes that restart, and the fluents of the state
    they restart from."""
    return make_rows(choice_scratch_rows(tables) + 1 + tables.fluent_count, words)


def native_layout(tables: LaneTables) -> Layout:
    """What machine code has to know of `tables`."""
    return Layout(
        turns=tables.turns,
        row_of=tables.node_of,
        first_spare=tables.first_shared,
        end_spare=tables.row_count - 1,
        first_slot=tables.first_slot,
        slot_literal=tables.slot_literal,
        slot_node=tables.slot_node,
        planes=choice_planes(tables),
        scratch_rows=choice_scratch_rows(tables),
    )


@inlined
def _count_eight(value: Rows, literals: Int32Array, s: Index) -> tuple[Row, Row, Row, Row]:
    """The number of legal slots among eight: planes 0..3."""
    s0, c0 = add_three(
        literal(value, literals[s]), literal(value, literals[s + 1]), literal(value, literals[s + 2])
    )
    s1, c1 = add_three(
        literal(value, literals[s + 3]), literal(value, literals[s + 4]), literal(value, literals[s + 5])
    )
    x6 = literal(value, literals[s + 6])
    x7 = literal(value, literals[s + 7])
    s2, c2 = add_three(s0, s1, x6)
    ones = s2 ^ x7
    t, d0 = add_three(c0, c1, c2)
    c3 = s2 & x7
    d1 = t & c3
    return ones, t ^ c3, d0 ^ d1, d0 & d1


@inlined
def _count_four(value: Rows, literals: Int32Array, s: Index) -> tuple[Row, Row, Row]:
    """The number of legal slots among four: planes 0..2."""
    s0, c0 = add_three(
        literal(value, literals[s]), literal(value, literals[s + 1]), literal(value, literals[s + 2])
    )
    x3 = literal(value, literals[s + 3])
    c1 = s0 & x3
    return s0 ^ x3, c0 ^ c1, c0 & c1


@inlined
def _count_role(
    tables: LaneTables,
    value: Rows,
    role: Index,
    scratch: Rows,
    count0: Index,
    planes: Index,
    block_count: Index,
) -> Row:
    """Count the legal moves of one role.

    count0        first of `planes` scratch rows: the count
    block_count   scratch row from which the counts of blocks are kept
    Returns the lanes with a legal move; in these the planes then hold the count minus one.
    """
    zero = fill(value, np.uint64(0))
    for p in range(planes):
        store(scratch, count0 + p, zero)
    s, end = np.int64(tables.first_slot[role]), np.int64(tables.first_slot[role + 1])
    block = block_count
    while s < end:
        if s + 8 <= end:
            b0, b1, b2, b3 = _count_eight(value, tables.slot_literal, s)
            store(scratch, block + 3, b3)
            s += 8
        else:
            b0, b1, b2 = _count_four(value, tables.slot_literal, s)
            b3 = zero
            s += 4
        store(scratch, block, b0)
        store(scratch, block + 1, b1)
        store(scratch, block + 2, b2)
        block += 4
        total = load(scratch, count0)
        store(scratch, count0, total ^ b0)
        carry = total & b0
        if planes > 1:
            total, carry = add_three(load(scratch, count0 + 1), b1, carry)
            store(scratch, count0 + 1, total)
        if planes > 2:
            total, carry = add_three(load(scratch, count0 + 2), b2, carry)
            store(scratch, count0 + 2, total)
        if planes > 3:
            total, carry = add_three(load(scratch, count0 + 3), b3, carry)
            store(scratch, count0 + 3, total)
        for p in range(count0 + 4, count0 + planes):
            total = load(scratch, p)
            store(scratch, p, total ^ carry)
            carry = carry & total
        # The count is that of all slots before s; the blocks' own counts lie side by side.
    has_move = zero
    for p in range(count0, count0 + planes):
        has_move = has_move | load(scratch, p)
    borrow = has_move
    for p in range(count0, count0 + planes):
        x = load(scratch, p)
        store(scratch, p, x ^ borrow)
        borrow = borrow & ~x
    return has_move


@inlined
def draw_at_most(
    value: Rows,
    scratch: Rows,
    limit0: Index,
    drawn0: Index,
    trial0: Index,
    planes: Index,
    older: Row,
    newer: Row,
) -> tuple[Row, Row]:
    """Draw a uniform number 0 .. limit in every lane, by rejection.

    limit0, drawn0, trial0   first of `planes` scratch rows each: the limits, the result, room for a trial
    Returns the random generator's rows.
    """
    zero = fill(value, np.uint64(0))
    need = zero
    while planes > 0 and not any_lane(load(scratch, limit0 + planes - 1)):
        planes -= 1
        store(scratch, drawn0 + planes, zero)
    for p in range(planes):
        store(scratch, drawn0 + p, zero)
        need = need | load(scratch, limit0 + p)
    while any_lane(need):
        mask = zero
        less = zero
        equal = need
        for p in range(planes - 1, -1, -1):
            limit = load(scratch, limit0 + p)
            mask = mask | limit
            older, newer, x = next_random(older, newer)
            x = x & mask
            less = less | (equal & limit & ~x)
            equal = equal & ~(limit ^ x)
            store(scratch, trial0 + p, x)
        accepted = less | equal
        for p in range(planes):
            store(scratch, drawn0 + p, load(scratch, drawn0 + p) | (load(scratch, trial0 + p) & accepted))
        need = need & ~accepted
    return older, newer


@inlined
def _select_two(value: Rows, nodes: Int32Array, s: Index, x0: Row, active: Row, second: Row) -> None:
    """Select one of two slots in the active lanes. The first if it is legal and `second` is 0."""
    first = active & x0 & ~second
    store(value, np.int64(nodes[s]), first)
    store(value, np.int64(nodes[s + 1]), active & ~first)


@inlined
def _select_four(
    value: Rows, nodes: Int32Array, s: Index, legal: tuple[Row, Row, Row], active: Row, k0: Row, k1: Row
) -> None:
    """Select the k-th legal one of four slots in the active lanes.

    legal    legality of the first three slots; the fourth is what remains
    k0, k1   planes of k
    """
    x0, x1, x2 = legal
    low = x0 ^ x1
    high = x0 & x1
    in_first = active & borrow_of(k1, high, ~k0 & low)
    _select_two(value, nodes, s, x0, in_first, k0)
    _select_two(value, nodes, s + 2, x2, active & ~in_first, k0 ^ low)


@inlined
def _select_eight(
    value: Rows, literals: Int32Array, nodes: Int32Array, s: Index, active: Row, k0: Row, k1: Row, k2: Row
) -> None:
    """Select the k-th legal one of eight slots in the active lanes."""
    x0 = literal(value, literals[s])
    x1 = literal(value, literals[s + 1])
    x2 = literal(value, literals[s + 2])
    x3 = literal(value, literals[s + 3])
    low, carry0 = add_three(x0, x1, x2)
    carry1 = low & x3
    low = low ^ x3
    middle = carry0 ^ carry1
    high = carry0 & carry1
    borrow0 = ~k0 & low
    borrow1 = borrow_of(k1, middle, borrow0)
    in_first = active & borrow_of(k2, high, borrow1)
    _select_four(value, nodes, s, (x0, x1, x2), in_first, k0, k1)
    x4 = literal(value, literals[s + 4])
    x5 = literal(value, literals[s + 5])
    x6 = literal(value, literals[s + 6])
    _select_four(value, nodes, s + 4, (x4, x5, x6), active & ~in_first, k0 ^ low, k1 ^ middle ^ borrow0)


@inlined
def _select_role(
    tables: LaneTables,
    value: Rows,
    role: Index,
    scratch: Rows,
    k: Index,
    planes: Index,
    block_count: Index,
    left: Row,
) -> None:
    """Select the role's k-th legal move in the lanes `left`; uses up the planes of k."""
    zero = fill(value, np.uint64(0))
    literals = tables.slot_literal
    nodes = tables.slot_node
    s, end = np.int64(tables.first_slot[role]), np.int64(tables.first_slot[role + 1])
    block = block_count
    while s < end:
        is_eight = s + 8 <= end
        k0 = load(scratch, k)
        b = load(scratch, block)
        store(scratch, k, k0 ^ b)
        borrow = b & ~k0
        k1, k2 = zero, zero
        if planes > 1:
            k1 = load(scratch, k + 1)
            b = load(scratch, block + 1)
            store(scratch, k + 1, k1 ^ b ^ borrow)
            borrow = borrow_of(k1, b, borrow)
        if planes > 2:
            k2 = load(scratch, k + 2)
            b = load(scratch, block + 2)
            store(scratch, k + 2, k2 ^ b ^ borrow)
            borrow = borrow_of(k2, b, borrow)
        if planes > 3:
            k3 = load(scratch, k + 3)
            b = load(scratch, block + 3) if is_eight else zero
            store(scratch, k + 3, k3 ^ b ^ borrow)
            borrow = borrow_of(k3, b, borrow)
        for p in range(k + 4, k + planes):
            x = load(scratch, p)
            store(scratch, p, x ^ borrow)
            borrow = borrow & ~x
        block += 4
        inside = left & borrow
        left = left & ~borrow
        # k0 .. k2 are k within this block where it is `inside`; it is reduced where it is still `left`.
        if is_eight:
            if any_lane(inside):
                _select_eight(value, literals, nodes, s, inside, k0, k1, k2)
            else:
                for i in range(s, s + 8):
                    store(value, np.int64(nodes[i]), zero)
            s += 8
        else:
            x0 = literal(value, literals[s])
            x1 = literal(value, literals[s + 1])
            x2 = literal(value, literals[s + 2])
            _select_four(value, nodes, s, (x0, x1, x2), inside, k0, k1)
            s += 4


@inlined
def _restrict(scratch: Rows, own0: Index, union0: Index, planes: Index, lanes: Row) -> Row:
    """Restrict a role's planes to `lanes` and add them to the union; return the lanes in which one is set."""
    has_choice = lanes & ~lanes
    for p in range(planes):
        x = load(scratch, own0 + p) & lanes
        store(scratch, own0 + p, x)
        has_choice = has_choice | x
        store(scratch, union0 + p, load(scratch, union0 + p) | x)
    return has_choice


@inlined
def _take_drawn(value: Rows, scratch: Rows, own0: Index, drawn0: Index, planes: Index) -> None:
    """Replace a role's planes by the drawn ones, where one is set: it has a choice there."""
    has_choice = fill(value, np.uint64(0))
    for p in range(planes):
        has_choice = has_choice | load(scratch, own0 + p)
    for p in range(planes):
        store(scratch, own0 + p, load(scratch, drawn0 + p) & has_choice)


@inlined
def take_turns(tables: LaneTables, value: Rows) -> bool:
    """Whether roles take turns (`LaneTables.turns`): at most one per lane has its turn, the others wait.

    It may be otherwise in states that the game never reaches, but a caller may put them.
    """
    one = fill(value, np.uint64(0))
    several = one
    for i in range(tables.turns.literal.shape[0]):
        turn = literal(value, np.int64(tables.turns.literal[i]))
        several = several | (one & turn)
        one = one | turn
    if tables.turns.is_exact:
        several = several | ~one
    return tables.turns.literal.shape[0] > 0 and not any_lane(several)


@inlined
def is_choice_native(tables: LaneTables, value: Rows) -> bool:
    """Whether there is machine code to choose with. It may come at any time, and what one half counts the
    other selects from: callers ask once for both."""
    native, width = tables.schedule.native, native_column(value)
    has_code = native[COUNT_CODE, width] != 0 and native[SELECT_CODE, width] != 0
    return bool(has_code and take_turns(tables, value) == (tables.turns.literal.shape[0] > 0))


@inlined
def count_moves(tables: LaneTables, value: Rows, scratch: Rows, planes: Index, is_native: bool) -> Row:
    """Count the legal moves of every role; return the lanes in which each role has one.

    In these the planes from row role * planes of `scratch` on hold the role's count minus one.
    """
    blocks0 = (tables.role_count + 3) * planes
    ready = fill(value, ALL_ONES)
    if is_native:
        call_on_rows(tables.schedule.native[COUNT_CODE, native_column(value)], value, scratch)
    if is_native and tables.turns.literal.shape[0] > 0:
        # The role whose turn it is takes the count of all, the others have one move.
        ready = load(scratch, blocks0)
        for role in range(tables.role_count):
            turn = fill(value, np.uint64(0))
            for i in range(tables.turns.first[role], tables.turns.first[role + 1]):
                turn = turn | literal(value, np.int64(tables.turns.literal[i]))
            for p in range(planes):
                store(scratch, role * planes + p, load(scratch, blocks0 - planes + p) & turn)
    elif is_native:
        for role in range(tables.role_count):
            ready = ready & load(scratch, blocks0 + role)
    else:
        for role in range(tables.role_count):
            block0 = blocks0 + tables.first_slot[role]
            ready = ready & _count_role(tables, value, role, scratch, role * planes, planes, block0)
    return ready


@inlined
def select_moves(
    tables: LaneTables, value: Rows, scratch: Rows, planes: Index, is_native: bool, lanes: Row
) -> None:
    """Select in `lanes` the k-th legal move of every role, by the planes of k that have taken the place of
    those that `count_moves` wrote."""
    roles = tables.role_count
    blocks0 = (roles + 3) * planes
    if is_native:
        if tables.turns.literal.shape[0] > 0:
            for p in range(planes):
                # k is 0 where a role waits.
                k = load(scratch, p)
                for role in range(1, roles):
                    k = k | load(scratch, role * planes + p)
                store(scratch, roles * planes + p, k)
        store(scratch, blocks0 + roles, lanes)
        call_on_rows(tables.schedule.native[SELECT_CODE, native_column(value)], value, scratch)
    else:
        for role in range(roles):
            block0 = blocks0 + tables.first_slot[role]
            _select_role(tables, value, role, scratch, role * planes, planes, block0, lanes)


@inlined
def _draw_in_turn(tables: LaneTables, scratch: Rows, planes: Index, random: Rows, lanes: Row) -> Row:
    """Draw the number of the move of the role whose turn it is; return the lanes in which a role is stuck."""
    drawn0 = tables.role_count * planes
    union0 = drawn0 + 2 * planes
    for p in range(union0, union0 + planes):
        store(scratch, p, load(scratch, p) & lanes)
    older, newer = draw_at_most(
        scratch, scratch, union0, drawn0, drawn0 + planes, planes, load(random, 0), load(random, 1)
    )
    store(random, 0, older)
    store(random, 1, newer)
    return lanes & ~load(scratch, union0 + planes)


@stage
def _draw_by_role(
    tables: LaneTables, value: Rows, scratch: Rows, planes: Index, random: Rows, lanes: Row
) -> None:
    """Draw the number of each role's move, by its count minus one, which it replaces."""
    zero = fill(value, np.uint64(0))
    drawn0 = tables.role_count * planes
    trial0 = drawn0 + planes
    union0 = trial0 + planes
    older = load(random, 0)
    newer = load(random, 1)

    with_choice = zero
    overlap = zero
    for p in range(planes):
        store(scratch, union0 + p, zero)
    for role in range(tables.role_count):
        has_choice = _restrict(scratch, role * planes, union0, planes, lanes)
        overlap = overlap | (with_choice & has_choice)
        with_choice = with_choice | has_choice
    # The planes of each role hold its number of moves minus one in `lanes`, and 0 elsewhere; those from
    # `union0` on the same of the role that has a choice, unless several have one in some lane.

    is_shared = not any_lane(overlap)
    for role in range(tables.role_count):
        own0 = role * planes
        if role == 0 or not is_shared:
            limit0 = union0 if is_shared else own0
            older, newer = draw_at_most(value, scratch, limit0, drawn0, trial0, planes, older, newer)
        _take_drawn(value, scratch, own0, drawn0, planes)
    store(random, 0, older)
    store(random, 1, newer)


@stage
def choose_moves(
    tables: LaneTables, value: Rows, scratch: Rows, planes: Index, random: Rows, lanes: Row
) -> Row:
    """Select one legal move per role in each of `lanes`; return the lanes in which a role has none.

    Other lanes get no move and do not influence what is drawn.
    """
    is_native = is_choice_native(tables, value)
    if is_native and tables.turns.literal.shape[0] > 0:
        native, width = tables.schedule.native, native_column(value)
        call_on_rows(native[COUNT_CODE, width], value, scratch)
        stuck = _draw_in_turn(tables, scratch, planes, random, lanes)
        store(scratch, (tables.role_count + 3) * planes + tables.role_count, lanes & ~stuck)
        call_on_rows(native[SELECT_CODE, width], value, scratch)
    else:
        stuck = lanes & ~count_moves(tables, value, scratch, planes, is_native)
        _draw_by_role(tables, value, scratch, planes, random, lanes)
        select_moves(tables, value, scratch, planes, is_native, lanes & ~stuck)
    return stuck


@inlined
def is_fused(tables: LaneTables, value: Rows) -> bool:
    """Whether machine code does what lies before and after the draw of all moves."""
    native = tables.schedule.native
    width = native_column(value)
    has_code = native[BEFORE_DRAW_CODE, width] != 0 and native[AFTER_DRAW_CODE, width] != 0
    return bool(has_code and take_turns(tables, value) == (tables.turns.literal.shape[0] > 0))


@inlined
def settle_and_count(tables: LaneTables, value: Rows, scratch: Rows) -> None:
    """Settle LEGAL and GOAL in registers, and count moves; only if `is_fused`, as the following functions.

    Then what the game's end depends on has its rows, and so have legal moves or, with several literals of
    `Turns`, their leaves.
    """
    call_on_rows(tables.schedule.native[BEFORE_DRAW_CODE, native_column(value)], value, scratch)


@stage
def draw_all(tables: LaneTables, value: Rows, scratch: Rows, planes: Index, random: Rows, lanes: Row) -> Row:
    """Draw the number of a move of every role in `lanes`, 0 in others; return those of `lanes` stuck."""
    if tables.turns.literal.shape[0] > 0:
        stuck = _draw_in_turn(tables, scratch, planes, random, lanes)
    else:
        stuck = fill(value, np.uint64(0))
        for role in range(tables.role_count):
            stuck = stuck | (lanes & ~load(scratch, (tables.role_count + 3) * planes + role))
        _draw_by_role(tables, value, scratch, planes, random, lanes)
    return stuck


@inlined
def drawn_row(tables: LaneTables, planes: Index, role: Index) -> Index:
    """The first row of `scratch` with the number that `draw_all` has drawn for a role."""
    return (tables.role_count if tables.turns.literal.shape[0] > 0 else role) * planes


@inlined
def leaf_row(tables: LaneTables, planes: Index) -> Index:
    """The row of `scratch` with the lanes in which leaf 0 of `Turns` is legal, that of leaf 1 next to it."""
    return (tables.role_count + 3) * planes + tables.role_count + 1


@inlined
def advance_all(tables: LaneTables, value: Rows, scratch: Rows, planes: Index, restarted: Row) -> None:
    """Make the moves drawn; the lanes `restarted` take the state in the last rows of `scratch`."""
    store(scratch, (tables.role_count + 3) * planes + tables.role_count, ~restarted)
    store(scratch, scratch.shape[0] - 1 - tables.fluent_count, restarted)
    call_on_rows(tables.schedule.native[AFTER_DRAW_CODE, native_column(value)], value, scratch)
