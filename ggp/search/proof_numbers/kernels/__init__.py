"""Kernels of proof-number search.

arrays     the memory: circuits, table, walkers and their stacks
children   the children of many nodes in one pass of lanes
threats    how many facts each role lacks one of which would win
table      the transposition table of proof numbers
walkers    the search: one tick serves all walkers
"""
