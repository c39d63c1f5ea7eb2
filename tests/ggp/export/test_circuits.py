"""Exported circuits play as the game does, read by the simplest interpreters of their formats."""

import json
import random
import shutil
import subprocess

import pytest
from click.testing import CliRunner

import ggp
from ggp.cli.main import app
from ggp.export.circuits import FORMATS, name_of, named_circuit, to_aiger, to_blif, to_dot, to_json

GAMES = ["tictactoe", "goofspiel", "kuhn_poker", "lightsout", "dicerace"]


class Aiger:
    """ASCII AIGER with symbols: `outputs` of the present state and inputs, then `step`."""

    def __init__(self, text):
        lines = text.splitlines()
        _, inputs, latches, outputs, ands = map(int, lines[0].split()[1:])
        rows = [list(map(int, line.split())) for line in lines[1 : 1 + inputs + latches + outputs + ands]]
        self.inputs = [row[0] for row in rows[:inputs]]
        self.latches = rows[inputs : inputs + latches]
        self.results = [row[0] for row in rows[inputs + latches : inputs + latches + outputs]]
        self.ands = rows[inputs + latches + outputs :]
        self.names = {"i": [], "l": [], "o": []}
        for line in lines[1 + len(rows) :]:
            self.names[line[0]].append(line.split(" ", 1)[1])
        self.state = [row[2] for row in self.latches]

    def run(self, chosen):
        values = {0: 0}
        values.update({x: int(name in chosen) for x, name in zip(self.inputs, self.names["i"], strict=True)})
        values.update({row[0]: bit for row, bit in zip(self.latches, self.state, strict=True)})
        value = lambda x: values[x & ~1] ^ (x & 1)  # noqa: E731
        for result, a, b in self.ands:
            assert result > a >= b
            values[result] = value(a) & value(b)
        self.following = [value(row[1]) for row in self.latches]
        return {name for name, x in zip(self.names["o"], self.results, strict=True) if value(x)}

    def step(self):
        self.state = self.following


class Blif:
    """BLIF with one cube per table, inputs before results."""

    def __init__(self, text):
        self.tables, self.latches, self.state = [], [], {}
        self.names = {}
        for line in text.replace("\\\n", " ").splitlines():
            word, *rest = line.split()
            if word in (".inputs", ".outputs"):
                self.names[word] = rest
            elif word == ".latch":
                self.latches.append(rest[:2])
                self.state[rest[1]] = int(rest[2])
            elif word == ".names":
                self.tables.append((rest, []))
            elif not word.startswith("."):
                self.tables[-1][1].append(word if rest else "")

    def run(self, chosen):
        values = {**self.state, **{name: int(name in chosen) for name in self.names[".inputs"]}}
        for (*inputs, result), cubes in self.tables:
            (cube,) = cubes
            values[result] = int(all(values[x] == int(bit) for x, bit in zip(inputs, cube, strict=True)))
        self.following = {name: values[source] for source, name in self.latches}
        return {name for name in self.names[".outputs"] if values[name]}

    def step(self):
        self.state = self.following


@pytest.mark.parametrize("kind", [Aiger, Blif])
@pytest.mark.parametrize("name", GAMES)
def test_circuits_play_as_the_game_does(name, kind):
    game, rng = ggp.load(name), random.Random(1)
    circuit = named_circuit(game.tables, game.terms)
    machine, state = kind(to_aiger(circuit) if kind is Aiger else to_blif(circuit)), game.initial_state()
    for _ in range(30):
        assert ("terminal" in machine.run(set())) == game.is_terminal(state)
        if game.is_terminal(state):
            players = [role for role in game.roles if role != ggp.RANDOM_ROLE]
            goals = {f"goal({name_of(role)},{game.goal(state, role)})" for role in players}
            assert goals <= machine.run(set())
            break
        legal = [game.legal_moves(state, role) for role in game.roles]
        of_role = {
            f"legal({name_of(role)},{name_of(move)})"
            for role, moves in zip(game.roles, legal, strict=True)
            for move in moves
        }
        assert {output for output in machine.run(set()) if output.startswith("legal(")} == of_role
        joint_move = tuple(map(rng.choice, legal))
        chosen = {f"does({name_of(r)},{name_of(m)})" for r, m in zip(game.roles, joint_move, strict=True)}
        outputs = machine.run(chosen)
        for role in game.roles:
            prefix = f"sees({name_of(role)},"
            seen = {f"{prefix}{name_of(term)})" for term in game.percepts(state, joint_move, role)}
            assert {output for output in outputs if output.startswith(prefix)} == seen
        machine.step()
        state = game.next_state(state, joint_move)


def test_json_and_dot():
    game = ggp.load("tictactoe")
    circuit = named_circuit(game.tables, game.terms)
    data = json.loads(to_json(circuit))
    assert (len(data["gates"]), data["moves"][0]) == (len(circuit.gates), "does(x,mark(1,1))")
    text = to_dot(circuit)
    assert text.count("->") == len(game.tables.input) + len(circuit.outputs) + len(circuit.fluents)


def test_the_command():
    assert CliRunner().invoke(app, ["export", "tictactoe"]).output.startswith("aag ")
    for form in FORMATS:
        assert CliRunner().invoke(app, ["export", "tictactoe", "--to", form]).exit_code == 0
    assert CliRunner().invoke(app, ["export", "tictactoe", "--to", "verilog"]).exit_code == 2


ODD_NAMES = r"""
(role a#b) (role c\)
(init (at%20 "x=y" 1,2)) (init (at%20 "x=y" (pair 1 2))) (init ä) (init \) (init #end) (init ~[]*+{})
(<= (legal ?r (go#1 ?x)) (role ?r) (mark ?x)) (mark c) (mark |) (mark 50%)
(<= (next (seen ?x)) (does a#b (go#1 ?x))) (<= (next ä) (true ä)) (<= (next #end) (does c\ (go#1 |)))
(<= terminal (true (seen ?x)) (true #end))
(<= (goal ?r 100) (role ?r) (true (seen 50%)) (true ä)) (<= (goal ?r 0) (role ?r) (not (true (seen 50%))))
"""
"""Names with all that BLIF, AIGER and the notation of terms use themselves."""


@pytest.fixture
def odd_circuit():
    game = ggp.load(ODD_NAMES)
    return named_circuit(game.tables, game.terms)


@pytest.mark.parametrize("kind", [Aiger, Blif])
def test_names_survive_their_format(odd_circuit, kind):
    circuit = odd_circuit
    machine = kind(to_aiger(circuit) if kind is Aiger else to_blif(circuit))
    assert {name for name, _ in circuit.outputs} >= {"legal(a%23b,go%231(50%25))", "goal(c%5C,100)"}
    every = [*circuit.moves, *circuit.fluents, *(name for name, _ in circuit.outputs)]
    assert len(set(every)) == len(every)
    assert all(name.isascii() and not set(name) & set(' #\\="') for name in every)
    assert "terminal" not in machine.run(set())
    machine.run({"does(a%23b,go%231(50%25))", "does(c%5C,go%231(|))"})
    machine.step()
    assert {"terminal", "goal(c%5C,100)"} <= machine.run(set())


@pytest.mark.skipif(not shutil.which("berkeley-abc"), reason="no berkeley-abc")
def test_abc_reads_odd_names(odd_circuit, tmp_path):
    circuit, place, back = odd_circuit, tmp_path / "game.blif", tmp_path / "back.blif"
    place.write_text(to_blif(circuit))
    commands = f"read {place}; print_io; strash; print_stats; write_blif {back}"
    run = subprocess.run(["berkeley-abc", "-c", commands], capture_output=True, text=True, check=True)
    counts = f"i/o ={len(circuit.moves):5}/{len(circuit.outputs):5}  lat ={len(circuit.fluents):5}"
    assert counts in run.stdout
    names = set(back.read_text().replace("\\\n", " ").split())
    assert names >= {*circuit.moves, *circuit.fluents, *(output for output, _ in circuit.outputs)}
