"""Memory of a proof-number search. What the arrays mean: `ggp.search.proof_numbers.kernels.arrays`."""

from __future__ import annotations

import numpy as np

from ggp.engines.compiled import CompiledGame
from ggp.jit.memory import LARGE_PAGE, map_memory
from ggp.jit.rows import make_rows, words_of
from ggp.lanes.choose import choice_planes, choice_scratch_rows
from ggp.lanes.keys.state_code import StateCode, make_code
from ggp.search.alphabeta.goal_bounds import goal_bounds
from ggp.search.alphabeta.goal_distance import order_formula
from ggp.search.alphabeta.kernels.distance import TOGETHER, GoalFormula, no_formula
from ggp.search.alphabeta.kernels.side_circuit import no_circuit, side_circuit, value_rows
from ggp.search.alphabeta.memory import most_legal
from ggp.search.alphabeta.symmetry import identity_image
from ggp.search.decisive.immediate_wins import immediate_wins
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import BUCKET, LANES, WORDS, ChildMemory, SearchMemory, Words

PLIES = 512
PLACES = 4096
"""Children on the stack of one walker, besides those of its widest node."""
MIN_WALKERS, MAX_WALKERS = 16, 64
MAX_LINE = 6
"""Facts that a goal may take if children are ordered by threats; to connect two sides takes more."""


def allocate_memory(game: CompiledGame, mebibytes: int) -> SearchMemory:
    """Fresh memory for a search of `game`; mebibytes: of the table."""
    code = make_code(len(game.terms.fluents), game.exclusive)
    walkers = _walker_count(game)
    places = PLACES + 2 * max(map(len, game.moves))
    table = make_table(mebibytes, code.word_count)
    of_walkers = np.zeros((6, walkers), np.int64)
    place, first, children, made, proof, disproof, work = np.zeros((7, walkers * PLIES), np.int64)
    option = np.zeros(c.OPTIONS, np.int64)
    maker = _child_memory(game, code)
    option[c.WALKERS] = walkers
    # Where facts that stay rule out others, a board fills up and every line ends before long.
    option[c.ORDERED] = walkers if len(maker.formula.blocker) else 0
    return SearchMemory(
        maker=maker,
        table=table,
        ply=of_walkers[0],
        first_lane=of_walkers[1],
        lanes=of_walkers[2],
        visits=of_walkers[3],
        chosen=of_walkers[4],
        moving=of_walkers[5],
        place=place,
        first=first,
        children=children,
        made=made,
        most_proof=proof,
        most_disproof=disproof,
        work=work,
        key=np.zeros(walkers * places * code.word_count, np.uint64),
        hash=np.zeros(walkers * places, np.uint64),
        data=np.zeros(walkers * places, np.uint64),
        note=np.zeros(walkers * places, np.int32),
        score=np.zeros(walkers * places, np.int32),
        option=option,
        counter=np.zeros(c.COUNTERS, np.int64),
        buckets=bucket_count(table, code.word_count),
        plies=PLIES,
        places=places,
    )


def _walker_count(game: CompiledGame) -> int:
    """As many walkers as nodes whose children fill the lanes, to a power of two.

    More only wait for lanes and search what others will have answered: 64 walkers need half as many nodes
    again as 32 on hex 4x4.
    """
    nodes = LANES // max(2, most_legal(game))
    return min(MAX_WALKERS, max(MIN_WALKERS, 1 << nodes.bit_length()))


def _child_memory(game: CompiledGame, code: StateCode) -> ChildMemory:
    tables, circuits = game.lane_tables, (*(immediate_wins(game) or (None, None)), goal_bounds(game))
    note = make_rows(c.NOTE_PLANES, WORDS)
    formula = order_formula(game) or no_formula()
    parts = len(formula.leaf) + len(formula.is_any)
    counted = parts if 0 < most_facts(formula) <= MAX_LINE else 0
    sides = [
        no_circuit(tables, WORDS) if each is None else side_circuit(each.tables, WORDS) for each in circuits
    ]
    for each in (game, *filter(None, circuits)):
        each.native.begin(WORDS)
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
        wins=sides[0],
        other_wins=sides[1],
        bounds=sides[2],
        formula=formula,
        degree=make_rows(max(1, parts), TOGETHER),
        distance=np.zeros(LANES, np.int32),
        holds=make_rows(counted, WORDS),
        decisive=make_rows(counted, WORDS),
    )


def most_facts(formula: GoalFormula) -> int:
    """The number of facts in the longest way to reach a goal that a role wants; 0 without a formula.

    >>> import ggp
    >>> [most_facts(order_formula(ggp.load(name))) for name in ("tictactoe", "connectfour")]
    [3, 4]
    """
    facts = [1] * len(formula.leaf)
    for g, is_any in enumerate(formula.is_any):
        inputs = [facts[i] for i in formula.input[formula.first_input[g] : formula.first_input[g + 1]]]
        facts.append(max(inputs) if is_any else sum(inputs))
    return max((facts[wanted] for wanted in formula.wanted if wanted >= 0), default=0)


def bucket_count(table: Words, words: int) -> int:
    """The number of buckets of a table for keys of `words` words."""
    return len(table) // (BUCKET * (words + 1))


def make_table(mebibytes: int, words: int) -> Words:
    """An empty table of at most this size, on pages of 2 MiB where the system has them.

    Entries are read at random: with small pages each read costs a miss of the address cache as well, which
    halves the speed of the search.

    >>> bucket_count(make_table(1, 1), words=1)
    16384
    """
    size = BUCKET * (words + 1)
    buckets = 1 << max(0, ((mebibytes << 17) // size).bit_length() - 1)
    words_of_memory = np.frombuffer(map_memory(8 * size * buckets + LARGE_PAGE), np.uint64)
    first = (-words_of_memory.ctypes.data % LARGE_PAGE) // 8
    return words_of_memory[first : first + size * buckets]
