"""Small networks that value the states and moves of one game.

network   Network: its weights, and its values of states, in numpy
kernels   the same for one lane, within a search
"""
