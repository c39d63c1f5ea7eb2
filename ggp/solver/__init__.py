"""Exact values of whole games: every reachable state, found and valued on lanes.

limits         what solving may cost, how far it is, how many states to expect, and how it fails
slices         how much work to give a kernel at a time
kernels/       expanding states and backing values up
layers         states whose key shows how many joint moves have led to them
space          the reachable states and their transitions, in memory and on disk
reachable      finds them, breadth first
plans          one role: the shortest way to the best end, without clocks and idle facts
matrix_games   exact equilibria of one simultaneous stage of two roles
payoff_matrix  a game of one joint move as a matrix; dominated moves
replies        values of given strategies, and the best replies to them
stages         optimal moves in one state, given values
cfr/           games with hidden information: counterfactual regret minimization
solution       from states to values: `solve`
members        how a coalition of roles is written
saved_header   how a file with a solution begins
saved          solutions in files: `Tablebase`

Names are imported when they are first used, so that errors in a coalition or a file are reported before
numba is imported.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggp.solver.limits import Progress, SolverError, SolverLimitError, SolverLimits, UnsolvableError
    from ggp.solver.reachable import reachable_states
    from ggp.solver.saved import Tablebase, save_solution
    from ggp.solver.saved_header import SavedSolutionError
    from ggp.solver.solution import Solution, solve

__all__ = [
    "Progress",
    "SavedSolutionError",
    "Solution",
    "SolverError",
    "SolverLimitError",
    "SolverLimits",
    "Tablebase",
    "UnsolvableError",
    "reachable_states",
    "save_solution",
    "solve",
]


def __getattr__(name: str) -> Any:
    for home in ("limits", "saved_header", "solution", "saved"):  # the first two import no numba
        module = importlib.import_module(f"ggp.solver.{home}") if name in __all__ else None
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module 'ggp.solver' has no attribute {name!r}")
