"""Search over information sets: statistics of what a role observed, never of states.

search            regret matching on lanes, in batches of simulations
plain             the same in plain Python; builds the same statistics
set_table         the statistics of one role's sets as arrays
observation_keys  64-bit keys of observation histories
draws             random numbers that depend only on the simulation, the step and the role
"""
