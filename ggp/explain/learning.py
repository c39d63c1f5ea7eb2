"""TD(lambda) step by step: a linear value of facts, learned from random episodes, update by update.

    V(s) = sum of the weights of the facts that hold in s;  of a bare tree each position is a fact of its own
    w(f) += step · (target − V(s)) / number of facts        for every fact f of s, after each episode's end

from the first state of the episode to the last, each with the weights as they are by then, by
`ggp.features.td`. The target is the lambda-return: with lambda 0 the value of the next state, with 1 the goal
in the end. Source: Sutton (1988).
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from ggp.analysis.figures import words_of
from ggp.explain.bare_trees import BareTree, Branch
from ggp.explain.explanation import Explanation, Look, Shape, Status, Step, Table, TreeNode, path_text
from ggp.explain.simulations import SECONDS, Shown, chosen_of, limited
from ggp.features.td import Episode, td_update, value
from ggp.game import Fact, goals_or_none
from ggp.search.option_table import check_table, number
from ggp.search.tree.reference.randomness import TreeRandom
from ggp.validation.properties import counted

MAX_STEPS = 200
"""Joint moves of an episode."""
MAX_SHOWN_STEPS = 1000
"""Episodes that begin later are shown only in their result."""


@dataclass(frozen=True)
class LearningSettings:
    """Settings of td."""

    step: float = number("step", 0.1, "Step size of an update.", least=0.0, most=1.0)
    trace: float = number("lambda", 0.0, "0: the next value is the target; 1: the goal.", least=0.0, most=1.0)
    start: float = number("start", 0.0, "Weight of a fact before its first update.", least=-1e4, most=1e4)

    def __post_init__(self) -> None:
        check_table(self)


@dataclass
class Learner:
    """Weights, and the positions met so far as a drawn tree."""

    shown: Shown
    settings: LearningSettings
    weights: dict[Fact, float] = field(init=False)
    nodes: list[TreeNode] = field(default_factory=list)
    children: dict[tuple[int, str], int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    folded: set[tuple[int, str]] = field(default_factory=set)
    values: dict[int, str] = field(default_factory=dict)  # of nodes, after their last update
    is_complete: bool = True  # every episode is shown

    def __post_init__(self) -> None:
        self.game = self.shown.game
        self.weights = defaultdict(lambda: self.settings.start)

    def join(self, parent: int, move: str, state: Any, term: str = "") -> int:
        """The node behind a move, added to the tree while there is room; else its parent."""
        if (parent, move) in self.children:
            return self.children[parent, move]
        if len(self.nodes) >= self.shown.limit:
            self.folded.add((parent, move))
            return parent
        number, is_end = len(self.nodes), self.game.is_terminal(state)
        path = path_text(self.nodes[parent].path if parent > 0 else "", move)
        given = self.shown.number(self.reward(state)) if is_end else ""
        shape = Shape.LEAF if is_end else Shape.PLAYER
        self.nodes.append(
            TreeNode(number, parent, path, move if parent >= 0 else "", shape, "V", given=given, term=term)
        )
        self.children[parent, move] = number
        if parent >= 0:
            self.nodes[parent].children.append(number)
        return number

    def grow(self, parent: int, branch: Branch) -> None:
        """All of a bare tree."""
        for move, child in zip(branch.moves, branch.children, strict=True):
            number = self.join(parent, str(move), child)
            if number != parent:
                self.grow(number, child)

    def episode(self, root: Any, random: TreeRandom, number: int) -> None:
        """Play at random to the end, then update the value of each state."""
        states, numbers, moves, state = [root], [0], list[str](), root
        while not self.game.is_terminal(state) and len(states) <= MAX_STEPS:
            legal = [self.game.legal_moves(state, role) for role in self.game.roles]
            joint_move = [each[random.below(len(each))] for each in legal]
            choosing = [move for move, each in zip(joint_move, legal, strict=True) if len(each) > 1]
            chosen = chosen_of(choosing or joint_move)
            moves.append(self.shown.joint(chosen))
            state = self.game.next_state(state, joint_move)
            numbers.append(self.join(numbers[-1], moves[-1], state, self.shown.joint_term(chosen)))
            states.append(state)
        goal = self.reward(state)
        is_shown = self.is_complete = len(self.steps) < MAX_SHOWN_STEPS
        if is_shown:
            text = f"episode {number}: {', '.join(moves)}: goal {self.shown.number(goal)}"
            self.steps.append(Step(text, numbers[-1]))
        held = [dict.fromkeys(self.game.facts(state), 1.0) for state in states[:-1]]
        rewards = [*[0.0] * (len(held) - 1), goal]
        episode: Episode = [*zip(held, rewards, strict=True), ({}, 0.0)]
        for t, node in enumerate(numbers[:-1]):
            self.update(episode[t:], node, is_shown=is_shown)

    def reward(self, state: Any) -> float:
        """The first role's goal on the scale, so that weights are learned on it; goal 0 if there is none."""
        return self.shown.goal(float(goals_or_none(self.game, state)[0] or 0))

    def update(self, episode: Episode, number: int, *, is_shown: bool) -> None:
        """One update: of the first of the states to come."""
        facts = list(episode[0][0])
        before = {fact: self.weights[fact] for fact in facts}
        step = self.settings.step / len(facts)
        done = td_update(episode, self.weights, step=step, trace=self.settings.trace)
        shown = self.shown.number
        after = self.values[number] = shown(value(self.weights, done.features))
        if not is_shown:
            return
        text = (
            f"{self.nodes[number].path or 'root'}: V = {shown(done.prediction)}, target "
            f"{shown(done.target)}, error {shown(done.target - done.prediction)}, so V = {after}"
        )
        rows = [(words_of(fact), shown(before[fact]), shown(self.weights[fact])) for fact in facts]
        table = limited(Table("Weights", ("fact", "before", "after"), tuple(rows)))
        look = {number: Look(Status.DONE, after)}
        self.steps.append(Step(text, number, 1, look, (0, 0), (table,)))


def explain_learning(
    shown: Shown, root: Any, settings: LearningSettings, *, episodes: int, seed: int
) -> Explanation:
    """Updates of the values of states in a number of random episodes."""
    game, learner, random = shown.game, Learner(shown, settings), TreeRandom(seed)
    learner.join(-1, "", root)
    if isinstance(game, BareTree):
        learner.grow(0, game.root)
    end, done = time.thread_time() + SECONDS, 0
    while done < episodes and (done == 0 or time.thread_time() < end):
        done += 1
        learner.episode(root, random, done)
    if not learner.is_complete:
        looks = {number: Look(Status.DONE, text) for number, text in learner.values.items()}
        learner.steps.append(Step(f"and so on, to episode {done}", 0, 0, looks))
    found = Explanation(f"{game.name}: td", learner.nodes, learner.steps)
    found.value = shown.number(value(learner.weights, dict.fromkeys(game.facts(root), 1.0)))
    found.summary = [
        f"value of the root {found.value} after {counted(done, 'episode')}"
        + (f" of {episodes:,}: out of time" if done < episodes else ""),
        f"step {settings.step:g}, lambda {settings.trace:g}",
        *shown.remark(),
    ]
    if learner.folded:
        found.summary.append(f"{len(learner.folded):,} positions are folded; --nodes shows more")
    rows = sorted(learner.weights.items(), key=lambda each: -abs(each[1]))
    table = Table("Weights", ("fact", "weight"), tuple((words_of(f), shown.number(w)) for f, w in rows))
    found.comparison = limited(table)
    return found
