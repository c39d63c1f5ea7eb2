"""Option tables: defaults that agree with the code, values out of range, and `ggp players`."""

import pytest
from click.testing import CliRunner

from ggp.cli.players import command
from ggp.players.factory import make_player
from ggp.players.options import MAIN_OPTIONS, PLAYERS, describe_options, option_tables
from ggp.search.option_table import OptionError, rows_of
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.policy import POLICY_PARTS, PolicyError, parse_policy

KINDS_WITH_OPTIONS = [kind for kind in PLAYERS if describe_options(kind)]


@pytest.mark.parametrize("kind", KINDS_WITH_OPTIONS)
def test_option_names_of_a_player_are_unique(kind):
    names = [row.name for row in describe_options(kind)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", KINDS_WITH_OPTIONS)
def test_defaults_are_values_that_the_table_allows(kind):
    for table in option_tables(kind):
        for row in rows_of(table):
            assert row.checked(getattr(table, row.field)) == getattr(table, row.field)


def test_options_outside_their_range_are_refused_in_code_too():
    with pytest.raises(OptionError, match=r"fill must be from 0 to 1, not 1\.5"):
        MctsOptions(fill=1.5)


def test_switches_are_on_or_off_in_every_player():
    switches = [(k, row) for k in KINDS_WITH_OPTIONS for row in describe_options(k) if row.kind == "switch"]
    assert {row.default for _, row in switches} == {"on", "off"}
    assert {row.range for _, row in switches} == {"on or off"}


@pytest.mark.parametrize("part", POLICY_PARTS)
def test_every_policy_can_be_played(part):
    assert make_player(f"mcts:policy={part},search=reference").options[1].policy == part
    assert parse_policy(part).stand_in().stand_in() == parse_policy(part).stand_in()


def test_policies_that_exclude_each_other_are_refused():
    with pytest.raises(PolicyError, match="mast and past cannot be combined"):
        parse_policy("past+mast")


def test_players_command_lists_options_with_ranges():
    text = CliRunner().invoke(command, ["mcts", "--all"]).output
    assert "default: 0.2; from 0 to 1" in " ".join(text.split())
    assert text.index("policy") < text.index("tuning") < text.index("lanes_per_leaf")
    brief = CliRunner().invoke(command, ["mcts"]).output
    assert "options for tuning: ggp players mcts --all" in brief
    assert "lanes_per_leaf" not in brief


@pytest.mark.parametrize(("kind", "most"), [("mcts", 16), ("alphabeta", 10)])
def test_few_options_are_listed_unasked(kind, most):
    assert len([row for row in describe_options(kind) if not row.is_tuning]) <= most
    assert {row.name for row in describe_options(kind)} >= set(MAIN_OPTIONS[kind])
