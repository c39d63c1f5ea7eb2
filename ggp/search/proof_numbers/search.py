"""ProofNumberSearch: whether goals are reached, and values, by proof numbers on full lanes.

Source: Allis, "Searching for solutions in games and artificial intelligence" (1994); the form used here:
`ggp.search.proof_numbers.kernels.walkers`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import RANDOM_ROLE, Move, hides_information
from ggp.jit.compiling import announced_compilation
from ggp.lanes.choose import choice_planes
from ggp.lanes.keys.state_code import encode_states
from ggp.search.alphabeta.goal_bounds import plain_goal_sum
from ggp.search.alphabeta.result import AlphaBetaError, SearchResult
from ggp.search.alphabeta.symmetry import symmetries_in_time
from ggp.search.budget import NO_LIMIT, Budget
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import COUNT_PLANES, OrderMemory
from ggp.search.proof_numbers.kernels.in_order import begin_in_order, walk_in_order
from ggp.search.proof_numbers.kernels.table import MAX_QUESTIONS, copy_entries
from ggp.search.proof_numbers.kernels.walkers import begin, walk
from ggp.search.proof_numbers.memory import allocate_memory, bucket_count, make_table

DEFAULT_MEBIBYTES = 256
FIRST_MEBIBYTES, TABLE_GROWTH, FULL = 16, 4, 0.5
"""The table grows by this factor when so much of it is in use: small ones stay in the processor's caches."""
SLICE_SECONDS = 0.004
"""Target duration of a call of the kernel, between which budgets are looked at."""
MAX_TICKS = 1024
ENDLESS_NODES = 1 << 62
_FAULTS = {
    c.SIMULTANEOUS: "two roles choose at the same time",
    c.NO_MOVES: "a role has no legal move in a state that is not terminal",
    c.NO_GOAL_VALUE: "the first role does not have one goal in a terminal state",
    c.NO_ROOM: "the game is too long or too wide",
    c.REPETITION: "states repeat",
}


def goals_of(game: CompiledGame) -> list[int]:
    """The goals of the first role that the rules mention, from the least on, without those that are plainly
    for states that are not terminal: each would be a question.

    >>> import ggp
    >>> goals_of(ggp.load("hex_3x3")), goals_of(ggp.load("tictactoe"))
    ([0, 100], [0, 50, 100])
    """
    tables = game.tables
    goals = zip(
        tables.goal_role.tolist(), tables.goal_value.tolist(), tables.goal_literal.tolist(), strict=True
    )
    return sorted({value for role, value, literal in goals if role == 0 and literal != tables.terminal ^ 1})


def is_provable(game: CompiledGame) -> bool:
    """Whether the search may take the game: two roles that see everything, no chance, a constant sum that is
    plain from the rules, few goals and not too many moves. That they choose in turn shows during search.

    >>> import ggp
    >>> is_provable(ggp.load("tictactoe")), is_provable(ggp.load("nineboard")), is_provable(ggp.load("maze"))
    (True, True, False)
    """
    if len(game.roles) != 2 or RANDOM_ROLE in game.roles or hides_information(game):
        return False
    is_small = choice_planes(game.lane_tables) <= COUNT_PLANES
    return is_small and 1 < len(goals_of(game)) <= MAX_QUESTIONS and plain_goal_sum(game) is not None


class ProofNumberSearch:
    """Answers questions about states of one game; its table persists. Use from one thread at a time.

    nodes      expanded since the last call of `search`; may be read from other threads, as
    leaves     those evaluated: terminal, or decided by circuits
    goal_sum   of both roles
    """

    def __init__(
        self, game: CompiledGame, *, mebibytes: int = DEFAULT_MEBIBYTES, is_ordered: bool | None = None
    ) -> None:
        """Raises AlphaBetaError for games that are not provable in this way.

        mebibytes    of the table
        is_ordered   whether walkers go in order instead of by proof numbers; by default as suits the game
        """
        if not is_provable(game):
            raise AlphaBetaError("proof numbers need two roles in turn, a constant sum and few goals")
        self.game = game
        self.goals = goals_of(game)
        self.goal_sum = plain_goal_sum(game) or 0
        self.nodes = self.leaves = 0
        self._most_mebibytes = mebibytes
        self._mebibytes = min(FIRST_MEBIBYTES, mebibytes)
        self._memory = allocate_memory(game, self._mebibytes, is_ordered)
        self._is_interrupted = False
        self._ticks = 16
        with announced_compilation():
            self._walk(0)

    def _walk(self, ticks: int) -> None:
        """Search for at most `ticks` ticks, resuming the question under search."""
        if isinstance(self._memory, OrderMemory):
            walk_in_order(self._memory, ticks)
        else:
            walk(self._memory, ticks)

    def search(self, state: PackedState, budget: Budget = NO_LIMIT) -> SearchResult:
        """The value of a state that is not terminal, with a move that keeps it, by asking about goals.

        If the budget ends the search, the result is not proven and has no goal.
        Raises AlphaBetaError if the game turns out to be of another kind.
        """
        start = time.perf_counter()
        self.nodes = self.leaves = 0
        low, high, moves = 0, len(self.goals) - 1, dict[bool, Move | None]()
        while low < high:
            middle = (low + high) // 2 + 1
            answer = self.answer(state, self.goals[middle], budget)
            if answer is None:
                seconds = time.perf_counter() - start
                return SearchResult(nodes=self.nodes, leaves=self.leaves, seconds=seconds)
            moves[answer] = self.best_move
            low, high = (middle, high) if answer else (low, middle - 1)
        mover, legal = self._mover(state)
        # Who chooses keeps the value by the move of the last answer in its favor; if there was none, by any.
        move = moves.get(mover == 0) or legal[0]
        seconds = time.perf_counter() - start
        best = None if len(legal) == 1 else move
        return SearchResult(self.goals[low], best, True, None, self.nodes, self.leaves, seconds)

    def is_reached(self, state: PackedState, goal: int, side: int, budget: Budget = NO_LIMIT) -> bool | None:
        """Whether the first role gets at least `goal` (side 1) or at most that (side -1) from a state that is
        not terminal; None if that was not proven in time. Raises AlphaBetaError."""
        if side > 0:
            return self.answer(state, goal, budget)
        higher = [each for each in self.goals if each > goal]
        answer = self.answer(state, higher[0], budget) if higher else False
        return None if answer is None else not answer

    def answer(self, state: PackedState, goal: int, budget: Budget = NO_LIMIT) -> bool | None:
        """Whether the first role gets at least `goal` from a state that is not terminal; None if the budget
        ended the search. Raises AlphaBetaError if the game turns out to be of another kind."""
        if goal <= self.goals[0] or goal > self.goals[-1]:
            return goal <= self.goals[0]
        self._put_root(state, min(each for each in self.goals if each >= goal))
        memory, counter = self._memory, self._memory.counter
        already, evaluated = self.nodes, self.leaves
        memory.option[c.NODE_LIMIT] = ENDLESS_NODES if budget.nodes is None else budget.nodes - already
        while not counter[c.ANSWER]:
            begun = time.perf_counter()
            self._walk(self._ticks)
            self.nodes = already + int(counter[c.NODES])
            self.leaves = evaluated + int(counter[c.LEAVES])
            if counter[c.FAULT]:
                raise AlphaBetaError(_FAULTS[int(counter[c.FAULT])])
            is_used_up = counter[c.NODES] > memory.option[c.NODE_LIMIT]
            if not counter[c.ANSWER] and (is_used_up or self._is_interrupted or budget.is_over()):
                return None
            self._set_ticks(time.perf_counter() - begun)
            self._enlarge_table(budget.is_over)
            self._fold()
        return bool(counter[c.ANSWER] == c.YES)

    def _set_ticks(self, seconds: float) -> None:
        """Choose how many ticks the next slice has, given how long the last one took."""
        longer = int(self._ticks * SLICE_SECONDS / max(seconds, 1e-6))
        self._ticks = max(1, min(2 * self._ticks, longer, MAX_TICKS))

    @property
    def best_move(self) -> Move | None:
        """A move that decides the last question; None if none does, since every move leads to the answer."""
        best = int(self._memory.counter[c.BEST])
        return None if best < 0 else self._legal[best]

    def interrupt(self) -> None:
        """Stop the question that another thread asks."""
        self._is_interrupted = True
        self._memory.counter[c.STOP] = 1

    def _mover(self, state: PackedState) -> tuple[int, list[Move]]:
        """The role that chooses (0 if none has a choice), and its moves. Raises AlphaBetaError."""
        legal = [self.game.legal_moves(state, role) for role in self.game.roles]
        choosing = [r for r, moves in enumerate(legal) if len(moves) > 1]
        if len(choosing) > 1 or not all(legal):
            raise AlphaBetaError(_FAULTS[c.SIMULTANEOUS if len(choosing) > 1 else c.NO_MOVES])
        mover = choosing[0] if choosing else 0
        return mover, list(legal[mover])

    def _put_root(self, state: PackedState, goal: int) -> None:
        """Begin a question."""
        memory = self._memory
        self._is_interrupted = False
        memory.counter[[c.NODES, c.LEAVES, c.ANSWER, c.STOP, c.FAULT, c.FIRST]] = 0
        memory.counter[c.BEST] = -1
        memory.option[c.GOAL] = goal
        memory.option[c.QUESTION] = self.goals.index(goal)
        words = memory.maker.code.word_count
        key = encode_states(memory.maker.code, self.game.unpack(state)[None, :])[0]
        mover, self._legal = self._mover(state)
        note = (mover << c.MOVER_BIT) | ((len(self._legal) - 1) << c.COUNT_BIT)
        if isinstance(memory, OrderMemory):
            memory.child[:words] = key
            begin_in_order(memory, note)
        else:
            memory.key[:words] = key
            begin(memory, note)

    def _enlarge_table(self, is_stopped: Callable[[], bool]) -> None:
        """Use a larger table once this one fills up."""
        memory = self._memory
        words = memory.entry_words
        entries = len(memory.table) // words
        larger = min(TABLE_GROWTH * self._mebibytes, self._most_mebibytes)
        if memory.counter[c.STORED] < FULL * entries or larger <= self._mebibytes or is_stopped():
            return
        table = memory.table
        with suppress(MemoryError, OSError):
            table = make_table(larger, words)
        if len(table) == len(memory.table):  # or the next power of two would be too large
            self._most_mebibytes = self._mebibytes
            return
        memory.counter[c.STORED] = copy_entries(memory.table, table, memory.maker.code.word_count, words)
        self._mebibytes = larger
        self._memory = memory._replace(table=table, buckets=bucket_count(table, words))

    def _fold(self) -> None:
        """Give symmetric states one key, once the table has grown and a thread has found the symmetries.

        What the table holds of states with another key than before is searched again.
        """
        maker = self._memory.maker
        if len(maker.following) > 1 or self._mebibytes <= FIRST_MEBIBYTES:
            return
        images = symmetries_in_time(self.game, time.monotonic())
        if len(images) > 1:
            maker = maker._replace(following=maker.tables.next[images])
            self._memory = self._memory._replace(maker=maker)
