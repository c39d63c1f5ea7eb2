"""Search over information sets: statistics of what a role observed, never of states.

many_trees        UCT on lanes, from possible states; many_trees_kernel is its tick
"""
