"""EFG files: every node once, information sets by what agents know."""

import re

import pytest

from ggp.env.gambit import write_efg


def test_kuhn_poker_has_its_tree(tmp_path):
    path = tmp_path / "kuhn.efg"
    nodes = write_efg("kuhn_poker", path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == 'EFG 2 R "kuhn_poker" { "first" "second" }'
    assert len(lines) == nodes + 1 == 1 + 1 + 6 * (4 + 5)
    kinds = [line[0] for line in lines[1:]]
    assert (kinds.count("c"), kinds.count("p"), kinds.count("t")) == (1, 24, 30)
    sets = {tuple(re.match(r'p "" (\d) (\d+)', line).groups()) for line in lines if line[0] == "p"}
    assert len(sets) == 12
    assert lines[1].count(" 1/6") == 6


def test_choices_at_once_become_one_node_each(tmp_path):
    path = tmp_path / "game.efg"
    assert write_efg("rockpaperscissors", path) == 1 + 3 + 9
    lines = path.read_text(encoding="utf-8").splitlines()
    second = {line.split()[3] for line in lines if line.startswith('p "" 2')}
    assert second == {"1"}  # the second player does not see the first one's choice


def test_large_trees_are_refused(tmp_path):
    with pytest.raises(ValueError, match="tictactoe has more than 100 nodes"):
        write_efg("tictactoe", tmp_path / "game.efg", most_nodes=100)
