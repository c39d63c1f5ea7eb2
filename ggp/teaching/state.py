"""The state of teaching besides its best network, in a file: the window and Adam's memory."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.files import make_private_folder, replacing
from ggp.knowledge.folder import KnowledgeFileError
from ggp.networks.network import Network
from ggp.teaching.samples import Samples

FORMAT = "ggp-teaching 1"


@dataclass(frozen=True)
class TeachingState:
    """As of the end of a generation.

    network   as it was fitted last, whether or not it is the best
    memory    of Adam, as `Teacher.memory` returns it
    samples   the window
    """

    generation: int
    positions: int
    network: Network
    memory: Mapping[str, NDArray[np.float32]]
    samples: Samples

    @classmethod
    def empty(cls, game: CompiledGame, generation: int, network: Network) -> TeachingState:
        return cls(generation, 0, network, {}, Samples.empty(len(game.terms.fluents), len(game.roles)))

    @staticmethod
    def place_next_to(network: Path) -> Path:
        """Where the state of a network's file is kept."""
        return network.with_name(f"{network.stem}-teaching.npz")

    def save(self, path: Path, game: CompiledGame) -> None:
        """Write atomically. Raises OSError."""
        arrays: dict[str, Any] = {"format": np.array(FORMAT), "names": np.array(_names(game))}
        arrays["numbers"] = np.array([self.generation, self.positions])
        for part in ("network", "samples"):
            arrays.update({f"{part}.{name}": array for name, array in vars(getattr(self, part)).items()})
        arrays.update({f"memory.{name}": array for name, array in self.memory.items()})
        make_private_folder(path.parent)
        with replacing(path) as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path, game: CompiledGame) -> TeachingState:
        """Read what `save` wrote, for this game. Raises OSError, KnowledgeFileError."""
        try:
            with np.load(path, allow_pickle=False) as file:
                if str(file["format"]) != FORMAT or file["names"].tolist() != _names(game):
                    raise ValueError("another format, or another game")
                samples = Samples(**{each.name: file[f"samples.{each.name}"] for each in fields(Samples)})
                network = Network(**{each.name: file[f"network.{each.name}"] for each in fields(Network)})
                memory = {name[7:]: file[name] for name in file.files if name.startswith("memory.")}
                generation, positions = file["numbers"].tolist()
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise KnowledgeFileError(f"{path}: incomplete, damaged or of another game ({error})") from None
        if not network.fits(game) or not samples.fit(game):
            raise KnowledgeFileError(f"{path}: the sizes do not fit")
        return cls(int(generation), int(positions), network, memory, samples)


def _names(game: CompiledGame) -> list[str]:
    """Fluents and moves in their order: the numbers in samples depend on it."""
    return [str(each) for each in (*game.terms.fluents, *(move for moves in game.moves for move in moves))]
