"""Exact equilibria of matrix games, in fractions.

The kernels solve matrix games in floating point by the thousand; this is their exact twin, for stages that
are shown to people and for stages without a constant sum.

Sources: Dantzig, "A proof of the equivalence of the programming problem and the game problem" (1951);
support enumeration as in Nisan et al., "Algorithmic Game Theory" (2007), section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from operator import mul

from ggp.solver.limits import UnsolvableError

Payoff = Fraction | int
Mix = tuple[Fraction, ...]
MAX_SUPPORTS = 200_000


class NoEquilibriumFoundError(UnsolvableError):
    """The search for an equilibrium ended without one (a large or degenerate game)."""


@dataclass(frozen=True)
class Equilibrium:
    """Mixed strategies from which neither player gains by deviating alone, and their values."""

    row: Mix
    column: Mix
    row_value: Fraction
    column_value: Fraction


def solve_zero_sum(payoff: Sequence[Sequence[Payoff]]) -> Equilibrium:
    """The value of a zero-sum matrix game and optimal mixed strategies, by an exact simplex method.

    payoff   payoff[i][j] is what the row player wins and the column player loses

    >>> found = solve_zero_sum([[2, -3], [-3, 4]])  # two-finger morra
    >>> print(found.row_value, *found.row)
    -1/12 7/12 5/12
    """
    rows, columns = len(payoff), len(payoff[0])
    shift = 1 - min(Fraction(worth) for row in payoff for worth in row)
    tableau = [
        [Fraction(worth) + shift for worth in row]
        + [Fraction(int(i == k)) for k in range(rows)]
        + [Fraction(1)]
        for i, row in enumerate(payoff)
    ]
    tableau.append([Fraction(-1)] * columns + [Fraction(0)] * (rows + 1))  # the objective
    basis = list(range(columns, columns + rows))
    while (column := next((j for j, cost in enumerate(tableau[-1][:-1]) if cost < 0), None)) is not None:
        row = min(
            (i for i in range(rows) if tableau[i][column] > 0),
            key=lambda i: (tableau[i][-1] / tableau[i][column], basis[i]),
        )
        basis[row] = column
        _pivot(tableau, row, column)
    objective = tableau.pop()
    total = objective[-1]
    column_mix = [Fraction(0)] * columns
    for i, variable in enumerate(basis):
        if variable < columns:
            column_mix[variable] = tableau[i][-1] / total
    row_mix = tuple(objective[columns + i] / total for i in range(rows))
    value = 1 / total - shift
    return Equilibrium(row_mix, tuple(column_mix), value, -value)


def _pivot(lines: list[list[Fraction]], row: int, column: int) -> None:
    """Make `column` 1 in line `row` and 0 in all others."""
    lead = lines[row][column]
    lines[row] = [entry / lead for entry in lines[row]]
    for i, line in enumerate(lines):
        if i != row and (factor := line[column]):
            lines[i] = [a - factor * b for a, b in zip(line, lines[row], strict=True)]


def _pure_equilibria(
    row_payoff: Sequence[Sequence[Payoff]], column_payoff: Sequence[Sequence[Payoff]]
) -> Iterator[tuple[int, int]]:
    """All pairs of moves from which neither player gains by deviating alone."""
    best_of_column = [max(column) for column in zip(*row_payoff, strict=True)]
    for i, (row, others) in enumerate(zip(row_payoff, column_payoff, strict=True)):
        best = max(others)
        for j, worth in enumerate(row):
            if worth >= best_of_column[j] and others[j] >= best:
                yield i, j


def solve_bimatrix(
    row_payoff: Sequence[Sequence[Payoff]],
    column_payoff: Sequence[Sequence[Payoff]],
    *,
    check: Callable[[], None] = lambda: None,
) -> Equilibrium:
    """An equilibrium of a two-player game: the pure one with the greatest sum, else a mixed one.

    Mixed ones are found by enumerating supports of equal size, smallest first. Raises NoEquilibriumFoundError
    after MAX_SUPPORTS pairs of supports, or if only unequal supports would do.

    check   called for every pair of supports; what it raises ends the search
    """
    rows, columns = len(row_payoff), len(row_payoff[0])
    pure = sorted(
        _pure_equilibria(row_payoff, column_payoff),
        key=lambda pair: (-row_payoff[pair[0]][pair[1]] - column_payoff[pair[0]][pair[1]], pair),
    )
    if pure:
        i, j = pure[0]
        mixes = _spread([Fraction(1)], [i], rows), _spread([Fraction(1)], [j], columns)
        return Equilibrium(*mixes, Fraction(row_payoff[i][j]), Fraction(column_payoff[i][j]))
    tried = 0
    for size in range(2, min(rows, columns) + 1):
        for row_support in combinations(range(rows), size):
            for column_support in combinations(range(columns), size):
                tried += 1
                check()
                if tried > MAX_SUPPORTS:
                    raise NoEquilibriumFoundError(f"no equilibrium among {MAX_SUPPORTS} pairs of supports")
                found = _on_supports(row_payoff, column_payoff, row_support, column_support)
                if found is not None:
                    return found
    raise NoEquilibriumFoundError("no equilibrium with supports of equal size")


def _on_supports(
    row_payoff: Sequence[Sequence[Payoff]],
    column_payoff: Sequence[Sequence[Payoff]],
    row_support: Sequence[int],
    column_support: Sequence[int],
) -> Equilibrium | None:
    rows, columns = len(row_payoff), len(row_payoff[0])
    of_column = _indifferent([[row_payoff[i][j] for j in column_support] for i in row_support])
    of_row = _indifferent([[column_payoff[i][j] for i in row_support] for j in column_support])
    if of_column is None or of_row is None:
        return None
    (column_weights, row_value), (row_weights, column_value) = of_column, of_row
    row_mix = _spread(row_weights, row_support, rows)
    column_mix = _spread(column_weights, column_support, columns)
    row_best = max(sum(map(mul, column_mix, row)) for row in row_payoff)
    column_best = max(sum(map(mul, row_mix, column)) for column in zip(*column_payoff, strict=True))
    if row_best > row_value or column_best > column_value:
        return None
    return Equilibrium(row_mix, column_mix, row_value, column_value)


def _indifferent(payoff: Sequence[Sequence[Payoff]]) -> tuple[list[Fraction], Fraction] | None:
    """Positive weights of the columns under which all rows pay the same, and what they pay."""
    size = len(payoff)
    system = [[Fraction(worth) for worth in row] + [Fraction(-1), Fraction(0)] for row in payoff]
    system.append([Fraction(1)] * size + [Fraction(0), Fraction(1)])
    for column in range(size + 1):
        pivot = next((i for i in range(column, size + 1) if system[i][column]), None)
        if pivot is None:
            return None
        system[column], system[pivot] = system[pivot], system[column]
        _pivot(system, column, column)
    weights = [system[i][-1] for i in range(size)]
    return (weights, system[size][-1]) if min(weights) > 0 else None


def _spread(weights: Sequence[Fraction], support: Sequence[int], size: int) -> Mix:
    mix = [Fraction(0)] * size
    for weight, place in zip(weights, support, strict=True):
        mix[place] = weight
    return tuple(mix)
