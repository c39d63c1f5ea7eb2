"""Report of the recognized features and learned weights, in the words of the rules."""

from __future__ import annotations

from dataclasses import dataclass

from ggp.analysis.board import Cell
from ggp.engines.compiled import CompiledGame
from ggp.features.board_features import Features, MoveFamily
from ggp.features.cases import Case, find_cases
from ggp.features.learning import CELLS, PIECES, FeatureWeights, learn_weights
from ggp.features.recognition import recognize_features
from ggp.game import RANDOM_ROLE


@dataclass(frozen=True)
class FeatureReport:
    """The features and weights of FAST in a game; without weights it falls back to MAST.

    cases     by move; empty if no move can be valued by features
    weights   None then, and if there was no time to learn them
    """

    game: CompiledGame
    features: Features
    cases: tuple[tuple[Case, ...], ...]
    weights: FeatureWeights | None

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        board = self.features.board
        return len(board.across.values), len(board.down.values)

    def piece_weights(self, piece: int) -> tuple[float, ...]:
        """By role; empty if cells were learned."""
        if self.weights is None or self.weights.kind != PIECES or piece >= len(self.weights.weight):
            return ()
        return tuple(float(weight) for weight in self.weights.weight[piece])

    def heat_maps(self) -> dict[str, dict[Cell, float]]:
        """Title → the worth of a player's pieces on each cell, in goals; empty if pieces were learned."""
        maps: dict[str, dict[Cell, float]] = {}
        if self.weights is None or self.weights.kind != CELLS:
            return maps
        columns, rows = self.size
        for r, role in enumerate(self.game.roles):
            of_role = self.weights.weight[r * columns * rows : (r + 1) * columns * rows]
            if role != RANDOM_ROLE and len(self.features.pieces_of(r)):
                maps[f"a piece of {role}"] = {
                    (cell % columns, cell // columns): float(row[r]) for cell, row in enumerate(of_role)
                }
        return maps

    def capturing(self, family: MoveFamily) -> int:
        """The number of moves of a family that can capture; 0 if cells were learned, which do not need it."""
        moves = family.moves if self.cases else ()
        return sum(any(case.pieces for case in self.cases[move]) for move in moves)


def report_features(game: CompiledGame, *, episodes: int) -> FeatureReport | None:
    """Recognize and learn, as FAST does before its first search; None if there is no board of pieces."""
    features = recognize_features(game)
    if features is None:
        return None
    found, cases = find_cases(game, features)
    if found is None:
        return FeatureReport(game, features, cases, None)
    weights = learn_weights(game, features, found, episodes=episodes)
    return FeatureReport(game, features, cases, weights if weights.episodes else None)
