"""Ground programs compared with traces of an independent prover."""

import gzip
import hashlib
import json

import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse_file, parse_term
from tests.conftest import mostly_slow
from tests.oracles.naive_ground import NaiveGround

GAMES = [
    "ticTacToe",
    "connectFour",
    "queens08ug",  # goal rules with negation through a cycle that constants break
    "mummymaze1p",  # frozen walls; unfolding
    "nonogram_5x5_1",  # no init
    "gt_prisoner",
    "chineseCheckers6",  # long bodies
    "ghostMaze2p",
    "sudokuGrade1",
    "biddingTicTacToe",
]
MAX_STEPS = 25


def hash_of(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@pytest.mark.parametrize("name", mostly_slow(GAMES, 3, first=2))
def test_ground_program_agrees_with_the_trace(name, corpus_dir):
    program = ground(parse_file(corpus_dir / "open" / "games" / f"{name}.kif"))
    naive = NaiveGround(program)
    with gzip.open(corpus_dir / "open" / "traces" / f"{name}.jsonl.gz", "rt") as file:
        header, *steps = (json.loads(line) for line in file)
    assert [str(role) for role in program.roles] == header["roles"]
    state: frozenset[int] = frozenset()
    joint_move = None
    for step in steps[:MAX_STEPS]:
        if step["s"] == 0:
            state = naive.initial_state()
        else:
            state = naive.next_state(naive.model(state, [parse_term(move) for move in joint_move]))
        check_step(naive, state, step, header["roles"])
        joint_move = step.get("move")


def check_step(naive: NaiveGround, state: frozenset[int], step: dict, roles: list[str]) -> None:
    assert hash_of(naive.facts(state)) == step["h"]
    model = naive.model(state)
    assert naive.is_terminal(model) == step["term"]
    if not step["term"]:
        legal = {
            role: [str(move) for move in naive.legal_moves(model, index)] for index, role in enumerate(roles)
        }
        if "legal" in step:
            assert legal == step["legal"]
        else:
            assert hash_of([f"{role} {move}" for role in roles for move in legal[role]]) == step["legal_h"]
    for index, role in enumerate(roles if "goals" in step else []):
        expected, found = step["goals"][role], naive.goals(model, index)
        assert found == [expected] if expected is not None else len(found) != 1
