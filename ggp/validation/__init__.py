"""`ggp validate`: rule sheets checked statically, by random matches, and by exploring all states.

sheet             which files the command line names; one sheet through all stages asked for
properties        game-level properties: claim, outcome, witness match
playouts          --play: properties sampled in random matches
proving           --prove: properties decided over the explored states
explored_states   states explored on lanes, and the questions that a proof asks of them
proof_walks       kernels for two of these: the longest match, and what a role can force
output            reports as text, JSON or GitHub annotations; codes and their explanations
"""
