"""Figures from the states that matches went through: which moves they make, how tedious they are, and
moves that no search chooses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.subgames import find_subgames
from ggp.engines.compiled import CompiledGame, ManyStates
from ggp.game_evaluation.figures import EQUAL, RANDOM, Figure
from ggp.game_evaluation.measuring import mean, players_of
from ggp.search.forest.self_play import SelfPlay

MAX_CELLS = 20_000_000
"""Maximum number of fluents and moves, of all states together, that are replayed: about a second."""
MIN_DECISIONS = 20
"""Minimum number of decisions in which a move must be legal to be judged."""

BoolArray = NDArray[np.bool_]
Int64Array = NDArray[np.int64]


def replayed(game: CompiledGame, found: SelfPlay) -> Iterator[tuple[Int64Array, BoolArray]]:
    """By joint move, int64[M]: the matches that come to it, and bool[M, F]: their states before it.

    After the last joint move of a match its last state follows.
    """
    many = ManyStates(game)
    matches = np.arange(len(found.length))
    states = np.repeat(game.unpack(game.initial_state())[None], len(matches), axis=0)
    for step in range(found.moves.shape[1] + 1):
        yield matches, states
        goes_on = found.length[matches] > step
        matches = matches[goes_on]
        if not len(matches):
            return
        states = many.following(states[goes_on], found.moves[matches, step])[0]


def first_matches(game: CompiledGame, found: SelfPlay) -> SelfPlay:
    """The first matches, at least one, within `MAX_CELLS`."""
    cells = np.cumsum(found.length + 1) * (len(game.terms.fluents) + int(game.tables.first_move[-1]))
    return _chosen(found, slice(max(1, int(np.searchsorted(cells, MAX_CELLS, side="right")))))


def _chosen(found: SelfPlay, matches: slice) -> SelfPlay:
    return SelfPlay(**{name: value[matches] for name, value in vars(found).items()})


def unchosen_of(game: CompiledGame, found: SelfPlay) -> list[Figure]:
    """The share of moves that were legal in enough decisions of equal searches, and that none of them chose.

    The interval reaches down to 0, because more matches can only choose more of these moves.
    """
    seen, chosen = (np.zeros(int(game.tables.first_move[-1]), np.int64) for _ in range(2))
    many, first = ManyStates(game), game.tables.first_move
    for step, (matches, states) in enumerate(replayed(game, found)):
        going = found.length[matches] > step
        if not going.any():
            continue
        matches, legal = matches[going], many.settle(states[going]).legal
        for r in players_of(game):
            decides = found.choices[matches, step, r] > 1
            moves = slice(int(first[r]), int(first[r + 1]))
            seen[moves] += legal[decides, moves].sum(axis=0)
            np.add.at(chosen[moves], found.moves[matches[decides], step, r], 1)
    known = seen >= MIN_DECISIONS
    if not known.any():
        return []
    dead = float((chosen[known] == 0).mean())
    return [Figure("unchosen", dead, 0.0, dead, int(known.sum()), EQUAL)]


def coverage(game: CompiledGame, parts: list[SelfPlay]) -> list[Figure]:
    """Share of the players' moves that some match of `parts`, which is not empty, has made.

    The interval reaches from the value to 1, since more matches can only add to it.

    >>> import ggp
    >>> from ggp.search.forest.self_play import self_play
    >>> game = ggp.load("tictactoe", engine="lanes")
    >>> [(figure.name, figure.value) for figure in coverage(game, [self_play(game, 0, 100)])]
    [('coverage', 1.0)]
    """
    matches = sum(len(part.length) for part in parts)
    made = 0
    for r in players_of(game):
        moves = np.concatenate([part.moves[:, :, r].ravel() for part in parts])
        made += len(np.unique(moves[moves >= 0]))
    share = made / sum(len(game.moves[r]) for r in players_of(game))
    return [Figure("coverage", share, share, 1.0, matches, RANDOM)]


def tedium_of(game: CompiledGame, found: SelfPlay, source: str) -> list[Figure]:
    """Share of the joint moves that are forced, repeat a position, or either.

    Means over matches, because the joint moves of one match depend on each other.
    """
    has_choice = (found.choices[:, :, players_of(game)] > 1).any(axis=2)
    is_made = np.arange(found.moves.shape[1])[None, :] < found.length[:, None]
    is_forced, repeats = is_made & ~has_choice, _repetitions(game, found)
    counts = {"forced": is_forced, "repetition": repeats, "tedium": is_forced | repeats}
    length = np.maximum(found.length, 1)
    return [
        mean(name, (flags.sum(axis=1) / length)[found.length > 0], source) for name, flags in counts.items()
    ]


def _repetitions(game: CompiledGame, found: SelfPlay) -> BoolArray:
    """bool[N, P]: joint moves after which the match is in a position that it was in before, clocks aside."""
    counts = ~clock_facts(game, found)
    repeats = np.zeros(found.moves.shape[:2], np.bool_)
    seen: list[set[bytes]] = [set() for _ in range(len(found.length))]
    for step, (matches, states) in enumerate(replayed(game, found)):
        for match, position in zip(matches.tolist(), np.packbits(states[:, counts], axis=1), strict=True):
            key = position.tobytes()
            if step:
                repeats[match, step - 1] = key in seen[match]
            seen[match].add(key)
    return repeats


def clock_facts(game: CompiledGame, found: SelfPlay) -> BoolArray:
    """bool[F]: facts that only count time: no move influences them, and they never return in a match."""
    is_clock = np.zeros(len(game.terms.fluents), np.bool_)
    try:
        clocks = find_subgames(game.tables).clocks if len(found.length) else ()
    except OverflowError:  # a circuit too large to take apart
        return is_clock
    if clocks:
        longest = int(found.length.argmax())
        course = np.array(
            [states[0] for _, states in replayed(game, _chosen(found, slice(longest, longest + 1)))]
        )
        for clock in map(list, clocks):
            is_clock[clock] = len(np.unique(course[:, clock], axis=0)) == len(course) > 1
    return is_clock
