"""Benchmarks: the speed of engines and of the tree search, per CPU second.

measurement    keys of every measurement
engines        random playouts through the interface of any engine
lanes          random playouts on lanes
search         the tree search on lanes
"""
