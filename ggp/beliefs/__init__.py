"""What a role can know of the state in games with hidden information.

particles    a bounded set of states that agree with all percepts: exact while small, then sampled
tracker      the state tracker that a game needs
"""
