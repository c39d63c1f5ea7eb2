"""Draw docs/match.svg, the README's picture: `python docs/draw_match.py`.

Plays connect four between two searches of fixed size, so the picture only changes with the program.
"""

import io
from pathlib import Path

from rich.console import Console

import ggp
from ggp.live_view import MatchView
from ggp.match import Moment, play_match
from ggp.players import make_player

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
        play_match(game, players, start_clock_seconds=60, play_clock_seconds=60, seed=7, watch=watch)
    console.save_svg(str(Path(__file__).with_name("match.svg")), title="ggp match")


if __name__ == "__main__":
    main()
