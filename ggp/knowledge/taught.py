"""Networks that were taught to play one game, as files: `ggp prepare network` writes them, `mcts` reads them.

Fluents and moves are stored by name, so that a file does not depend on how a version of the program numbers
them. Files are checked when they are read: sizes, numbers, names.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ggp.engines.compiled import CompiledGame
from ggp.knowledge.folder import NETWORK_FORMAT, KnowledgeFileError, read_knowledge, write_knowledge
from ggp.networks.network import Network
from ggp.solver.saved_header import rules_digest

FILE_NAME = "network.json"
MAX_WEIGHTS = 1 << 24


@dataclass(frozen=True)
class TaughtNetwork:
    """A network of the game with these rules, and its test results.

    rules        digest of the rules
    generation   how often it was taught
    seconds      of teaching in all
    score        of `mcts` with it against `mcts` without, by the clock, 0..1
    error        from there down to the end of the 95 % interval
    """

    network: Network
    game: str
    rules: str
    generation: int
    seconds: float
    score: float = 0.5
    error: float = 0.5

    @property
    def is_stronger(self) -> bool:
        """Whether the gate is open: it wins beyond the interval."""
        return self.score - self.error > 0.5

    def save(self, path: Path, game: CompiledGame) -> None:
        """Write atomically. Raises OSError."""
        content = {
            "format": NETWORK_FORMAT,
            **{name: value for name, value in vars(self).items() if name != "network"},
            "fluents": [str(fluent) for fluent in game.terms.fluents],
            "moves": [[str(move) for move in moves] for moves in game.moves],
            "weights": {
                name: {"shape": array.shape, "data": base64.b64encode(array.tobytes()).decode()}
                for name, array in vars(self.network).items()
            },
        }
        write_knowledge(path, content)

    @classmethod
    def load(cls, path: str | Path, game: CompiledGame) -> TaughtNetwork:
        """Read what `save` wrote, for this game. Raises OSError, KnowledgeFileError."""
        content = read_knowledge(path, NETWORK_FORMAT)
        try:
            weights = {each.name: _array(content["weights"][each.name]) for each in fields(Network)}
            names = content["fluents"], [name for of_role in content["moves"] for name in of_role]
            network = _in_order_of(game, Network(**weights), *names)
            texts = str(content["game"]), str(content["rules"])
            numbers = [float(content[name]) for name in ("seconds", "score", "error")]
            if not all(0 <= number < 1e9 for number in numbers):
                raise ValueError("a number is out of range")
            found = cls(network, *texts, int(content["generation"]), *numbers)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, binascii.Error) as error:
            raise KnowledgeFileError(f"{path}: incomplete, damaged or of another game ({error})") from None
        if found.rules != rules_digest(game.program):
            raise KnowledgeFileError(f"{path}: a network of other rules ({found.game[:100]})")
        return found


def _array(content: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    shape = tuple(content["shape"])
    if not all(type(size) is int and 0 < size <= MAX_WEIGHTS for size in shape) or len(shape) > 2:
        raise ValueError("a shape is wrong")
    data = base64.b64decode(content["data"], validate=True)
    return np.frombuffer(data, np.float32).reshape(shape)


def _in_order_of(
    game: CompiledGame, network: Network, fluents: Sequence[str], moves: Sequence[str]
) -> Network:
    """The network with its rows in the order of the game. Raises ValueError if the names are not the same."""
    own_fluents = [str(fluent) for fluent in game.terms.fluents]
    own_moves = [str(move) for of_role in game.moves for move in of_role]
    if sorted(fluents) != sorted(own_fluents) or list(moves) != own_moves:
        raise ValueError("other fluents or moves")
    place = {name: number for number, name in enumerate(fluents)}
    rows = network.fluents[[place[name] for name in own_fluents]]
    ordered = replace(network, fluents=rows)
    if not ordered.fits(game):
        raise ValueError("other sizes")
    return ordered
