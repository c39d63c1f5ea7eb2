"""The puzzles in `games/`: optimal solutions, from puzzle-specific searches, played on the sheet."""

from collections import deque
from itertools import product
from typing import Any

import pytest

from ggp.game import Game
from tests.games.sheets import facts, final_goals, legal, play, rules
from tests.oracles.naive_solver import successors

# The 8-puzzle


TILES = "12345678."


def tiles_of(game: Game[Any], state: Any) -> str:
    """The tiles row by row from the top, the hole as a dot."""
    found = ["."] * 9
    for fact in facts(game, state):
        if fact.startswith("(cell"):
            x, y, tile = fact.strip("()").split()[1:]
            found[3 * (3 - int(y)) + int(x) - 1] = tile
    return "".join(found)


def pushes(tiles: str) -> list[tuple[str, str]]:
    """All pushes with their resulting states."""
    hole = tiles.index(".")
    x, y = hole % 3, hole // 3
    found = []
    for u, v in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
        if 0 <= u < 3 and 0 <= v < 3:
            cells = list(tiles)
            cells[hole], cells[3 * v + u] = cells[3 * v + u], "."
            found.append(("".join(cells), f"(push {u + 1} {3 - v})"))
    return found


def pushes_to_solve() -> dict[str, int]:
    """Number of pushes for every solvable order of the tiles."""
    distance, todo = {TILES: 0}, deque([TILES])
    while todo:
        tiles = todo.popleft()
        for following, _ in pushes(tiles):
            if following not in distance:
                distance[following] = distance[tiles] + 1
                todo.append(following)
    return distance


@pytest.mark.slow
def test_eightpuzzle_twenty_pushes_suffice_and_earn_100() -> None:
    game = rules("eightpuzzle")
    distance = pushes_to_solve()
    assert len(distance) == 181_440
    tiles, steps = tiles_of(game, game.initial_state()), []
    assert distance[tiles] == 20
    while tiles != TILES:
        tiles, push = min(pushes(tiles), key=lambda option: distance[option[0]])
        steps.append(push)
    assert final_goals(game, play(game, *steps)) == [100]
    assert tiles_of(game, play(game, *steps)) == TILES
    there, back = pushes(tiles_of(game, game.initial_state()))[0][1], "(push 3 1)"
    assert final_goals(game, play(game, there, back, *steps)) == [96]


def test_eightpuzzle_legal_moves_are_the_pushes() -> None:
    game = rules("eightpuzzle")
    state = play(game, "(push 2 1)")
    assert legal(game, state, 0) == {push for _, push in pushes(tiles_of(game, state))}


# The others


def hanoi_moves(disc: int, source: str, target: str) -> list[str]:
    if disc == 0:
        return []
    (other,) = {"a", "b", "c"} - {source, target}
    return [
        *hanoi_moves(disc - 1, source, other),
        f"(carry {disc} {target})",
        *hanoi_moves(disc - 1, other, target),
    ]


def test_hanoi_31_moves_suffice_and_detours_cost_5() -> None:
    game = rules("hanoi")
    steps = hanoi_moves(5, "a", "c")
    assert len(steps) == 31
    assert final_goals(game, play(game, *steps)) == [100]
    assert final_goals(game, play(game, "(carry 1 b)", *["(carry 1 c)", *steps[1:]])) == [95]


def test_hanoi_discs_never_lie_on_smaller_ones() -> None:
    game = rules("hanoi")
    assert legal(game, play(game, "(carry 1 c)"), 0) == {"(carry 1 a)", "(carry 1 b)", "(carry 2 b)"}


def lights_after(presses: set[tuple[int, int]]) -> set[tuple[int, int]]:
    lit: set[tuple[int, int]] = set()
    for x, y in presses:
        for u, v in ((x, y), (x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if 1 <= u <= 5 and 1 <= v <= 5:
                lit ^= {(u, v)}
    return lit


def presses_for(lit: set[tuple[int, int]]) -> list[set[tuple[int, int]]]:
    """All sets of presses that turn off `lit`: row 1 at will, then each light by the one above it."""
    solutions = []
    for row in product((False, True), repeat=5):
        presses = {(x, 1) for x, is_pressed in enumerate(row, start=1) if is_pressed}
        for y in range(2, 6):
            rest = lit ^ lights_after(presses)
            presses |= {(x, y) for x in range(1, 6) if (x, y - 1) in rest}
        if lights_after(presses) == lit:
            solutions.append(presses)
    return solutions


def test_lightsout_eight_presses_suffice() -> None:
    game = rules("lightsout")
    known = facts(game, game.initial_state())
    lit = {tuple(map(int, fact.strip("()").split()[1:])) for fact in known if fact.startswith("(lit")}
    best = min(presses_for(lit), key=len)  # type: ignore[arg-type]
    assert len(best) == 8
    assert final_goals(game, play(game, *(f"(press {x} {y})" for x, y in best))) == [100]


def test_maze_26_steps_are_needed_and_suffice() -> None:
    game = rules("maze")
    level, step = {game.initial_state()}, 0
    while not (ends := [state for state in level if game.is_terminal(state)]):
        level = {successor for state in level for successor in successors(game, state)}
        step += 1
    assert step == 26
    assert {game.goal(state, game.roles[0]) for state in ends} == {100}


@pytest.mark.slow
def test_sudoku_has_exactly_one_full_grid() -> None:
    game = rules("sudoku_4x4")
    seen, todo, solved = {game.initial_state()}, [game.initial_state()], set()
    while todo:
        state = todo.pop()
        if game.is_terminal(state) and game.goal(state, game.roles[0]) == 100:
            solved.add(state)
        for successor in successors(game, state):
            if successor not in seen:
                seen.add(successor)
                todo.append(successor)
    assert len(solved) == 1
    assert len(facts(game, solved.pop())) == 16


PEG_SOLUTION = """
2444 3234 1333 1513 3432 3133 3515 3735 4323 1333 4143 4323 4525 1535 4745 4525
6343 5153 5333 2343 4345 5535 2545 5755 5456 7555 4565 7375 7555 5654 6444
"""
"""Jumps from x1 y1 to x3 y3, found by depth-first search."""


def test_peg_can_end_with_one_peg_in_the_middle() -> None:
    game = rules("peg")
    state = play(game, *(f"(jump {' '.join(jump)})" for jump in PEG_SOLUTION.split()))
    assert final_goals(game, state) == [100]
    assert facts(game, state) == {"(peg 4 4)", "(count 1)"}


@pytest.mark.parametrize("first", ["(jump 4 2 4 4)", "(jump 2 4 4 4)", "(jump 6 4 4 4)", "(jump 4 6 4 4)"])
def test_peg_has_four_first_jumps(first: str) -> None:
    game = rules("peg")
    assert first in legal(game, game.initial_state(), 0)
    assert len(legal(game, game.initial_state(), 0)) == 4
