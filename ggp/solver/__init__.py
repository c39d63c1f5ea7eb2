"""Exact values of whole games: every reachable state, found and valued on lanes.

limits         what solving may cost, how far it is, and how it fails
estimate       how many states to expect
chunk          transitions of consecutive states
kernels/       expanding states and backing values up
work_folder    where an enumeration is kept on disk
space          the reachable states and their transitions
reachable      finds them, breadth first
matrix_games   exact equilibria of one simultaneous stage
stages         optimal moves in one state, given values
solution       from states to values: `solve`
coalitions     what a coalition of roles can be sure of
saved          solutions in files: `Tablebase`
"""

from ggp.solver.limits import Progress, SolverError, SolverLimitError, SolverLimits, UnsolvableError
from ggp.solver.reachable import reachable_states
from ggp.solver.saved import SavedSolutionError, Tablebase, save_solution
from ggp.solver.solution import Solution, solve, value_states

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
    "value_states",
]
