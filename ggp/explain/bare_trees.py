"""Bare trees: a search tree written as text, as on a slide, read into a game that every search can play.

[[3,12,8],[2,4,6],[14,5,2]]       max chooses first, then min, in turn
[(1,2,3), [(4,0,1), (2,2,2)]]     tuples: the players p1, p2, p3 choose in turn
[[0.5: 8, 1/2: 24], 10]           chance, with probabilities; it takes no player's turn
[left: 3, right: max[4, -1]]      named moves; a player's name before a bracket says who chooses
[7[3, 12], 5[2, 4]]               7 and 5 are evaluations, for searches with a horizon
; a comment                       to the end of the line
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, NoReturn

from gdl.errors import Diagnostic, RuleSheetError, Severity
from gdl.program import Program, Source
from gdl.terms import Compound, Span, Symbol
from ggp.game import RANDOM_ROLE, GoalError, Move, Role, illegal

MAX_CHARACTERS = 1 << 20
MAX_TOKEN = 100
"""Longest number or name, in characters."""
MAX_VALUE = 10_000
MAX_POSITIONS = 20_000
MAX_NESTING = 60
MAX_PLAYERS = 8
STAY = Symbol("noop")
MAX, MIN = Symbol("max"), Symbol("min")
_TOKEN = re.compile(r"(-?\d+(?:\.\d+)?(?:/\d+)?)|([A-Za-z_][\w+-]*)|([][(),:])|(\S)", re.ASCII)
_BEGINNING = re.compile(r"(?:\s|;.*)*(?:(?:[A-Za-z]\w*\s*)?\[|\(\s*-?\d[\d./]*\s*,)", re.ASCII)


class BareTreeError(RuleSheetError):
    """A text that is not a tree; the message shows the place.

    >>> read_tree("[3, [2, 4]")
    Traceback (most recent call last):
    ggp.explain.bare_trees.BareTreeError: <tree>:1:1: error TREE: unclosed '['...
    """


@dataclass(eq=False)
class Branch:
    """A position of a bare tree; equal to itself only.

    path      names of the moves that lead here, joined by dots
    goals     per player; of an inner position its evaluation, None without one
    mover     index of the role that chooses; -1 at a leaf
    weights   of the moves of chance, whole numbers
    """

    path: str
    goals: tuple[float, ...] | None
    mover: int = -1
    moves: tuple[Move, ...] = ()
    children: tuple[Branch, ...] = ()
    weights: tuple[int, ...] = ()

    @cached_property
    def child_of(self) -> dict[Move, Branch]:
        """The child behind each move."""
        return dict(zip(self.moves, self.children, strict=True))

    def below(self) -> Iterator[Branch]:
        """This position and all below it."""
        yield self
        for child in self.children:
            yield from child.below()

    def height(self) -> int:
        """Plies from here to the deepest leaf."""
        return 1 + max(child.height() for child in self.children) if self.children else 0

    def value(self) -> tuple[float, ...]:
        """The goals of all players if each maximizes its own."""
        if self.mover < 0:
            return self.goals or ()
        found = [child.value() for child in self.children]
        if self.weights:
            weighted = [
                [weight * value for value in values]
                for weight, values in zip(self.weights, found, strict=True)
            ]
            return tuple(sum(each) / sum(self.weights) for each in zip(*weighted, strict=True))
        return max(found, key=lambda values: values[self.mover])


@dataclass(frozen=True)
class BareTree:
    """The game of a bare tree, with the methods of `Game` and of `ValueTree`; its states are branches.

    >>> tree = read_tree("[[3,12,8],[2,4,6],[14,5,2]]")
    >>> tree.roles, [str(move) for move in tree.legal_moves(tree.root, tree.roles[0])]
    ((Symbol('max'), Symbol('min')), ['a', 'b', 'c'])
    """

    root: Branch
    roles: tuple[Role, ...]
    name: str = "tree"

    @property
    def program(self) -> Program:
        return Program(())

    @property
    def is_zero_sum(self) -> bool:
        """Whether values are max's, and min gets the opposite."""
        return self.roles[0] == MAX

    @cached_property  # asked for by each `isinstance` of ValueTree
    def possible_goals(self) -> Sequence[float]:
        """Goals at leaves, ascending: the first player's, of three and more players anyone's."""
        goals = [branch.goals for branch in self.root.below() if branch.mover < 0 and branch.goals]
        return sorted({each for found in goals for each in (found[:1] if len(found) == 2 else found)})

    def chance_weights(self, state: Branch) -> Sequence[int]:
        return state.weights or (1,)

    def initial_state(self) -> Branch:
        return self.root

    def is_terminal(self, state: Branch) -> bool:
        return state.mover < 0

    def legal_moves(self, state: Branch, role: Role) -> tuple[Move, ...]:
        if state.mover < 0:
            return ()
        is_only = len(state.moves) == 1  # searches then take any role for the one that chooses
        return state.moves if is_only or self.roles[state.mover] == role else (STAY,)

    def next_state(self, state: Branch, joint_move: Sequence[Move]) -> Branch:
        move = joint_move[state.mover]
        if move not in state.child_of:
            raise illegal(move, self.roles[state.mover])
        return state.child_of[move]

    def goal(self, state: Branch, role: Role) -> int:
        """The goal at a leaf, the evaluation elsewhere, 0 without one; maybe a decimal fraction."""
        goals = state.goals or (0.0,) * len(self.roles)
        if role == RANDOM_ROLE:
            raise GoalError("chance has no goals")
        return goals[self.roles.index(role)]  # type: ignore[return-value]

    def facts(self, state: Branch) -> tuple[Compound, ...]:
        return (Compound("at", (Symbol(state.path or "root"),)),)

    def percepts(self, state: Branch, joint_move: Sequence[Move], role: Role) -> tuple[()]:
        return ()

    def ordered(self, *, best_first: bool) -> BareTree:
        """The same tree with each player's moves in the order of what they are worth to the player."""

        def sort(branch: Branch) -> Branch:
            children = [sort(child) for child in branch.children]
            places = list(range(len(children)))
            if not branch.weights:
                places.sort(key=lambda i: children[i].value()[branch.mover], reverse=best_first)
            moves = tuple(branch.moves[i] for i in places)
            return replace(branch, moves=moves, children=tuple(children[i] for i in places))

        return replace(self, root=sort(self.root))


class _Token(NamedTuple):
    kind: str  # "number", "word", "" at the end, or the sign itself
    text: str
    span: Span


@dataclass
class _Item:
    """One position as written."""

    span: Span
    name: str = ""
    probability: Fraction | None = None
    mover: str = ""
    goals: tuple[float, ...] | None = None
    children: list[_Item] | None = None


def is_tree(text: str) -> bool:
    """Whether a text is meant as a bare tree: no name of a file and no rule sheet begins like one.

    >>> is_tree(" [3, 4]"), is_tree("; wins\\nmin[3, 4]"), is_tree("(1, 2)"), is_tree("nim")
    (True, True, True, False)
    """
    return _BEGINNING.match(text) is not None


def read_tree(text: str, name: str = "<tree>") -> BareTree:
    """Read a tree as the module describes it. Raises BareTreeError, which shows the place.

    >>> [branch.value() for branch in read_tree("[[1/3: 24, 1/6: -12, 1/2: 8], 9]").root.children]
    [(10.0, -10.0), (9, -9)]
    """
    reader = _Reader(Source(name, text))
    item = reader.item(0)
    if reader.token.kind:
        reader.fail(f"unexpected {reader.token.text!r} after the tree", reader.token.span)
    if not item.children:
        reader.fail("a tree begins with '['", item.span)
    return reader.tree(item)


class _Reader:
    """A recursive-descent parser; `fail` points at a place."""

    def __init__(self, source: Source) -> None:
        self.source, self.place, self.count = source, 0, 0
        self.tokens: list[_Token] = []
        if len(source.text) > MAX_CHARACTERS:
            self.fail(f"a tree has at most {MAX_CHARACTERS:,} characters", Span(1, 1, 1, 2))
        lines = source.text.split("\n")
        for number, line in enumerate(lines, 1):
            for found in _TOKEN.finditer(line.partition(";")[0]):
                span = Span(number, found.start() + 1, number, found.end() + 1)
                if found.lastindex == 4:
                    self.fail(f"unexpected character {found.group()!r}", span)
                if found.end() - found.start() > MAX_TOKEN:
                    self.fail(f"a number or a name has at most {MAX_TOKEN} characters", span)
                kind = ("number", "word", found.group())[(found.lastindex or 1) - 1]
                self.tokens.append(_Token(kind, found.group(), span))
        end = Span(len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 2)
        self.tokens += [_Token("", "", end)] * 3

    def fail(self, message: str, span: Span) -> NoReturn:
        raise BareTreeError([Diagnostic("TREE", Severity.ERROR, message, span)], self.source)

    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    def next(self) -> _Token:
        self.place += 1
        return self.tokens[self.place - 1]

    def item(self, nesting: int) -> _Item:
        """One position with what stands before it: its move's name, a probability, who chooses."""
        item = _Item(self.token.span)
        self.count += 1
        if nesting > MAX_NESTING or self.count > MAX_POSITIONS:
            limit = f"{MAX_NESTING} levels" if nesting > MAX_NESTING else f"{MAX_POSITIONS:,} positions"
            self.fail(f"a tree has at most {limit}", item.span)
        first, second, third = (each.kind for each in self.tokens[self.place : self.place + 3])
        if (first in ("word", "number") and second == ":") or (first, second, third) == (
            "word",
            "number",
            ":",
        ):
            self.label(item)
        if self.token.kind == "word":
            item.mover = self.next().text
        if self.token.kind in ("number", "("):
            item.goals = self.goals()
        if self.token.kind == "[":
            item.children = self.children(nesting)
        elif item.mover:
            self.fail(f"expected '[' after {item.mover!r}, or ':' if it names a move", item.span)
        if item.goals is None and item.children is None:
            what = f"not {self.token.text!r}" if self.token.kind else "but the text ends"
            self.fail(f"expected a value, a tuple or '[', {what}", self.token.span)
        return item

    def label(self, item: _Item) -> None:
        """The name of a move, its probability, or both in this order; and a colon."""
        if self.token.kind == "word":
            item.name = self.next().text
        if self.token.kind == "number":
            token = self.next()
            item.probability = self.fraction(token)
            if not 0 < item.probability <= 1:
                self.fail("a probability is above 0 and at most 1", token.span)
        colon = self.next()
        if colon.kind != ":":
            self.fail("expected ':' after a name or a probability", colon.span)

    def goals(self) -> tuple[float, ...]:
        """A value, or a tuple of them."""
        begin = self.next()
        if begin.kind == "number":
            return (self.value(begin),)
        found: list[float] = []
        while True:
            token = self.next()
            if token.kind != "number":
                self.fail("expected a number in the tuple", token.span)
            found.append(self.value(token))
            token = self.next()
            if token.kind == ")":
                break
            if token.kind != ",":
                self.fail("expected ',' or ')' in the tuple", token.span)
        if not 2 <= len(found) <= MAX_PLAYERS:
            self.fail(f"a tuple has from 2 to {MAX_PLAYERS} values", begin.span)
        return tuple(found)

    def children(self, nesting: int) -> list[_Item]:
        begin, found = self.next(), list[_Item]()
        while True:
            found.append(self.item(nesting + 1))
            token = self.next()
            if token.kind == "]":
                return found
            if not token.kind:
                self.fail("unclosed '['", begin.span)
            if token.kind != ",":
                self.fail(f"expected ',' or ']', not {token.text!r}", token.span)

    def fraction(self, token: _Token) -> Fraction:
        try:
            return Fraction(token.text)
        except (ZeroDivisionError, ValueError):
            self.fail("a fraction is like 1/3", token.span)

    def value(self, token: _Token) -> float:
        number = self.fraction(token)
        if abs(number) > MAX_VALUE:
            self.fail(f"values are from -{MAX_VALUE:,} to {MAX_VALUE:,}", token.span)
        if (100 * number).denominator != 1:
            self.fail("values have at most two decimals", token.span)
        return int(number) if number.denominator == 1 else float(number)

    def tree(self, item: _Item) -> BareTree:
        """The tree as a game: who chooses where, and whose the values are."""
        items, stack = list[_Item](), [item]
        while stack:
            items.append(each := stack.pop())
            stack += each.children or ()
        count = max(len(each.goals or ()) for each in items)
        players = [MAX, MIN]
        if count > 1:
            players = [Symbol(f"p{number + 1}") for number in range(count)]
        for each in items:
            if each.goals is not None and len(each.goals) != count:
                self.fail(f"expected a tuple of {count} values here too", each.span)
        has_chance = any(each.probability is not None or each.mover == "chance" for each in items)
        roles = (*players, *[RANDOM_ROLE] * has_chance)
        return BareTree(self.branch(item, "", 0, players), roles, self.source.name.strip("<>"))

    def branch(self, item: _Item, path: str, turn: int, players: list[Symbol]) -> Branch:
        goals = item.goals if item.goals is None or len(item.goals) > 1 else (item.goals[0], -item.goals[0])
        if not item.children:
            return Branch(path, goals)
        names = [str(player) for player in players]
        weights = self.weights(item)
        if item.mover and item.mover not in (*names, "chance"):
            self.fail(f"expected one of {', '.join(names)} and chance, not {item.mover!r}", item.span)
        mover = names.index(item.mover) if item.mover in names else len(names) if weights else turn
        following = turn if weights else (mover + 1) % len(names)
        moves: dict[Move, None] = {}
        for place, child in enumerate(item.children):
            move = Symbol(child.name or default_name(place))
            if move in moves:
                self.fail(f"two moves are called {move}", child.span)
            moves[move] = None
        children = tuple(
            self.branch(child, f"{path}.{move}".lstrip("."), following, players)
            for move, child in zip(moves, item.children, strict=True)
        )
        return Branch(path, goals, mover, tuple(moves), children, weights)

    def weights(self, item: _Item) -> tuple[int, ...]:
        """Whole numbers in proportion to the probabilities; none if a player chooses."""
        children = item.children or []
        given = [child.probability for child in children if child.probability is not None]
        if not given:
            return (1,) * len(children) if item.mover == "chance" else ()
        if item.mover not in ("", "chance"):
            self.fail(f"moves of {item.mover} have no probabilities", item.span)
        missing = next((child for child in children if child.probability is None), None)
        if missing is not None:
            self.fail("expected a probability here too, as in 0.5:", missing.span)
        if sum(given) != 1:
            self.fail(f"the probabilities add up to {float(sum(given)):g}, not 1", item.span)
        whole = math.lcm(*(each.denominator for each in given))
        return tuple(int(each * whole) for each in given)


def default_name(place: int) -> str:
    """The name of a move without one: a, b, …, z, m27, …"""
    return chr(ord("a") + place) if place < 26 else f"m{place + 1}"
