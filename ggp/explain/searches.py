"""Which search explains what: its name, its settings, and how it is run for its events."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from gdl.syntax.parser import parse_terms
from gdl.terms import Compound
from ggp.analysis.scale import Scale, sheet_scale
from ggp.engines.batches import require_compiled, state_of_facts
from ggp.explain.bare_trees import BareTree, read_tree
from ggp.explain.explanation import Explanation, Step, Table, count_text
from ggp.explain.game_tree import Sides, TreeReader
from ggp.explain.learning import LearningSettings, explain_learning
from ggp.explain.simulations import Shown, explain_simulations
from ggp.explain.writing import Writing, writing_of
from ggp.features.linear_form import LinearFormError, read_linear_form
from ggp.game import RANDOM_ROLE, Game, GameError, Move, hides_information
from ggp.match.player import PlayerSpecError
from ggp.players.own import error_text, own_evaluation
from ggp.search.alphabeta.estimate import SCALE, Estimate
from ggp.search.alphabeta.events import Event, EventKind, StoppedError
from ggp.search.alphabeta.multi_role import MAX_DEPTH, MultiRoleSearch
from ggp.search.alphabeta.options import is_own_evaluation
from ggp.search.alphabeta.reference.node import INFINITE
from ggp.search.alphabeta.reference.position import Position, static_score
from ggp.search.alphabeta.reference.refinements import Refinements
from ggp.search.alphabeta.reference.search import ReferenceSearch
from ggp.search.alphabeta.result import AlphaBetaError
from ggp.search.budget import Budget
from ggp.search.option_table import choice, number, parse_table, refuse_unknown, take_options, text
from ggp.search.tree.options import MctsOptions, parse_options
from ggp.solver.members import parse_coalition
from ggp.suggestions import did_you_mean

PLAIN = Refinements(**{each.name: False for each in fields(Refinements) if each.default is True})
"""Alpha-beta as Knuth and Moore (1975) describe it."""

WINDOWS: Mapping[str, dict[str, Any]] = {
    "alphabeta": {},
    "pvs": {"principal_variation": True},
    "aspiration": {"aspiration": 5, "iterative_deepening": True},
    "bisection": {"bisection": True},
    "deepening": {"iterative_deepening": True, "transpositions": True, "order_by_table": True},
}
"""Searches of `ggp.search.alphabeta.reference`: their refinements."""
ROLES = ("minimax", "expectimax", "expectiminimax", "star1", "maxn", "paranoid", "coalition")
"""Searches of `ggp.search.alphabeta.multi_role`."""
SIMULATIONS = ("mcts", "mast", "to-mast", "past", "fast", "rave")
"""The search of `ggp.search.tree.reference`; all but the first name its policy."""
ALGORITHMS = (*WINDOWS, *ROLES, *SIMULATIONS, "td")
ALIASES = {
    "negascout": "pvs",
    "scout": "pvs",
    "max^n": "maxn",
    "coalitions": "coalition",
    "alpha-beta": "alphabeta",
    "uct": "mcts",
}

GAME_DEPTH = 3
"""Plies that are searched in a game if nothing else is asked for."""
MAX_SEARCHED = 25_000
MAX_MOVES = 400_000
SECONDS = 4.0
"""What a search may use before it is stopped, of nodes, in a game also of legal moves in all nodes (each is
written down), and of CPU time, by the clock at most four times as much; each comparison gets a quarter of the
time."""
MAX_FAST_MOVES = 4000
HORIZON = Estimate(goal_weight=100, mobility_weight=0, lowest=1 - INFINITE, highest=INFINITE - 1)
"""At the horizon, the goal that the rules give there counts; 50 if they give none."""


class ExplainError(GameError):
    """A search that does not fit the game, or settings that do not fit the search."""


@dataclass(frozen=True)
class TreeSettings:
    """Settings of tree searches besides the refinements of alpha-beta."""

    order: str = choice("order", "given", "Order of moves, in bare trees.", ("given", "best", "worst"))
    guess: float | None = number("guess", None, "Center of the first window.", least=-10_000, most=10_000)
    roles: str = text("roles", "1", "Coalition: numbers of its roles, joined by +.")
    error: float = number("error", 1.0, "Expectimax: share of random moves.", least=0.0, most=1.0)
    evaluation: str = text("evaluation", "", "In games: module:function or file.py:function, or a file.")


@dataclass(frozen=True)
class Task:
    """What is to be explained: a game as it is shown, the state at the root, the depth, and an estimate of
    the horizon."""

    shown: Shown
    state: Any
    depth: int | None
    estimate: Estimate

    @property
    def game(self) -> Game[Any]:
        return self.shown.game

    def evaluate(self, state: Any) -> float:
        """The goal that the estimate expects of a state."""
        return static_score(self.game, Position(state), self.estimate) / SCALE

    @cached_property
    def node_limit(self) -> int:
        """Nodes to expand at most, by the moves at the root."""
        game = self.game
        if isinstance(game, BareTree):
            return MAX_SEARCHED
        count = max(len(game.legal_moves(self.state, role)) for role in game.roles)
        return min(MAX_SEARCHED, max(1, MAX_MOVES // count))

    def budget(self, events: EventList, share: float = 1.0) -> Budget:
        """For a search whose listener is `events.add`."""
        end = time.thread_time() + share * SECONDS
        return Budget(
            time.monotonic() + 4 * share * SECONDS,
            nodes=MAX_SEARCHED,
            is_stopped=lambda: time.thread_time() > end or events.entered > self.node_limit,
        )


class EventList(list[Event]):
    """The events of a search, and how many nodes it has entered."""

    entered = 0

    def add(self, event: Event) -> None:
        self.append(event)
        self.entered += event.kind is EventKind.ENTER


@dataclass(frozen=True)
class Run:
    """One search that was run: its events, and whether it was finished."""

    events: Sequence[Event]
    is_finished: bool
    sides: Sides
    move: Move | None = None
    goal: float | None = None
    windows: int = 1

    @property
    def counts(self) -> tuple[int, int]:
        """Nodes expanded and leaves evaluated."""
        kinds = [event.kind for event in self.events]
        return kinds.count(EventKind.ENTER) - kinds.count(EventKind.TABLE_HIT), kinds.count(EventKind.LEAF)


def explain(
    game: Game[Any] | Writing | str,
    by: str = "alphabeta",
    *,
    state: Any = None,
    depth: int | None = None,
    nodes: int = 200,
    simulations: int = 12,
    seed: int = 0,
    scale: Scale | None = None,
) -> Explanation:
    """Run a search and keep its steps.

    game    a game (moves in KIF), a writing of one, or a bare tree as text (`ggp.explain.bare_trees`)
    by      an algorithm, and settings after a colon: `alphabeta:killers=on,order=worst`
    state   the root; None: the initial state
    depth   plies to search; None: 3 in a game, all of a bare tree
    nodes   how many to draw at most; what is below is folded

    simulations, seed   of mcts and td, for which simulations are episodes
    scale   on which goals are shown; None: the one that the sheet states

    Raises ExplainError, OptionError (settings), BareTreeError and GameError.

    >>> found = explain("[[3,12,8],[2,4,6],[14,5,2]]")
    >>> found.value, found.best_line, found.counts
    ('3', ('a', 'a'), (4, 7))
    """
    given_game = read_tree(game) if isinstance(game, str) else game
    writing = given_game if isinstance(given_game, Writing) else writing_of(given_game)
    game = writing.game
    name, _, rest = by.partition(":")
    name = ALIASES.get(name, name)
    if name not in ALGORITHMS:
        raise ExplainError(f"unknown algorithm {name!r}.{did_you_mean(name, ALGORITHMS)}")
    given = dict(part.partition("=")[::2] for part in filter(None, rest.split(",")))
    root = game.initial_state() if state is None else state
    if game.is_terminal(root):
        raise ExplainError("the state is terminal: there is nothing to search")
    scale = scale or (Scale() if isinstance(game, BareTree) else sheet_scale(game.program.source.text))
    if scale.low > scale.high:
        raise ExplainError("a scale that descends turns bounds around: give --scale its smaller number first")
    shown = Shown(writing, scale, nodes)
    if name in SIMULATIONS:
        options = simulation_options(game, given if name == "mcts" else {"policy": name, **given})
        return explain_simulations(shown, root, options, simulations=simulations, seed=seed)
    if name == "td":
        learned = parse_table(LearningSettings(), given)
        return explain_learning(shown, root, learned, episodes=simulations, seed=seed)
    return explain_tree_search(shown, root, depth, name, given)


def explain_tree_search(
    shown: Shown, root: Any, depth: int | None, name: str, given: dict[str, str]
) -> Explanation:
    """The steps of a search of WINDOWS or ROLES, with the settings given."""
    settings, game = take_options(TreeSettings(), given), shown.game
    if settings.order != "given":
        if not isinstance(game, BareTree):
            raise ExplainError("order is for bare trees; in games static_order=on sorts moves")
        game = game.ordered(best_first=settings.order == "best")
        shown, root = replace(shown, writing=writing_of(game)), game.root
    if depth is None and not isinstance(game, BareTree):
        depth = GAME_DEPTH
    task = Task(shown, root, depth, estimate_of(game, settings.evaluation))
    if name in WINDOWS:
        return explain_windows(task, name, settings, given)
    refuse_unknown(given, TreeSettings())
    return explain_roles(task, name, settings)


def estimate_of(game: Game[Any], evaluation: str) -> Estimate:
    """A function of one's own, or a file with weights of facts; HORIZON if `evaluation` is empty.

    Raises ExplainError, GameError.
    """
    if not evaluation:
        return HORIZON
    if isinstance(game, BareTree):
        raise ExplainError("evaluation is for games: in a bare tree a number before a bracket evaluates")
    if len([role for role in game.roles if role != RANDOM_ROLE]) > 2:
        raise ExplainError("evaluation is for one or two roles: it is what the first may expect")
    if not is_own_evaluation(evaluation):
        raise ExplainError(
            "evaluation takes module:function, file.py:function or a file with weights of facts"
        )
    alone = Estimate(goal_weight=0, mobility_weight=0)
    try:
        if ":" not in evaluation:
            return replace(alone, weights=read_linear_form(evaluation).scores(require_compiled(game)))
        function = own_evaluation(evaluation)
    except (LinearFormError, PlayerSpecError) as error:
        raise ExplainError(str(error)) from None

    def evaluate(game: Game[Any], state: Any) -> float:
        try:
            return function(game, state)
        except Exception as error:
            raise ExplainError(f"evaluation={evaluation}: {error_text(error)}") from error

    return replace(alone, function=evaluate)


def simulation_options(game: Game[Any], given: dict[str, str]) -> MctsOptions:
    """The options of a tree search. C is 40 for goals from 0 to 100, and in proportion in a bare tree."""
    defaults = MctsOptions()
    if isinstance(game, BareTree):
        goals = game.possible_goals
        defaults = replace(defaults, exploration=max(0.01, 0.4 * (goals[-1] - goals[0])))
    options = parse_options(given, defaults)
    if "fast" in options.policy and sum(map(len, getattr(game, "moves", ()))) > MAX_FAST_MOVES:
        raise ExplainError(f"fast takes too long to learn from games of over {MAX_FAST_MOVES:,} moves")
    return options


def state_of(game: Game[Any], facts: str) -> Any:
    """The state of facts such as `(true (cell 1 1 x)) (control o)`. Raises GdlSyntaxError and GameError."""
    if isinstance(game, BareTree):
        raise ExplainError("a bare tree begins at its root")
    inner = [
        term.arguments[0] if isinstance(term, Compound) and term.name == "true" else term
        for term in parse_terms(facts, name="--state")
    ]
    return state_of_facts(game, inner)


def explain_windows(task: Task, name: str, settings: TreeSettings, given: dict[str, str]) -> Explanation:
    """Alpha-beta with refinements, next to alpha-beta without them and minimax."""
    refinements = take_options(replace(PLAIN, **WINDOWS[name]), given)
    refuse_unknown(given, TreeSettings(), refinements)
    if settings.guess is not None:
        refinements = replace(refinements, iterative_deepening=False)
    if task.depth is None and (refinements.late_move_reduction or refinements.kept_moves):
        task = replace(task, depth=task.state.height())  # of a bare tree; searches to the end skip nothing
    run = run_windows(task, refinements, settings.guess)
    changes = [
        each.name for each in fields(PLAIN) if getattr(refinements, each.name) != getattr(PLAIN, each.name)
    ]
    rows = [("minimax", run_roles(task, "minimax", settings, share=0.25))]
    if changes:
        rows.append(("alphabeta", run_windows(task, PLAIN, None, share=0.25)))
    rows.append((", ".join([name, *(each for each in changes if each not in WINDOWS[name])]), run))
    return explanation_of(task, name, run, rows)


def run_windows(task: Task, refinements: Refinements, guess: float | None, share: float = 1.0) -> Run:
    """Run the readable alpha-beta. Raises ExplainError if it cannot search the game."""
    events = EventList()
    sides = Sides(frozenset({0}), scale=task.shown.scale)
    try:
        search = ReferenceSearch(task.game, refinements, task.estimate, events.add)
        found = search.search(task.state, task.budget(events, share), depth=task.depth, guess=guess)
    except AlphaBetaError as error:
        raise ExplainError(f"{error}; maxn, paranoid and mcts search such games") from None
    is_finished = bool(events) and events[-1].kind in (EventKind.LEAVE, EventKind.TABLE_HIT)
    return Run(events, is_finished and events[-1].ply == 0, sides, found.move, found.goal, search.windows)


def explain_roles(task: Task, name: str, settings: TreeSettings) -> Explanation:
    """A search for several roles or for chance; star1 next to the search without its cuts."""
    run = run_roles(task, name, settings)
    unpruned = {"star1": "expectiminimax"}.get(name)
    rows = [(unpruned, run_roles(task, unpruned, settings, share=0.25))] if unpruned else []
    return explanation_of(task, name, run, [*rows, (name, run)])


def run_roles(task: Task, name: str, settings: TreeSettings, share: float = 1.0) -> Run:
    """Run a search of `multi_role`. Raises ExplainError if it does not fit the game."""
    roles = task.game.roles
    players = [r for r, role in enumerate(roles) if role != RANDOM_ROLE]
    chance = frozenset(r for r, role in enumerate(roles) if role == RANDOM_ROLE)
    if name in ("minimax", "expectimax", "expectiminimax", "star1") and len(players) > 2:
        raise ExplainError(f"{name} is for one or two roles; maxn, paranoid and coalition for more")
    if name == "minimax" and chance:
        raise ExplainError("minimax knows no chance; expectiminimax, star1 and expectimax do")
    try:
        members = parse_coalition(settings.roles, roles) if name == "coalition" else frozenset({players[0]})
    except ValueError as fault:
        raise ExplainError(str(fault)) from None
    events = EventList()
    prunes = name in ("star1", "paranoid", "coalition")
    error = settings.error if name == "expectimax" else 0.0
    search = MultiRoleSearch(
        task.game,
        roles[min(members)],
        "paranoid" if prunes else "maxn",
        error,
        members if prunes else None,
        listener=events.add,
        evaluate=None if task.estimate is HORIZON else task.evaluate,
    )
    is_finished = True
    try:
        search.value(task.state, MAX_DEPTH if task.depth is None else task.depth, task.budget(events, share))
    except StoppedError:
        is_finished = False
    scale = Scale() if len(members) > 1 else task.shown.scale  # a coalition's goals are added up
    averaged = chance | (frozenset(players[1:]) if error else frozenset())
    sums = {sum(event.values) for event in events if event.kind is EventKind.LEAF and event.values}
    is_tuple = not prunes and (name == "maxn" or (len(players) == 2 and len(sums) > 1))
    return Run(events, is_finished, Sides(members, averaged, is_tuple, prunes, scale))


def explanation_of(task: Task, name: str, run: Run, compared: Sequence[tuple[str, Run]]) -> Explanation:
    """Steps and summary of a run, next to others."""
    found = TreeReader(task.shown.writing, run.sides, run.events).explanation(
        f"{task.game.name}: {name}", task.shown.limit, run.move
    )
    look, value = found.looks()[0], found.looks()[0].value
    if run.goal is not None and run.is_finished and value != run.sides.text([run.goal]):
        value = run.sides.text([run.goal])
        text = f"the bounds of {run.windows} searches meet: root is {value}{found.horizon}"
        found.steps.append(Step(text, 0, 0, {0: look._replace(value=value)}, found.counts))
    found.value = value if run.is_finished else ""
    stopped = f"stopped at the limit of {task.node_limit:,} nodes or {SECONDS:g} s: try --depth or --state"
    lines = [f"value {value}{found.horizon}" if run.is_finished else stopped]
    if found.best_line and run.is_finished:
        separator = ", " if any(" " in move for move in found.best_line) else " "
        lines.append(f"best line {separator.join(found.best_line)}")
    lines.append(
        count_text(found.counts) + (f", {run.windows} windows at the root" if run.windows > 1 else "")
    )
    if not run.sides.scale.is_goals:
        lines.append(f"values on the scale {run.sides.scale}")
    if hides_information(task.game):
        lines.append("the roles do not see everything here: the search assumes that they do")
    found.summary[:0] = lines
    if len(compared) > 1:
        rows = tuple(
            (label, *(f"{'' if each.is_finished else '> '}{count:,}" for count in each.counts))
            for label, each in compared
        )
        found.comparison = Table("Nodes and leaves", ("search", "nodes expanded", "leaves evaluated"), rows)
    return found
