"""Policies: how playouts choose moves, what they teach, and what the tree mixes in.

policy         the registry: every policy, its needs and defaults
parts          the kernels of each policy that the search calls
mast           MAST and TO-MAST: means of moves
past           PAST: means per fact and move
fast           FAST: values of features; fast_kernels: choosing by them
rave           RAVE: all-moves-as-first values, their schedule and back-up
"""
