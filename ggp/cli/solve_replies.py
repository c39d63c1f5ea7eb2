"""Output of `ggp solve` for games of one joint move, as matrices, and for given strategies (`--against`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest

import click

from ggp.analysis.figures import words_of
from ggp.analysis.scale import Goal, Scale, number_text
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Move, Role, hides_information
from ggp.solver.limits import SolverLimits, UnsolvableError
from ggp.solver.matrix_games import Mix, NoEquilibriumFoundError, solve_bimatrix, solve_zero_sum
from ggp.solver.payoff_matrix import PayoffMatrix, payoff_matrix
from ggp.solver.replies import StrategyError, find_replies, parse_strategy


def scale_lines(name: str, roles: Sequence[Role], goals: Sequence[Goal], scale: Scale) -> list[str]:
    """The value of every role of a game, and how to read it if the scale is not that of goals."""

    def listed(texts: Sequence[str]) -> str:
        pairs = zip(roles, texts, strict=True)
        return ", ".join(f"{role} {text}" for role, text in pairs if role != RANDOM_ROLE or scale.is_goals)

    plain = listed([f"{round(float(goal), 9):g}" for goal in goals])
    if scale.is_goals:
        return [f"{name}: {plain}"]
    return [f"{name}: {listed(list(map(scale.text, goals)))}", f"  on the scale {scale}; goals: {plain}"]


def matrix_lines(matrix: PayoffMatrix, scale: Scale) -> list[str]:
    """The matrix with its dominated moves marked, and an equilibrium."""
    first, second = matrix.roles
    total = None if matrix.sum is None else scale.low + scale.value(matrix.sum)
    rest = "the opposite" if total == 0 else f"the rest of {'' if total is None else number_text(total)}"
    about = (
        f"payoffs of {first} and {second}" if total is None else f"payoffs of {first}; {second} gets {rest}"
    )
    dominated = [each for place in (0, 1) for each in matrix.dominated(place)]
    marks = {(each.role, each.move) for each in dominated}
    heads, names = (
        [f"{words_of(move)}{'*' if (role, move) in marks else ''}" for move in moves]
        for role, moves in zip(reversed(matrix.roles), reversed(matrix.moves), strict=True)
    )
    rows = [
        [
            scale.text(own) if total is not None else f"{scale.text(own)}, {scale.text(other)}"
            for own, other in row
        ]
        for row in matrix.goals
    ]
    lines = [f"{about}:"]
    for name, cells in zip(["", *names], [heads, *rows], strict=True):
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        row = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        lines.append(f"  {name.ljust(max(map(len, names)))}  {row}")
    for each in dominated:
        how = "strictly" if each.is_strict else "weakly"
        lines.append(f"* {words_of(each.move)} of {each.role} is {how} dominated by {words_of(each.by)}")
    if not dominated:
        lines.append("no move is dominated by another one")
    mixes = equilibrium(matrix)
    if mixes is not None:
        texts = (
            f"{role} {mix_text(moves, mix)}"
            for role, moves, mix in zip_longest(matrix.roles, matrix.moves, mixes)
        )
        lines.append(f"equilibrium: {'; '.join(texts)}")
    return [f"  {line}" for line in lines]


def equilibrium(matrix: PayoffMatrix) -> tuple[Mix, Mix] | None:
    """Exact equilibrium strategies of both roles; None if none is found."""
    try:
        if matrix.sum is not None:
            found = solve_zero_sum(matrix.payoffs(0))
        else:
            columns = [list(column) for column in zip(*matrix.payoffs(1), strict=True)]
            found = solve_bimatrix(matrix.payoffs(0), columns)
    except NoEquilibriumFoundError:
        return None
    return found.row, found.column


def mix_text(moves: Sequence[Move], mix: Sequence[Fraction]) -> str:
    """The moves that a mixed strategy plays, with their probabilities unless it is pure."""
    played = [(move, share) for move, share in zip(moves, mix, strict=True) if share]
    if len(played) == 1:
        return words_of(played[0][0])
    return ", ".join(f"{words_of(move)} {share}" for move, share in played)


def print_replies(
    game: CompiledGame, texts: Sequence[str], limits: SolverLimits, scale: Scale, *, is_json: bool
) -> None:
    """Print what roles get by the strategies in `texts`, and what each reply to them earns. Raises
    UnsolvableError, SolverLimitError and click.BadParameter."""
    try:
        strategies = [parse_strategy(text, game) for text in texts]
    except StrategyError as error:
        raise click.BadParameter(f"{game.name}: {error}", param_hint="'--against'") from None
    if hides_information(game) and payoff_matrix(game) is None:
        raise UnsolvableError("--against is for games in which every role sees the state or moves once")
    found = find_replies(game, strategies, check=lambda: limits.check_time("not all states valued"))
    best = max(found.replies.values(), default=None)
    replies = sorted(found.replies.items(), key=lambda pair: -pair[1])
    if is_json:
        data = {
            "game": game.name,
            "strategies": list(texts),
            "values": dict(zip(map(str, game.roles), map(float, found.values), strict=True)),
            "replier": None if found.replier is None else str(found.replier),
            "replies": {str(move): float(goal) for move, goal in replies},
            "best_replies": [str(move) for move, goal in replies if goal == best],
            "states": found.states,
        }
        click.echo(json.dumps(data if scale.is_goals else data | {"scale": str(scale)}))
        return
    lines = scale_lines(game.name, game.roles, found.values, scale)
    lines += [f"  given: {' '.join(text.split())}" for text in texts]
    if found.replier is not None:
        earned = (f"{words_of(move)} {scale.text(goal)}" for move, goal in replies)
        lines.append(f"  what each move of {found.replier} earns: {', '.join(earned)}")
    click.echo("\n".join(lines))
