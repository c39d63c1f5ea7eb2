"""Proofs during a match, within the cores, the memory and the clock of a search.

enumeration   solves all states from here on if they are few enough by a forecast
planning      one role: a way to a good end
proofs        alpha-beta on the current state: two lines of proof that take turns
prover        `Prover`: all of this for one match, and how much time it gets
"""
