"""`ggp tournament`: play agents × games × repetitions, store the matches, report the results."""

from __future__ import annotations

import re
import shlex
import signal
import sqlite3
import sys
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ggp.cli.options import workers_option
from ggp.cli.progress import progress_of
from ggp.files import replacing_text
from ggp.suggestions import did_you_mean
from ggp.tournament.config import ConfigError, plan_from_data, read_config
from ggp.tournament.plan import Plan
from ggp.tournament.pool import open_workers
from ggp.tournament.runner import Progress, Runner
from ggp.tournament.schedule import Schedule, SelectionError
from ggp.tournament.store import PROGRAMMING_ERRORS, Run, Store, StoreError, write_csv, write_json_lines

DEFAULT_STORE = Path("tournament.sqlite")
SHOWN_FAILURES = 3


class _ListOptions(click.Command):
    """A command with list options of several words: `--agents mcts random`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread, current = list[str](), ""
        for word, after in pairwise([*args, "-"]):
            if word in ("--agents", "--game"):
                current = word
                if after.startswith("-"):
                    raise click.BadOptionUsage(word, f"{word} needs at least one value", ctx)
                continue
            current = "" if word.startswith("-") else current
            spread += [current, word] if current else [word]
        return super().parse_args(ctx, spread)


class _TournamentGroup(click.Group):
    """A group whose default command is `run`, and which reports errors of stores."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "-h", "--help"):
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


_run_option = click.option(
    "--run", "run_name", metavar="NAME", help="Name of the run.  [default: the latest]"
)


def _setting(setting: str) -> tuple[str, Any]:
    """KEY=VALUE of a configuration: numbers as in TOML, other values as text."""
    key, equals, text = setting.partition("=")
    if not (key and equals and text):
        raise click.BadParameter(f"{setting!r}: expected KEY=VALUE, such as seed=1")
    if key == "until":
        return key, until_of(text)
    for kind in (int, float):
        with suppress(ValueError):
            return key, kind(text)
    return key, text


def until_of(text: str) -> dict[str, Any]:
    """Parse the stopping rule of pairings, as written in a CONFIG file. Raises UsageError.

    >>> until_of("0.1"), until_of("sprt:0:30")
    ({'rule': 'width', 'width': 0.1}, {'rule': 'sprt', 'elo0': 0.0, 'elo1': 30.0})
    """
    rule, *bounds = text.split(":")
    try:
        if rule != "sprt":
            return {"rule": "width", "width": float(text)}
        return {"rule": "sprt", **dict(zip(("elo0", "elo1"), map(float, bounds), strict=False))}
    except ValueError:
        raise click.UsageError(f"until: expected sprt, sprt:ELO0:ELO1 or a width, not {text!r}") from None


@command.command("run", cls=_ListOptions)
@click.argument(
    "source", metavar="[CONFIG|STORE]", type=click.Path(path_type=Path, dir_okay=False), required=False
)
@click.option(
    "--game", "games", multiple=True, metavar="FILE...", help="Rule sheets or names of bundled games."
)
@click.option("--agents", multiple=True, metavar="PLAYER...", help="Players; `ggp players` lists them.")
@click.option(
    "--repetitions", type=int, metavar="N", help="Matches for each assignment of roles.  [default: 10]"
)
@click.option("--play-clock", type=float, metavar="SECONDS", help="Time for each move.  [default: 1]")
@click.option(
    "--set",
    "settings",
    multiple=True,
    type=_setting,
    metavar="KEY=VALUE",
    help="Any other key of a CONFIG: simulations=100, start_clock=10, until=sprt, until=0.1 (width of the"
    " interval), seed=1, engine=lanes, grace=2, memory=2048 (MiB of each agent of your own); repeatable.",
)
@click.option(
    "--run",
    "run_name",
    metavar="NAME",
    help="Run to start or resume.  [default: named after the CONFIG or the games; the latest of STORE]",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    help="SQLite file for the matches.  [default: CONFIG.sqlite or tournament.sqlite]",
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Play only matches of this condition, game or agent for now; repeatable.",
)
@workers_option
def run_command(
    source: Path | None,
    store: Path | None,
    run_name: str | None,
    only: tuple[str, ...],
    workers: int | None,
    **flags: Any,
) -> None:
    """Play a tournament, given by CONFIG (TOML) or by options, or resume the one in STORE.

    A run that was interrupted is resumed by the same command, or by its STORE, which contains its whole
    configuration. Matches are spread over all cores, or over --workers.

    Exit code: 0 all matches played, 1 some could not be played, 130 interrupted by Ctrl-C.
    """
    is_store = source is not None and source.is_file() and source.read_bytes()[:6] == b"SQLite"
    if source is not None and any(value not in (None, ()) for value in flags.values()):
        parameters = click.get_current_context().command.params
        given = [each.opts[0] for each in parameters if each.name and flags.get(each.name) not in (None, ())]
        options = ", ".join(given)
        raise click.UsageError(f"{options}: not allowed with {source}, which has the configuration")
    if source is not None and is_store:
        with Store(source, must_exist=True) as opened:
            sys.exit(_play(opened, opened.run(run_name), only, workers))
    try:
        plan = _plan_from_flags(flags) if source is None else read_config(source)
        plan = plan if run_name is None else replace(plan, name=run_name)
        Schedule(plan, only)
    except (ConfigError, SelectionError) as error:
        raise click.UsageError(str(error)) from None
    place = store or (Path(f"{source.stem}.sqlite") if source else DEFAULT_STORE)
    with Store(place) as opened:
        sys.exit(_play(opened, opened.begin(plan), only, workers))


def _plan_from_flags(flags: dict[str, Any]) -> Plan:
    if not flags["games"] or not flags["agents"]:
        raise click.UsageError("expected a CONFIG file, or both --game and --agents")
    data = {name: flags[name] for name in ("repetitions", "play_clock") if flags[name] is not None}
    data |= flags["settings"]
    data["agents"] = {
        re.sub("[/| ]", "_", spec.removeprefix("http://").rstrip("/")): spec for spec in flags["agents"]
    }
    if len(data["agents"]) < len(flags["agents"]):
        raise click.UsageError("the same agent is given twice")
    data["games"] = {Path(game).stem: {"rules": game} for game in flags["games"]}
    if len(data["games"]) < len(flags["games"]):
        raise click.UsageError("two games have the same name; a CONFIG file can rename them: [games.NAME]")
    data.setdefault("name", "+".join(data["games"]))
    return plan_from_data(data)


@command.command("show")
@click.argument("store", type=click.Path(path_type=Path, dir_okay=False))
@_run_option
@click.option("--agent", metavar="NAME", help="Show the faults and losses of this agent.")
@click.option(
    "--match", "match_id", metavar="ID", help="Show this match step by step; --agent shows the IDs."
)
@click.option(
    "--html",
    "page_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write pages to publish to this folder: results, and every match as a replay.",
)
def show_command(
    store: Path,
    run_name: str | None,
    agent: str | None,
    match_id: str | None,
    page_folder: Path | None,
) -> None:
    """Show the results in STORE, even while a run is in progress."""
    from ggp.cli.show import ReplayView, show_replay
    from ggp.cli.tables import plain_text
    from ggp.match.record import RecordError
    from ggp.match.replay import rules_of
    from ggp.tournament.agent_report import agent_text
    from ggp.tournament.report import make_report, terminal_view

    if sum(each is not None for each in (agent, match_id, page_folder)) > 1:
        raise click.UsageError("expected one of --agent, --match and --html")
    console = Console(highlight=False)
    with Store(store, must_exist=True) as opened:
        run = opened.run(run_name)
        if match_id is not None:
            record = opened.record(run, match_id)
            try:
                show_replay(ReplayView(record, rules_of(record)))
            except RecordError as error:
                raise StoreError(f"{store}: match {match_id!r}: {error}") from None
        elif agent is not None:
            names = [each.name for each in run.plan.agents]
            if agent not in names:
                known = ", ".join(names)
                raise click.UsageError(f"no agent {agent!r} in run {run.name!r}; expected one of {known}")
            for line in agent_text(opened, run, agent).splitlines():
                console.print(plain_text(line), soft_wrap=True)
        elif page_folder is not None:
            from ggp.web.published import write_pages

            click.echo(f"open {write_pages(opened, run, page_folder)}")
        else:
            console.print(terminal_view(make_report(opened, run)))
            sizes = opened.run_sizes()
            if len(sizes) > 1 and run_name is None:
                others = ", ".join(f"{name} ({count} matches)" for name, count in sizes.items())
                console.print(f"runs, for --run: {others}", soft_wrap=True, markup=False)


@command.command("export")
@click.argument("store", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("output", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@_run_option
def export_command(store: Path, output: str, run_name: str | None) -> None:
    """Export the matches of a run to OUTPUT, a file or -.

    CSV has one row per match; JSON Lines (OUTPUT ends in .jsonl) contain everything, moves and states too.
    """
    write = write_json_lines if output.endswith(".jsonl") else write_csv
    with Store(store, must_exist=True) as opened:
        run = opened.run(run_name)
        if not opened.match_count(run):
            raise click.ClickException(f"{store}: run {run.name!r} has no matches to export")
        with nullcontext(sys.stdout) if output == "-" else replacing_text(output) as stream:
            write(opened, run, stream)


def _play(store: Store, run: Run, only: tuple[str, ...], workers: int | None) -> int:
    """Play the remaining matches and show the results; returns the exit code."""
    from ggp.tournament.report import make_report, progress_text, terminal_view

    console = Console(highlight=False)
    resume = f"resume with: ggp tournament run {shlex.quote(str(store.path))} --run {shlex.quote(run.name)}"
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with ExitStack() as afterwards, open_workers(workers) as pool, progress_of(progress_text) as show:
            runner = Runner(store, run, pool, show or (lambda _: None), only=only)
            afterwards.callback(runner.abandon)  # once the workers are gone
            progress = runner.play()
        code = _print_failures(console, progress)
    except SelectionError as error:
        raise click.UsageError(str(error)) from None
    except StoreError as error:
        console.print(f"{error}; stored matches are safe; {resume}", soft_wrap=True, markup=False)
        code = 1
    except KeyboardInterrupt:
        console.print(f"stopped; {resume}", soft_wrap=True, markup=False)
        code = 130
    finally:
        signal.signal(signal.SIGTERM, previous)
    console.print(terminal_view(make_report(store, run)))
    return code


def _print_failures(console: Console, progress: Progress) -> int:
    for match, reason in list(progress.failures.items())[:SHOWN_FAILURES]:
        console.print(f"could not play {match}: {reason}", soft_wrap=True, markup=False)
    for obstacle, count in progress.given_up.items():
        text = f"gave up on {obstacle} after {progress.obstacles[obstacle]} failures; {count} matches skipped"
        console.print(text, soft_wrap=True, markup=False)
    if progress.failures:
        console.print(f"{len(progress.failures)} matches could not be played", markup=False)
    return 1 if progress.failures else 0
