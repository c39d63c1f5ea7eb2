"""Kernels of the alpha-beta search.

arrays     the memory: stack, arena of children, tables, counters, switches
children   all children of a node in one pass of lanes
side_circuit   circuits that value children at once
distance   goal distances in many lanes at once
transposition_table   the transposition table
search     `search_tree`
"""
