"""Symmetries of a game as renamings of its facts, for positions that share one entry of a table."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from gdl.grounding import ground
from ggp.circuit.automorphisms import MOST_INPUTS, automorphisms
from ggp.circuit.construction import build
from ggp.engines.compiled import CompiledGame


def fluent_symmetries(game: CompiledGame, *, seconds: float = 2.0) -> NDArray[np.int32]:
    """Symmetries of `game` as int32[V, F], the identity first: fact f of image v is fact [v, f] of a state.

    Not necessarily all there are: at most `MOST_SYMMETRIES`, found within about `seconds`; only the identity
    where the circuit is larger than `MOST_INPUTS`.
    """
    fluents = game.terms.fluents
    images = [np.arange(len(fluents), dtype=np.int32)]
    circuit = build(ground(game.program))
    if circuit.literal_count <= MOST_INPUTS:
        place = {term: f for f, term in enumerate(fluents)}
        for permutation in automorphisms(circuit, time.monotonic() + seconds):
            image = [
                place.get(circuit.terms.fluents[permutation[1 + f] - 1], -1)
                for f, term in enumerate(circuit.terms.fluents)
                if term in place
            ]
            if min(image, default=0) >= 0:
                images.append(np.array(image, np.int32))
    return np.stack(images)
