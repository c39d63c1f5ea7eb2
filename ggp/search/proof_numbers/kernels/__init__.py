"""Kernels of proof-number search.

arrays     the memory: circuits, table, walkers and their stacks
children   the children of many nodes in one pass of lanes
table      the transposition table
walkers    the search by proof numbers: one tick serves all walkers
in_order   the search depth first in an order, where boards fill up
lane_search    the last plies, without the table, in every lane
"""
