"""Proof-number search on full lanes: is a goal reached from a state, whatever the other role does?

For games of one role, or of two that choose in turn and whose goals have a constant sum. Goals are few, so
that a value follows from one or two such questions.

kernels/   walkers that search depth first, in lock step, over one table
memory     their arrays for one game; a table that grows
threats    how many facts each role lacks one of which would win, as a circuit; which moves promise one
lane_circuit  a step of the search in lanes, as a circuit
search     `ProofNumberSearch`: questions, values, budgets
"""
