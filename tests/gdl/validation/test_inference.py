"""Argument shapes compared with reached states: what they exclude never happens."""

import random

import pytest

from gdl.normalize import normalize
from gdl.program import Predicate, Program, predicate_of
from gdl.syntax.parser import parse_file, parse_term
from gdl.terms import Compound
from gdl.validation import validate
from gdl.validation.inference import fits, infer_all
from ggp.engines.reasoner import InterpretedGame
from tests.conftest import CORPUS_SHEETS, OWN_GAMES, mostly_slow
from tests.oracles.naive_reasoner import derive
from tests.oracles.random_programs import ROLES, random_fluents, random_moves, random_program

TRUE, INIT, NEXT = Predicate("true", 1), Predicate("init", 1), Predicate("next", 1)
DOES, LEGAL = Predicate("does", 2), Predicate("legal", 2)
SMALL = 12_000
"""Maximum size of the sheets that are played; longer ones take the reasoner too long."""

SHEETS = [*OWN_GAMES, *(path for path in CORPUS_SHEETS if path.stat().st_size < SMALL)]


@pytest.mark.parametrize(
    "path", mostly_slow(SHEETS, 6), ids=lambda path: f"{path.parent.parent.name}-{path.stem}"
)
def test_facts_and_moves_of_a_match_fit_their_shapes(path):
    program = parse_file(path)
    inference = infer_all(normalize(program).rules)
    game = InterpretedGame(program)
    rng = random.Random(1)
    state = game.initial_state()
    for _ in range(5):
        assert all(fits(fact, (TRUE, 0), inference.shapes) for fact in game.facts(state))
        if game.is_terminal(state):
            break
        legal = [game.legal_moves(state, role) for role in game.roles]
        assert all(fits(move, (DOES, 1), inference.shapes) for moves in legal for move in moves)
        state = game.next_state(state, [rng.choice(moves) for moves in legal])


def without(program, rules):
    left = {id(rule) for rule in rules}
    return Program(tuple(rule for rule in program.rules if id(rule) not in left))


@pytest.mark.parametrize("seed", mostly_slow(range(150), 6))
def test_rules_that_can_never_apply_never_do(seed):
    """Removing them changes nothing during a match of a random program."""
    program = normalize(random_program(seed))
    inference = infer_all(program.rules)
    shorter = without(program, [rule for rule in program.rules if id(rule) in inference.misfits])
    rng = random.Random(seed)
    state = {atom.arguments[0] for atom in derive(program, []) if predicate_of(atom) == INIT}
    for _ in range(3):
        given = [Compound("true", (fact,)) for fact in state]
        legal = [atom.arguments for atom in derive(program, given) if predicate_of(atom) == LEGAL]
        for role in {role for role, _ in legal}:
            moves = sorted((move for who, move in legal if who == role), key=str)
            given.append(Compound("does", (role, rng.choice(moves))))
        found = derive(program, given)
        assert derive(shorter, given) == found
        state = {atom.arguments[0] for atom in found if predicate_of(atom) == NEXT}


@pytest.mark.parametrize("seed", mostly_slow(range(150), 6))
def test_redundant_rules_change_nothing(seed):
    """Duplicate and subsumed rules can be removed, whatever the state and the moves."""
    program = normalize(random_program(seed))
    rng = random.Random(seed)
    spans = {d.span for d in validate(program) if d.code in ("GDL309", "GDL310")}
    shorter = without(program, [rule for rule in program.rules if rule.span in spans])
    for _ in range(3):
        given = [parse_term(f"(true {fact})") for fact in random_fluents(rng)]
        moves = zip(ROLES, random_moves(rng), strict=True)
        given += [parse_term(f"(does {role} {move})") for role, move in moves]
        assert derive(shorter, given) == derive(program, given)


@pytest.mark.slow
def test_random_programs_have_dead_and_redundant_rules():
    programs = [normalize(random_program(seed)) for seed in range(150)]
    assert sum(bool(infer_all(program.rules).misfits) for program in programs) > 15
    codes = [{d.code for d in validate(program)} for program in programs]
    assert sum(bool(found & {"GDL309", "GDL310"}) for found in codes) > 15
