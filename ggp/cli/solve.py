"""`ggp solve`: the value of a game and its best moves.

Everything that imports the solver or a search is imported by the command itself: mistakes in its arguments
are reported without waiting for that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ggp.cli.loading_status import load_visibly
from ggp.cli.options import Amount, Clock, Count, OutputFile, Seconds
from ggp.game import hides_information

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame
    from ggp.match.player import Player
    from ggp.search.root_value import RootValue
    from ggp.solver import Solution, SolverError, SolverLimits
    from ggp.solver.coalitions import CoalitionSolution

METHODS = AUTO, RETROGRADE, CFR, ORACLE, *SEARCHES = (
    *("auto", "retrograde", "cfr", "double-oracle"),
    *("alphabeta", "branch-and-bound"),
)
BYTES_PER_STATE = 40
"""Memory per state of a typical game, transitions not included."""
TABLE_SHARE = 8
"""A search gets 1/TABLE_SHARE of the memory for its transposition table: more hardly helps."""
ESTIMATE_ERROR = 4
"""Factor by which an estimate of the number of states may be too large."""
STATES_BEFORE_ESTIMATE = 5_000_000
"""Reached in seconds; before it, games with a step limit seem to have no end (the 8-puzzle)."""


_TINY = """(role a) (role b) (init (turn a))
(<= (legal ?r (take ?n)) (true (turn ?r)) (number ?n))
(<= (legal a pass) (true (turn b))) (<= (legal b pass) (not (true (turn b))))
(number 1) (number 2)
(<= (next (turn b)) (true (turn a))) (<= (next (taken ?n)) (does ?_r (take ?n)))
(<= terminal (not (true (turn a))) (not (true (turn b))))
(<= (goal a 100) (true (taken 1))) (<= (goal b 0) (true (taken 1)))
(<= (goal a 0) (not (true (taken 1)))) (<= (goal b 100) (not (true (taken 1))))
"""
_TINY_ONE_ROLE = """(role a) (init start)
(<= (legal a (take ?n)) (number ?n)) (number 1) (number 2)
(<= (next (taken ?n)) (does a (take ?n)))
(<= terminal (not (true start)))
(<= (goal a 100) (true (taken 1))) (<= (goal a 0) (not (true (taken 1))))
"""
"""Games to compile kernels with."""


@dataclass(frozen=True)
class SolveOptions:
    """The options of `ggp solve`, and the deadline that follows from them (`time.monotonic()`)."""

    method: str
    seconds: float | None
    mebibytes: int
    states: int | None
    save: Path | None
    work: Path | None
    begin: float
    histories: int | None = None
    coalition: str | None = None
    is_correlated: bool = False

    @property
    def deadline(self) -> float | None:
        return None if self.seconds is None else self.begin + self.seconds


@click.command("solve")
@click.argument("file", metavar="FILE")
@click.option(
    "--method",
    default=AUTO,
    show_default=True,
    type=click.Choice(METHODS),
    help="Solution method, see above.",
)
@click.option("--seconds", type=Seconds(0.0), help="Give up after this time.")
@click.option(
    "--memory",
    "mebibytes",
    default=8192,
    show_default=True,
    type=Count(64),
    metavar="MIB",
    help="Memory limit.",
)
@click.option(
    "--coalition",
    metavar="ROLES",
    help="Find what these roles can be sure of together: their numbers, as in 1+3.",
)
@click.option(
    "--correlated",
    "is_correlated",
    is_flag=True,
    help="Use a correlated equilibrium where three or more roles choose at once and no pure one exists.",
)
@click.option("--states", type=Count(1), help="Give up if there are more states.")
@click.option("--save", type=OutputFile(is_replaced=True), help="Write the solution to this file.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    help="Work folder: an interrupted solve resumes from it.",
)
@click.option(
    "--accuracy",
    default=1e-6,
    show_default=True,
    type=Amount(0.0),
    metavar="GOALS",
    help="For cfr: stop at this exploitability, in goals.",
)
@click.option(
    "--histories", type=Count(1), help="For cfr: give up if the tree has more histories of observations."
)
@click.option("--strategy", "shows_strategy", is_flag=True, help="For cfr: print every information set.")
@click.option(
    "--against",
    metavar="PLAYER",
    help="For cfr: ask this player in every information set and show how exploitable it is.",
)
@click.option(
    "--samples",
    default=10,
    show_default=True,
    type=Count(1),
    help="For --against: how often the player is asked in each information set.",
)
@click.option(
    "--play-clock",
    default=0.1,
    show_default=True,
    type=Clock(0.01),
    help="For --against: the player's time for each answer.",
)
@click.option("--seed", default=0, show_default=True, type=int, help="For --against: random seed.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(
    file: str,
    method: str,
    seconds: float | None,
    mebibytes: int,
    coalition: str | None,
    is_correlated: bool,
    states: int | None,
    save: Path | None,
    work: Path | None,
    accuracy: float,
    histories: int | None,
    shows_strategy: bool,
    against: str | None,
    samples: int,
    play_clock: float,
    seed: int,
    is_json: bool,
) -> None:
    """Find the goal of each role in FILE under optimal play.

    retrograde enumerates all states and values each of them. alphabeta (two alternating roles, constant sum)
    and branch-and-bound (one role) find only the value of the initial state, with little memory. cfr finds an
    equilibrium of two roles (constant sum) that do not see everything, or the best play of one role;
    double-oracle bounds the value if the tree is too large for cfr. auto is cfr if FILE has `sees`; else it
    starts with retrograde and switches to a search at too many states or after half of --seconds.

    With three and more roles every role maximizes its own goal (max^n). With --coalition its roles maximize
    the sum of their goals and all others minimize it; a coalition of one role is the paranoid assumption.
    """
    player = _opponent(against) if against is not None else None
    game = load_visibly(file, "lanes")

    from ggp.cli.solve_output import print_coalition, print_result
    from ggp.engines.compiled import CompiledGame
    from ggp.solver import Solution, SolverError, save_solution

    assert isinstance(game, CompiledGame)
    method = _chosen_method(game, method, coalition, save)
    if is_correlated and (coalition is not None or method not in (AUTO, RETROGRADE)):
        raise click.UsageError("--correlated needs retrograde, and no --coalition")
    if player is not None and (method != CFR or not hides_information(game)):
        raise click.UsageError("--against is for games with hidden information (`sees`) and needs cfr")
    _compile_kernels(method, has_seconds=seconds is not None)
    options = SolveOptions(
        method, seconds, mebibytes, states, save, work, time.monotonic(), histories, coalition, is_correlated
    )
    try:
        if method in (CFR, ORACLE):
            asking = None if player is None else (player, play_clock, seed, samples)
            _print_hidden(game, options, (accuracy, shows_strategy, is_json), asking)
        elif coalition is not None:
            print_coalition(_solve_coalition(game, options), is_json=is_json)
        else:
            found = _solve(game, options)
            if isinstance(found, Solution) and save is not None:
                save_solution(found, save)
            print_result(found, is_json=is_json)
    except SolverError as error:
        raise click.ClickException(f"{game.name}: {error}{_hint(error, options)}") from None


def _print_hidden(
    game: CompiledGame,
    options: SolveOptions,
    shown: tuple[float, bool, bool],
    asking: tuple[Player, float, int, int] | None,
) -> None:
    """Solve a game with hidden information, or measure a player in it, and print the result.

    shown    accuracy, whether the strategy is shown, whether as JSON
    asking   the player, its clock in seconds, the seed, and how often it is asked in each information set
    """
    from ggp.assessment.asking import AssessmentTerms
    from ggp.cli.solve_hidden import HiddenOptions, print_bounds, print_equilibrium, print_exploitability

    _refuse_files(options)
    hidden = HiddenOptions(*shown)
    if asking is not None:
        player, play_clock, seed, samples = asking
        terms = AssessmentTerms(play_clock_seconds=play_clock, seed=seed)
        print_exploitability(game, _limits(options), hidden, player, terms, samples)
    elif options.method == ORACLE:
        print_bounds(game, _limits(options), hidden)
    else:
        print_equilibrium(game, _limits(options), hidden)


def _chosen_method(game: CompiledGame, method: str, coalition: str | None, save: Path | None) -> str:
    """The method to solve a game with, if `method` was asked for. Raises UsageError."""
    if coalition is None:
        return CFR if method == AUTO and hides_information(game) else method
    if method not in (AUTO, RETROGRADE):
        raise click.UsageError(f"--coalition needs retrograde, not {method}")
    if save is not None:
        raise click.UsageError("--save keeps the value of every role, which a coalition does not have")
    return RETROGRADE


def _opponent(spec: str) -> Player:
    """The player to be measured; people and players over HTTP are not asked a thousand times."""
    from ggp.match.player import PlayerSpecError
    from ggp.players.factory import check_player, require_kind

    try:
        require_kind(spec, refused=("human", "http"))
        return check_player(spec)
    except PlayerSpecError as error:
        raise click.BadParameter(str(error), param_hint="'--against'") from None


def _compile_kernels(method: str, *, has_seconds: bool) -> None:
    """Solve a game of a few states first, so that --seconds does not count compiling."""
    if not has_seconds:
        return
    from ggp.engines.compiled import CompiledGame
    from ggp.engines.loading import load
    from ggp.search.root_value import find_root_value
    from ggp.solver import SolverLimits, solve
    from ggp.solver.cfr import solve_hidden

    game = load(_TINY_ONE_ROLE if method == "branch-and-bound" else _TINY, "lanes")
    assert isinstance(game, CompiledGame)
    if method in (CFR, ORACLE):
        solve_hidden(game)
        return
    if method in (AUTO, RETROGRADE):
        solve(game, SolverLimits())
    if method == AUTO:
        one_role = load(_TINY_ONE_ROLE, "lanes")
        assert isinstance(one_role, CompiledGame)
        find_root_value(one_role)
    if method != RETROGRADE:
        find_root_value(game)


def _solve(game: CompiledGame, options: SolveOptions) -> Solution | RootValue:
    """Solve by the method asked for; `auto` without --save may switch from retrograde to a search."""
    from ggp.search.root_value import search_method

    if options.method in SEARCHES:
        _require_method(game, options, search_method(game))
        return _search(game, options)
    fallback = search_method(game) if options.method == AUTO and options.save is None else None
    limits = _limits(options)
    if fallback is None:
        return _retrograde(game, limits, options)
    if options.seconds is not None:
        limits = replace(limits, deadline=options.begin + options.seconds / 2)
    return _retrograde_or_search(game, limits, options, fallback)


def _limits(options: SolveOptions) -> SolverLimits:
    from ggp.solver import SolverLimits

    return SolverLimits(
        mebibytes=options.mebibytes,
        states=options.states,
        histories=options.histories,
        deadline=options.deadline,
        work_folder=options.work,
    )


def _refuse_files(options: SolveOptions) -> None:
    if options.save is not None or options.work is not None:
        raise click.UsageError(f"--save and --work need retrograde: {options.method} keeps no states")


def _require_method(game: CompiledGame, options: SolveOptions, possible: str | None) -> None:
    method = options.method
    _refuse_files(options)
    if possible != method:
        kind = "two roles with perfect information and no chance" if method == "alphabeta" else "one role"
        raise click.UsageError(f"{method} is for games of {kind}; {game.name} is not one")


def _retrograde_or_search(
    game: CompiledGame, limits: SolverLimits, options: SolveOptions, fallback: str
) -> Solution | RootValue:
    """Retrograde, and after a limit was met the search method `fallback`."""
    from ggp.solver import SolverLimitError

    most = ESTIMATE_ERROR * (limits.mebibytes << 20) // BYTES_PER_STATE
    try:
        return _retrograde(
            game, replace(limits, estimated_states=most, estimate_from=STATES_BEFORE_ESTIMATE), options
        )
    except SolverLimitError as error:
        click.echo(
            f"{game.name}: {error}; using {fallback} for the value of the initial state alone"
            " (cannot be resumed if interrupted)",
            err=True,
        )
    return _search(game, options)


def _retrograde(game: CompiledGame, limits: SolverLimits, options: SolveOptions) -> Solution:
    from ggp.cli.solve_output import progress_line, show_progress
    from ggp.solver import solve

    with progress_line() as is_shown:
        return solve(
            game,
            limits,
            report=show_progress if is_shown else None,
            is_correlated=options.is_correlated,
        )


def _solve_coalition(game: CompiledGame, options: SolveOptions) -> CoalitionSolution:
    from ggp.cli.solve_output import progress_line, show_progress
    from ggp.solver.coalitions import solve_coalition
    from ggp.solver.members import parse_coalition

    assert options.coalition is not None
    try:
        members = parse_coalition(options.coalition, game.roles)
    except ValueError as error:
        raise click.BadParameter(f"{game.name}: {error}", param_hint="'--coalition'") from None
    with progress_line() as is_shown:
        return solve_coalition(game, members, _limits(options), report=show_progress if is_shown else None)


def _search(game: CompiledGame, options: SolveOptions) -> RootValue:
    from ggp.cli.solve_output import progress_line, show_search
    from ggp.search.root_value import find_root_value

    with progress_line() as is_shown:
        return find_root_value(
            game,
            mebibytes=options.mebibytes // TABLE_SHARE,
            deadline=options.deadline,
            report=show_search if is_shown else None,
        )


def _hint(error: SolverError, options: SolveOptions) -> str:
    """What the user can do about it."""
    from ggp.solver import SolverLimitError

    if not isinstance(error, SolverLimitError):
        return ""
    if options.method == CFR:
        return "; --method double-oracle bounds the value of larger trees"
    if options.work is not None:
        return f"; the same command with --work {options.work} resumes from here"
    if options.save is not None:
        return "; without --save, a search may find the value of the initial state"
    return ""
