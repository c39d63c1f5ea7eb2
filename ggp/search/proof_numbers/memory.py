"""Memory of a proof-number search. What the arrays mean: `ggp.search.proof_numbers.kernels.arrays`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.engines.side_tables import SideTables
from ggp.jit.memory import LARGE_PAGE, map_memory
from ggp.jit.rows import make_rows, words_of
from ggp.lanes.choose import choice_planes, choice_scratch_rows
from ggp.lanes.keys.state_code import StateCode, make_code
from ggp.search.alphabeta.goal_bounds import goal_bounds
from ggp.search.alphabeta.goal_distance import order_formula
from ggp.search.alphabeta.kernels.distance import TOGETHER, no_formula
from ggp.search.alphabeta.kernels.side_circuit import no_circuit, side_circuit, value_rows
from ggp.search.alphabeta.memory import most_legal
from ggp.search.alphabeta.symmetry import identity_image
from ggp.search.decisive.immediate_wins import early_ends
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import (
    BUCKET,
    LANES,
    TASK_LANES,
    WORDS,
    AnyMemory,
    ChildMemory,
    OrderMemory,
    SearchMemory,
    Words,
)
from ggp.search.proof_numbers.kernels.in_order import FRONTS
from ggp.search.proof_numbers.kernels.table import KEY_BITS, KEY_MASK
from ggp.search.proof_numbers.lane_circuit import lane_memory
from ggp.search.proof_numbers.threats import threat_circuit

PLIES = 512
PLACES = 4096
"""Children on the stack of one walker, besides those of its widest node."""
MIN_WALKERS, MAX_WALKERS = 16, 64
MORE_WITH_TASKS = 4
"""Times as many walkers if they hand tasks to lanes and wait for them."""


def allocate_memory(game: CompiledGame, mebibytes: int, is_ordered: bool | None = None) -> AnyMemory:
    """Fresh memory for a search of `game`; mebibytes: of the table.

    is_ordered   whether walkers go in order; by default where facts that stay rule out others: a board fills
                 up then and every line ends before long
    """
    code = make_code(len(game.terms.fluents), game.exclusive)
    maker = _child_memory(game, code)
    option = np.zeros(c.OPTIONS, np.int64)
    option[c.ORDERED] = has_order(game) if is_ordered is None else is_ordered
    rest = lane_memory(game, code)
    walkers = option[c.FIRST_WALKERS] = _walker_count(game)
    if option[c.ORDERED] and rest.end_state > 0:
        walkers *= MORE_WITH_TASKS
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
    fills up and every line ends before long. A puzzle takes longer in it.

    >>> import ggp
    >>> [has_order(ggp.load(name)) for name in ("connectfour", "breakthrough", "sudoku_4x4")]
    [True, False, False]
    """
    formula = order_formula(game)
    return formula is not None and len(formula.blocker) > 0 and len(game.roles) == 2


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
    circuits: tuple[SideTables | None, ...]
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
