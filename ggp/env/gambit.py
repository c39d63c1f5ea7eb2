"""Export of small games to Gambit's extensive form (EFG)."""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import TextIO

from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import load
from ggp.env.extensive import CHANCE, SIMULTANEOUS, TERMINAL, ExtensiveGame
from ggp.files import replacing_text
from ggp.integers import to_integer

_WIDE = str.maketrans('"\\', "＂＼")


def write_efg(
    rules: str | Path | CompiledGame, path: str | Path, *, max_steps: int = 1000, most_nodes: int = 1_000_000
) -> int:
    """Write the whole game tree of a sheet as an EFG file; return the number of nodes.

    Payoffs are goals scaled to -1..1, as rewards of `ggp.env` are. See "The .efg file format" in the
    documentation of Gambit. Raises ValueError for larger trees, and OSError; no file is then written.
    """
    most_nodes = to_integer(most_nodes, "most_nodes", 1)
    game = rules if isinstance(rules, CompiledGame) else load(rules, engine="lanes")
    assert isinstance(game, CompiledGame)
    tree = ExtensiveGame(game, max_steps)
    tree.is_joint = False  # nodes at which several choose become one node each
    with replacing_text(path) as file:
        players = " ".join(map(_label, tree.agents))
        file.write(f"EFG 2 R {_label(game.name)} {{ {players} }}\n")
        return _write_nodes(tree, file, most_nodes)


def _label(name: object) -> str:
    """A name in quotes. Quotes and backslashes in it are widened: programs differ in how they read escapes.

    >>> _label('say"hi"')
    '"say＂hi＂"'
    """
    return f'"{" ".join(str(name).translate(_WIDE).split())}"'


def _write_nodes(tree: ExtensiveGame, file: TextIO, most_nodes: int) -> int:
    """Write all nodes in depth-first order, as the format requires; return their number."""
    sets: list[dict[str, int]] = [{} for _ in tree.agents]
    chances, outcomes, written = count(1), count(1), 0
    stack = [tree.root()]
    while stack:
        node = stack.pop()
        written += 1
        if written > most_nodes:
            raise ValueError(f"the tree of {tree.game.name} has more than {most_nodes:,} nodes")
        player = tree.player(node)
        if player == TERMINAL:
            payoffs = ", ".join(f"{value:g}" for value in tree.returns(node))
            file.write(f't "" {next(outcomes)} "" {{ {payoffs} }}\n')
            continue
        assert player != SIMULTANEOUS
        actions = tree.actions(node, player)
        names = [_label(tree.move(player, action)) for action in actions]
        if player == CHANCE:
            share = Fraction(1, len(actions))
            branches = " ".join(f"{name} {share}" for name in names)
            file.write(f'c "" {next(chances)} "" {{ {branches} }} 0\n')
        else:
            number = sets[player].setdefault(tree.information(node, player), len(sets[player]) + 1)
            file.write(f'p "" {player + 1} {number} "" {{ {" ".join(names)} }} 0\n')
        stack += [tree.apply(node, action) for action in reversed(actions)]
    return written
