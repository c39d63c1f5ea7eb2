"""Tedium of matches: joint moves in which no role has a choice, and those back to an earlier position."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gdl.program import Program, Rule, arguments_of, literals_in
from gdl.terms import Compound, Symbol
from ggp.engines.compiled import CompiledGame
from ggp.evaluation.coverage import kind_of
from ggp.evaluation.figures import Figure
from ggp.evaluation.measuring import mean, players_of
from ggp.evaluation.replaying import replayed
from ggp.search.forest.self_play import SelfPlay

Kind = tuple[str, int]
"""Name and arity of a fact."""


def tedium_of(game: CompiledGame, found: SelfPlay, source: str) -> list[Figure]:
    """Share of the joint moves that are forced, repeat a position, or either.

    Means over matches, because the joint moves of one match depend on each other.
    """
    played = found.length > 0
    length = np.maximum(found.length, 1)
    has_choice = (found.choices[:, :, players_of(game)] > 1).any(axis=2)
    is_made = np.arange(found.moves.shape[1])[None, :] < found.length[:, None]
    is_forced = is_made & ~has_choice
    repeats = repetitions(game, found)
    counts = {"forced": is_forced, "repetition": repeats, "tedium": is_forced | repeats}
    return [mean(name, (flags.sum(axis=1) / length)[played], source) for name, flags in counts.items()]


def repetitions(game: CompiledGame, found: SelfPlay) -> NDArray[np.bool_]:
    """bool[N, P]: joint moves after which the match is in a position that it was in before.

    Clocks do not count: facts such as the number of the joint move, see `clocks`.
    """
    telling = clocks(game, found)
    counts = np.array([kind_of(term) not in telling for term in game.terms.fluents], np.bool_)
    repeats = np.zeros(found.moves.shape[:2], np.bool_)
    seen: list[set[bytes]] = [set() for _ in range(len(found.length))]
    for step, (matches, states) in enumerate(replayed(game, found)):
        packed = np.packbits(states[:, counts], axis=1)
        for match, position in zip(matches.tolist(), packed, strict=True):
            key = position.tobytes()
            if step:
                repeats[match, step - 1] = key in seen[match]
            seen[match].add(key)
    return repeats


def clocks(game: CompiledGame, found: SelfPlay) -> set[Kind]:
    """Facts that only count time: no move influences them, and no value of theirs returns in a match.

    >>> import ggp
    >>> from ggp.search.forest.self_play import self_play
    >>> game = ggp.load("eightpuzzle", engine="lanes")
    >>> clocks(game, self_play(game, 0, 2, step_limit=5))
    {('step', 1)}
    """
    kinds = [kind_of(term) for term in game.terms.fluents]
    ticking = autonomous(game.program)
    if not ticking or not len(found.length):
        return set()
    longest = SelfPlay(**{name: value[[int(found.length.argmax())]] for name, value in vars(found).items()})
    course = np.array([states[0] for _, states in replayed(game, longest)])
    places = {kind: np.array([each == kind for each in kinds]) for kind in ticking}
    values = {kind: {row.tobytes() for row in course[:, places[kind]]} for kind in ticking}
    return {kind for kind, different in values.items() if len(different) == len(course) > 1}


def autonomous(program: Program) -> set[Kind]:
    """Facts whose `next` depends on no move and on no other facts.

    >>> from gdl.syntax.parser import parse
    >>> ticking = "(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))"
    >>> autonomous(parse(f"{ticking} (<= (next (at ?x)) (does p ?x))"))
    {('step', 1)}
    """
    heads: dict[Kind, bool] = {}
    for rule in program.rules_for("next", 1):
        (fact,) = arguments_of(rule.head)
        if not isinstance(fact, Symbol | Compound):  # `(next ?f)` may be about any fact
            return set()
        kind = kind_of(fact)
        is_alone = all(_is_about(atom, kind) for atom in _dynamic_atoms(program, rule))
        heads[kind] = heads.get(kind, True) and is_alone
    return {kind for kind, is_alone in heads.items() if is_alone}


def _dynamic_atoms(program: Program, rule: Rule) -> Iterator[Symbol | Compound]:
    """The atoms of `true` and `does` in the body of a rule, and in those of all rules that it calls."""
    called = {rule.predicate}
    waiting = [rule]
    while waiting:
        for formula in waiting.pop().body:
            for literal, _ in literals_in(formula):
                if literal.atom.name in ("true", "does"):
                    yield literal.atom
                elif literal.predicate not in called:
                    called.add(literal.predicate)
                    waiting += program.by_predicate.get(literal.predicate, ())


def _is_about(atom: Symbol | Compound, kind: Kind) -> bool:
    arguments = arguments_of(atom)
    fact = arguments[0] if atom.name == "true" and arguments else None
    return isinstance(fact, Symbol | Compound) and kind_of(fact) == kind
