"""A role's knowledge of the state in games with hidden information.

observation  what a role learns from a step: its own move and its percepts
tracking     a match followed from one role's PLAY messages, lost and odd ones included
observation_keys  64-bit keys of what a role has observed
belief       the possible states with their probabilities: exact while they fit, then sampled; and the
             tracker that a game needs
expansion    one step of a belief: the successors that agree with an observation
lanes_expansion  the same on lanes, for compiled games
step_kernels  its kernels
"""
