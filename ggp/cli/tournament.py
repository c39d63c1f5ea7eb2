"""`ggp tournament`: play agents × games × repetitions, store the matches, report the results."""

from __future__ import annotations

import shlex
import signal
import sqlite3
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ggp.cli.options import Amount
from ggp.engines.loading import ENGINES
from ggp.files import replacing_text
from ggp.suggestions import did_you_mean
from ggp.tournament.config import ConfigError, plan_from_data, read_config
from ggp.tournament.export import MATCH_COLUMNS, SEAT_COLUMNS, write_csv, write_json_lines
from ggp.tournament.plan import Plan
from ggp.tournament.pool import Workers, WorkersError, open_workers
from ggp.tournament.runner import Progress, Runner
from ggp.tournament.schedule import Schedule, SelectionError
from ggp.tournament.schema import PROGRAMMING_ERRORS, StoreError
from ggp.tournament.store import Run, Store

DEFAULT_STORE = Path("tournament.sqlite")
SHOWN_FAILURES = 3

_LISTS = ("--agents", "--game")
_COPIED_FLAGS = (
    "repetitions",
    "simulations",
    "start_clock",
    "play_clock",
    "grace",
    "memory",
    "seed",
    "engine",
    "name",
)


class _ListOptions(click.Command):
    """A command whose list options take several words: `--agents mcts random`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        current, is_first = "", False
        for word in args:
            if word in _LISTS:
                current, is_first = word, True
                continue
            if word.startswith("-"):
                current = ""
            if current:
                spread.append(current)
                is_first = False
            spread.append(word)
        if is_first:
            raise click.BadOptionUsage(current, f"{current} needs at least one value", ctx)
        return super().parse_args(ctx, spread)


class _TournamentGroup(click.Group):
    """A group whose default command is `run`, and which reports errors of stores."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            hint = did_you_mean(args[0], self.commands)
            if hint and not Path(args[0]).exists():
                raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PROGRAMMING_ERRORS:
            raise
        except (StoreError, sqlite3.Error) as error:
            raise click.ClickException(str(error)) from None


@click.group("tournament", cls=_TournamentGroup)
def command() -> None:
    """Play many matches between agents, store every match, and rate the agents.

    `ggp tournament CONFIG.toml` is short for `ggp tournament run CONFIG.toml`; see `ggp tournament run
    --help`.
    """


_store_option = click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    help="SQLite file for the matches.  [default: CONFIG.sqlite or tournament.sqlite]",
)
_workers_option = click.option(
    "--workers",
    metavar="N|dask://HOST:PORT",
    help="Number of local processes, or a Dask cluster.  [default: all cores]",
)
_report_option = click.option(
    "--report",
    "report_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write report.md and charts to this folder.",
)
_only_option = click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Play only matches of this condition, game or agent for now; repeatable.",
)
_run_option = click.option(
    "--run", "run_name", metavar="NAME", help="Name of the run.  [default: the latest]"
)


@command.command("run", cls=_ListOptions)
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option(
    "--game", "games", multiple=True, metavar="FILE...", help="Rule sheets or names of bundled games."
)
@click.option("--agents", multiple=True, metavar="PLAYER...", help="Players; `ggp players` lists them.")
@click.option(
    "--repetitions", type=int, metavar="N", help="Matches for each assignment of roles.  [default: 10]"
)
@click.option(
    "--simulations",
    type=int,
    help="Simulations per move instead of a clock, for players that have this option.",
)
@click.option(
    "--start-clock",
    type=float,
    metavar="SECONDS",
    help="Time before the first move.  [default: the play clock]",
)
@click.option("--play-clock", type=float, metavar="SECONDS", help="Time for each move.  [default: 1]")
@click.option(
    "--grace",
    type=float,
    metavar="SECONDS",
    help="How much longer than its clock any player may take.  [default: 1]",
)
@click.option(
    "--memory",
    type=int,
    metavar="MIB",
    help="Memory limit of the process of each agent of your own.  [default: 4096]",
)
@click.option("--seed", type=int, help="Random seed that all other seeds derive from.  [default: 0]")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    metavar="ENGINE",
    help=f"Engine for the rules: {', '.join(ENGINES)}.  [default: auto]",
)
@click.option(
    "--until",
    metavar="sprt|WIDTH",
    help="Stop a pairing once the SPRT decides it, or once its confidence interval is narrower than WIDTH.",
)
@click.option(
    "--elo0", type=Amount(), help="For --until sprt: Elo difference of the null hypothesis.  [default: 0]"
)
@click.option(
    "--elo1", type=Amount(), help="For --until sprt: Elo difference of the alternative.  [default: 30]"
)
@click.option("--name", help="Name of the run.  [default: the file's or the games' names]")
@click.option("--new", "is_new", is_flag=True, help="Start a new run even if one of that name exists.")
@_store_option
@_only_option
@_workers_option
@_report_option
def run_command(
    config: Path | None,
    store: Path | None,
    only: tuple[str, ...],
    workers: str | None,
    report_folder: Path | None,
    is_new: bool,
    **flags: Any,
) -> None:
    """Play a tournament, given by CONFIG (TOML) or by options.

    A run that was interrupted is resumed.

    Exit code: 0 all matches played, 1 some could not be played, 130 interrupted by Ctrl-C.
    """
    try:
        plan = _plan_from_flags(flags) if config is None else _plan_from_file(config, flags)
        Schedule(plan, only)
    except (ConfigError, SelectionError) as error:
        raise click.UsageError(str(error)) from None
    place = store or (Path(f"{config.stem}.sqlite") if config else DEFAULT_STORE)
    with Store(place) as opened:
        run = opened.begin(plan, is_new=is_new)
        sys.exit(_play(opened, run, only, workers, report_folder))


def _plan_from_file(config: Path, flags: dict[str, Any]) -> Plan:
    given = [name for name, value in flags.items() if value not in (None, ())]
    if given:
        options = ", ".join(f"--{name.replace('games', 'game').replace('_', '-')}" for name in given)
        raise click.UsageError(f"{options}: not allowed with a CONFIG file; set this in {config}")
    return read_config(config)


def _plan_from_flags(flags: dict[str, Any]) -> Plan:
    if not flags["games"] or not flags["agents"]:
        raise click.UsageError("expected a CONFIG file, or both --game and --agents")
    data: dict[str, Any] = {name: flags[name] for name in _COPIED_FLAGS if flags[name] is not None}
    data["agents"] = {_agent_name(spec): spec for spec in flags["agents"]}
    if len(data["agents"]) < len(flags["agents"]):
        raise click.UsageError("the same agent is given twice")
    data["games"] = {Path(game).stem: {"rules": game} for game in flags["games"]}
    if len(data["games"]) < len(flags["games"]):
        raise click.UsageError("two games have the same name; a CONFIG file can rename them: [games.NAME]")
    data.setdefault("name", "+".join(data["games"]))
    if flags["until"] is not None:
        data["until"] = _until_from_flags(flags)
    return plan_from_data(data)


def _agent_name(spec: str) -> str:
    return spec.removeprefix("http://").rstrip("/").replace("/", "_").replace("|", "_").replace(" ", "_")


def _until_from_flags(flags: dict[str, Any]) -> dict[str, Any]:
    if flags["until"] == "sprt":
        bounds = {name: flags[name] for name in ("elo0", "elo1") if flags[name] is not None}
        return {"rule": "sprt", **bounds}
    try:
        return {"rule": "width", "width": float(flags["until"])}
    except ValueError:
        raise click.UsageError(
            f"--until: expected sprt or a width such as 0.1, not {flags['until']!r}"
        ) from None


@command.command("resume")
@click.argument("store", type=click.Path(path_type=Path, dir_okay=False))
@_run_option
@_only_option
@_workers_option
@_report_option
def resume_command(
    store: Path,
    run_name: str | None,
    only: tuple[str, ...],
    workers: str | None,
    report_folder: Path | None,
) -> None:
    """Resume a run in STORE, which contains its whole configuration."""
    with Store(store, must_exist=True) as opened:
        sys.exit(_play(opened, opened.run(run_name), only, workers, report_folder))


@command.command("show")
@click.argument("store", type=click.Path(path_type=Path, dir_okay=False))
@_run_option
@_report_option
@click.option("--watch", "is_watching", is_flag=True, help="Keep running and refresh the results.")
@click.option("--markdown", "is_markdown", is_flag=True, help="Print the report as Markdown.")
@click.option("--runs", "lists_runs", is_flag=True, help="List the runs in STORE.")
@click.option("--agent", metavar="NAME", help="Show the faults and losses of this agent.")
@click.option("--match", "match_id", metavar="ID", help="Step through this match; --agent shows the IDs.")
@click.option(
    "--html",
    "page_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write pages to publish to this folder: results, agents, and every match as a replay.",
)
def show_command(
    store: Path,
    run_name: str | None,
    report_folder: Path | None,
    is_watching: bool,
    is_markdown: bool,
    lists_runs: bool,
    agent: str | None,
    match_id: str | None,
    page_folder: Path | None,
) -> None:
    """Show the results in STORE, even while a run is in progress."""
    from ggp.tournament.live import watch
    from ggp.tournament.report import make_report, markdown, terminal_view, write_report

    console = Console(highlight=False)
    with Store(store, must_exist=True) as opened:
        if lists_runs:
            for name, count in opened.run_sizes().items():
                click.echo(f"{name}: {count} matches")
            return
        opened.run(run_name)
        if is_watching:
            try:
                watch(console, opened, run_name)
            except KeyboardInterrupt:
                return
        run = opened.run(run_name)
        if match_id is not None:
            _show_match(opened, run, match_id)
            return
        if agent is not None:
            _show_agent(console, opened, run, agent)
            return
        if page_folder is not None:
            from ggp.web.published import write_pages

            click.echo(f"open {write_pages(opened, run, page_folder)}")
            return
        report = make_report(opened, run)
        if is_markdown:
            click.echo(markdown(report), nl=False)
        else:
            console.print(terminal_view(report))
        if report_folder is not None:
            _print_notes(console, write_report(report, report_folder))


def _show_match(store: Store, run: Run, match_id: str) -> None:
    """Step through a stored match."""
    from ggp.cli.show import ReplayView, show_replay
    from ggp.match.record import RecordError
    from ggp.match.replay import rules_of

    record = store.record(run, match_id)
    try:
        show_replay(ReplayView(record, rules_of(record)), None)
    except RecordError as error:
        raise StoreError(f"{store.path}: match {match_id!r}: {error}") from None


def _show_agent(console: Console, store: Store, run: Run, agent: str) -> None:
    from ggp.cli.live_view import plain_text
    from ggp.tournament.agent_report import agent_text

    names = [each.name for each in run.plan.agents]
    if agent not in names:
        raise click.UsageError(f"no agent {agent!r} in run {run.name!r}; expected one of {', '.join(names)}")
    for line in agent_text(store, run, agent).splitlines():
        console.print(plain_text(line), soft_wrap=True)


@command.command("export")
@click.argument("store", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("output", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@_run_option
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "jsonl"]),
    help="Output format.  [default: from the suffix of OUTPUT, or csv]",
)
@click.option("--records", is_flag=True, help="For JSON Lines: include match records with moves and states.")
@click.option(
    "--columns",
    metavar="NAME,…",
    help=f"For CSV: only these of {', '.join(MATCH_COLUMNS)}, and per role {', '.join(SEAT_COLUMNS)}.",
)
def export_command(
    store: Path, output: str, run_name: str | None, kind: str | None, records: bool, columns: str | None
) -> None:
    """Export the matches of a run to OUTPUT, a file or -.

    CSV has one row per match; JSON Lines contain everything.
    """
    if kind is None:
        kind = "jsonl" if output.endswith(".jsonl") or (records and not output.endswith(".csv")) else "csv"
    if records and kind == "csv":
        raise click.UsageError("--records needs --format jsonl")
    if columns is not None and kind == "jsonl":
        raise click.UsageError("--columns needs --format csv")
    wanted = (*MATCH_COLUMNS, *SEAT_COLUMNS) if columns is None else tuple(columns.split(","))
    unknown = set(wanted) - {*MATCH_COLUMNS, *SEAT_COLUMNS}
    if unknown:
        name = min(unknown)
        hint = did_you_mean(name, (*MATCH_COLUMNS, *SEAT_COLUMNS))
        raise click.BadParameter(f"unknown column {name!r}.{hint}", param_hint="--columns")
    with Store(store, must_exist=True) as opened:
        run = opened.run(run_name)
        if not opened.run_sizes()[run.name]:
            raise click.ClickException(f"{store}: run {run.name!r} has no matches to export")
        with nullcontext(sys.stdout) if output == "-" else replacing_text(output) as stream:
            if kind == "csv":
                write_csv(opened, run, stream, wanted)
            else:
                write_json_lines(opened, run, stream, records=records)


def _play(
    store: Store, run: Run, only: tuple[str, ...], workers: str | None, report_folder: Path | None
) -> int:
    """Play the remaining matches and show the report; returns the exit code."""
    from ggp.tournament.report import make_report, terminal_view, write_report

    console = Console(highlight=False)
    try:
        pool = open_workers(workers)
    except WorkersError as error:
        raise click.UsageError(str(error)) from None
    code = 0
    resume = f"ggp tournament resume {shlex.quote(str(store.path))} --run {shlex.quote(run.name)}"
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        progress = _play_all(console, store, run, pool, only)
        code = _print_failures(console, progress)
    except SelectionError as error:
        raise click.UsageError(str(error)) from None
    except (StoreError, WorkersError) as error:
        text = f"{error}; stored matches are safe; resume with: {resume}"
        console.print(text, soft_wrap=True, markup=False)
        code = 1
    except KeyboardInterrupt:
        console.print(f"stopped; resume with: {resume}", soft_wrap=True, markup=False)
        code = 130
    finally:
        signal.signal(signal.SIGTERM, previous)
    report = make_report(store, run)
    console.print(terminal_view(report))
    if report_folder is not None:
        _print_notes(console, write_report(report, report_folder))
    return code


def _play_all(console: Console, store: Store, run: Run, workers: Workers, only: tuple[str, ...]) -> Progress:
    from ggp.tournament.live import RunView

    runner: Runner | None = None
    try:
        with workers, RunView(console, store, run) as view:
            runner = Runner(store, run, workers, view.show, only=only)
            return runner.play()
    finally:
        if runner is not None:
            runner.abandon()


def _print_failures(console: Console, progress: Progress) -> int:
    for match, reason in list(progress.failures.items())[:SHOWN_FAILURES]:
        console.print(f"could not play {match}: {reason}", soft_wrap=True, markup=False)
    for obstacle, count in progress.given_up.items():
        text = f"gave up on {obstacle} after {progress.obstacles[obstacle]} failures; {count} matches skipped"
        console.print(text, soft_wrap=True, markup=False)
    if progress.failures:
        console.print(f"{len(progress.failures)} matches could not be played", markup=False)
    return 1 if progress.failures else 0


def _print_notes(console: Console, notes: list[str]) -> None:
    for note in notes:
        console.print(note, markup=False)
