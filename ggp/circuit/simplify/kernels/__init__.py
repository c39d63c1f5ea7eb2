"""Factoring of large circuits in compiled code.

cube_factoring    one OR of ANDs ("cubes"), factored by its most shared literals
factoring         all gates of a circuit, read and factored one after the other
"""
