"""UCT in plain Python: the readable twin of the search on lanes, and the fallback.

Decoupled UCT: in each node every role keeps its own statistics of its own moves, picks by itself, and
the picks together are the joint move. With one role to move this is plain UCT, with several it is the usual
treatment of simultaneous moves (Finnsson & Björnsson, "CadiaPlayer", 2009; the rule is UCB1 as in
Kocsis & Szepesvári, 2006). The role `random` draws uniformly. Values are goals, 0..100, each role
maximizing its own.

    simulate    one round: descend, expand, playout, back_up
    descend     from the root along known nodes, by `select_moves`
    expand      one new node below the last one
    playout     moves of the policy to the end
    back_up     add the goals to every edge of the path

`ggp.search.tree.search` on one lane builds the same tree, node by node, because both draw the same random
numbers in the same order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any

from ggp.game import RANDOM_ROLE, Game, GoalError, Move, NoLegalMoveError, Role
from ggp.search.budget import Budget
from ggp.search.report import REPORT_SECONDS, MoveReport, SearchReport, best_of
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.policy import RAVE
from ggp.search.tree.reference.events import EdgeTerms, Listener, Phase, SimulationEvent
from ggp.search.tree.reference.policies import TWINS, Goals, Moves, Step
from ggp.search.tree.reference.randomness import LaneRandom, TreeRandom
from ggp.search.tree.reference.tree import (
    BEST_GOAL,
    MoveIndices,
    Node,
    Path,
    amaf_mean,
    back_up_rave,
    best_path,
    forget_proofs,
    joint_move_of,
    nodes_below,
    pass_up,
    proven_goal,
    rave_weight,
)

NEUTRAL_GOAL = 50.0
SETTLED = -1.0
"""Value of a root move with a proven goal, which needs no more visits: below that of every other."""


class OutOfTimeError(Exception):
    """The deadline passed in the middle of a simulation."""


class Search:
    """The search of one role in one match; keeps its tree from move to move.

    listener      called with an event per phase of each simulation; None: none
    `best_move()` may be called, also from another thread, at any time after `move_to`.
    """

    def __init__(
        self,
        game: Game[Any],
        role: Role,
        *,
        seed: int = 0,
        options: MctsOptions | None = None,
        on_progress: Callable[[Move], None] | None = None,
        on_report: Callable[[SearchReport], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """As `LanesSearch`."""
        self.game = game
        self.options = options or MctsOptions()
        self.role_index = game.roles.index(role)
        self.chance_index = game.roles.index(RANDOM_ROLE) if RANDOM_ROLE in game.roles else -1
        self.rng = TreeRandom(seed)
        twin = TWINS[self.options.parsed_policy.playouts.draws]
        self.policy = twin(game, self.options, LaneRandom(seed), self.rng, seed)
        mixed = self.options.parsed_policy.mixes_in
        self._has_rave = mixed == RAVE
        self.root: Node | None = None
        self._opened: dict[Hashable, Node] = {}  # by state, those that a simulation has gone on from
        self.node_count = self.simulation_count = 0
        self.listener: Listener | None = None
        self.is_solving = self.options.is_solving and len(game.roles) <= 2 and self.chance_index < 0
        self._on_progress = on_progress
        self._on_report = on_report
        self._clock = clock
        self._running_since: float | None = None
        self._begin_report()

    def close(self) -> None:
        """Do nothing; the search on lanes has threads to end."""

    def move_to(self, state: Hashable, joint_move: tuple[Move, ...] | None) -> None:
        """Make `state`, to which `joint_move` led, the root, keeping the tree below it where there is one."""
        root = before = self.root
        if root is not None and root.state != state:
            root = next((child for child in root.children.values() if child.state == state), None)
        self.root = root or make_node(self.game, state)
        lost = before if before is not self.root else None
        below = list(nodes_below(self.root, lost))
        for node in below:  # where states recur, something may lead back to the root before
            node.children = {way: child for way, child in node.children.items() if child is not lost}
        self.node_count = len(below)
        self._opened = {node.state: node for node in below[1:] if node.visit_count or node.behind}
        self._begin_report()

    def warm_up(self, deadline: float = math.inf) -> None:
        """Prepare the policy; the search on lanes compiles its kernels too."""
        self.policy.prepare(deadline - self._clock())

    def run(self, budget: Budget) -> int:
        """Search within the budget, its deadline in clock seconds; return the number of simulations finished.

        Ends earlier if the root is proven. `is_stopped` is called after every simulation. Overruns the
        deadline by at most one state expansion.
        """
        deadline, simulations = budget.deadline, budget.simulations
        if simulations is None and deadline == math.inf:
            raise ValueError("a search needs a deadline or a number of simulations")
        root = self._require_root()
        if root.goals is not None:
            return 0
        self.policy.prepare(math.inf if simulations is not None else (deadline - self._clock()) / 2)
        done = 0
        leader: Move | None = None
        begin = self._running_since = reported_at = time.perf_counter()
        while (simulations is None or done < simulations) and root.proof is None:
            if budget.is_interrupted():
                break
            try:
                self.simulate(deadline)
            except OutOfTimeError:
                break
            done += 1
            if self._on_progress is not None and (best := self.best_move()) != leader:
                leader = best
                self._on_progress(best)
            if self._on_report is not None and time.perf_counter() - reported_at >= REPORT_SECONDS:
                self._on_report(self.report())
                reported_at = time.perf_counter()
        self._seconds += time.perf_counter() - begin
        self._running_since = None
        self.simulation_count += done
        return done

    def report(self) -> SearchReport:
        """Statistics, best line and proofs so far; a playout is a descent here."""
        root = self._require_root()
        since, playouts = self._running_since, self._playouts
        return SearchReport(
            seconds=self._seconds + (0.0 if since is None else time.perf_counter() - since),
            playouts=playouts,
            descents=playouts,
            mean_depth=self._depth_sum / playouts if playouts else 0.0,
            deepest=self._deepest,
            nodes=self.node_count,
            is_full=self.node_count >= self.options.node_limit,
            moves=tuple(sorted(self._root_moves(), key=lambda m: (-m.visits, -m.mean))),
            best_line=tuple(joint_move_of(node, indices) for node, indices in best_path(root)),
            goal=None if root.proof is None else round(root.proof[self.role_index]),
            mode="reference",
            carried=self._carried,
            fallback=self.policy.fallback,
        )

    def _begin_report(self) -> None:
        self._seconds = 0.0
        self._running_since = None
        self._playouts = self._depth_sum = self._deepest = 0
        self._carried = 0 if self.root is None else self.root.visit_count

    def best_move(self) -> Move:
        """The root move to play; see `best_of`."""
        best = best_of(self._root_moves())
        assert best is not None
        return best.move

    def _root_moves(self) -> list[MoveReport]:
        root, role = self._require_root(), self.role_index
        moves = []
        for m, move in enumerate(root.moves[role] if root.moves else ()):
            visits, goal = root.visits[role][m], proven_goal(root, role, m)
            mean = root.totals[role][m] / visits if visits else 0.0
            moves.append(MoveReport(move, visits, mean, None if goal is None else round(goal)))
        return moves

    def simulate(self, deadline: float = math.inf) -> None:
        """One simulation. Raises OutOfTimeError, statistics untouched, once `deadline` has passed."""
        path, node = self.descend(deadline)
        is_new = node is None
        if node is None:
            node = self.expand(path)
            self._show(Phase.EXPAND, node, path=path)
        steps = [Step(parent.state, joint_move_of(parent, indices)) for parent, indices in path]
        tree_depth = len(steps)
        if node.proof is not None:
            pass_up(path, node.proof)  # in a graph its path may not have the proof yet
        goals = node.proof or node.goals or self.playout(node, steps, deadline)
        self._show(Phase.PLAY_OUT, node, steps=steps, goals=goals)
        if is_new and node.goals is not None and self.is_solving:
            self.prove(path, node, node.goals)
        back_up(path, goals)
        self._playouts += 1
        self._depth_sum += tree_depth
        self._deepest = max(self._deepest, tree_depth)
        self.policy.learn(steps, tree_depth, goals)
        if self._has_rave:
            back_up_rave(path, steps, goals)
        self._show(Phase.BACK_UP, node, path=path, steps=steps, goals=goals)

    def _show(self, phase: Phase, node: Node, **known: Any) -> None:
        if self.listener is not None:
            self.listener(SimulationEvent(phase, node, **known))

    def descend(self, deadline: float = math.inf) -> tuple[Path, Node | None]:
        """The path taken from the root, and its last node; None if that is not in the tree yet."""
        node = self._require_root()
        path: Path = []
        while node.goals is None and node.proof is None:
            if self._clock() >= deadline:
                raise OutOfTimeError
            if node.visit_count == 0:
                node = self._open(path, node)
                if node.proof is not None:
                    break
            under_way = [taken for passed, taken in path if passed is node]
            indices = self.select_moves(node, under_way)
            path.append((node, indices))
            child = node.children.get(indices)
            if child is None or len(path) == self.options.depth_limit:
                return path, child
            node = child
        return path, node

    def _open(self, path: Path, node: Node) -> Node:
        """Resolve a node on its first visit: in a graph, return the node with the same state."""
        if path and self.options.is_graph:
            opened = self._opened.setdefault(node.state, node)
            if opened is not node:
                parent, indices = path[-1]
                if indices in parent.children:
                    parent.children[indices] = opened
                return opened
        return node

    def select_moves(self, node: Node, under_way: Sequence[MoveIndices] = ()) -> MoveIndices:
        """Per role an untried move, drawn by the policy's weights, else the first with the highest value.

        under_way   the moves by which this descent has left `node` before, where states recur: they count
                    as visits
        """
        indices = []
        for role, moves in enumerate(node.moves):
            counts = node.visits[role]
            if under_way:
                counts = [n + sum(taken[role] == m for taken in under_way) for m, n in enumerate(counts)]
            indices.append(0 if len(moves) == 1 else self._select(node, role, counts))
        return tuple(indices)

    def _select(self, node: Node, role: int, counts: Sequence[int]) -> int:
        if role == self.chance_index:
            return self.rng.below(len(counts))
        untried = [m for m, n in enumerate(counts) if n == 0]
        if untried:
            of_policy = self.policy.weights(role, [node.moves[role][m] for m in untried], node.state)
            weights = [max(1, weight) for weight in of_policy]
            chosen = untried[self.rng.choose(weights)]
            if self.listener is not None:
                chances, total = dict(zip(untried, weights, strict=True)), sum(weights)
                terms = [EdgeTerms(n, chance=chances.get(m, 0) / total) for m, n in enumerate(counts)]
                self._show(Phase.SELECT, node, role=role, chosen=chosen, terms=terms)
            return chosen
        all_visits = sum(counts)
        bonus = self.options.exploration * math.sqrt(math.log(all_visits))
        beta = rave_weight(self.options.rave_k, all_visits) if self._has_rave else 0.0
        terms = [self._terms(node, role, m, bonus / math.sqrt(n), beta) for m, n in enumerate(counts)]
        values = [SETTLED if node is self.root and each.proven is not None else each.value for each in terms]
        chosen = values.index(max(values))
        self._show(Phase.SELECT, node, role=role, chosen=chosen, terms=terms)
        return chosen

    def _terms(self, node: Node, role: int, m: int, bonus: float, beta: float) -> EdgeTerms:
        """UCB1 of one move, its all-moves-as-first mean, or its proven goal."""
        if self.is_solving and (goal := proven_goal(node, role, m)) is not None:
            return EdgeTerms(node.visits[role][m], proven=goal)
        visits, totals = node.visits[role], node.totals[role]
        if visits[m] > 0:
            mean = totals[m] / visits[m]
        else:
            mean = sum(totals) / sum(visits) if any(visits) else NEUTRAL_GOAL
        seen = amaf_mean(node, role, m) if beta > 0.0 else None
        return EdgeTerms(visits[m], mean, bonus, seen, beta)

    def expand(self, path: Path) -> Node:
        """The node behind the last step of `path`, made now, and added to the tree while there is room."""
        parent, indices = path[-1]
        state = self.game.next_state(parent.state, joint_move_of(parent, indices))
        child = make_node(self.game, state)
        if self.node_count < self.options.node_limit:
            parent.children[indices] = child
            self.node_count += 1
        return child

    def playout(self, node: Node, steps: list[Step], deadline: float = math.inf) -> Goals:
        """Play the policy's moves from `node` to the end, append them to `steps`, and return the goals.
        Raises OutOfTimeError."""
        game, state, moves = self.game, node.state, node.moves
        for _ in range(self.options.step_limit):
            if self._clock() >= deadline:
                raise OutOfTimeError
            indices = self.policy.choose(state, moves)
            if not all(moves):
                break
            joint_move = tuple(options[i] for options, i in zip(moves, indices, strict=True))
            steps.append(Step(state, joint_move))
            state = game.next_state(state, joint_move)
            if game.is_terminal(state):
                return self._watched(goals_of(game, state))
            moves = tuple(legal_or_none(game, state, role) for role in game.roles)
        return goals_of(game, state)

    def _watched(self, goals: Goals) -> Goals:
        """The goals of an end; proofs are sound while those of two roles sum up to 100 at each."""
        if self.is_solving and len(goals) == 2 and sum(goals) != BEST_GOAL:
            self.is_solving = False
            forget_proofs(self._require_root())
        return goals

    def prove(self, path: Path, leaf: Node, goals: Goals) -> None:
        """`leaf` is an end: pass its goals up as far as they prove anything (MCTS-Solver)."""
        parent, indices = path[-1]
        self._watched(goals)
        if not self.is_solving or parent.children.get(indices) is not leaf:
            return
        leaf.proof = goals
        pass_up(path, goals)

    def _require_root(self) -> Node:
        assert self.root is not None, "move_to comes first"
        return self.root


def make_node(game: Game[Any], state: Hashable) -> Node:
    """A fresh node for `state`; it counts as an end if a role is stuck."""
    if game.is_terminal(state):
        return Node(state, (), goals_of(game, state))
    moves = tuple(legal_or_none(game, state, role) for role in game.roles)
    return Node(
        state,
        moves,
        None if all(moves) else goals_of(game, state),
        visits=[[0] * len(options) for options in moves],
        totals=[[0.0] * len(options) for options in moves],
        rave_visits=[[0] * len(options) for options in moves],
        rave_totals=[[0.0] * len(options) for options in moves],
    )


def legal_or_none(game: Game[Any], state: Hashable, role: Role) -> Moves:
    """The legal moves of `role`; empty if the rules give none."""
    try:
        return game.legal_moves(state, role)
    except NoLegalMoveError:
        return ()


def goals_of(game: Game[Any], state: Hashable) -> Goals:
    """Each role's goal in `state`; 0 for `random`, and if the rules do not give exactly one."""
    goals = [0.0] * len(game.roles)
    for r, role in enumerate(game.roles):
        if role != RANDOM_ROLE:
            with suppress(GoalError):
                goals[r] = float(game.goal(state, role))
    return tuple(goals)


def back_up(path: Path, goals: Goals) -> None:
    """Add `goals` to the move of every role in every node of `path`."""
    for node, indices in path:
        node.visit_count += 1
        for role, move_index in enumerate(indices):
            node.visits[role][move_index] += 1
            node.totals[role][move_index] += goals[role]
