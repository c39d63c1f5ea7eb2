"""Evaluation of a network in one lane of a search; agrees with `Network.evaluate` (numpy) to 1e-5."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import inlined
from ggp.jit.rows import Index, Rows
from ggp.lanes.bits import has_lane
from ggp.networks.network import Float32Array, Network


class NetworkTables(NamedTuple):
    """The arrays of a `Network`, and scratch for what the last state gave: first [H1], second [H2]."""

    fluents: Float32Array
    fluent_bias: Float32Array
    hidden: Float32Array
    hidden_bias: Float32Array
    value: Float32Array
    value_bias: Float32Array
    policy: Float32Array
    policy_bias: Float32Array
    first: Float32Array
    second: Float32Array


def tables_of(network: Network) -> NetworkTables:
    """The tables that kernels read; a set of its own for each thread."""
    h1, h2 = network.hidden.shape
    # Copies: arrays read from a file are read-only, a type for which kernels would be compiled once more.
    weights = {name: np.array(array, np.float32, order="C") for name, array in vars(network).items()}
    return NetworkTables(**weights, first=np.zeros(h1, np.float32), second=np.zeros(h2, np.float32))


@inlined
def _begin(sums: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
    for j in range(sums.shape[0]):
        sums[j] = bias[j]


@inlined
def _add(sums: NDArray[np.float32], row: NDArray[np.float32], factor: np.float32) -> None:
    for j in range(sums.shape[0]):
        sums[j] += factor * row[j]


@inlined
def _clip(sums: NDArray[np.float32]) -> None:
    for j in range(sums.shape[0]):
        sums[j] = min(max(sums[j], np.float32(0)), np.float32(1))


@inlined
def _dot(left: NDArray[np.float32], right: NDArray[np.float32]) -> np.float32:
    total = np.float32(0)
    for j in range(left.shape[0]):
        total += left[j] * right[j]
    return total


@inlined
def read_state(network: NetworkTables, value: Rows, lane: Index) -> None:
    """Compute the hidden layers for the state in a lane; `value_of` and `logit_of` read them."""
    first, second = network.first, network.second
    _begin(first, network.fluent_bias)
    for f in range(network.fluents.shape[0]):
        if has_lane(value, 1 + f, lane):
            _add(first, network.fluents[f], np.float32(1))
    _clip(first)
    _begin(second, network.hidden_bias)
    for i in range(first.shape[0]):
        if first[i] > np.float32(0):
            _add(second, network.hidden[i], first[i])
    _clip(second)


@inlined
def value_of(network: NetworkTables, role: Index) -> float:
    """The value of a role, 0..1, in the state read last."""
    output = _dot(network.second, network.value[role]) + network.value_bias[role]
    return 1.0 / (1.0 + math.exp(-output))


@inlined
def logit_of(network: NetworkTables, move: Index) -> float:
    """The logit of a move, counted over all roles, in the state read last."""
    return float(_dot(network.second, network.policy[move]) + network.policy_bias[move])
