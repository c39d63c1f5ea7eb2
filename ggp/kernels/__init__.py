"""Numba kernels: the only package that imports numba. See `rows` for the vocabulary."""
