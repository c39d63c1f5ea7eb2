"""Symmetries of a game as permutations of its facts: symmetric positions share a table entry."""

from __future__ import annotations

import contextlib
import threading
import time
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GroundingError
from gdl.grounding import ground
from ggp.circuit.automorphisms import MAX_INPUTS, automorphisms
from ggp.circuit.construction import build
from ggp.engines.compiled import CompiledGame

_known: WeakKeyDictionary[CompiledGame, NDArray[np.int32]] = WeakKeyDictionary()
_finding: WeakKeyDictionary[CompiledGame, threading.Thread] = WeakKeyDictionary()
_lock = threading.Lock()

SECONDS = 2.0
"""Time of the search for symmetries."""


def symmetries_in_time(game: CompiledGame, deadline: float) -> NDArray[np.int32]:
    """Those of `fluent_symmetries`, or the identity alone if they are not known at `deadline`.

    deadline   time.monotonic() seconds. A thread looks for them and continues: a later match may know them
    """
    if game not in _known and len(game.tables.input) <= MAX_INPUTS:
        with _lock:
            thread = _finding.get(game)
            if thread is None:
                thread = _finding[game] = threading.Thread(target=_find, args=(game,), daemon=True)
                thread.start()
        thread.join(min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX))
    found = _known.get(game)
    return identity_image(game) if found is None else found


def identity_image(game: CompiledGame) -> NDArray[np.int32]:
    """The identity as int32[1, F], for searches without symmetries."""
    return np.arange(len(game.terms.fluents), dtype=np.int32)[None, :]


def _find(game: CompiledGame) -> None:
    with contextlib.suppress(GroundingError):
        fluent_symmetries(game)


def fluent_symmetries(game: CompiledGame) -> NDArray[np.int32]:
    """Symmetries of `game` as int32[V, F], the identity first: fact f of image v is fact [v, f] of a state.

    Not necessarily all there are: at most `MAX_SYMMETRIES`, found within about `SECONDS`; only the identity
    where the circuit is larger than `MAX_INPUTS`.
    """
    found = _known.get(game)
    if found is not None:
        return found
    fluents = game.terms.fluents
    images = [identity_image(game)[0]]
    circuit = build(ground(game.program))
    if circuit.literal_count <= MAX_INPUTS:
        place = {term: f for f, term in enumerate(fluents)}
        for permutation in automorphisms(circuit, time.monotonic() + SECONDS):
            built = circuit.terms.fluents
            image = [place.get(built[permutation[1 + f] - 1], -1) for f, t in enumerate(built) if t in place]
            if min(image, default=0) >= 0:
                images.append(np.array(image, np.int32))
    found = _known[game] = np.stack(images)
    return found
