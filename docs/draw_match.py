"""Draw docs/pictures/match.svg, the README's picture of a match in the terminal: `python docs/draw_match.py`.

Plays connect four between two searches of fixed size, so the picture only changes with the program.
"""

import io
import re
from pathlib import Path

from rich.console import Console

import ggp
from ggp.cli.live_view import MatchView
from ggp.match.referee import Moment, play_match
from ggp.match.terms import MatchTerms
from ggp.players.factory import make_player

SHOWN_STEP = 17


def main() -> None:
    """Play, keep what the live view shows at SHOWN_STEP, and save it."""
    game = ggp.load("connectfour", engine="reasoner")
    console = Console(record=True, width=78, force_terminal=True, file=io.StringIO())
    view = MatchView(Console(quiet=True), game)

    def watch(moment: Moment) -> None:
        view(moment)
        if moment.step == SHOWN_STEP and moment.thinking is None:
            console.print("[bold]$ ggp match connectfour mcts mcts[/bold]")
            console.print(view.render())

    with view:
        players = [make_player("mcts:simulations=400") for _ in game.roles]
        play_match(game, players, MatchTerms(60, 60, seed=7), watch=watch)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="ggp match"), flags=re.DOTALL)
    (Path(__file__).with_name("pictures") / "match.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
