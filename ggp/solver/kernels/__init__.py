"""Kernels of the solver.

expand   all successors of many states, numbered
backup   values where one role at a time has a choice; bounds on cycles
matrix   expectations and matrix games
known_goals   goals of solved states, looked up by a search
"""
