"""Events of alpha-beta and of the searches for several roles become steps on a drawn tree.

The events are read twice: first for the tree that was searched, of which the part to be shown is chosen, then
for the steps. Values are shown from the side of the first role, or of a coalition; in max^n as tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from ggp.analysis.scale import Scale
from ggp.explain.bare_trees import BareTree, Branch
from ggp.explain.explanation import Explanation, Look, Shape, Status, Step, TreeNode, path_text
from ggp.explain.writing import Writing
from ggp.game import RANDOM_ROLE, Move
from ggp.search.alphabeta.estimate import SCALE
from ggp.search.alphabeta.events import Event, EventKind, ValueTree

GOALS = Scale()
ENDLESS = 10_000 * SCALE * 1.01
"""Windows from here on are drawn as infinite."""
MAX_SHOWN_DEPTH = 100
"""Depths beyond this are those of searches to the end."""
UNCONFIRMED = ", which the full depth has to confirm"
"""Of a search of reduced depth that fails high."""
_MARKS = {EventKind.KILLER: "K", EventKind.EXTENSION: "+", EventKind.REDUCTION: "−", EventKind.RE_SEARCH: "R"}
_REMARKS = {
    EventKind.KILLER: "{} is a killer: it is tried early",
    EventKind.EXTENSION: "{} is extended by a ply",
    EventKind.REDUCTION: "{} comes late: searched less deep at first",
    EventKind.RE_SEARCH: "{} fails {end} with {value}: search it again",
}


@dataclass(frozen=True)
class Sides:
    """Who maximizes, and how values are read.

    members     indices of the roles that maximize; the others minimize
    averaged    roles that move at random
    is_tuple    every role maximizes its own goal, and values are shown as tuples
    has_window  whether there are windows
    scale       on which goals are shown
    """

    members: frozenset[int]
    averaged: frozenset[int] = frozenset()
    is_tuple: bool = False
    has_window: bool = True
    scale: Scale = field(default_factory=Scale)

    def shape(self, mover: int) -> Shape:
        if mover in self.averaged:
            return Shape.CHANCE
        if self.is_tuple:
            return Shape.PLAYER
        return Shape.MAX if mover in self.members else Shape.MIN

    def sign(self, mover: int) -> int:
        return -1 if self.shape(mover) is Shape.MIN else 1

    def goals(self, event: Event) -> tuple[float, ...]:
        """The score of an event for everyone, or for the side that maximizes alone."""
        if event.values is not None and self.is_tuple:
            return event.values
        if event.values is not None and not self.has_window:
            return (sum(event.values[r] for r in self.members),)
        assert event.score is not None
        return (self.sign(event.mover) * event.score / SCALE,)

    def text(self, goals: Sequence[float]) -> str:
        """A value on the scale."""
        return value_text(goals, self.scale)

    def worth(self, goals: tuple[float, ...], mover: int) -> float:
        """What `mover` maximizes."""
        return goals[mover] if self.is_tuple else self.sign(mover) * goals[0]

    def window(self, event: Event) -> tuple[float, float]:
        low, high = sorted(self.sign(event.mover) * each for each in (event.alpha, event.beta))
        return low / SCALE, high / SCALE


def value_text(goals: Sequence[float], scale: Scale = GOALS) -> str:
    """A value as it is shown on a scale.

    >>> import math
    >>> value_text([3.0]), value_text([2, -0.25, 1 / 3]), value_text([-math.inf])
    ('3', '(2, −0.25, 0.333)', '−∞')
    """
    texts = [
        ("−∞" if each < 0 else "∞")
        if abs(each) >= ENDLESS / SCALE
        else short_text(each if scale.is_goals else float(scale.value(each)))
        for each in goals
    ]
    return tuple_text(texts)


def short_text(number: float) -> str:
    """A number with at most three decimals."""
    return f"{round(number, 3):.10g}".replace("-", "−")


def tuple_text(texts: Sequence[str]) -> str:
    """One value, or one for each player."""
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


@dataclass(eq=False)
class Place:
    """A position of the searched tree; `nodes` and `leaves` count its own visits and evaluations."""

    parent: Place | None = None
    move: Move | None = None
    name: str = "root"
    state: Any = None
    mover: int = -1
    children: dict[Move, Place] = field(default_factory=dict)
    nodes: int = 0
    leaves: int = 0
    number: int = -1  # as a drawn node; -1: folded
    best: Place | None = None

    @property
    def path(self) -> str:
        before = self.parent.path if self.parent is not None and self.parent.parent is not None else ""
        return path_text(before, self.name)

    @property
    def ply(self) -> int:
        return 0 if self.parent is None else 1 + self.parent.ply

    def child(self, move: Move | None) -> Place:
        """The child behind a move; None: behind the only one."""
        return next(iter(self.children.values())) if move is None else self.children[move]

    def open(self, writing: Writing, event: Event) -> None:
        """The node is entered; at the first time it gets its children."""
        self.state, self.mover = event.state, event.mover
        if not self.children:
            moves = writing.game.legal_moves(event.state, writing.game.roles[event.mover])
            names = writing.moves(moves, event.state)
            self.children = {move: Place(self, move, name) for move, name in zip(moves, names, strict=True)}

    def below(self) -> Iterator[Place]:
        """This place and all below it, parents first."""
        waiting = [self]
        while waiting:
            place = waiting.pop()
            yield place
            waiting += reversed(place.children.values())


@dataclass(eq=False)
class Visit:
    """A node under search: its window (`ends`: as text), its best value, and the children it has tried.

    reduced   children under a search of reduced depth, which proves no bound if it fails high
    without   the move that the test of a singular extension leaves out; "": there is no test
    is_open   whether a value below comes from the horizon
    """

    place: Place
    window: tuple[float, float]
    ends: tuple[str, str]
    best: tuple[float, ...] | None = None
    best_bound: str = "exact"
    tried: set[Place] = field(default_factory=set)
    reduced: set[Place] = field(default_factory=set)
    without: str = ""
    is_open: bool = False


class _Recorded(NamedTuple):
    """A step before it is known which nodes are drawn."""

    place: Place
    text: str
    looks: dict[Place, Look]
    counts: tuple[int, int]


class TreeReader:
    """Reads the events of one search; `explanation` does all."""

    def __init__(self, writing: Writing, sides: Sides, events: Sequence[Event]) -> None:
        self.writing, self.sides, self.events = writing, sides, events
        self.game = writing.game
        self.root = Place()
        self.visits: list[Visit] = []
        self.looks: dict[Place, Look] = {}
        self.marks: dict[Place, str] = {}
        self.recorded: list[_Recorded] = []
        self.nodes = self.leaves = 0
        self.depth, self.horizon = 0, ""  # of the last search from the root
        self.open_states: dict[Any, bool] = {}  # of finished nodes, `is_open` of their visits
        self.searched: dict[Any, Place] = {}  # by state, where its best move was found last

    def explanation(self, title: str, limit: int, best_move: Move | None = None) -> Explanation:
        """The steps, on the tree as far as it has at most `limit` nodes.

        best_move   what the search found; None: the best child of the last visit to the root
        """
        self.grow()
        for event in self.events:
            self.read(event)
        if best_move in self.root.children:
            self.root.best = self.root.children[best_move]
        nodes, folded = self.draw(limit)
        steps = [
            Step(
                text,
                place.number,
                place.ply,
                {each.number: look for each, look in looks.items() if each.number >= 0},
                counts,
            )
            for place, text, looks, counts in self.recorded
            if place.number >= 0
        ]
        line = list(self.best_line())
        found = Explanation(title, nodes, steps, counts=(self.nodes, self.leaves))
        found.positions = self.writing.positions(
            {each.number: each.state for each in self.root.below() if each.number >= 0}
        )
        found.horizon = self.horizon
        found.line = tuple(place.number for place in line if place.number >= 0)
        found.best_line = tuple(place.name for place in self.continued(line))
        if folded:
            found.summary.append(f"{folded:,} positions are folded; --nodes shows more")
        return found

    # The searched tree

    def grow(self) -> None:
        """Grow the tree of everything that the events mention; a bare tree wholly."""
        way: list[Place] = []
        for event in self.events:
            if event.kind is EventKind.ENTER:
                place = way[event.ply - 1] if event.ply else self.root
                if event.ply and event.excluded is None:
                    place = place.child(event.move)
                way[event.ply :] = [place]
                place.open(self.writing, event)
                place.nodes += 1
            elif event.kind is EventKind.TABLE_HIT:
                way[event.ply].nodes -= 1
            elif event.kind is EventKind.LEAF:
                place = way[event.ply].child(event.move)
                place.state = event.state
                place.leaves += 1
        if isinstance(self.game, BareTree):
            self.root.state = self.game.root
            for place in self.root.below():
                place.mover = place.state.mover
                for move, branch in place.state.child_of.items():
                    place.children.setdefault(move, Place(place, move, str(move))).state = branch

    def draw(self, limit: int) -> tuple[list[TreeNode], int]:
        """Number and describe the nodes to be shown; also count the positions that are folded."""
        shown = self.shown(limit)
        nodes: list[TreeNode] = []

        def draw(place: Place) -> int:
            place.number = len(nodes)
            nodes.append(self.tree_node(place, place.number))
            children = place.children.values()
            hidden = [each for child in children if child not in shown for each in child.below()]
            if hidden:
                leaves = sum(each.leaves for each in hidden)
                nodes[place.number].folded = f"+{len(hidden):,}" + (f" ({leaves:,} leaves)" if leaves else "")
            return len(hidden) + sum(draw(child) for child in children if child in shown)

        folded = draw(self.root)
        for node in nodes[1:]:
            nodes[node.parent].children.append(node.number)
        return nodes, folded

    def shown(self, limit: int) -> set[Place]:
        """The places to be shown: whole families, those on the best line first, then from the root down."""
        shown, queue = {self.root}, [self.root]

        def show(place: Place) -> None:
            family = list(place.children.values())
            if place is self.root and len(family) >= limit:
                family = sorted(family, key=lambda child: -child.nodes - child.leaves)[: limit - 1]
            if len(shown) + len(family) <= limit:
                shown.update(family)

        for place in (self.root, *self.best_line()):
            show(place)
        while queue:
            place = queue.pop(0)
            if shown.isdisjoint(place.children.values()):
                show(place)
            queue += [child for child in place.children.values() if child in shown]
        return shown

    def tree_node(self, place: Place, number: int) -> TreeNode:
        parent, probability = place.parent, ""
        if parent is not None and parent.mover >= 0 and self.sides.shape(parent.mover) is Shape.CHANCE:
            weights: Sequence[int] = (1,) * len(parent.children)
            if isinstance(self.game, ValueTree) and self.game.roles[parent.mover] == RANDOM_ROLE:
                weights = self.game.chance_weights(parent.state)
            share = Fraction(weights[list(parent.children.values()).index(place)], sum(weights))
            probability = f"{float(share):g}" if 1000 % share.denominator == 0 else str(share)
        is_inner = place.mover >= 0
        return TreeNode(
            number,
            -1 if parent is None else parent.number,
            place.path if parent is not None else "",
            "" if parent is None else place.name,
            self.sides.shape(place.mover) if is_inner else Shape.LEAF,
            str(self.game.roles[place.mover]) if is_inner else "",
            probability,
            self.sides.text(self.shown_goals(place.state))
            if isinstance(self.game, BareTree) and not is_inner
            else "",
            term="" if self.writing.is_plain or place.move is None else str(place.move),
        )

    def shown_goals(self, branch: Branch) -> tuple[float, ...]:
        """The goals of a leaf as they are shown."""
        goals = branch.goals or ()
        return goals if self.sides.is_tuple else (sum(goals[r] for r in self.sides.members),)

    # Steps

    def read(self, event: Event) -> None:
        """One event; counts and best values also where it is folded."""
        kind = event.kind
        if kind is EventKind.ENTER:
            self.enter(event)
            return
        visit = self.visits[event.ply]
        if kind is EventKind.TABLE_HIT:
            self.nodes -= 1
            self.mark(visit.place, "T")
            visit.is_open = self.open_states.get(visit.place.state, True)
            self.finish(event, "is answered by the transposition table:")
        elif kind is EventKind.LEAVE:
            self.finish(event, "is")
        elif kind is EventKind.LEAF:
            self.leaf(event, visit)
        elif kind in (EventKind.CUTOFF, EventKind.TABLE_CUTOFF, EventKind.GOAL_CUTOFF, EventKind.PRUNED):
            self.cut(event, visit)
        else:
            child = visit.place.child(event.move)
            self.mark(child, _MARKS[kind])
            visit.reduced |= {child} if kind is EventKind.REDUCTION else set()
            look = self.looks.get(child, Look())._replace(marks=self.marks[child])
            value = "" if event.score is None else self.sides.text(self.sides.goals(event))
            end = "low" if self.sides.sign(event.mover) < 0 else "high"
            self.step(child, _REMARKS[kind].format(child.path, value=value, end=end), {child: look})

    def mark(self, place: Place, mark: str) -> None:
        marks = self.marks.get(place, "")
        self.marks[place] = marks if mark in marks else marks + mark

    def enter(self, event: Event) -> None:
        self.nodes += 1
        is_test = event.excluded is not None
        place = self.root
        if event.ply:
            above = self.visits[event.ply - 1]
            place = above.place if is_test else above.place.child(event.move)
            above.tried |= set() if is_test else {place}
        del self.visits[event.ply :]
        window = self.sides.window(event)
        without = place.child(event.excluded).name if is_test else ""
        self.visits.append(Visit(place, window, self.ends_text(window), without=without))
        looks = {} if is_test else self.wiped(place, keeps_marks=event.ply > 0)
        if is_test:
            self.mark(place, "S")
        asked = self.window_text(self.visits[-1])
        looks[place] = Look(Status.OPEN, "", asked, "", self.marks.get(place, ""))
        text = f"{place.path}: {self.game.roles[event.mover]} chooses"
        if self.sides.shape(event.mover) is Shape.CHANCE:
            text = f"{place.path}: chance"
        elif all(len(self.game.legal_moves(event.state, role)) == 1 for role in self.game.roles):
            text = f"{place.path}: only one move"
        if is_test:
            text = f"{place.path}: is {without} singular? All other moves"
        if event.depth <= MAX_SHOWN_DEPTH and self.sides.has_window:
            text += f", depth {event.depth}"
        self.step(place, text + (f", window {asked}" if asked else ""), looks)

    def wiped(self, place: Place, *, keeps_marks: bool) -> dict[Place, Look]:
        """Forget how everything below a place looked, in an earlier search."""
        kept = self.marks.get(place, "") if keeps_marks else ""
        looks = {}
        if place in self.looks or place.nodes > 1:
            for each in place.below():
                self.marks.pop(each, None)
                if self.looks.get(each, Look()) != Look():
                    looks[each] = Look()
        if kept:
            self.marks[place] = kept
        return looks

    def leaf(self, event: Event, visit: Visit) -> None:
        self.leaves += 1
        child, goals = visit.place.child(event.move), self.sides.goals(event)
        visit.tried.add(child)
        look = Look(Status.DONE, self.sides.text(goals), "", "", self.marks.get(child, ""))
        is_end = self.game.is_terminal(event.state)
        text = f"{child.path} = {look.value}" + ("" if is_end else ", evaluated")
        change = self.take(visit, child, goals, "exact")
        visit.is_open |= not is_end and change != UNCONFIRMED
        self.step(child, text + change, {child: look, visit.place: self.open_look(visit)})

    def finish(self, event: Event, verb: str) -> None:
        """A node is finished: its value, and what its parent knows by it."""
        visit, goals = self.visits[event.ply], self.sides.goals(event)
        bound = event.bound if self.sides.has_window else "exact"
        if self.sides.sign(event.mover) < 0:
            bound = {"lower": "upper", "upper": "lower"}.get(bound, bound)
        place = visit.place
        value = {"lower": "≥ ", "upper": "≤ ", "exact": ""}[bound] + self.sides.text(goals)
        look = self.looks.get(place, Look())
        looks = {place: Look(Status.DONE, value, look.window, "", self.marks.get(place, ""))}
        text = f"{place.path} {f'without {visit.without} ' if visit.without else ''}{verb} {value}"
        horizon = f" to depth {event.depth}" if visit.is_open and event.depth <= MAX_SHOWN_DEPTH else ""
        text += horizon
        if not event.ply and (horizon or self.depth != event.depth):  # one open window of a depth is enough
            self.depth, self.horizon = event.depth, horizon
        if not event.ply and bound != "exact":
            text += ": the window fails " + ("high" if bound == "lower" else "low")
        if not visit.without:
            self.open_states[place.state] = visit.is_open
            if place.best is not None:
                self.searched[place.state] = place
        if event.ply and not visit.without:
            above = self.visits[event.ply - 1]
            change = self.take(above, place, goals, bound)
            above.is_open |= visit.is_open and change != UNCONFIRMED
            text += change
            looks[above.place] = self.open_look(above)
        del self.visits[event.ply :]
        self.step(place, text, looks)

    def take(self, visit: Visit, child: Place, goals: tuple[float, ...], bound: str) -> str:
        """Count a child's value for its parent; return what that changes, as text."""
        mover, low, high = visit.place.mover, *visit.window
        shape = self.sides.shape(mover)
        if shape is Shape.CHANCE:
            return ""
        if child in visit.reduced:
            visit.reduced.discard(child)
            alpha = low if shape is Shape.MAX else high
            if self.sides.worth(goals, mover) > self.sides.worth((alpha,), mover):
                return UNCONFIRMED
        if visit.best is not None and self.sides.worth(goals, mover) <= self.sides.worth(visit.best, mover):
            return ""
        visit.best, visit.best_bound, visit.place.best = goals, bound, child
        if shape is Shape.MAX and goals[0] > low:
            visit.window, visit.ends = (goals[0], high), (self.sides.text(goals), visit.ends[1])
        elif shape is Shape.MIN and goals[0] < high:
            visit.window, visit.ends = (low, goals[0]), (visit.ends[0], self.sides.text(goals))
        return f", so {visit.place.path} {known}" if (known := self.known_text(visit)) else ""

    def known_text(self, visit: Visit) -> str:
        """What the best child so far shows of a node that is not finished."""
        shape = self.sides.shape(visit.place.mover)
        if visit.best is None or shape is Shape.CHANCE:
            return ""
        if shape is Shape.PLAYER:
            return f"so far {self.sides.text(visit.best)}"
        against = "upper" if shape is Shape.MAX else "lower"
        sign = "≥" if shape is Shape.MAX else "≤"
        return "" if visit.best_bound == against else f"{sign} {self.sides.text(visit.best)}"

    def open_look(self, visit: Visit) -> Look:
        window = self.window_text(visit)
        return Look(Status.OPEN, self.known_text(visit), window, "", self.marks.get(visit.place, ""))

    def window_text(self, visit: Visit) -> str:
        return f"[{', '.join(visit.ends)}]" if self.sides.has_window else ""

    def ends_text(self, window: tuple[float, float]) -> tuple[str, str]:
        """The ends of a window; one of a hundredth of a goal is a null window."""
        low, high = self.sides.text(window[:1]), self.sides.text(window[1:])
        if 0 < window[1] - window[0] < 1.5 / SCALE:
            # The whole goal of the two is the end that was asked for; on a scale both may look whole.
            whole = len(value_text(window[:1])) <= len(value_text(window[1:]))
            return (low, f"{low}+ε") if whole else (f"{high}−ε", high)
        return low, high

    def cut(self, event: Event, visit: Visit) -> None:
        """All children that were not tried are cut off, by a bound of this node."""
        place = visit.place
        left = [child for child in place.children.values() if child not in visit.tried]
        if event.kind in (EventKind.TABLE_CUTOFF, EventKind.GOAL_CUTOFF):
            visit.place.best = place.child(event.move)
        note, why = "pruned", "forward pruning"
        if event.kind is not EventKind.PRUNED:
            value = self.sides.goals(event)
            low, sign = self.sides.window(event)[0], self.sides.sign(event.mover)
            is_low = sign < 0 or (self.sides.shape(place.mover) is Shape.CHANCE and value[0] <= low)
            bound = self.sides.text([low if is_low and sign > 0 else sign * event.beta / SCALE])
            if "ε" in (end := visit.ends[0 if is_low else 1]):
                bound = end
            note = f"{self.sides.text(value)} {'≤ α' if is_low else '≥ β'} = {bound}"
            why = f"cutoff at {place.path}, {note}"
            if event.kind is not EventKind.CUTOFF:
                by = "table" if event.kind is EventKind.TABLE_CUTOFF else "goals"
                why += f" by the {by} behind {place.child(event.move).path}"
        if not left:
            return
        looks = dict.fromkeys((each for child in left for each in child.below()), Look(Status.CUT))
        looks |= dict.fromkeys(left, Look(Status.CUT, note=note))
        names = ", ".join(child.name for child in left[:4]) + ("…" if len(left) > 4 else "")
        self.step(place, f"{why}: {names} not searched", looks)

    def step(self, place: Place, text: str, looks: dict[Place, Look]) -> None:
        self.looks |= looks
        self.recorded.append(_Recorded(place, text, looks, (self.nodes, self.leaves)))

    def best_line(self) -> Iterator[Place]:
        """The places along the best moves, the root left out."""
        place = self.root.best
        while place is not None:
            yield place
            place = place.best

    def continued(self, line: Sequence[Place]) -> Iterator[Place]:
        """A best line, and on behind an answer of the table where that position was searched."""
        yield from line
        passed = {None, *(place.state for place in line)}
        place = self.searched.get(line[-1].state) if line else None
        while place is not None and place.best is not None:
            place = place.best
            yield place
            if place.best is None and place.state not in passed:
                passed.add(place.state)
                place = self.searched.get(place.state)
