"""Replaying traces: agreement, and a readable first difference of every kind."""

import gzip
import json

import pytest

from tests.ggp.fakes import Matrix, Nim, Stuck
from tests.oracles.reference_traces import TraceError, explain, replay, text_hash


def rows_of(game, *, choose=lambda moves, step: moves[0], full_steps=2):
    """A trace of one playout of `game`, in the format of the reference."""
    rows = [{"t": "header", "game": game.name, "roles": [str(role) for role in game.roles]}]
    state = game.initial_state()
    for step in range(1000):
        facts = [str(fact) for fact in game.facts(state)]
        row = {"t": "step", "p": 0, "s": step, "n": len(facts), "h": text_hash(facts)}
        rows.append(row)
        if step < full_steps:
            row["facts"] = facts
        row["term"] = game.is_terminal(state)
        if row["term"]:
            row["goals"] = {str(role): goal for role, goal in zip(game.roles, game.goals(state), strict=True)}
            break
        legal = [[str(move) for move in game.legal_moves(state, role)] for role in game.roles]
        if step < full_steps:
            row["legal"] = {str(role): moves for role, moves in zip(game.roles, legal, strict=True)}
        else:
            row["legal_n"] = [len(moves) for moves in legal]
            lines = [
                f"{role} {move}" for role, moves in zip(game.roles, legal, strict=True) for move in moves
            ]
            row["legal_h"] = text_hash(lines)
        joint_move = [choose(game.legal_moves(state, role), step) for role in game.roles]
        row["move"] = [str(move) for move in joint_move]
        state = game.next_state(state, joint_move)
    return rows


def write(tmp_path, rows, *, zipped=True):
    path = tmp_path / "trace.jsonl.gz"
    with (gzip.open if zipped else open)(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


@pytest.mark.parametrize("zipped", [True, False])
def test_replay_agrees_with_a_trace_of_the_same_game(tmp_path, zipped):
    rows = rows_of(Nim(9))
    result = replay(Nim(9), write(tmp_path, rows + rows[1:], zipped=zipped))
    assert result.is_same
    assert (result.playouts, result.states) == (2, 20)
    assert "no difference" in explain(result)


def spoil(rows, step, **changes):
    rows[step + 1] = {**rows[step + 1], **changes}
    return rows


@pytest.mark.parametrize(
    ("step", "changes", "what"),
    [
        (0, {"facts": ["(control left)", "(heap 8)"]}, "facts"),
        (3, {"n": 3}, "number of facts"),
        (3, {"h": "00"}, "hash of the facts"),
        (4, {"term": True}, "terminal"),
        (1, {"legal": {"left": ["noop"], "right": ["(take 1)"]}}, "legal moves of right"),
        (4, {"legal_n": [1, 1]}, "number of legal moves per role"),
        (4, {"legal_h": "00"}, "hash of the legal moves"),
        (4, {"move": ["(take 9)", "noop"]}, "move of left"),
        (9, {"goals": {"left": 0, "right": 100}}, "goal of left"),
        (9, {"goals": {"left": None, "right": 0}}, "goal of left"),
    ],
)
def test_replay_finds_the_first_difference(tmp_path, step, changes, what):
    result = replay(Nim(9), write(tmp_path, spoil(rows_of(Nim(9)), step, **changes)))
    assert (result.difference.what, result.difference.step) == (what, step)
    assert f"differs in playout 0, step {step}: {what}\n" in explain(result)


def test_replay_shows_different_terms_the_state_and_legal_moves(tmp_path):
    rows = spoil(rows_of(Nim(9)), 0, facts=["(control left)", "(heap 8)"])
    text = explain(replay(Nim(9), write(tmp_path, rows)))
    assert "- (heap 8)" in text
    assert "+ (heap 9)" in text
    text = explain(replay(Nim(9), write(tmp_path, spoil(rows_of(Nim(9)), 5, legal_h="00"))))
    assert "right (take 2)" in text  # only the hash differs


def test_replay_accepts_null_goals(tmp_path):
    game = Matrix([[[50, None]]], moves=("a",))
    assert replay(game, write(tmp_path, rows_of(game))).is_same
    other = Matrix([[[50, 10]]], moves=("a",))
    result = replay(other, write(tmp_path, spoil(rows_of(game), 1, goals_raw={"row": [50], "column": []})))
    assert result.difference.what == "goal of column"
    assert result.difference.found == "10"


def test_replay_follows_a_playout_that_was_cut(tmp_path):
    rows = rows_of(Nim(9))[:6]
    rows[-1]["end"] = "step_cap"
    del rows[-1]["move"]
    assert replay(Nim(9), write(tmp_path, rows)).is_same


def test_replay_accepts_roles_without_moves(tmp_path):
    rows = rows_of(Nim(4))[:5]
    for key in ("legal_n", "legal_h", "move"):
        del rows[-1][key]
    rows[-1].update(end="no_legal_moves", stuck="right")
    path = write(tmp_path, rows)
    assert replay(Stuck(4), path).is_same
    assert replay(Nim(4), path).difference.what == "role without a legal move"


def test_replay_compares_roles(tmp_path):
    result = replay(Nim(9, roles=("a", "b")), write(tmp_path, rows_of(Nim(9))))
    assert result.difference.what == "roles"


@pytest.mark.parametrize("text", ["", "{}", "[]", "{"])
def test_replay_rejects_other_files(tmp_path, text):
    path = tmp_path / "trace.jsonl"
    path.write_text(text)
    with pytest.raises(TraceError):
        replay(Nim(), path)


def test_replay_rejects_a_broken_archive(tmp_path):
    path = write(tmp_path, rows_of(Nim(9)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TraceError):
        replay(Nim(9), path)
