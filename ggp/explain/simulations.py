"""Events of the readable tree search become steps: the four phases of each simulation, with their tables."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gdl.terms import Symbol
from ggp.analysis.figures import words_of
from ggp.analysis.scale import Scale
from ggp.engines.batches import require_compiled
from ggp.explain.bare_trees import STAY, BareTree
from ggp.explain.explanation import Explanation, Look, Shape, Status, Step, Table, TreeNode, path_text
from ggp.explain.game_tree import short_text, tuple_text, value_text
from ggp.explain.writing import Writing
from ggp.features.recorded_playouts import compile_playouts
from ggp.game import RANDOM_ROLE, Game, Move, is_compiled
from ggp.lanes.engine import Lanes
from ggp.search.budget import Budget
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.policy import PAST_VISITS, RAVE
from ggp.search.tree.reference.events import EdgeTerms, Phase, SimulationEvent
from ggp.search.tree.reference.policies import FastPolicy, MastPolicy, Mean, PastPolicy
from ggp.search.tree.reference.policies import Step as PlayoutStep
from ggp.search.tree.reference.search import Search
from ggp.search.tree.reference.tree import MoveIndices, Node, joint_move_of, rave_weight
from ggp.validation.properties import counted

if TYPE_CHECKING:
    from ggp.search.tree.policies.fast import FastModel

SECONDS = 4.0
"""What all simulations together may use."""
LEARNING_SECONDS, PROBE_SECONDS = 8.0, 0.05
"""CPU time that FAST may use before, and that it takes to find how long that is by the clock."""
MAX_SHOWN = 250
"""Simulations that are shown step by step; the rest only in its result."""
MAX_ROWS = 24
MAX_MOVES = 30
MAX_OTHERS = 3
_Means = Mapping[Any, tuple[int, float]]
"""Key → visits and mean."""


@dataclass(frozen=True)
class Shown:
    """How a game is shown: its moves, the scale of its goals, and the number of nodes to draw at most."""

    writing: Writing
    scale: Scale
    limit: int

    @property
    def game(self) -> Game[Any]:
        return self.writing.game

    def joint(self, moves: Sequence[Move]) -> str:
        """The moves of several roles as text; in a bare tree all have the only move."""
        own = dict.fromkeys(moves) if isinstance(self.game, BareTree) else moves
        return " + ".join(map(self.writing.move, own))

    def joint_term(self, moves: Sequence[Move]) -> str:
        """The same in KIF; empty if `joint` is that already."""
        return "" if self.writing.is_plain else " + ".join(map(str, moves))

    @property
    def is_zero_sum(self) -> bool:
        """Whether values are those of max, and those of min the opposite."""
        return isinstance(self.game, BareTree) and self.game.is_zero_sum

    def goal(self, goal: float, role: int = 0) -> float:
        """A goal of a role, or a mean of goals."""
        low = float(self.scale.low)
        return self.difference(goal) + (-low if self.is_zero_sum and role == 1 else low)

    def difference(self, goals: float) -> float:
        """A difference of goals, such as a bonus."""
        return goals * float(self.scale.high - self.scale.low) / 100

    @cached_property
    def decimals(self) -> int:
        """Of numbers in tables: two of goals, more where the scale is short."""
        span = float(self.scale.high - self.scale.low)
        return 2 + max(0, math.ceil(math.log10(100 / span))) if span else 2

    def number(self, number: float) -> str:
        """A number on the scale as it stands in a table."""
        return f"{number:.{self.decimals}f}".replace("-", "−")

    def text(self, goal: float, role: int = 0) -> str:
        """A goal of a role as it stands in a table."""
        return self.number(self.goal(goal, role))

    def outcome(self, goals: Sequence[float]) -> str:
        """The goals of a simulation without chance's; of a bare tree for max and min the first."""
        players = [goal for goal, role in zip(goals, self.game.roles, strict=True) if role != RANDOM_ROLE]
        return value_text(players[:1] if self.is_zero_sum else players, self.scale)

    def remark(self) -> list[str]:
        """The scale in words, for the summary."""
        return [] if self.scale.is_goals else [f"values on the scale {self.scale}"]


@dataclass
class Recorder:
    """A listener that makes steps; `nodes` are numbered in the order in which they join the tree."""

    shown: Shown
    search: Search
    nodes: list[Node] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    moves: list[Sequence[Move]] = field(default_factory=list)
    number: dict[int, int] = field(default_factory=dict)  # by id of a node, all of which stay alive
    steps: list[Step] = field(default_factory=list)
    selected: list[Table] = field(default_factory=list)
    way: list[int] = field(default_factory=list)
    before: dict[str, _Means] = field(default_factory=dict)
    simulation: int = 1

    def __post_init__(self) -> None:
        self.game, self.text_of = self.shown.game, self.shown.writing.move
        assert self.search.root is not None
        self.join(self.search.root, -1, ())
        policy = self.search.policy
        if isinstance(policy, FastPolicy) and policy.model is not None:
            text = "FAST has learned the values of features; they stay fixed"
            self.add(text, 0, {}, tuple(self.policy_tables()))

    def explanation(self, title: str) -> Explanation:
        """The steps on the first nodes of the tree."""
        if self.simulation - 1 > MAX_SHOWN:
            looks = {number: self.look_of(number) for number in range(len(self.nodes))}
            self.add(f"and so on, to simulation {self.simulation - 1}", 0, looks)
        drawn = [self.tree_node(number) for number in range(min(self.shown.limit, len(self.nodes)))]
        for node in drawn[1:]:
            drawn[node.parent].children.append(node.number)
        for node in drawn:
            node.children.sort(key=lambda child: self.place_of(child))
        hidden = len(self.nodes) - len(drawn)
        for number in range(len(drawn), len(self.nodes)):
            parent = self.parents[number]
            if parent < len(drawn):
                drawn[parent].folded = "folded"
        for step in self.steps:
            while step.node >= len(drawn):
                step.node = self.parents[step.node]
            step.looks = {number: look for number, look in step.looks.items() if number < len(drawn)}
            step.ply = 1 if step.tables or "selection" not in step.text else 0
        summary = [f"{hidden:,} nodes are folded; --nodes shows more"] if hidden else []
        states = {node.number: self.nodes[node.number].state for node in drawn}
        return Explanation(title, drawn, self.steps, summary, positions=self.shown.writing.positions(states))

    def place_of(self, number: int) -> MoveIndices:
        """The indices of the moves that lead to a node, for the order of children."""
        above = self.nodes[self.parents[number]].children
        return next((way for way, node in above.items() if node is self.nodes[number]), ())

    def tree_node(self, number: int) -> TreeNode:
        node, shape, player = self.nodes[number], Shape.LEAF, ""
        if node.goals is None:
            roles = [r for r, moves in enumerate(node.moves) if len(moves) > 1] or [0]
            player = "+".join(str(self.game.roles[r]) for r in roles)
            players = [r for r, role in enumerate(self.game.roles) if role != RANDOM_ROLE]
            shape = Shape.PLAYER
            if self.game.roles[roles[0]] == RANDOM_ROLE:
                shape = Shape.CHANCE
            elif len(roles) == 1 and len(players) <= 2:
                shape = (Shape.MAX, Shape.MIN)[players.index(roles[0])]
        move, term = self.shown.joint(self.moves[number]), self.shown.joint_term(self.moves[number])
        return TreeNode(number, self.parents[number], self.paths[number], move, shape, player, term=term)

    def join(self, node: Node, parent: int, moves: Sequence[Move]) -> int:
        """A node joins the tree."""
        above = self.paths[parent] if parent > 0 else ""
        self.number[id(node)] = len(self.nodes)
        self.nodes.append(node)
        self.parents.append(parent)
        self.moves.append(moves)
        self.paths.append(path_text(above, self.shown.joint(moves)) if moves else "root")
        return len(self.nodes) - 1

    def join_last(self, event: SimulationEvent) -> int:
        """The new node of an expansion joins the tree."""
        parent, indices = event.path[-1]
        moves = chosen_of(joint_move_of(parent, indices), parent)
        return self.join(event.node, self.number[id(parent)], moves)

    def add(self, text: str, node: int, looks: dict[int, Look], tables: Sequence[Table] = ()) -> None:
        counts = len(self.nodes) - 1, self.simulation - 1
        self.steps.append(Step(text, node, 0, looks, counts, tuple(tables)))

    def __call__(self, event: SimulationEvent) -> None:
        if self.simulation > MAX_SHOWN:
            self.count(event)
        elif event.phase is Phase.SELECT:
            number = self.number[id(event.node)]
            self.way += [number] * (number not in self.way)
            self.selected.append(self.terms_table(event))
        elif event.phase is Phase.EXPAND:
            self.select([node for node, _ in event.path])
            number = self.join_last(event)
            end = " (terminal)" if event.node.goals is not None else ""
            self.add(f"expansion: {self.paths[number]}{end}", number, {number: Look(Status.OPEN)})
        elif event.phase is Phase.PLAY_OUT:
            self.play_out(event)
        else:
            self.back_up(event)

    def count(self, event: SimulationEvent) -> None:
        """Of a simulation that is not shown, the new node only."""
        if event.phase is Phase.EXPAND:
            self.join_last(event)
        self.simulation += event.phase is Phase.BACK_UP

    def select(self, nodes: Sequence[Node]) -> None:
        """The step of all selections of a simulation."""
        numbers = [self.number[id(node)] for node in nodes]
        looks = {number: self.look_of(number)._replace(status=Status.OPEN) for number in numbers}
        text = f"simulation {self.simulation}, selection: {' → '.join(self.paths[n] for n in numbers)}"
        self.add(text, numbers[-1] if numbers else 0, looks, self.selected)
        self.selected, self.way = [], []

    def terms_table(self, event: SimulationEvent) -> Table:
        """The terms of UCB1 of every move of a role in a node; of untried moves the chances to be drawn."""
        role, terms = self.game.roles[event.role], event.terms
        title = f"{self.paths[self.number[id(event.node)]]}: {role} selects"
        names = [
            ("▸ " if m == event.chosen else "") + text
            for m, text in enumerate(self.shown.writing.moves(event.node.moves[event.role]))
        ]
        if any(each.chance for each in terms):
            rows = [
                (name, str(each.visits), percent(each.chance))
                for name, each in zip(names, terms, strict=True)
            ]
            return limited(Table(f"{title} an untried move", ("move", "visits", "chance"), tuple(rows)))
        has_amaf = any(each.amaf is not None for each in terms)
        head = ("move", "visits", "mean", *(("AMAF", "β") if has_amaf else ()), "bonus", "sum")
        rows_of = [
            (name, *self.terms_row(each, event.role, has_amaf=has_amaf))
            for name, each in zip(names, terms, strict=True)
        ]
        return limited(Table(title, head, tuple(rows_of)))

    def terms_row(self, terms: EdgeTerms, role: int, *, has_amaf: bool) -> tuple[str, ...]:
        """Visits, and the terms of the sum on the scale."""
        shown, visits = self.shown, str(terms.visits)
        if terms.proven is not None:
            return (visits, *[""] * (3 if has_amaf else 1), "proven", shown.text(terms.proven, role))
        amaf = "" if terms.amaf is None else shown.text(terms.amaf, role)
        mixed = (amaf, f"{terms.beta:.3f}") if has_amaf else ()
        bonus = shown.number(shown.difference(terms.bonus))
        return visits, shown.text(terms.mean, role), *mixed, bonus, shown.text(terms.value, role)

    def play_out(self, event: SimulationEvent) -> None:
        number = self.number.get(id(event.node), 0)
        if self.selected:  # the descent ended at a node of the tree
            self.select([self.nodes[each] for each in self.way])
        played = [self.shown.joint(chosen_of(step.joint_move)) for step in event.steps]
        goals = self.shown.outcome(event.goals)
        is_end = event.node.goals is not None
        moves = list(played[self.depth(number) :])
        shown = ", ".join(moves[:MAX_MOVES]) + (f", … ({len(moves)} moves)" if len(moves) > MAX_MOVES else "")
        text = f"terminal: goals {goals}" if is_end else f"playout: {shown or 'no moves'}: goals {goals}"
        tables = self.playout_tables(event.steps[self.depth(number) :])
        self.add(text, number, {number: Look(Status.OPEN, "", f"→ {goals}")}, tuple(tables))

    def depth(self, number: int) -> int:
        return 0 if number == 0 else 1 + self.depth(self.parents[number])

    def back_up(self, event: SimulationEvent) -> None:
        numbers = [self.number[id(node)] for node, _ in event.path]
        last = self.number.get(id(event.node), 0)
        looks = {number: self.look_of(number) for number in dict.fromkeys([*numbers, last])}
        goals = self.shown.outcome(event.goals)
        changed = [f"{self.paths[n]} {looks[n].value}" for n in [*numbers[1:], last] if looks[n].value]
        text = f"back-up of {goals}: {', '.join(dict.fromkeys(changed)) or 'root'}"
        tables = list(self.policy_tables())
        self.simulation += 1
        self.add(text, numbers[0] if numbers else 0, looks, tables)

    def look_of(self, number: int) -> Look:
        """The mean of the goals behind a node for the role that moved there, and its visits."""
        parent = self.parents[number]
        if parent < 0:
            return Look(Status.DONE, f"({self.nodes[0].visit_count})")
        above = self.nodes[parent]
        way = next((way for way, node in above.children.items() if node is self.nodes[number]), None)
        if way is None:
            return Look(Status.DONE)
        roles = [r for r, moves in enumerate(above.moves) if len(moves) > 1] or [0]
        visits = [above.visits[r][way[r]] for r in roles]
        means = [
            short_text(round(self.shown.goal(above.totals[r][way[r]] / max(1, n), r), 2))
            for r, n in zip(roles, visits, strict=True)
        ]
        return Look(Status.DONE, f"{tuple_text(means)} ({min(visits)})")

    # Tables of the policies

    def chances(self, role: int, moves: Sequence[Move], state: Any) -> dict[Move, float]:
        """The Gibbs probabilities by which a playout draws a move of a role."""
        policy = self.search.policy
        if isinstance(policy, PastPolicy):
            weights = policy.gibbs_weights(role, moves, self.game.facts(state))
        else:
            weights = policy.weights(role, moves, state)
        return chances_of(moves, weights)

    def playout_tables(self, played: Sequence[PlayoutStep]) -> Iterator[Table]:
        """The Gibbs probability of each move of a playout, next to those of the likeliest others."""
        rows = []
        for number, step in enumerate(played[:MAX_ROWS], 1):
            for role, name in enumerate(self.game.roles):
                moves = self.game.legal_moves(step.state, name)
                if name == RANDOM_ROLE or len(moves) < 2:
                    continue
                chances = self.chances(role, moves, step.state)
                chance = percent(chances.pop(made := step.joint_move[role]))
                others = sorted(chances, key=lambda move: -chances[move])
                shown = [f"{self.text_of(move)} {percent(chances[move])}" for move in others[:MAX_OTHERS]]
                more = [f"{len(others) - MAX_OTHERS} more"] if len(others) > MAX_OTHERS else []
                rows.append((str(number), str(name), self.text_of(made), chance, ", ".join([*shown, *more])))
        if rows and isinstance(self.search.policy, MastPolicy):
            yield Table("Moves of the playout", ("step", "role", "move", "Gibbs", "instead of"), tuple(rows))

    def policy_tables(self) -> Iterator[Table]:
        """What the simulation changed of the tables of the playout policy and of RAVE."""
        policy, root = self.search.policy, self.nodes[0]
        for role, name in enumerate(self.game.roles):
            if name == RANDOM_ROLE or not root.moves:
                continue
            if isinstance(policy, FastPolicy) and policy.model is not None:
                yield from self.fast_tables(policy.model, role, str(name))
            elif isinstance(policy, MastPolicy):
                moves = root.moves[role]
                weights = policy.weights(role, moves, root.state)
                chances = chances_of(moves, weights) if len(moves) > 1 else {}
                label = "TO-MAST" if policy._learns_in_tree else "MAST"
                yield from self.means_table(f"{label} of {name}", role, policy.means[role], chances)
            if isinstance(policy, PastPolicy):
                yield from self.past_tables(policy, role, str(name))
            if self.search.options.parsed_policy.mixes_in == RAVE and len(root.moves[role]) > 1:
                yield from self.rave_table(role, str(name))

    def means_table(
        self, title: str, role: int, means: Mapping[Move, Mean], chances: Mapping[Move, float]
    ) -> Iterator[Table]:
        """Means before and after; and the Gibbs probability of the moves that are legal at the root."""
        means = {move: mean for move, mean in means.items() if move != STAY}
        if not means:
            return
        rows = [
            (*row, percent(chances[key]) if key in chances else "")
            for key, row in self.changes(
                title, {key: (mean.visits, self.shown.goal(mean.value, role)) for key, mean in means.items()}
            )
        ]
        yield limited(
            Table(title, ("move", "visits", "mean before", "mean", "Gibbs at the root"), tuple(rows))
        )

    def changes(self, table: str, after: _Means) -> Iterator[tuple[Any, tuple[str, str, str, str]]]:
        """Of each key: text, visits, mean before and after; in the order of the texts."""
        before, self.before[table] = self.before.get(table, {}), after
        for key, (visits, mean) in sorted(after.items(), key=lambda each: str(each[0])):
            move, *facts = key if isinstance(key, tuple) else (key,)
            name = " with ".join([self.text_of(move), *map(words_of, facts)])
            earlier = self.shown.number(before[key][1]) if key in before else ""
            yield key, (name, str(visits), earlier, self.shown.number(mean))

    def fast_tables(self, model: FastModel, role: int, name: str) -> Iterator[Table]:
        """What pieces or cells are worth to a role, the most important first, and the root's moves by it."""
        kind, worth = model.weights.kind.removesuffix("s"), model.worth(role)
        values = {
            Symbol(key): (0, self.shown.difference(value)) for key, value in worth.items() if round(value, 2)
        }
        rows = [(str(key), *row[2:]) for key, row in self.changes(f"FAST {name}", values)]
        rows.sort(key=lambda row: -abs(worth[row[0]]))
        yield limited(Table(f"FAST of {name}", (kind, "value before", "value"), tuple(rows)))
        root = self.nodes[0]
        if len(root.moves[role]) > 1:
            chances = self.chances(role, root.moves[role], root.state)
            rows_at = tuple((self.text_of(move), percent(chance)) for move, chance in chances.items())
            yield limited(Table(f"FAST of {name} at the root", ("move", "Gibbs"), rows_at))

    def past_tables(self, policy: PastPolicy, role: int, name: str) -> Iterator[Table]:
        """Pairs of a move and a fact that count, and what they make of the root's moves."""
        root, title = self.nodes[0], f"PAST of {name}: pairs with {PAST_VISITS} visits and more"
        pairs = {
            (move, fact): (mean.visits, self.shown.goal(mean.value, role))
            for (fact, move), mean in policy.pairs[role].items()
            if move != STAY
        }
        rows = [
            row
            for key, row in self.changes(title, {k: v for k, v in pairs.items() if v[0] >= PAST_VISITS})
            if row[2] != row[3]
        ]
        if rows:
            yield limited(Table(title, ("move with fact", "visits", "mean before", "mean"), tuple(rows)))
        if len(root.moves[role]) > 1:
            facts = self.game.facts(root.state)
            rows_at = [
                (
                    self.text_of(move),
                    self.shown.text(policy.value(role, move, facts), role),
                    percent(chance),
                )
                for move, chance in self.chances(role, root.moves[role], root.state).items()
            ]
            head = ("move", "largest mean", "Gibbs")
            yield limited(Table(f"PAST of {name} at the root", head, tuple(rows_at)))

    def rave_table(self, role: int, name: str) -> Iterator[Table]:
        """All-moves-as-first means at the root before and after, next to the moves' own."""
        root, title = self.nodes[0], f"RAVE of {name} at the root"
        n = sum(root.visits[role])
        title += f", β({n}) = {rave_weight(self.search.options.rave_k, n):.3f}"
        seen = {
            move: (visits, self.shown.goal(root.rave_totals[role][m] / visits, role))
            for m, (move, visits) in enumerate(zip(root.moves[role], root.rave_visits[role], strict=True))
            if visits
        }
        rows = []
        for key, row in self.changes(f"RAVE {name}", seen):
            m = root.moves[role].index(key)
            own = root.visits[role][m]
            mean = self.shown.text(root.totals[role][m] / own, role) if own else ""
            rows.append((*row, str(own), mean))
        head = ("move", "AMAF visits", "AMAF before", "AMAF", "own visits", "own mean")
        yield limited(Table(title, head, tuple(rows)))


def explain_simulations(
    shown: Shown, state: Any, options: MctsOptions, *, simulations: int, seed: int
) -> Explanation:
    """The steps of a number of simulations, next to those of uniform playouts and plain UCT."""
    search, recorder = simulated(shown, state, options, simulations, seed)
    label = f"mcts with {options.policy} playouts"
    found = recorder.explanation(f"{shown.game.name}: {label}")
    finished = recorder.simulation - 1
    best = max(search._root_moves(), key=lambda each: (each.visits, each.mean))
    found.value, found.best_line = shown.text(best.mean, search.role_index), (recorder.text_of(best.move),)
    found.summary[:0] = [
        counted(finished, "simulation")
        + (f" of {simulations:,}: out of time" if finished < simulations else ""),
        f"best move {found.best_line[0]}: {counted(best.visits, 'visit')}, mean {found.value}",
        f"{counted(len(recorder.nodes) - 1, 'node')} expanded, {counted(finished, 'playout')}",
        *shown.remark(),
    ]
    if search.policy.fallback:
        found.summary.append(f"no features in this game: {search.policy.fallback} instead of FAST")
    compared = [(label, search)]
    if options.policy != "uniform":
        plain = replace(options, policy="uniform", temperature=None)
        compared.insert(0, ("uniform", simulated(shown, state, plain, finished, seed)[0]))
    rows = [
        (name, recorder.text_of(each.move), str(each.visits), shown.text(each.mean, search.role_index))
        for name, of in compared
        for each in sorted(of._root_moves(), key=lambda each: -each.visits)[:3]
        if each.visits
    ]
    found.comparison = Table("Most visited moves", ("policy", "move", "visits", "mean"), tuple(rows))
    return found


def simulated(
    shown: Shown, state: Any, options: MctsOptions, simulations: int, seed: int
) -> tuple[Search, Recorder]:
    """Run simulations for the first role that has a choice; FAST learns before."""
    game = shown.game
    players = [role for role in game.roles if role != RANDOM_ROLE]
    choosing = [role for role in players if len(game.legal_moves(state, role)) > 1] or players
    search = Search(game, choosing[0], seed=seed, options=options)
    search.move_to(state, None)
    if isinstance(search.policy, FastPolicy) and is_compiled(game):
        compile_playouts(Lanes(require_compiled(game).lane_tables))
        search.policy.prepare(LEARNING_SECONDS * clock_rate())
    recorder = Recorder(shown, search)
    search.listener = recorder
    search.run(Budget(time.monotonic() + SECONDS / 2, simulations))
    return search, recorder


def clock_rate() -> float:
    """Seconds by the clock that a second of CPU time takes now, next to other programs."""
    clock, begin = time.monotonic(), time.process_time()
    while (used := time.process_time() - begin) < PROBE_SECONDS:
        pass
    return max(1.0, (time.monotonic() - clock) / used)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def chances_of(moves: Sequence[Move], weights: Sequence[int]) -> dict[Move, float]:
    """The probabilities of moves that are drawn by their weights."""
    total = sum(weights)
    return {move: weight / total for move, weight in zip(moves, weights, strict=True)}


def limited(table: Table) -> Table:
    """A table of at most MAX_ROWS rows; the last one says how many are left out."""
    more = len(table.rows) - MAX_ROWS
    if more <= 0:
        return table
    last = (f"… {more} more", *[""] * (len(table.head) - 1))
    return table._replace(rows=(*table.rows[:MAX_ROWS], last))


def chosen_of(joint_move: Sequence[Move], node: Node | None = None) -> list[Move]:
    """The moves of the roles that choose, as far as that is known."""
    chosen = list(joint_move)
    if node is not None and any(len(moves) > 1 for moves in node.moves):
        chosen = [move for move, moves in zip(joint_move, node.moves, strict=True) if len(moves) > 1]
    return [move for move in chosen if move != STAY] or chosen[:1]
