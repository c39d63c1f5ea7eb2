"""`ggp explain`: the steps of a search on a tree or a game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ggp.cli.options import Count, OutputFile, scale_option
from ggp.cli.progress import load_visibly
from ggp.files import write_text


@click.command("explain")
@click.argument("file", metavar="TREE|FILE")
@click.option("--by", default="alphabeta", metavar="ALGORITHM", help="Search to explain, see above.")
@click.option("--state", metavar="FACTS", help="State to search, as facts such as (true (cell 1 1 x)).")
@click.option("--depth", type=Count(1, 100), help="Plies to search.  [default: 3; a bare tree wholly]")
@click.option("--nodes", default=200, type=Count(2, 5000), help="Nodes to draw; what is below is folded.")
@click.option("--simulations", default=12, type=Count(1, 10_000), help="Simulations of mcts, episodes of td.")
@click.option("--policy", help="Policy of mcts, such as mast or rave+mast.  [default: uniform]")
@scale_option
@click.option("--svg", type=OutputFile(is_replaced=True), help="Draw the tree to this SVG file.")
@click.option("--html", type=OutputFile(is_replaced=True), help="Write a page with all steps to this file.")
def command(file: str, by: str, svg: Path | None, html: Path | None, **given: Any) -> None:
    """Show each step of a search on a TREE such as "[[3,12,8],[2,4,6]]", or in the game in FILE.

    \b
    ALGORITHM is one of
      minimax, alphabeta, pvs (Negascout, Scout), aspiration, bisection, deepening
      expectimax, expectiminimax, star1      chance, or opponents who move at random
      maxn, paranoid, coalition              three and more roles
      mcts (uct), mast, to-mast, past, fast, rave
      td                                     learn a linear evaluation from random episodes
    with settings after a colon: refinements of alpha-beta (an unknown one lists all), as in
    alphabeta:killers=on,quiescence=5; in games evaluation=FILE with weights of facts, or module:function or
    file.py:function; in bare trees order=best or worst; for aspiration guess=N; coalition's roles=1+2; those
    of the player mcts, as in mcts:c=20,tau=5; and td:step=0.1,lambda=0,start=0.

    Nodes are positions that were expanded, leaves those that were evaluated.

    In a TREE, max and min choose in turn. (1,2,3) are the goals of three players, 0.5:x is a move of chance,
    name:x a move with a name, max[…], min[…], p2[…] or chance[…] says who chooses, 7[…] gives a position an
    evaluation for --depth. FILE may be a file with a tree; there and here a comment begins with a semicolon.
    """
    from ggp.explain import bare_trees, searches
    from ggp.explain.explanation import text_of
    from ggp.explain.page import page_of
    from ggp.explain.picture import picture_of
    from ggp.explain.writing import writing_of
    from ggp.game import GameError
    from ggp.search.option_table import OptionError

    targets = [path.resolve() for path in (svg, html) if path is not None]
    if len({*targets, Path(file).resolve()}) <= len(targets):
        raise click.UsageError("each output needs a file of its own")
    text, name = (file, "<tree>") if bare_trees.is_tree(file) else _tree_in(file)
    game = bare_trees.read_tree(text, name) if text else load_visibly(file)
    policy, state, notation = given.pop("policy"), given.pop("state"), "kif" if html is None else "short"
    by += f"{',' if ':' in by else ':'}policy={policy}" if policy else ""
    try:
        root = None if state is None else searches.state_of(game, state)
        found = searches.explain(writing_of(game, notation), by, state=root, **given)
    except (GameError, OptionError) as error:
        raise click.ClickException(f"{game.name}: {error}") from None
    if svg is not None:
        write_text(svg, picture_of(found))
    if html is not None:
        write_text(html, page_of(found))
    written = [f"{path}: written" for path in (svg, html) if path is not None]
    click.echo("\n".join([found.title, *found.summary, *written]) if written else text_of(found))


def _tree_in(file: str) -> tuple[str, str]:
    """The text of a file with a bare tree, and its name; empty texts if it is something else."""
    from gdl.syntax.parser import decode
    from ggp.explain.bare_trees import MAX_CHARACTERS, is_tree

    path = Path(file)
    if not path.is_file():
        return "", ""
    with path.open("rb") as opened:
        text = decode(opened.read(4 * MAX_CHARACTERS + 1))  # a longer tree is refused by its reader
    text = text.removeprefix("\ufeff")
    return (text, file) if is_tree(text) else ("", "")
