"""`ggp games info`: roles, kind and size of a game."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gdl.errors import GroundingError
from gdl.program import Program
from ggp.analysis.info import GameInfo, describe
from ggp.analysis.picture import find_picture
from ggp.analysis.scale import Scale, parse_scale
from ggp.cli.live_view import state_view
from ggp.cli.options import json_option, scale_option
from ggp.cli.tables import results_table
from ggp.engines.loading import find_rules, make_game, read_program
from ggp.game import Game
from ggp.validation.properties import counted

if TYPE_CHECKING:
    from ggp.circuit.cache import CompiledCircuit


@click.command("info")
@click.argument("file", metavar="FILE")
@scale_option
@json_option
def command(file: str, scale: Scale | None, is_json: bool) -> None:
    """Show title, roles, kind, predicates and size of the game in FILE, from its rules and random matches.

    If the game compiles to a circuit, also show the gates and literals of each phase, as built and after
    each simplification stage. FILE may also be a solution written by `ggp solve --save`.
    """
    find_rules(file)  # before numpy is imported

    from ggp.solver.saved_header import is_saved_solution

    if is_saved_solution(file):
        _show_solution(file, is_json)
        return
    program, name = read_program(file)
    game, compiled = _game(program, name)
    info = describe(game)
    info = info if scale is None else replace(info, scale=str(scale))
    kept = _kept_lines(game)
    if is_json:
        circuit = {"circuit": _circuit_data(compiled)} if compiled else {}
        click.echo(json.dumps(info.to_dict() | {"kept": kept} | circuit))
    else:
        _print_info(game, info, compiled)
        for line in kept:
            click.echo(line)


def _game(program: Program, name: str) -> tuple[Game[Any], CompiledCircuit | None]:
    from ggp.circuit.cache import GameCache, cache_folder
    from ggp.circuit.circuit import CircuitError
    from ggp.engines.compilation import compile_circuit, game_on

    try:
        compiled = compile_circuit(program, cache=GameCache(cache_folder()))
    except (GroundingError, CircuitError) as error:
        click.echo(f"no circuit: {error}", err=True)
        return make_game(program, name, "reasoner"), None
    return game_on(compiled.circuit, program, name), compiled


def _print_info(game: Game[Any], info: GameInfo, compiled: CompiledCircuit | None) -> None:
    console = Console(highlight=False)
    console.print(_overview(info))
    console.print(_predicate_table(info))
    if compiled:
        _print_circuit(console, compiled)
    facts = game.facts(game.initial_state())
    console.print(Text(f"\ninitial state, {counted(len(facts), 'fact')}", style="bold"))
    console.print(state_view(find_picture(game.program, facts), facts))


def _print_circuit(console: Console, compiled: CompiledCircuit) -> None:
    report, circuit = compiled.report, compiled.circuit
    headings = "legal", "goal", "next", "sees", "literals", "s"
    table = results_table("circuit: gates/literals of each phase after each stage", ["stage"], headings)
    for stage in report.stages:
        cells = [f"{gates}/{literals}" for gates, literals in zip(stage.gates, stage.literals, strict=True)]
        table.add_row(stage.stage, *cells, f"{sum(stage.literals):,}", f"{stage.seconds:.2f}")
    console.print(table)
    console.print(
        f"{circuit.fluent_count:,} fluents, {circuit.first_move[-1]:,} moves, {report.ground_rules:,} ground"
        f" rules; grounding {report.ground_seconds:.2f} s, construction {report.build_seconds:.2f} s, "
        f"simplification {report.simplify_seconds:.2f} s",
        soft_wrap=True,
    )


def _kept_lines(game: Game[Any]) -> list[str]:
    """Stored knowledge that players use: book, tuned options and trial matches."""
    from ggp.knowledge.tuned import TunedOptions, shipped_options
    from ggp.players.kept_knowledge import kept_trial, open_book
    from ggp.players.options import AUTO
    from ggp.validation.properties import counted

    book, tuned = open_book(game, AUTO, is_counted=False), shipped_options(game.program)
    lines = [] if book is None else [f"opening book of {counted(len(book.moves), 'position')}"]
    if tuned not in (None, TunedOptions()):
        lines.append(f"mcts is tuned to {tuned}")
    trial = kept_trial(game)
    if trial is not None:
        lines.append(f"trial matches of alpha-beta against {trial.rival}: {trial}")
    return lines


def _circuit_data(compiled: CompiledCircuit) -> dict[str, Any]:
    report, circuit = compiled.report, compiled.circuit
    return {
        "fluents": circuit.fluent_count,
        "moves": circuit.first_move[-1],
        "gates": len(circuit.gates),
        "literals": circuit.literal_count,
        "ground_rules": report.ground_rules,
        "ground_seconds": report.ground_seconds,
        "build_seconds": report.build_seconds,
        "simplify_seconds": report.simplify_seconds,
        "stages": [stage._asdict() for stage in report.stages],
    }


def _overview(info: GameInfo) -> Table:
    kinds = [f"{each.name}: {each.ground}" for each in info.traits]
    rows = [
        ("game", info.game),
        ("title", info.title),
        ("how to play", info.description),
        ("roles", ", ".join(info.roles)),
        *zip(("kind", *[""] * len(kinds)), kinds, strict=False),
        ("rules", f"{info.rules}, {info.strata} strata"),
        ("fluents", ", ".join(info.fluents)),
        ("scale", _scale_text(info)),
        *_playout_lines(info),
    ]
    table = Table.grid(padding=(0, 2))
    for name, text in rows:
        if text:
            table.add_row(Text(name, style="bold"), Text(text))
    return table


def _scale_text(info: GameInfo) -> str:
    scale = parse_scale(info.scale)
    return "" if scale.is_goals else f"goal 0 means {scale.text(0)}, goal 100 means {scale.text(100)}"


def _playout_lines(info: GameInfo) -> list[tuple[str, str]]:
    stuck = f", {info.stuck} stuck" if info.stuck else ""
    cut = f", {info.cut} cut short" if info.cut else ""
    lines = [("playouts", f"{info.playouts} at random{stuck}{cut}")]
    if info.mean_moves is not None and info.most_moves is not None:
        counts = zip(info.roles, info.mean_moves, info.most_moves, strict=True)
        moves = ", ".join(f"{role} {average:g} (at most {most})" for role, average, most in counts)
        lines.append(("branching", f"mean legal moves {moves}; joint moves {info.mean_joint_moves:g}"))
    if info.mean_length is not None:
        lines.append(("length", f"mean {info.mean_length:g} steps, {info.shortest} to {info.longest}"))
    if info.mean_goals is not None:
        scale = parse_scale(info.scale)
        show = "{:g}".format if scale.is_goals else scale.text
        means = ("none" if goal is None else show(goal) for goal in info.mean_goals)
        where = "" if scale.is_goals else f", on the scale {scale}"
        lines.append(("mean goals", ", ".join(map(" ".join, zip(info.roles, means, strict=True))) + where))
    return lines


def _predicate_table(info: GameInfo) -> Table:
    table = results_table("predicates", ["predicate", "depends on"], ["stratum", "rules", "facts"])
    for predicate in info.predicates:
        kind = {"static": "-", "state": "state", "move": "state and moves"}[predicate.kind]
        numbers = map(str, (predicate.stratum, predicate.rules, predicate.facts))
        table.add_row(Text(predicate.name), kind, *numbers)
    return table


def _show_solution(file: str, is_json: bool) -> None:
    """Print the header of a file that `ggp solve --save` wrote."""
    from ggp.solver.saved import Tablebase

    header = Tablebase(file).header
    keys = ("game", "values", "concept", "states", "transitions", "longest_line")
    shown = {key: header[key] for key in keys if key in header}
    shown["values"] = dict(zip(header["roles"], header["values"], strict=True))
    if is_json:
        click.echo(json.dumps(shown | {"rules": header["rules"]}))
        return
    values = ", ".join(f"{role} {value:g}" for role, value in shown["values"].items())
    click.echo(f"solution of {shown['game']}: {values}\n  by {shown['concept']}")
    length = shown["longest_line"]
    moves = f"{length} joint move{'s' * (length != 1)}"
    click.echo(f"  {shown['states']:,} states, longest line of best play {moves}")
