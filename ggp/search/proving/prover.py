"""Prover: exact values in one match, next to a tree search and out of its time.

all kinds of games        In the start clock every reachable state is found and valued if a forecast says that
                          clock and memory suffice; then no search is needed any more.
one role                  Before that a way to a good end is looked for, breadth first and by nested rollouts:
                          three quarters of the first clock and 15 % of later ones.
one role, or two that     Else alpha-beta works on the state at hand, in slices between those of the tree:
alternate, constant sum   it begins with a tenth of the time, gets half when the end comes into reach, and a
                          hundredth if the forecast is hopeless. If the end was a thousand times too far, the
                          next move begins with the hundredth.
chance, three roles,      Else the states that can still be reached are enumerated before each move, if the
simultaneous moves        forecast is good; after a hopeless one no attempt is made for some moves.

Games in which some role does not see everything are left alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import GameError, Move
from ggp.search.alphabeta.proof import NO_EVALUATION, PROVING, ProofSearch, Proven
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError
from ggp.search.proving.enumeration import MatchEnumeration, solve_counted
from ggp.search.proving.forecast import positions_to_proof
from ggp.search.proving.planning import MatchPlans
from ggp.search.rollouts.single_role import NestedRollouts
from ggp.solver import Solution, SolverError
from ggp.solver.endings import EndingTable
from ggp.solver.stages import Stage

_logger = logging.getLogger("ggp.search")

NO_SUM = -1
SLICE_SECONDS = 0.005
"""Target duration of one slice of alpha-beta, during which nothing can stop it."""
FIRST_SHARE = 0.1
"""Share of the time as long as there is no forecast, and while the end may come into reach."""
NEAR_SHARE = 0.5
HOPELESS_SHARE = 0.01
UNKNOWN_SHARE = 0.02
"""Share of the whole clock after which the end counts as out of reach if there still is no forecast."""
LEAST_PATIENCE_SECONDS = 0.02
NEAR = 0.5
"""The end is near if the forecast asks for at most this share of the time left ..."""
IN_REACH = 20.0
"""... and in reach up to this multiple: later states need less."""
FAR = 1000.0
"""From this multiple of the whole clock on, the end will hardly be in reach one move later either."""
HEAD_START_SHARE = 0.01
MOST_HEAD_START_SECONDS = 0.05
"""Alpha-beta begins before the tree search: small games and endings are proven at once."""

FIRST_MEBIBYTES = 16
TABLE_GROWTH = 4
FULL = 0.5
"""Share of the slots of the transposition table from which a larger one is used."""
TABLE_SHARE = 0.5
"""Of the memory: the states of an enumeration are dropped before alpha-beta begins, but not at once."""

_PREPARED_POSITIONS = 20
"""Enough that the root is expanded and what is proven about its moves is read, by a kernel of its own."""


class Prover:
    """What is proved about the current state of one match. Belongs to one thread at a time.

    solution   of all states from an earlier one on, in this game or another of the same rules; None if there
               is none
    proven     of the current state, by alpha-beta
    plans      in a game of one role: a way to an end with a high goal
    spent_seconds   what alpha-beta took for the current state
    """

    def __init__(
        self,
        game: CompiledGame,
        role_index: int,
        *,
        mebibytes: int,
        endings: EndingTable | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up proofs of `game`.

        role_index   the role whose moves `root_goals` and `stage` are about
        endings      states whose values are known; alpha-beta searches no further there
        """
        self.game = game
        self.role_index = role_index
        self.mebibytes = mebibytes
        self._endings = endings
        self._enumeration = MatchEnumeration(game, mebibytes)
        self.solution: Solution | None = None
        self._clock = clock
        self._state: PackedState | None = None
        self._search: AlphaBeta | None = None
        self._table_mebibytes = min(FIRST_MEBIBYTES, mebibytes)
        self._proof: ProofSearch | None = None
        self._is_blind = bool(game.terms.percepts)
        self._has_alphabeta = not self._is_blind
        has_plans = len(game.roles) == 1 and not self._is_blind
        self.plans = MatchPlans(game, int(TABLE_SHARE * mebibytes)) if has_plans else None
        self._seconds_per_node = 0.0
        self.spent_seconds = 0.0
        self._is_far = False
        self.root_goals: Mapping[Move, int] = {}

    @property
    def proven(self) -> Proven | None:
        """The proof for the current state, if there is one."""
        return None if self._proof is None else self._proof.proven

    @property
    def has_decided(self) -> bool:
        """Whether a move is known that no search can better."""
        if self.plans is not None and self._state is not None and self.plans.has_best(self._state):
            return True
        return self.proven is not None and self.proven.move is not None

    def stage(self, state: PackedState) -> Stage | None:
        """The optimal moves in `state` by the solution or the endings, or None."""
        if self.solution is None:
            return None if self._endings is None else self._endings.stage(self.game, state)
        try:
            return self.solution.stage(self._state_of_solution(self.solution, state))
        except (KeyError, SolverError):
            return None

    def _state_of_solution(self, solution: Solution, state: PackedState) -> PackedState:
        """`state` in the game that was solved: the same rules, perhaps on the circuit as built."""
        if solution.game is self.game:
            return state
        facts = set(self.game.facts(state))
        return solution.game.pack(np.array([fluent in facts for fluent in solution.game.terms.fluents]))

    def prepare(self) -> None:
        """Map the memory of alpha-beta and load its kernels, or its first slice would wait for that."""
        if self._has_alphabeta and self._search is None:
            try:
                self._search = self._make_search()
                self._search.forget()
                initial = self.game.initial_state()
                if not self.game.is_terminal(initial):
                    ProofSearch(self._search, initial).advance(1)
            except (AlphaBetaError, GameError, MemoryError) as error:
                self._give_up(error)

    def solve(self, state: PackedState, deadline: float, *, is_patient: bool) -> None:
        """Enumerate the states from `state` on if a forecast says that `deadline` suffices.

        is_patient   whether a tenth of the time may pass on a vague forecast
        """
        if self.plans is not None and self.solution is None:
            self.plans.seek(state, deadline)
            if self.plans.has_best(state):
                return
        if not self._is_blind and self.solution is None:
            self.solution = self._enumeration.solve(state, deadline, is_patient=is_patient)

    def move_to(self, state: PackedState) -> None:
        """Work on `state`, which is not terminal, from now on."""
        if state == self._state:
            return
        self._state, self._proof, self.root_goals = state, None, {}
        self.spent_seconds = 0.0
        if self.solution is None:
            self.prepare()
        if self._search is not None and self.solution is None:
            try:
                self._proof = ProofSearch(self._search, state)
            except (AlphaBetaError, MemoryError) as error:
                self._give_up(error)

    def seek_plan(self, deadline: float, is_stopped: Callable[[], bool] | None = None) -> None:
        """Look for a way to the best end from the current state, in a game of one role."""
        if self.plans is not None and self._state is not None and self.solution is None:
            self.plans.seek(self._state, deadline, is_stopped)

    @property
    def needs_enumeration(self) -> bool:
        """Whether alpha-beta does not apply, so that only an enumeration from the current state can help."""
        return not self._has_alphabeta and not self._is_blind and self.solution is None

    def prove_counted(self, nodes: int) -> None:
        """Expand about `nodes` (> 0) positions, or enumerate that many states: no clock decides anything."""
        assert self._state is not None, "move_to comes first"
        if self._is_blind or self.solution is not None:
            return
        if self.plans is not None:
            self.plans.seek_counted(self._state, nodes)
            if self.plans.has_best(self._state):
                return
        while self._proof is not None and not self._proof.is_over and self._proof.nodes < nodes:
            self._advance(nodes - self._proof.nodes)
        if self.needs_enumeration:
            self.solution = solve_counted(self.game, self._state, nodes, mebibytes=self.mebibytes)
        self._note_root_goals()

    def keep_pace(self, begin: float, deadline: float, *, length: float | None, cores: int = 1) -> None:
        """Prove on until the share of the time since `begin` is used up.

        begin, deadline   of the whole search, in seconds of the clock
        length            mean number of joint moves of the search's playouts; None before the first one
        cores             threads of the search, from whose time the share is taken
        """
        proof = self._proof
        while proof is not None and not proof.is_over:
            now = self._clock()
            total = max(0.0, deadline - begin)
            share = min(self._share(total, deadline - now, length) * cores, NEAR_SHARE)
            head_start = min(max(HEAD_START_SHARE * total, SLICE_SECONDS), MOST_HEAD_START_SECONDS)
            if self._is_far:
                head_start = 0.0
            if now >= deadline or self.spent_seconds >= head_start + share * (now - begin):
                return
            self._slice()
            proof = self._proof

    def _share(self, total: float, left: float, length: float | None) -> float:
        """Share of the time for alpha-beta by the forecast. total, left: seconds of the whole search."""
        assert self._proof is not None
        proof = self._proof
        sizes = list(proof.sizes)
        under_way = proof.nodes - sum(sizes)
        if sizes and under_way > sizes[-1]:
            sizes.append(under_way)
        positions = None if length is None else positions_to_proof(sizes, length)
        if positions is None:
            patience = max(UNKNOWN_SHARE * total, LEAST_PATIENCE_SECONDS)
            is_patient = self.spent_seconds < patience and not self._is_far
            return FIRST_SHARE if is_patient else HOPELESS_SHARE
        needed = positions * self._seconds_per_node
        self._is_far = needed > FAR * total
        if needed <= NEAR * left:
            return NEAR_SHARE
        return FIRST_SHARE if needed <= IN_REACH * left else HOPELESS_SHARE

    def _slice(self) -> None:
        assert self._proof is not None
        nodes = max(1, int(SLICE_SECONDS / self._seconds_per_node)) if self._seconds_per_node else 1
        before, begin = self._proof.nodes, time.perf_counter()
        self._advance(nodes)
        seconds = time.perf_counter() - begin
        self.spent_seconds += seconds
        if self._proof is not None and self._proof.nodes > before:
            latest = seconds / (self._proof.nodes - before)
            known = self._seconds_per_node
            # Short slices are mostly overhead: believe at once that it goes faster, slowly that it does not.
            self._seconds_per_node = latest if not known else min(latest, 0.8 * known + 0.2 * latest)

    def _advance(self, nodes: int) -> None:
        assert self._proof is not None
        try:
            is_at_end = self._proof.advance(nodes)
        except AlphaBetaError as error:
            self._give_up(error)
            return
        if is_at_end:
            self._note_root_goals()
        self._enlarge_table()

    def _note_root_goals(self) -> None:
        """Take over what is proven about the moves of the own role at the root, in the role's goals."""
        if self._proof is None or self._search is None:
            return
        if len(self.game.legal_moves(self._proof.state, self.game.roles[self.role_index])) < 2:
            return
        goals = self._proof.proven_goals()
        self.root_goals = {move: self.own_goal(goal) for move, goal in goals.items()}

    def own_goal(self, goal: int) -> int:
        """A proven goal of the first role as a goal of the own one."""
        return goal if self.role_index == 0 else self.goal_sum - goal

    @property
    def goal_sum(self) -> int:
        """The sum of two roles' goals at all ends met so far; NO_SUM with one role, or before any end."""
        return NO_SUM if self._search is None or len(self.game.roles) < 2 else self._search.goal_sum

    def _make_search(self) -> AlphaBeta:
        # One word for all games, so that kernels are compiled once: wide positions take several passes.
        search = AlphaBeta(self.game, PROVING, NO_EVALUATION, mebibytes=self._table_mebibytes, words=1)
        if self._endings is not None and self._endings.known is not None:
            search.use_known_goals(self._endings.known, self._endings.goal_sum)
        return search

    def _enlarge_table(self) -> None:
        """Use a larger table once this one fills up: small ones are quicker to map and to reach."""
        larger = TABLE_GROWTH * self._table_mebibytes
        if (
            self._search is not None
            and self._search.table_fill >= FULL
            and larger <= TABLE_SHARE * self.mebibytes
        ):
            self._table_mebibytes = larger
            try:
                self._search.replace_table(larger)
            except MemoryError:
                self._table_mebibytes = self.mebibytes

    def _give_up(self, error: Exception) -> None:
        _logger.info("%s: alpha-beta does not apply: %s", self.game.name, error)
        self._has_alphabeta = False
        self._proof = self._search = None
        self.root_goals = {}


def prepare_proving(game: CompiledGame) -> None:
    """Compile the kernels that prove positions or load them from the cache.

    Those that value enumerated states are prepared by `ggp.solver.solution.prepare_valuation`.
    """
    prover = Prover(game, 0, mebibytes=FIRST_MEBIBYTES)
    state = game.initial_state()
    if prover.plans is not None:
        # Twice all lanes: in between the policy is adapted.
        NestedRollouts(game).run(playouts=64 * game.words + 1, enough=101)
    if not game.is_terminal(state):
        with suppress(GameError):
            prover.move_to(state)
            prover.prove_counted(_PREPARED_POSITIONS)
            prover.solution = solve_counted(game, state, 1, mebibytes=FIRST_MEBIBYTES)
