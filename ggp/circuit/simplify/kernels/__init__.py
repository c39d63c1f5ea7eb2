"""Factoring of large circuits in compiled code.

cube_pool         memory for an OR of ANDs ("cubes")
cube_factoring    one OR of ANDs, factored by its most shared literals
factoring         all gates of a circuit, read and factored one after the other
"""
