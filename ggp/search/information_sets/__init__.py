"""Search over information sets: statistics of what a role observed, never of states.

many_trees        UCT on lanes, from possible states; many_trees_kernel is its tick
search            regret matching on lanes, in batches of simulations
plain             the same in plain Python; builds the same statistics
set_table         the statistics of one role's sets as arrays
draws             random numbers that depend only on the simulation, the step and the role
"""
