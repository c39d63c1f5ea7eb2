"""Proofs during a match, within the cores, the memory and the clock of a search.

enumeration   solves all states from here on if they are few enough by a forecast
planning      one role: a way to a good end
lines         searches that prove the current state, in slices, with a forecast of their end
proofs        two or three of them that take turns
prover        `Prover`: all of this for one match, and how much time it gets
"""
