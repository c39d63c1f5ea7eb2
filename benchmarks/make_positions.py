"""Make the positions of `ggp assess`: `python benchmarks/make_positions.py > ggp/assessment/positions.json`.

Takes states from random matches, solves those that can be solved to the end within a budget, and keeps those
in which some moves are right and most are wrong. All choices come from one seed.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, deque
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from ggp.assessment.positions import Choice, Mixture, Place, PlayOut, Position, position_to_data
from ggp.engines.loading import load
from ggp.game import Game
from ggp.match.record import state_text

SEED = 20100
BUDGET = 2_500
"""Limit of states reachable from a position: the tests visit all of them again."""

LAST_STATES = 10
"""Number of states before the end of a random match to examine."""

MOST_ROUNDS = 60

PER_TACTIC = 5
PER_STRATEGY = 12
PER_GAME = 3
"""Positions of one skill from one game."""

BOARD_GAMES = (
    "tictactoe",
    "connectfour_4x5",
    "connectfour_5x5",
    "connectfour",
    "breakthrough_4x4",
    "breakthrough_small",
    "othello_4x4",
    "othello_6x6",
    "hex_4x4",
    "hex_5x5",
    "dotsandboxes",
    "minichess",
    "nineboard",
)
STRATEGY_GAMES = (*BOARD_GAMES, "nim", "halving", "hex_3x3")

Outcome = tuple[tuple[int, ...], int]
"""Goal of each role and number of moves to the end, both under best play."""


class OverBudgetError(Exception):
    """The budget of states is exhausted."""


class Solver:
    """Values of all states below one, for games in which one role at a time has a choice."""

    def __init__(self, game: Game[Any], budget: int = BUDGET) -> None:
        self.game, self.budget = game, budget
        self.known: dict[Any, Outcome] = {}

    def solve(self, state: Any) -> Outcome:
        """Sort key of best play: win as early, lose as late as possible."""
        if state not in self.known:
            if len(self.known) >= self.budget:
                raise OverBudgetError
            game = self.game
            self.known[state] = ((), 0)  # counted before its successors are
            if game.is_terminal(state):
                outcome = (tuple(game.goal(state, role) for role in game.roles), 0)
            else:
                mover = chooser(game, state)
                goals, moves = max(
                    (outcome for _, outcome in self.options(state)), key=lambda o: preference(o, mover)
                )
                outcome = (goals, moves)
            self.known[state] = outcome
        return self.known[state]

    def options(self, state: Any) -> Iterator[tuple[Any, Outcome]]:
        """Moves of the role to move with their outcome, this move included."""
        mover = chooser(self.game, state)
        for joint_move in joint_moves(self.game, state):
            goals, moves = self.solve(self.game.next_state(state, joint_move))
            yield joint_move[mover], (goals, moves + 1)


def preference(outcome: Outcome, mover: int) -> tuple[int, int]:
    goals, moves = outcome
    return (goals[mover], -moves if goals[mover] >= 50 else moves)


def joint_moves(game: Game[Any], state: Any) -> Iterator[tuple[Any, ...]]:
    return product(*(game.legal_moves(state, role) for role in game.roles))


def chooser(game: Game[Any], state: Any) -> int:
    return max(range(len(game.roles)), key=lambda r: len(game.legal_moves(state, game.roles[r])))


def walk(game: Game[Any], rng: random.Random) -> list[Any]:
    """Live states of a random match."""
    state, states = game.initial_state(), []
    while not game.is_terminal(state):
        states.append(state)
        state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
    return states


def judge(game: Game[Any], state: Any) -> tuple[str, Any, int, tuple[str, ...]] | None:
    """Skill, role, number of moves and good moves of a state; None if it is not a useful question."""
    mover = chooser(game, state)
    if sum(len(game.legal_moves(state, role)) > 1 for role in game.roles) != 1:
        return None
    solver = Solver(game)
    try:
        options = [(str(move), goals[mover], moves) for move, (goals, moves) in solver.options(state)]
    except (OverBudgetError, RecursionError):
        return None
    best = max(goal for _, goal, _ in options)
    good = tuple(sorted(move for move, goal, _ in options if goal == best))
    bad = [(goal, moves) for _, goal, moves in options if goal < best]
    if len(options) < 3 or 2 * len(good) > len(options):
        return None
    wins = min((moves for _, goal, moves in options if goal == 100), default=0)
    # Depth 2: all mistakes lose at once. Depth 4: the nearest or the farthest loss is 4 moves away.
    losses = {moves for _, moves in bad}
    skill = "strategy"
    if wins in (1, 3, 5):
        skill = f"tactics {wins}"
    elif all(goal == 0 for goal, _ in bad) and losses == {2}:
        skill = "tactics 2"
    elif all(goal == 0 for goal, _ in bad) and 4 in (min(losses), max(losses)):
        skill = "tactics 4"
    return skill, game.roles[mover], len(options), good


def choices() -> list[Choice]:
    rng = random.Random(SEED)
    wanted = {f"tactics {depth}": PER_TACTIC for depth in range(1, 6)} | {"strategy": PER_STRATEGY}
    found: dict[str, list[Choice]] = {skill: [] for skill in wanted}
    per_game: Counter[tuple[str, str]] = Counter()
    seen = set()
    games = {name: load(name, "reasoner") for name in STRATEGY_GAMES}
    for attempt in range(MOST_ROUNDS):
        for name, game in games.items():
            open_skills = [skill for skill in wanted if len(found[skill]) < wanted[skill]]
            if all(per_game[skill, name] >= PER_GAME for skill in open_skills):
                continue
            # Earlier states are over the budget as a rule.
            states = walk(game, rng)[-LAST_STATES:]
            for state in rng.sample(states, min(3, len(states))):
                judged = None if state in seen else judge(game, state)
                seen.add(state)
                if judged is None:
                    continue
                skill, role, legal_count, good = judged
                if len(found[skill]) >= wanted[skill] or per_game[skill, name] >= PER_GAME:
                    continue
                per_game[skill, name] += 1
                place = Place(
                    f"{skill.replace(' ', '-')}-{name}-{per_game[skill, name]}",
                    skill,
                    name,
                    state_text(game.facts(state)),
                    str(role),
                )
                found[skill].append(Choice(place, legal_count, good))
        print(attempt, {skill: len(each) for skill, each in found.items()}, file=sys.stderr)
        if all(len(found[skill]) >= wanted[skill] for skill in wanted):
            break
    return [choice for skill in wanted for choice in found[skill]]


# Puzzles


def without_step(game: Game[Any], state: Any) -> frozenset[str]:
    return frozenset(str(fact) for fact in game.facts(state) if not str(fact).startswith("(step"))


def shortest_solution(game: Game[Any]) -> list[Any]:
    """Moves to the first state worth 100, by breadth-first search that does not tell steps apart."""
    first = game.initial_state()
    seen = {without_step(game, first)}
    todo: deque[tuple[Any, tuple[Any, ...]]] = deque([(first, ())])
    role = game.roles[0]
    while todo:
        state, line = todo.popleft()
        if game.is_terminal(state):
            if game.goal(state, role) == 100:
                return unfolded(line)
            continue
        for move in game.legal_moves(state, role):
            following = game.next_state(state, [move])
            key = without_step(game, following)
            if key not in seen:
                seen.add(key)
                todo.append((following, (line, move)))
    raise AssertionError("no solution")


def unfolded(line: Any) -> list[Any]:
    moves = []
    while line:
        line, move = line
        moves.append(move)
    return moves[::-1]


def pressed(cells: tuple[tuple[int, int], ...]) -> set[tuple[int, int]]:
    lit: set[tuple[int, int]] = set()
    for x, y in cells:
        lit ^= {(u, v) for u, v in product(range(1, 6), repeat=2) if abs(u - x) + abs(v - y) <= 1}
    return lit


def lights_solution(game: Game[Any]) -> list[Any]:
    """Presses that turn all lights out: from the second row on, the light above decides."""
    facts = [str(fact).strip("()").split() for fact in game.facts(game.initial_state())]
    lit = {(int(x), int(y)) for name, *rest in facts if name == "lit" for x, y in [rest]}
    for count in range(6):
        for first_row in combinations(range(1, 6), count):
            presses = [(x, 1) for x in first_row]
            for y in range(2, 6):
                left = lit ^ pressed(tuple(presses))
                presses += [(x, y) for x in range(1, 6) if (x, y - 1) in left]
            if pressed(tuple(presses)) == lit and len(presses) <= 12:
                wanted = {f"(press {x} {y})" for x, y in presses}
                moves = game.legal_moves(game.initial_state(), game.roles[0])
                return [move for move in moves if str(move) in wanted]
    raise AssertionError("no solution")


def puzzles() -> list[PlayOut]:
    """Last moves of solutions, and peg endings solved exhaustively."""
    found: list[PlayOut] = []
    lasts = {"hanoi": (3, 5), "maze": (4, 8), "eightpuzzle": (4, 7), "lightsout": (2, 3), "sudoku_4x4": (6,)}
    for name, lengths in lasts.items():
        game = load(name, "reasoner")
        solution = lights_solution(game) if name == "lightsout" else shortest_solution(game)
        for length in lengths:
            state = game.initial_state()
            for move in solution[: len(solution) - length]:
                state = game.next_state(state, [move])
            found.append(puzzle(game, state, 100, solution[len(solution) - length :], len(found)))
    rng = random.Random(SEED)
    game = load("peg", "reasoner")
    count = len(found)
    while len(found) < count + 2:
        state = rng.choice(walk(game, rng))
        solver = Solver(game)
        try:
            (best,), length = solver.solve(state)
            goals = [goals[0] for _, (goals, _) in solver.options(state)]
        except OverBudgetError:
            continue
        if length >= 4 and len(goals) >= 3 and 2 * goals.count(best) <= len(goals):
            line = []
            where = state
            while not game.is_terminal(where):
                move, _ = max(solver.options(where), key=lambda option: preference(option[1], 0))
                line.append(move)
                where = game.next_state(where, [move])
            found.append(puzzle(game, state, best, line, len(found)))
    return found


def puzzle(game: Game[Any], state: Any, best: int, solution: list[Any], number: int) -> PlayOut:
    place = Place(
        f"puzzles-{game.name}-{number + 1}",
        "puzzles",
        game.name,
        state_text(game.facts(state)),
        str(game.roles[0]),
    )
    return PlayOut(place, best, tuple(map(str, solution)))


# Simultaneous games


def matrix_value(payoff: list[list[Fraction]]) -> Fraction:
    """Value of a matrix game: the best of all mixtures that equalize sets of columns.

    For every square part (Shapley & Snow, 1950): solve for the mixture that is indifferent on it, keep the
    best guarantee. Exact and slow; matrices here are tiny.
    """
    rows, columns = len(payoff), len(payoff[0])
    best = max(min(row) for row in payoff)
    for size in range(2, min(rows, columns) + 1):
        for own in combinations(range(rows), size):
            for other in combinations(range(columns), size):
                mixture = indifferent([[payoff[i][j] for j in other] for i in own])
                if mixture is not None and min(mixture) >= 0:
                    sums = [
                        sum((mixture[k] * payoff[i][j] for k, i in enumerate(own)), Fraction(0))
                        for j in range(columns)
                    ]
                    best = max(best, min(sums))
    return best


def indifferent(part: list[list[Fraction]]) -> list[Fraction] | None:
    """Mixture of rows that pays the same in every column; None unless there is exactly one."""
    size = len(part)
    rows = [[part[i][j] for i in range(size)] + [Fraction(-1), Fraction(0)] for j in range(size)]
    rows.append([Fraction(1)] * size + [Fraction(0), Fraction(1)])
    for column in range(size + 1):
        pivot = next((r for r in range(column, size + 1) if rows[r][column] != 0), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for r in range(size + 1):
            if r != column and rows[r][column] != 0:
                rows[r] = [a - rows[r][column] * b for a, b in zip(rows[r], rows[column], strict=True)]
    return [rows[k][-1] for k in range(size)]


class SimultaneousSolver:
    """Values of a two-role zero-sum game with simultaneous moves, for one role."""

    def __init__(self, game: Game[Any], budget: int = BUDGET) -> None:
        self.game, self.budget = game, budget
        self.known: dict[tuple[Any, int], Fraction] = {}

    def value(self, state: Any, role: int) -> Fraction:
        if (state, role) not in self.known:
            if len(self.known) >= self.budget:
                raise OverBudgetError
            self.known[state, role] = Fraction(0)
            if self.game.is_terminal(state):
                found = Fraction(self.game.goal(state, self.game.roles[role]))
            else:
                found = matrix_value(self.payoff(state, role))
            self.known[state, role] = found
        return self.known[state, role]

    def payoff(self, state: Any, role: int) -> list[list[Fraction]]:
        own = self.game.legal_moves(state, self.game.roles[role])
        other = self.game.legal_moves(state, self.game.roles[1 - role])
        table = []
        for mine in own:
            row = []
            for theirs in other:
                joint_move = (mine, theirs) if role == 0 else (theirs, mine)
                row.append(self.value(self.game.next_state(state, joint_move), role))
            table.append(row)
        return table


def mixtures() -> list[Position]:
    found: list[Position] = []
    for name, role in (("rockpaperscissors", 0), ("morra", 0)):
        game = load(name, "reasoner")
        found.append(mixture(game, game.initial_state(), role, len(found)))
    game = load("prisoners_dilemma", "reasoner")
    place = Place(
        "simultaneous-prisoners_dilemma",
        "simultaneous",
        game.name,
        state_text(game.facts(game.initial_state())),
        str(game.roles[0]),
    )
    found.append(Choice(place, 2, ("confess",)))
    rng = random.Random(SEED)
    for name, mixed_count, pure_count in (("goofspiel", 2, 1), ("tron", 0, 2)):
        game = load(name, "reasoner")
        wanted = {"mixed": mixed_count, "pure": pure_count}
        while any(wanted.values()):
            state, role = rng.choice(walk(game, rng)), rng.randrange(2)
            kind = add_simultaneous(found, game, state, role, wanted)
            if kind:
                wanted[kind] -= 1
                print(name, kind, file=sys.stderr)
    return found


def add_simultaneous(
    found: list[Position], game: Game[Any], state: Any, role: int, wanted: dict[str, int]
) -> str:
    """Add the state if it needs a mixture or has bad pure moves."""
    own = game.legal_moves(state, game.roles[role])
    other = game.legal_moves(state, game.roles[1 - role])
    if not (2 <= len(own) <= 4 and 2 <= len(other) <= 4):
        return ""
    try:
        payoff = SimultaneousSolver(game).payoff(state, role)
    except OverBudgetError:
        return ""
    value = matrix_value(payoff)
    safe = [str(move) for move, row in zip(own, payoff, strict=True) if min(row) == value]
    worst = min(min(row) for row in payoff)
    if not safe and value - worst >= 25 and wanted["mixed"]:
        found.append(mixture(game, state, role, len(found)))
        return "mixed"
    # A safe move alone is not enough, since a mixture of others may be as safe: every other must lose.
    if len(safe) == 1 and value > 0 and wanted["pure"] and is_only_equilibrium(payoff, value, safe, own):
        place = Place(
            f"simultaneous-{game.name}-{len(found) + 1}",
            "simultaneous",
            game.name,
            state_text(game.facts(state)),
            str(game.roles[role]),
        )
        found.append(Choice(place, len(own), tuple(safe)))
        return "pure"
    return ""


def is_only_equilibrium(payoff: list[list[Fraction]], value: Fraction, safe: list[str], own: Any) -> bool:
    """Whether every other move pays less than the value against some optimal opponent."""
    rest = [row for move, row in zip(own, payoff, strict=True) if str(move) not in safe]
    columns = range(len(payoff[0]))
    return any(
        max(row[j] for row in payoff) == value and all(row[j] < value for row in rest) for j in columns
    )


def mixture(game: Game[Any], state: Any, role: int, number: int) -> Mixture:
    solver = SimultaneousSolver(game)
    payoff = solver.payoff(state, role)
    name = game.roles[role]
    place = Place(
        f"simultaneous-{game.name}-{number + 1}",
        "simultaneous",
        game.name,
        state_text(game.facts(state)),
        str(name),
    )
    return Mixture(
        place,
        tuple(map(str, game.legal_moves(state, name))),
        tuple(tuple(round(float(value), 6) for value in row) for row in payoff),
        round(float(matrix_value(payoff)), 6),
    )


def main() -> None:
    positions: list[Position] = [*choices(), *puzzles(), *mixtures()]
    lines = [json.dumps(position_to_data(position)) for position in positions]
    print("[\n" + ",\n".join(lines) + "\n]")


if __name__ == "__main__":
    main()
