"""Certificates are checked by the rules alone, and wrong ones are refused."""

from pathlib import Path

import click
import pytest

from ggp.cli.main import app
from tests.oracles.certificate_checker import CertificateError, check

KEPT = Path(__file__).with_name("breakthrough_small.certificate.xz")
"""A proof that takes too long to find here: see `results/solved.md`."""


def certify(tmp_path: Path, *arguments: str) -> Path:
    path = tmp_path / "certificate"
    app(["solve", *arguments, "--certificate", str(path)], standalone_mode=False)
    return path


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["tictactoe"], ("x", 50)),
        (["tictactoe", "--method", "alphabeta"], ("x", 50)),
        (["nim"], ("first", 0)),
        (["bucket", "--method", "alphabeta"], ("picker", 51)),
        (["hex_3x3"], ("red", 100)),
        (["hanoi"], ("player", 100)),
        (["hanoi", "--method", "branch-and-bound"], ("player", 100)),
        (["connectfour_4x4", "--method", "alphabeta"], ("red", 50)),
        pytest.param(["connectfour_5x4"], ("red", 50), marks=pytest.mark.slow),
        pytest.param(["breakthrough_4x4"], ("white", 0), marks=pytest.mark.slow),
    ],
)
def test_certificates_hold_by_the_rules_alone(tmp_path, arguments, value):
    path = certify(tmp_path, *arguments)
    assert check(arguments[0], path)[:2] == value


@pytest.mark.slow
def test_the_kept_certificate_of_breakthrough_5x5_holds():
    assert check("breakthrough_small", KEPT)[:2] == ("white", 0)


def test_the_checker_refuses_what_proves_nothing(tmp_path):
    path = certify(tmp_path, "tictactoe")
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    middle = len(lines) // 2
    for wrong, said in [
        (text.replace("(value x 50)", "(value x 100)"), "an end with"),
        (text.replace("(value x 50)", "(value x 0)"), "an end with|not legal"),
        (text.replace("(value x 50)", "(value o 50)"), "it is about o"),
        ("".join(lines[:-1]), "nothing .* is not legal"),
        ("".join(lines[:middle] + lines[middle + 1 :]), "is not legal|an end with"),
        (text.replace("(mark 1 1)", "(mark 9 9)", 1), "is not legal"),
        (text + lines[-1], "more moves than choices"),
    ]:
        path.write_text(wrong)
        with pytest.raises(CertificateError, match=said):
            check("tictactoe", path)


def test_the_checker_refuses_a_certificate_without_any_one_of_its_moves(tmp_path):
    path = certify(tmp_path, "hex_3x3", "--method", "alphabeta")
    lines = path.read_text().splitlines(keepends=True)
    for i in range(1, len(lines)):
        path.write_text("".join(lines[:i] + lines[i + 1 :]))
        with pytest.raises(CertificateError):
            check("hex_3x3", path)


def test_a_line_that_need_not_end_proves_nothing(tmp_path):
    rules = """(role a) (role b) (init (turn a)) (init start)
(<= (legal ?r noop) (role ?r) (not (true (turn ?r)))) (<= (legal ?r stay) (true (turn ?r)))
(<= (legal ?r stop) (true (turn ?r)))
(<= (next (turn b)) (true (turn a)) (does a stay)) (<= (next (turn a)) (true (turn b)) (does b stay))
(<= terminal (not (true (turn a))) (not (true (turn b))))
(<= (next (lost ?r)) (does ?r stop))
(<= (goal ?r 0) (true (lost ?r))) (<= (goal ?r 100) (role ?r) (not (true (lost ?r))))
"""
    with pytest.raises(click.ClickException, match="need not end"):
        certify(tmp_path, rules)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dicerace"], "no chance"),
        (["kuhn_poker"], "perfect information"),
        (["connectfour_3p"], "one role, or two"),
        (["rockpaperscissors"], "pure strategies|in turn"),
    ],
)
def test_games_without_such_a_value_are_refused(tmp_path, arguments, said):
    with pytest.raises(click.ClickException, match=said):
        certify(tmp_path, *arguments)
    assert not (tmp_path / "certificate").exists()
