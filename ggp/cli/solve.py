"""`ggp solve`: the value of a game and its best moves.

Solver and searches are imported only when the command runs, so that wrong arguments are reported at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ggp.analysis.scale import Scale, sheet_scale
from ggp.cli.options import (
    Amount,
    Count,
    Limit,
    OutputFile,
    Seconds,
    json_option,
    limit_option,
    scale_option,
)
from ggp.cli.progress import load_compiled, progress_of
from ggp.engines.loading import find_own_rules
from ggp.game import hides_information

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame
    from ggp.search.root_value import RootValue
    from ggp.solver import Solution, SolverError, SolverLimits

AUTO, RETROGRADE, CFR = "auto", "retrograde", "cfr"
SEARCHES = "alphabeta", "branch-and-bound"
METHODS = (AUTO, RETROGRADE, CFR, *SEARCHES)
BYTES_PER_STATE = 40
"""Memory per state of a typical game, transitions not included."""
ESTIMATE_ERROR = 4
"""Factor by which an estimate of the number of states may be too large."""
STATES_BEFORE_ESTIMATE = 5_000_000
"""Number of states, reached in seconds; estimates from fewer are far too high in games with a step limit."""


@dataclass(frozen=True)
class SolveOptions:
    """The options of `ggp solve`; `begin`: start of the work, `time.monotonic()` seconds."""

    method: str
    seconds: float | None
    limits: dict[str, int]
    save: Path | None
    work: Path | None
    accuracy: float
    shows_strategy: bool
    against: tuple[str, ...]
    scale: Scale | None
    is_json: bool
    certificate: Path | None
    begin: float = 0.0

    @property
    def deadline(self) -> float | None:
        return None if self.seconds is None else self.begin + self.seconds

    @property
    def solver_limits(self) -> SolverLimits:
        from ggp.solver import SolverLimits

        memory, states, histories = (self.limits[name] for name in ("memory", "states", "histories"))
        return SolverLimits(memory, states, histories, deadline=self.deadline, work_folder=self.work)


@click.command("solve")
@click.argument("file", metavar="FILE")
@click.option("--method", default=AUTO, type=click.Choice(METHODS), help="Solution method, see above.")
@click.option("--seconds", type=Seconds(0.0), help="Give up after this time.")
@limit_option(
    Limit("memory", Count(64), 8192, "MiB"),
    Limit("states", Count(1), None, "of retrograde"),
    Limit("histories", Count(1), None, "of observations, for cfr"),
)
@click.option(
    "--against",
    metavar="STRATEGY",
    multiple=True,
    help="Play a role by this strategy, and the others as well as they can against it: 'ROLE: uniform', or"
    " moves with their shares, as in 'odd: show 1=7/12, show 2=5/12'. May be given once for each role.",
)
@scale_option
@click.option("--save", type=OutputFile(is_replaced=True), help="Write the solution to this file.")
@click.option(
    "--certificate",
    type=OutputFile(is_replaced=True),
    help="Write a proof of the value: a move for every state that matters.",
)
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    help="Work folder: an interrupted solve resumes from it.",
)
@click.option(
    "--accuracy",
    default=1e-6,
    type=Amount(0.0),
    metavar="GOALS",
    help="For cfr: stop at this exploitability, in goals.",
)
@click.option("--strategy", "shows_strategy", is_flag=True, help="For cfr: print every information set.")
@json_option
def command(file: str, **given: Any) -> None:
    """Find the goal of each role in FILE under optimal play.

    retrograde enumerates all states and values each of them. alphabeta (two alternating roles, constant sum)
    and branch-and-bound (one role) find only the value of the initial state, with little memory. cfr finds an
    equilibrium of two roles (constant sum) that do not see everything, or the best play of one role. auto is
    cfr if FILE has `sees`; else it starts with retrograde and switches to a search at too many states or
    after half of --seconds. The nodes of a search are positions that were expanded, its
    leaves those that were evaluated: terminal, won at once, decided by goal bounds, or at the horizon.

    With three and more roles every role maximizes its own goal (max^n).

    A game of two roles and one joint move is shown as its payoff matrix, with dominated moves and an
    equilibrium.
    """
    game = load_compiled(file)

    from ggp.cli.solve_hidden import print_equilibrium
    from ggp.cli.solve_output import print_result
    from ggp.cli.solve_replies import print_replies
    from ggp.solver import SolverError

    options = SolveOptions(**given)
    method = _chosen_method(game, options)
    if options.seconds is not None and not options.against:
        _compile_kernels(method)
    options = replace(options, method=method, begin=time.monotonic())
    try:
        limits, accuracy, is_json = options.solver_limits, options.accuracy, options.is_json
        scale = options.scale or sheet_scale(game.program.source.text)
        if options.against:
            print_replies(game, options.against, limits, scale, is_json=is_json)
        elif method == CFR:
            shows = options.shows_strategy
            print_equilibrium(game, limits, accuracy, scale, shows_strategy=shows, is_json=is_json)
        else:
            found = _solve(game, options)
            print_result(found, scale, is_json=is_json)
            if options.certificate is not None:
                _certify(game, found, options)
    except SolverError as error:
        raise click.ClickException(f"{game.name}: {error}{_hint(error, options)}") from None
    except KeyboardInterrupt:
        if options.work is not None:
            click.echo(f"{game.name}: the same command with --work {options.work} resumes", err=True)
        raise


def _chosen_method(game: CompiledGame, options: SolveOptions) -> str:
    """The method to solve a game with. Raises UsageError."""
    from ggp.search.root_value import search_method

    method = options.method
    if options.against:
        if method != AUTO or options.save or options.work:
            raise click.UsageError("--against allows no --method, --save and --work")
        return RETROGRADE
    if method == AUTO and hides_information(game):
        method = CFR
    if method in (CFR, *SEARCHES) and (options.save is not None or options.work is not None):
        raise click.UsageError(f"--save and --work need retrograde: {method} keeps no states")
    if options.certificate is not None and (options.against or search_method(game) is None):
        raise click.UsageError("--certificate is for one role, or two with perfect information and no chance")
    if method in SEARCHES and method != search_method(game):
        is_of_two = method == "alphabeta"
        kind = "two roles with perfect information and no chance" if is_of_two else "one role"
        raise click.UsageError(f"{method} is for games of {kind}; {game.name} is not one")
    return method


def _compile_kernels(method: str) -> None:
    """Compile kernels by solving a small game first, so that --seconds does not include compiling."""
    from ggp.search.alphabeta.search import AlphaBeta
    from ggp.search.root_value import find_root_value
    from ggp.solver import SolverLimits, solve
    from ggp.solver.cfr import solve_hidden

    game, one_role = (load_compiled(str(find_own_rules(name))) for name in ("halving", "maze"))
    if method == CFR:
        solve_hidden(game)
    if method in (AUTO, RETROGRADE):
        solve(game, SolverLimits())
    if method in (AUTO, "alphabeta"):
        find_root_value(game)
    if method in (AUTO, "branch-and-bound"):
        find_root_value(one_role)
        AlphaBeta(one_role, mebibytes=1).search(one_role.initial_state())  # has the second turn


def _solve(game: CompiledGame, options: SolveOptions) -> Solution | RootValue:
    """Solve by the chosen method; `auto` without --save may switch from retrograde to a search."""
    from ggp.cli.solve_output import progress_text, search_text
    from ggp.search.root_value import find_root_value, search_method
    from ggp.solver import SolverLimitError, save_solution, solve

    limits = options.solver_limits
    may_search = options.method == AUTO and options.save is None
    fallback = search_method(game) if may_search else None
    if options.method not in SEARCHES:
        if fallback is not None:
            limits = replace(
                limits,
                estimated_states=ESTIMATE_ERROR * (options.limits["memory"] << 20) // BYTES_PER_STATE,
                estimate_from=STATES_BEFORE_ESTIMATE,
                deadline=None if options.seconds is None else options.begin + options.seconds / 2,
            )
        try:
            with progress_of(progress_text) as report:
                found = solve(game, limits, report=report)
            if options.save is not None:
                save_solution(found, options.save)
            return found
        except SolverLimitError as error:
            if fallback is None:
                raise
            text = f"{error}; using {fallback} for the value of the initial state alone"
            click.echo(f"{game.name}: {text} (cannot be resumed if interrupted)", err=True)
    with progress_of(search_text) as show:
        return find_root_value(
            game, mebibytes=options.limits["memory"], deadline=options.deadline, report=show
        )


def _certify(game: CompiledGame, found: Solution | RootValue, options: SolveOptions) -> None:
    """Write the certificate of a value just found."""
    from ggp.search.budget import Budget
    from ggp.search.certificate import LineProver, SearchProver, SolutionProver, write_certificate
    from ggp.search.root_value import RootValue
    from ggp.solver import Solution

    assert options.certificate is not None
    prover: LineProver | SearchProver | SolutionProver
    if isinstance(found, RootValue):
        budget = Budget() if options.deadline is None else Budget(options.deadline)
        prover = LineProver(game, found.line) if found.line else SearchProver(found.search, budget)
        goal = found.values[0]
    else:
        assert isinstance(found, Solution)
        prover, goal = SolutionProver(found), int(found.values()[0])
    with progress_of(lambda count: f"certificate: {count:,} moves") as report:
        count = write_certificate(game, goal, prover, options.certificate, report=report)
    click.echo(f"{game.name}: {options.certificate} proves the value by {count:,} moves", err=True)


def _hint(error: SolverError, options: SolveOptions) -> str:
    from ggp.solver import SolverLimitError

    if not isinstance(error, SolverLimitError):
        return ""
    if options.work is not None:
        return f"; the same command with --work {options.work} resumes from here"
    if options.save is not None:
        return "; without --save, a search may find the value of the initial state"
    return ""
