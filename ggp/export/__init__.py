"""A game in the formats of other programs.

circuits    its circuit as AIGER, BLIF, DOT or JSON
"""
