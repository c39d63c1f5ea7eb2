"""Benchmarks: the speed of engines and of the tree search, per CPU second.

calibration    a fixed loop, to compare machines by
measurement    what a benchmark reports, as data
engines        random playouts through the interface of any engine
lanes          random playouts on lanes
search         the tree search on lanes
"""
