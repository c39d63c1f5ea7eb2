"""Memory of a proof-number search. What the arrays mean: `ggp.search.proof_numbers.kernels.arrays`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.circuit import FALSE_LITERAL
from ggp.circuit.tables import Int32Array
from ggp.engines.compiled import CompiledGame
from ggp.engines.side_tables import SideTables
from ggp.jit.memory import LARGE_PAGE, map_memory
from ggp.jit.rows import make_rows, words_of
from ggp.lanes.choose import choice_planes, choice_scratch_rows
from ggp.lanes.keys.state_code import StateCode, make_code
from ggp.search.alphabeta.goal_bounds import GoalBounds, goal_bounds
from ggp.search.alphabeta.goal_distance import order_formula
from ggp.search.alphabeta.kernels.distance import TOGETHER, no_formula
from ggp.search.alphabeta.kernels.side_circuit import SideCircuit, no_circuit, side_circuit, value_rows
from ggp.search.alphabeta.latches import latches_of_goals
from ggp.search.alphabeta.memory import most_legal
from ggp.search.alphabeta.symmetry import identity_image
from ggp.search.decisive.immediate_wins import early_ends
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import (
    BUCKET,
    LANES,
    TASK_LANES,
    TASK_WORDS,
    WORDS,
    AnyMemory,
    ChildMemory,
    LaneMemory,
    OrderMemory,
    SearchMemory,
    Words,
)
from ggp.search.proof_numbers.kernels.in_order import FRONTS
from ggp.search.proof_numbers.kernels.table import KEY_BITS, KEY_MASK
from ggp.search.proof_numbers.threats import threat_circuit

PLIES = 512
PLACES = 4096
"""Children on the stack of one walker, besides those of its widest node."""
MIN_WALKERS, MAX_WALKERS = 16, 64
MORE_WITH_TASKS = 4
"""Times as many walkers if they hand tasks to lanes and wait for them."""
MOST_LOOSE = 16
"""Facts that lanes save at each depth, at most."""


def allocate_memory(game: CompiledGame, mebibytes: int, is_ordered: bool | None = None) -> AnyMemory:
    """Fresh memory for a search of `game`; mebibytes: of the table.

    is_ordered   whether walkers go in order; by default where facts that stay rule out others: a board fills
                 up then and every line ends before long
    """
    code = make_code(len(game.terms.fluents), game.exclusive)
    maker = _child_memory(game, code)
    option = np.zeros(c.OPTIONS, np.int64)
    option[c.ORDERED] = has_order(game) if is_ordered is None else is_ordered
    rest = _lane_memory(game, maker)
    walkers = _walker_count(game) * (MORE_WITH_TASKS if option[c.ORDERED] and rest.digits else 1)
    option[c.WALKERS] = walkers
    words = code.word_count + 1
    if option[c.ORDERED] and len(code.first_source) - 1 <= 64 * code.word_count - (64 - KEY_BITS):
        words = code.word_count
    table = make_table(mebibytes, words)
    names = ("ply", "first_lane", "lanes", "chosen", "moving")
    common: dict[str, Any] = dict(zip(names, np.zeros((len(names), walkers), np.int64), strict=True))
    common |= {"maker": maker, "table": table, "option": option, "counter": np.zeros(c.COUNTERS, np.int64)}
    places = PLACES + 2 * max(map(len, game.moves))
    common |= {"buckets": bucket_count(table, words), "entry_words": words, "plies": PLIES, "places": places}
    if option[c.ORDERED]:
        return OrderMemory(
            frame=_on_lines(np.int64, walkers * PLIES * c.FRAME),
            cut=np.zeros(walkers, np.int64),
            path=_on_lines(np.uint64, walkers * PLIES),
            child=_on_lines(np.uint64, walkers * places * (words + 2)),
            pending=np.zeros(c.MOST_PENDING * (words + 3), np.uint64),
            key_mask=np.uint64(KEY_MASK),
            rest=rest,
            owner=np.full(TASK_LANES, -1, np.int64),
            asked=np.zeros(TASK_LANES, np.int64),
            born=np.zeros(TASK_LANES, np.int64),
            task=np.zeros(TASK_LANES * (words + 1), np.uint64),
            waiting=np.zeros(walkers, np.int64),
            tasks=np.zeros(walkers, np.int64),
            front=np.zeros(FRONTS, np.int64),
            **common,
        )
    place, first, children, made, proof, disproof, work = np.zeros((7, walkers * PLIES), np.int64)
    return SearchMemory(
        visits=np.zeros(walkers, np.int64),
        place=place,
        first=first,
        children=children,
        made=made,
        most_proof=proof,
        most_disproof=disproof,
        work=work,
        key=np.zeros(walkers * places * code.word_count + 1, np.uint64),
        hash=np.zeros(walkers * places, np.uint64),
        data=np.zeros(walkers * places, np.uint64),
        note=np.zeros(walkers * places, np.int32),
        key_mask=np.uint64(0),
        **common,
    )


def has_order(game: CompiledGame) -> bool:
    """Whether walkers go depth first in the order of the goal: where facts that stay rule out others, a board
    fills up and every line ends before long.

    >>> import ggp
    >>> [has_order(ggp.load(name)) for name in ("connectfour", "breakthrough")]
    [True, False]
    """
    formula = order_formula(game)
    return formula is not None and len(formula.blocker) > 0


def _on_lines(dtype: type[np.generic], count: int) -> NDArray[Any]:
    """Zeros from the beginning of a cache line on."""
    memory = np.zeros(8 * count + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + 8 * count].view(dtype)


def _walker_count(game: CompiledGame) -> int:
    """As many walkers as nodes whose children fill the lanes, to a lower power of two.

    More only wait for lanes and search what others will have answered: 64 walkers need half as many nodes
    again as 32 on hex 4x4, and a third more on connect four.
    """
    nodes = max(1, LANES // max(2, most_legal(game)))
    return min(MAX_WALKERS, max(MIN_WALKERS, 1 << (nodes.bit_length() - 1)))


def _child_memory(game: CompiledGame, code: StateCode) -> ChildMemory:
    tables = game.lane_tables
    circuits: tuple[SideTables | GoalBounds | None, ...]
    circuits = (early_ends(game), goal_bounds(game), threat_circuit(game))
    note = make_rows(c.NOTE_PLANES, WORDS)
    formula = order_formula(game) or no_formula()
    parts = len(formula.leaf) + len(formula.is_any)
    sides = [
        no_circuit(tables, WORDS) if each is None else side_circuit(each.tables, WORDS) for each in circuits
    ]
    for native in (game.native, *(each.native for each in circuits if each is not None)):
        native.begin(WORDS)
    return ChildMemory(
        tables=tables,
        code=code,
        node=value_rows(tables, WORDS),
        child=value_rows(tables, WORDS),
        keys=make_rows(64 * code.word_count, WORDS),
        following=tables.next[identity_image(game)],
        image=make_rows(64 * code.word_count, WORDS),
        note=note,
        note_of=words_of(note).reshape(-1).view(np.uint16)[:LANES],
        scratch=make_rows(choice_scratch_rows(tables), WORDS),
        live=make_rows(1, WORDS),
        choice_planes=choice_planes(tables),
        ends=sides[0],
        bounds=sides[1],
        formula=formula,
        degree=make_rows(max(1, parts), TOGETHER),
        distance=np.zeros(LANES, np.int32),
        threats=sides[2],
    )


def _lane_memory(game: CompiledGame, maker: ChildMemory) -> LaneMemory:
    """What searches tasks in lanes; with `digits` 0 if too few of the game's facts stay."""
    tables, fluents = game.lane_tables, np.arange(game.lane_tables.fluent_count)
    # A fact that becomes another one has to be saved before that is written.
    source = tables.next >> 1
    is_apart = (source == 0) | (source == fluents + 1) | (source > len(fluents))
    stays = [f for f in sorted(latches_of_goals(game).stays) if is_apart[f]]
    loose = sorted(set(fluents.tolist()) - set(stays))
    legal, move, hopeless = _moves_in_order(game, maker.ends)
    digits = (len(move) // 2).bit_length() if len(loose) <= MOST_LOOSE else 0
    for native in (game.native, *([ends.native] if (ends := early_ends(game)) else ())):
        native.begin(TASK_WORDS)
    return LaneMemory(
        tables=tables,
        code=maker.code,
        ends=maker.ends._replace(value=value_rows(maker.ends.tables, TASK_WORDS)),
        value=value_rows(tables, TASK_WORDS),
        fresh=value_rows(tables, TASK_WORDS),
        keys=make_rows(64 * maker.code.word_count, TASK_WORDS),
        staying=np.array([1 + f for f in stays], np.int32),
        loose=np.array([1 + f for f in loose], np.int32),
        legal=legal,
        move=move,
        hopeless=hopeless,
        age=make_rows(max(1, c.DIGITS * len(stays)), TASK_WORDS),
        saved=make_rows(max(1, c.DEPTHS * len(loose)), TASK_WORDS),
        at=make_rows(c.DEPTHS, TASK_WORDS),
        second=make_rows(c.DEPTHS, TASK_WORDS),
        last=make_rows(max(1, c.DEPTHS * digits), TASK_WORDS),
        digits=digits,
        row=make_rows(2 * digits + 2 * c.DIGITS, TASK_WORDS),
        of_task=make_rows(4, TASK_WORDS),
        written=make_rows(max(1, len(loose)), TASK_WORDS),
    )


def _moves_in_order(game: CompiledGame, ends: SideCircuit) -> tuple[Int32Array, Int32Array, Int32Array]:
    """For the moves of both roles, those in the middle of their list first: the literals that they are legal,
    their rows, and the literals of `ends` that they are hopeless."""
    tables, widest = game.lane_tables, max(map(len, game.moves))
    legal = np.full(2 * widest, FALSE_LITERAL, np.int32)
    move = np.full(2 * widest, tables.row_count - 1, np.int32)  # the spare row
    # The rows of a circuit that is not used hold zeros, so that its literal 0 is false.
    hopeless = np.full(2 * widest, FALSE_LITERAL if len(ends.fluent) else 0, np.int32)
    for role, moves in enumerate(game.moves):
        slot, goal = int(tables.first_slot[role]), int(ends.tables.goal_first[role]) + 2
        for i, m in enumerate(sorted(range(len(moves)), key=lambda m: abs(2 * m - len(moves) + 1))):
            legal[role * widest + i] = tables.slot_literal[slot + m]
            move[role * widest + i] = tables.slot_node[slot + m]
            if len(ends.fluent):
                hopeless[role * widest + i] = ends.tables.goal_literal[goal + m]
    return legal, move, hopeless


def bucket_count(table: Words, words: int) -> int:
    """The number of buckets of a table with entries of `words` words."""
    return len(table) // (BUCKET * words)


def make_table(mebibytes: int, words: int) -> Words:
    """An empty table of at most this size, on pages of 2 MiB where the system has them.

    Entries are read at random: with small pages each read costs a miss of the address cache as well, which
    halves the speed of the search.

    words   of an entry

    >>> bucket_count(make_table(1, 2), words=2)
    16384
    """
    size = BUCKET * words
    buckets = 1 << max(0, ((mebibytes << 17) // size).bit_length() - 1)
    words_of_memory = np.frombuffer(map_memory(8 * size * buckets + LARGE_PAGE), np.uint64)
    first = (-words_of_memory.ctypes.data % LARGE_PAGE) // 8
    return words_of_memory[first : first + size * buckets]
