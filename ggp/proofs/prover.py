"""Prover: exact values in one match, in a share of the tree search's time.

all kinds of games        In the start clock every reachable state is found and valued if clock and memory
                          suffice by a forecast; then no search is needed any more.
one role                  Before that a way to a good end is looked for, breadth first and by nested rollouts:
                          three quarters of the first clock and 15 % of later ones.
one role, or two that     Else alpha-beta works on the state at hand, in slices between those of the tree:
alternate, constant sum   it begins with a tenth of the time, then receives three quarters, a fifth, 3 % or a
                          hundredth, by the forecast (`SHARES`, or `SHARES_OF_WALKERS`). If the end was a
                          thousand times too far, the next move begins with the hundredth. Two or three
                          searches take turns, see `proofs`.
chance, three roles,      Else the states that can still be reached are enumerated before each move, if the
simultaneous moves        forecast is good; after a hopeless one no attempt is made for some moves.

Games in which some role does not see everything are left alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import numpy as np

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import GameError, Move, hides_information
from ggp.proofs.enumeration import MatchEnumeration, solve_counted
from ggp.proofs.lines import FIRST_MEBIBYTES, SLICE_SECONDS, Proven
from ggp.proofs.planning import MatchPlans
from ggp.proofs.proofs import IN_REACH, MatchProofs
from ggp.search.alphabeta.search import AlphaBetaError
from ggp.search.budget import Budget
from ggp.search.proof_numbers.search import ProofNumberSearch, is_provable
from ggp.search.protocol import NO_SUM
from ggp.search.rollouts.single_role import NestedRollouts
from ggp.solver import Solution, SolverError
from ggp.solver.stages import Stage

_logger = logging.getLogger("ggp.search")

SIMULATIONS_PER_NODE = 10
"""Counted search: simulations for each position of alpha-beta, or each state of an enumeration."""
FIRST_SHARE = 0.1
"""Minimum share of the time at first, whatever the forecast; how long: UNKNOWN_SHARE."""
HOPELESS_SHARE = 0.01
UNKNOWN_SHARE = 0.03
"""Share of the whole clock after which the forecast alone decides."""
MIN_PATIENCE_SECONDS = 0.02
SHARES = ((2.0, 0.75), (4.0, 0.2), (IN_REACH, 0.03))
"""By the multiple of the time left that the forecast asks for, at most: share of the time.

Twice the time left is worth trying, since forecasts miss by a factor of two either way.
"""
SHARES_OF_WALKERS = ((IN_REACH, 0.75), (5 * IN_REACH, 0.2))
"""The same where walkers search straight to the end: they are so quick that a forecast that misses by ten
is worth trying."""
MAX_SHARE = max(share for _, share in SHARES)
FAR = 1000.0
"""From this multiple of the whole clock on, the end will hardly be in reach one move later either."""
HEAD_START_SHARE = 0.01
MAX_HEAD_START_SECONDS = 0.05
"""Alpha-beta begins before the tree search: small games and endings are proven at once."""

PLAN_SHARE = 0.5
"""Of the memory, for the states of a plan."""

_PREPARED_POSITIONS = 20
"""Enough to expand the root and to read the proofs of its moves, by a kernel of its own."""


class Prover:
    """Proofs about the current state of one match. Belongs to one thread at a time.

    solution   of all states from an earlier one on, in this game or another of the same rules; None if there
               is none
    state      the current one; None before `move_to`
    root_goals, root_bounds   what is proven about the moves of the own role there, in the role's goals;
               replaced whole
    proofs     alpha-beta; None if it does not apply
    plans      in a game of one role: a way to an end with a high goal
    """

    def __init__(
        self,
        game: CompiledGame,
        role_index: int,
        *,
        mebibytes: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up proofs of `game`; `role_index`: the role whose moves `root_goals` and `stage` are about.
        Maps the memory of alpha-beta and loads its kernels, or its first slice would wait for that."""
        self.game = game
        self.role_index = role_index
        self.mebibytes = mebibytes
        self._enumeration = MatchEnumeration(game, mebibytes)
        self.solution: Solution | None = None
        self._clock = clock
        self.state: PackedState | None = None
        self._is_blind = hides_information(game)
        has_plans = len(game.roles) == 1 and not self._is_blind
        self.plans = MatchPlans(game, int(PLAN_SHARE * mebibytes)) if has_plans else None
        self._is_far = False
        self.root_goals: Mapping[Move, int] = {}
        self.root_bounds: Mapping[Move, tuple[int, int]] = {}
        self._noted: tuple[object, object] = {}, {}
        self.proofs: MatchProofs | None = None
        if not self._is_blind:
            try:
                self.proofs = MatchProofs(game, mebibytes=mebibytes)
                initial = game.initial_state()
                if not game.is_terminal(initial):
                    self.proofs.move_to(initial)
                    self.proofs.advance_counted(2)
            except (AlphaBetaError, GameError, MemoryError) as error:
                self._give_up(error)

    @property
    def proven(self) -> Proven | None:
        """The proof by alpha-beta for the current state, if there is one."""
        proofs = self.proofs  # another thread may give them up
        return None if proofs is None or self.state is None else proofs.proven

    @property
    def spent_seconds(self) -> float:
        """Time that alpha-beta took for the current state."""
        proofs = self.proofs
        return 0.0 if proofs is None else proofs.spent_seconds

    @property
    def has_decided(self) -> bool:
        """Whether a move is known that no search can improve on."""
        if self.plans is not None and self.state is not None and self.plans.has_best(self.state):
            return True
        proofs, proven = self.proofs, self.proven
        return proofs is not None and proofs.is_over and proven is not None and proven.move is not None

    def stage(self, state: PackedState) -> Stage | None:
        """The optimal moves in `state` by the solution, or None."""
        if self.solution is None:
            return None
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

    def solve(self, state: PackedState, budget: Budget, *, is_patient: bool) -> None:
        """Enumerate the states from `state` on if the time suffices by a forecast.

        is_patient   whether a tenth of the time may pass on a vague forecast
        """
        if self.plans is not None and self.solution is None:
            self.plans.seek(state, budget)
            if self.plans.has_best(state):
                return
        if not self._is_blind and self.solution is None:
            self.solution = self._enumeration.solve(state, budget, is_patient=is_patient)

    def begin(self, state: PackedState, budget: Budget) -> bool:
        """Start work on `state`, which is not terminal, before the tree; return whether that decides. A
        counted search has all its proofs here, a position for every SIMULATIONS_PER_NODE simulations."""
        self.move_to(state)
        if self.solution is not None:
            return True
        if budget.simulations is not None:
            self.prove_counted(max(1, budget.simulations // SIMULATIONS_PER_NODE))
        elif self.needs_enumeration:
            self.solve(state, budget, is_patient=False)
        elif self.plans is not None:
            self.plans.seek(state, budget)
        return self.solution is not None or self.has_decided

    def move_to(self, state: PackedState) -> None:
        """Work on `state`, which is not terminal, from now on."""
        if state == self.state:
            return
        self.state, self.root_goals, self.root_bounds = state, {}, {}
        if self.solution is None:
            self._try(lambda proofs: proofs.move_to(state))
        else:
            self._try(MatchProofs.leave)

    @property
    def needs_enumeration(self) -> bool:
        """Whether alpha-beta does not apply, so that only an enumeration from the current state can help."""
        return self.proofs is None and not self._is_blind and self.solution is None

    def prove_counted(self, nodes: int) -> None:
        """Expand about `nodes` (> 0) positions, or enumerate that many states: no clock decides anything."""
        assert self.state is not None, "move_to comes first"
        if self._is_blind or self.solution is not None:
            return
        if self.plans is not None:
            self.plans.seek(self.state, Budget(simulations=nodes))
            if self.plans.has_best(self.state):
                return
        self._try(lambda proofs: proofs.advance_counted(nodes))
        if self.needs_enumeration:
            self.solution = solve_counted(self.game, self.state, nodes, mebibytes=self.mebibytes)

    def interrupt(self) -> None:
        """End the work of `keep_pace` in another thread; call again until it has ended."""
        proofs = self.proofs
        if proofs is not None:
            proofs.interrupt()

    def keep_pace(self, begin: float, budget: Budget, *, length: float | None, cores: int = 1) -> None:
        """Continue proving until the share of the time since `begin` is used up; see `Companion`."""
        if self.state is None or self.solution is not None:
            return
        deadline, is_stopped = budget.deadline, budget.is_interrupted
        while self.proofs is not None and not self.proofs.is_over and not is_stopped():
            now = self._clock()
            total, left = max(0.0, deadline - begin), deadline - now
            share = min(self._share(total, left, length) * cores, MAX_SHARE)
            head_start = min(max(HEAD_START_SHARE * total, SLICE_SECONDS), MAX_HEAD_START_SECONDS)
            if self._is_far:
                head_start = 0.0
            if now >= deadline or self.spent_seconds >= head_start + share * (now - begin):
                return
            self._try(partial(MatchProofs.slice, left=left, length=length, is_stopped=is_stopped))

    def _share(self, total: float, left: float, length: float | None) -> float:
        """Share of the time for alpha-beta by the forecast. total, left: seconds of the whole search."""
        assert self.proofs is not None
        needed, is_known = self.proofs.needed_seconds(length)
        if is_known:
            self._is_far = needed > FAR * total
        shares = SHARES_OF_WALKERS if self.proofs.is_in_order else SHARES
        share = next((share for most, share in shares if needed <= most * left), HOPELESS_SHARE)
        patience = max(UNKNOWN_SHARE * total, MIN_PATIENCE_SECONDS)
        is_patient = self.spent_seconds < patience and not self._is_far
        return max(share, FIRST_SHARE) if is_patient else share

    def _try(self, step: Callable[[MatchProofs], None]) -> None:
        """Take a step of alpha-beta; give it up if it turns out not to apply."""
        proofs = self.proofs
        if proofs is None:
            return
        try:
            step(proofs)
        except (AlphaBetaError, MemoryError) as error:
            self._give_up(error)
            return
        goals, bounds = proofs.root_goals, proofs.root_bounds
        if goals is not self._noted[0] or bounds is not self._noted[1]:
            self._noted = goals, bounds
            is_own = self.state is not None and self._has_choice(self.state)
            self.root_goals = {move: self.own_goal(goal) for move, goal in goals.items() if is_own}
            own = {move: (self.own_goal(a), self.own_goal(b)) for move, (a, b) in bounds.items() if is_own}
            self.root_bounds = {move: (min(both), max(both)) for move, both in own.items()}

    def _has_choice(self, state: PackedState) -> bool:
        return len(self.game.legal_moves(state, self.game.roles[self.role_index])) > 1

    def own_goal(self, goal: int) -> int:
        """A proven goal of the first role as a goal of the own one."""
        return goal if self.role_index == 0 else self.goal_sum - goal

    @property
    def goal_sum(self) -> int:
        """The sum of two roles' goals at the ends; NO_SUM with one role, or as long as it is not known."""
        proofs = self.proofs
        return NO_SUM if proofs is None or len(self.game.roles) < 2 else proofs.goal_sum

    def _give_up(self, error: Exception) -> None:
        _logger.info("%s: alpha-beta does not apply: %s", self.game.name, error)
        self.proofs = None
        self.root_goals, self.root_bounds = {}, {}


def prepare_proving(game: CompiledGame) -> None:
    """Compile the kernels that prove positions or load them from the cache. Those that value enumerated
    states are prepared by `ggp.solver.solution.prepare_valuation`."""
    prover = Prover(game, 0, mebibytes=FIRST_MEBIBYTES)
    state = game.initial_state()
    if prover.plans is not None:
        # Twice all lanes: in between the policy is adapted.
        NestedRollouts(game).run(Budget(simulations=64 * game.words + 1), enough=101)
    if not game.is_terminal(state):
        with suppress(GameError):
            prover.move_to(state)
            prover.prove_counted(_PREPARED_POSITIONS)
            if prover.proofs is not None and is_provable(game):
                ProofNumberSearch(game, mebibytes=1, is_ordered=False).search(state, Budget(nodes=1))
            prover.solution = solve_counted(game, state, 1, mebibytes=FIRST_MEBIBYTES)
