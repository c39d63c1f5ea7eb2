"""What a role can know of the state in games with hidden information.

observation  what a role is told of a step: its own move and its percepts
tracking     a match followed from one role's PLAY messages, lost and odd ones included
particles    a bounded set of states that agree with all percepts: exact while small, then sampled
tracker      the state tracker that a game needs
"""
