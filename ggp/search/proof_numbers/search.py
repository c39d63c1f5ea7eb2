"""ProofNumberSearch: whether goals are reached, and values, by proof numbers on full lanes.

Source: Allis, "Searching for solutions in games and artificial intelligence" (1994); the form used here:
`ggp.search.proof_numbers.kernels.walkers`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

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
from ggp.search.proof_numbers.kernels.in_order import begin_in_order, closed_moves, walk_in_order, way_of
from ggp.search.proof_numbers.kernels.table import MAX_QUESTIONS, copy_entries
from ggp.search.proof_numbers.kernels.walkers import begin, walk
from ggp.search.proof_numbers.memory import allocate_memory, bucket_count, make_table
from ggp.solver.slices import Slices

DEFAULT_MEBIBYTES = 256
FIRST_MEBIBYTES, TABLE_GROWTH, FULL = 16, 4, 0.8
"""The table grows by this factor when so much of it is in use: small ones are quicker to map and to reach."""
SLICE_SECONDS = 0.004
"""Target duration of a call of the kernel, between which budgets are looked at."""
MAX_TICKS = 1024
ENDLESS = 1 << 62
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
    """Whether the search may take the game: one role, or two with a constant sum that is plain from the
    rules; they see everything, there is no chance, goals are few and moves not too many. That two roles
    choose in turn shows during search.

    >>> import ggp
    >>> is_provable(ggp.load("tictactoe")), is_provable(ggp.load("maze")), is_provable(ggp.load("kuhn_poker"))
    (True, True, False)
    """
    if len(game.roles) > 2 or RANDOM_ROLE in game.roles or hides_information(game):
        return False
    is_small = choice_planes(game.lane_tables) <= COUNT_PLANES
    return is_small and 1 < len(goals_of(game)) <= MAX_QUESTIONS and plain_goal_sum(game) is not None


def question_of(count: int, mover: int) -> int:
    """Which of the last `count` goals (at least two) to ask about: that in the middle; of three or two the
    better one for the role that moves.

    >>> [question_of(3, mover=0), question_of(3, mover=1), question_of(2, mover=1)]
    [2, 1, 1]
    """
    return count // 2 if mover else (count + 1) // 2


class ProofNumberSearch:
    """Answers questions about states of one game; its table persists. Use from one thread at a time.

    nodes      expanded since the last call of `search`; may be read from other threads, as
    leaves     those evaluated: terminal, or decided by circuits; and all states that lanes searched
    goals      of the first role, from the least on; goal_sum: of both roles, NO_SUM with one
    mover      the role that chooses where the question was asked, and legal: its moves
    """

    def __init__(
        self, game: CompiledGame, *, mebibytes: int = DEFAULT_MEBIBYTES, is_ordered: bool | None = None
    ) -> None:
        """Raises AlphaBetaError for games that are not provable in this way.

        mebibytes    of the table
        is_ordered   whether walkers go in order instead of by proof numbers; by default as suits the game
        """
        if not is_provable(game):
            raise AlphaBetaError("proof numbers need one role, or two in turn and a constant sum; few goals")
        self.game = game
        self.goals = goals_of(game)
        self.goal_sum = plain_goal_sum(game) or 0
        self.nodes = self.leaves = 0
        self._most_mebibytes = mebibytes
        self._mebibytes = min(FIRST_MEBIBYTES, mebibytes)
        self._memory = allocate_memory(game, self._mebibytes, is_ordered)
        self._is_interrupted = False
        self._ticks = 16
        self._copied = Slices()
        nothing = self._memory.table[:0]
        with announced_compilation():
            self._walk(0)
            copy_entries(
                nothing, self._memory.table, self._memory.maker.code.word_count, self._memory.entry_words
            )

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
        mover, legal = self.mover_of(state)
        while low < high:
            middle = low + question_of(high - low + 1, mover)
            answer = self.answer(state, self.goals[middle], budget)
            if answer is None:
                seconds = time.perf_counter() - start
                return SearchResult(nodes=self.nodes, leaves=self.leaves, seconds=seconds)
            moves[answer] = self.best_move
            low, high = (middle, high) if answer else (low, middle - 1)
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
        self.ask(state, goal)
        while True:
            begun = time.perf_counter()
            left = ENDLESS if budget.nodes is None else budget.nodes - self.nodes + 1
            found = self.advance(left, self._ticks, with_lanes=budget.nodes is None)
            is_used_up = budget.nodes is not None and self.nodes > budget.nodes
            if found is not None or is_used_up or self._is_interrupted or budget.is_over():
                return found
            self._set_ticks(time.perf_counter() - begun)
            self._enlarge_table(budget.is_over)
            self._fold()

    def line_to(self, state: PackedState, goal: int, budget: Budget = NO_LIMIT) -> tuple[Move, ...]:
        """Moves of the only role from a state to an end with at least `goal`; none if there are none, or
        no time, if every end has it, or if answered states lead back to one another.

        Raises AlphaBetaError.
        """
        moves: list[Move] = []
        seen = set[PackedState]()
        while goal > self.goals[0] and not self.game.is_terminal(state):
            if state in seen or not self.answer(state, goal, budget):
                return ()
            seen.add(state)
            moves += [self.best_move or self.legal[0]]
            state = self.game.next_state(state, moves[-1:])
        return tuple(moves)

    def ask(self, state: PackedState, goal: int) -> None:
        """Begin the question of `answer`, which `advance` continues; `goal` is higher than the least one."""
        memory = self._memory
        self._is_interrupted = False
        memory.counter[[c.NODES, c.LEAVES, c.LANE_NODES, c.ANSWER, c.FAULT, c.FIRST]] = 0
        memory.counter[c.BEST] = -1
        goal = min(each for each in self.goals if each >= goal)
        memory.option[[c.GOAL, c.QUESTION]] = goal, self.goals.index(goal)
        words = memory.maker.code.word_count
        key = encode_states(memory.maker.code, self.game.unpack(state)[None, :])[0]
        self.mover, self.legal = self.mover_of(state)
        note = (self.mover << c.MOVER_BIT) | ((len(self.legal) - 1) << c.COUNT_BIT)
        if isinstance(memory, OrderMemory):
            memory.child[:words] = key
            begin_in_order(memory, note)
        else:
            memory.key[:words] = key
            begin(memory, note)

    def advance(self, nodes: int, passes: int = ENDLESS, *, with_lanes: bool = True) -> bool | None:
        """Expand about `nodes` states more, in at most `passes` ticks; return the answer or None.

        with_lanes   hand the last plies to lanes where there is machine code; False where counts decide, so
                     that the same is searched whether it is there yet or not
        A call under way ends at `interrupt`, and the next one resumes there.
        Raises AlphaBetaError if the game turns out to be of another kind.
        """
        counter = self._memory.counter
        counter[c.STOP] = 0
        before, evaluated = int(counter[c.NODES]), int(counter[[c.LEAVES, c.LANE_NODES]].sum())
        self._memory.option[[c.NODE_LIMIT, c.WITH_LANES]] = before + nodes - 1, with_lanes
        self._walk(passes)
        self.nodes += int(counter[c.NODES]) - before
        self.leaves += int(counter[[c.LEAVES, c.LANE_NODES]].sum()) - evaluated
        if counter[c.FAULT]:
            raise AlphaBetaError(_FAULTS[int(counter[c.FAULT])])
        return bool(counter[c.ANSWER] == c.YES) if counter[c.ANSWER] else None

    def _set_ticks(self, seconds: float) -> None:
        """Choose how many ticks the next slice has, given how long the last one took."""
        longer = int(self._ticks * SLICE_SECONDS / max(seconds, 1e-6))
        self._ticks = max(1, min(2 * self._ticks, longer, MAX_TICKS))

    @property
    def best_move(self) -> Move | None:
        """A move that decides the last question; None if none does, since every move leads to the answer."""
        best = int(self._memory.counter[c.BEST])
        return None if best < 0 else self.legal[best]

    def root_answers(self) -> dict[Move, bool]:
        """The answers behind moves at the root, as far as the question under search has them; none where
        walkers do not go in order."""
        memory = self._memory
        if not isinstance(memory, OrderMemory):
            return {}
        found = {self.legal[i]: self.mover == 1 for i in closed_moves(memory)}
        best = self.best_move
        return found if best is None else found | {best: self.mover == 0}

    def way(self) -> list[tuple[int, int]]:
        """For each state from the root to where the first walker is: how many children were open when all had
        been made, and how many of these are answered by now. Walkers have to go in order."""
        assert isinstance(self._memory, OrderMemory)
        return way_of(self._memory)

    def interrupt(self) -> None:
        """Stop the question that another thread asks."""
        self._is_interrupted = True
        self._memory.counter[c.STOP] = 1

    def mover_of(self, state: PackedState) -> tuple[int, list[Move]]:
        """The role that chooses (0 if none has a choice), and its moves. Raises AlphaBetaError."""
        legal = [self.game.legal_moves(state, role) for role in self.game.roles]
        choosing = [r for r, moves in enumerate(legal) if len(moves) > 1]
        if len(choosing) > 1 or not all(legal):
            raise AlphaBetaError(_FAULTS[c.SIMULTANEOUS if len(choosing) > 1 else c.NO_MOVES])
        mover = choosing[0] if choosing else 0
        return mover, list(legal[mover])

    @property
    def passes(self) -> int:
        """Ticks of all questions so far: what takes time, if states have many children."""
        return int(self._memory.counter[c.TICKS])

    @property
    def table_slots(self) -> int:
        """The number of entries that the table holds."""
        return len(self._memory.table) // self._memory.entry_words

    @property
    def table_fill(self) -> float:
        """The share of the table's entries in use."""
        return float(self._memory.counter[c.STORED] / self.table_slots)

    def replace_table(self, mebibytes: int, is_stopped: Callable[[], bool] = lambda: False) -> bool:
        """Continue with a larger table, also while a question is open; return whether that was done.

        is_stopped   asked every few milliseconds; then the table stays the old one
        Raises MemoryError.
        """
        memory, size = self._memory, self._memory.entry_words
        table = make_table(mebibytes, size)
        if len(table) <= len(memory.table):
            return False
        copied = 0
        for first, end in self._copied.cut(0, self.table_slots):
            part = memory.table[first * size : end * size]
            copied += copy_entries(part, table, memory.maker.code.word_count, size)
            if is_stopped():
                return False
        self._memory = memory._replace(table=table, buckets=bucket_count(table, size))
        self._memory.counter[c.STORED] = copied
        return True

    def _enlarge_table(self, is_stopped: Callable[[], bool]) -> None:
        """Use a larger table once this one fills up."""
        larger = min(TABLE_GROWTH * self._mebibytes, self._most_mebibytes)
        if self.table_fill < FULL or larger <= self._mebibytes or is_stopped():
            return
        try:
            is_larger = self.replace_table(larger, is_stopped)
        except MemoryError:
            is_larger = False
        if is_larger:
            self._mebibytes = larger
        elif not is_stopped():  # or the next power of two would be too large
            self._most_mebibytes = self._mebibytes

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
