"""The tree search in plain Python: the twin of the kernels, and the fallback for games that are not compiled.

search       descend, expand, play out, back up
tree         nodes, paths and proofs; RAVE
events       the phases of a simulation, for a listener
policies     playout policies, one small class each
randomness   the random numbers that one lane of the kernels sees
"""
