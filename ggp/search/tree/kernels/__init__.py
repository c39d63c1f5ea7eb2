"""Kernels of the tree search.

arrays       the memory of a search: tree, walkers, statistics, settings
counters     indices of its counters
allocation   fresh arrays, and the memory they take
search       search_tree, one tick after the other: choose, end, descend, launch, finish
tree         expanding nodes, choosing edges by UCT, finding and making children
graph        transpositions: one node for one state
ends         where playouts end, the back-up of their goals, and MCTS-Solver
compaction   keeping a subtree after a move of the match
"""
