"""What can be proved during a match, within the cores, the memory and the clock of a search.

enumeration   solves all states from here on if a forecast says that they are few enough
forecast      how much work a proof by alpha-beta still takes
planning      one role: a way to a good end
prover        `Prover`: both for one match, and how much time they get
"""
