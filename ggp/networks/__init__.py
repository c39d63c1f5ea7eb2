"""Small networks that value the states and moves of one game.

network   Network: its weights, and what they say of states, in numpy
kernels   the same for one lane, within a search
"""
