"""Exact values of whole games: every reachable state, found and valued on lanes."""

from ggp.solver.limits import Limits, Progress, SolverError, SolverLimitError, UnsolvableError
from ggp.solver.reachable import reachable_states
from ggp.solver.saved import SavedSolutionError, Tablebase, save_solution
from ggp.solver.solution import Solution, solve, value_states

__all__ = [
    "Limits",
    "Progress",
    "SavedSolutionError",
    "Solution",
    "SolverError",
    "SolverLimitError",
    "Tablebase",
    "UnsolvableError",
    "reachable_states",
    "save_solution",
    "solve",
    "value_states",
]
