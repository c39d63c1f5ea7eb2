"""`ggp info`: what kind of game is this?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gdl.errors import GroundingError
from gdl.program import Program
from ggp.board_finder import find_board
from ggp.cache import GameCache, cache_folder
from ggp.circuit import CircuitError
from ggp.circuit_drawing import DrawingError, circuit_graph, rule_graph, to_svg
from ggp.circuit_file import CompiledCircuit
from ggp.commands.options import Amount
from ggp.compilation import compile_circuit, game_on
from ggp.info import GameInfo, describe
from ggp.live_view import state_view
from ggp.loading import ENGINES, make_game, read_program
from ggp.solver.saved import Tablebase, is_saved_solution
from ggp.written_files import write_text


@click.command("info")
@click.argument("file", metavar="FILE")
@click.option("--engine", default="auto", show_default=True, help="auto, lanes, reasoner or prolog.")
@click.option("--playouts", default=50, show_default=True, type=click.IntRange(1), help="At most so many.")
@click.option("--seconds", default=2.0, show_default=True, type=Amount(0.0), help="Time for the playouts.")
@click.option("--seed", default=0, show_default=True, type=int)
@click.option(
    "--draw",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Draw who depends on whom among the relations as SVG; a small circuit goes to NAME.circuit.svg.",
)
@click.option("--no-cache", is_flag=True, help="Compile anew, whatever the cache holds.")
@click.option("--json", "is_json", is_flag=True, help="One JSON object.")
def command(
    file: str,
    engine: str,
    playouts: int,
    seconds: float,
    seed: int,
    draw: Path | None,
    no_cache: bool,
    is_json: bool,
) -> None:
    """Tell roles, kind, relations and size of the game in FILE, by its rules and by random playouts.

    Where the game compiles to a circuit, its gates and literals are told for every phase, as built and
    after each stage that makes it smaller.
    """
    if is_saved_solution(file):
        _show_solution(file, is_json)
        return
    if engine not in ENGINES:
        raise click.UsageError(f"unknown engine {engine!r}: one of {', '.join(ENGINES)}")
    program, name = read_program(file)
    compiled: CompiledCircuit | None = None
    if engine in ("auto", "lanes"):
        try:
            compiled = compile_circuit(program, cache=None if no_cache else GameCache(cache_folder()))
        except (GroundingError, CircuitError) as error:
            if engine == "lanes":
                raise
            click.echo(f"no circuit: {error}", err=True)
    game = game_on(compiled.circuit, program, name) if compiled else make_game(program, name, _slow(engine))
    info = describe(game, playouts=playouts, seconds=seconds, seed=seed)
    drawn = _draw(draw, program, compiled) if draw else []
    if is_json:
        data = info.to_dict()
        if compiled:
            data["circuit"] = _circuit_data(compiled)
        click.echo(json.dumps(data))
        return
    console = Console(highlight=False)
    console.print(_overview(info))
    console.print(_predicate_table(info))
    if compiled:
        console.print(_circuit_table(compiled))
        console.print(_compilation_line(compiled), soft_wrap=True)
    facts = game.facts(game.initial_state())
    console.print(Text(f"\ninitial state, {len(facts)} facts", style="bold"))
    console.print(state_view(find_board(game.program, facts), facts))
    for line in drawn:
        console.print(line, soft_wrap=True)


def _slow(engine: str) -> str:
    return "reasoner" if engine in ("auto", "lanes") else engine


def _draw(place: Path, program: Program, compiled: CompiledCircuit | None) -> list[str]:
    """Write the pictures; what was written, or why not, one line each."""
    write_text(place, to_svg(rule_graph(program)))
    lines = [f"relations drawn in {place}"]
    if compiled:
        beside = place.with_suffix(".circuit.svg")
        try:
            write_text(beside, to_svg(circuit_graph(compiled.circuit)))
            lines.append(f"circuit drawn in {beside}")
        except DrawingError as error:
            lines.append(f"circuit not drawn: {error}")
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


def _circuit_table(compiled: CompiledCircuit) -> Table:
    title = Text("\ncircuit: gates and literals of each phase, stage by stage")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("stage", "legal", "goal", "next", "sees", "literals", "s"):
        table.add_column(heading, justify="left" if heading == "stage" else "right", no_wrap=True)
    for stage in compiled.report.stages:
        cells = [f"{gates}/{literals}" for gates, literals in zip(stage.gates, stage.literals, strict=True)]
        table.add_row(stage.stage, *cells, f"{sum(stage.literals):,}", f"{stage.seconds:.2f}")
    return table


def _compilation_line(compiled: CompiledCircuit) -> str:
    report, circuit = compiled.report, compiled.circuit
    return (
        f"{circuit.fluent_count:,} fluents, {circuit.first_move[-1]:,} moves, "
        f"{report.ground_rules:,} ground rules; "
        f"grounding {report.ground_seconds:.2f} s, construction {report.build_seconds:.2f} s, "
        f"simplification {report.simplify_seconds:.2f} s"
    )


def _overview(info: GameInfo) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("game", style="bold"), Text(info.game))
    table.add_row(Text("roles", style="bold"), Text(", ".join(info.roles)))
    for index, trait in enumerate(info.traits):
        table.add_row(Text("" if index else "kind", style="bold"), Text(f"{trait.name}: {trait.ground}"))
    table.add_row(Text("rules", style="bold"), Text(f"{info.rules}, {info.strata} strata"))
    table.add_row(Text("fluents", style="bold"), Text(", ".join(info.fluents)))
    for name, text in _playout_lines(info):
        table.add_row(Text(name, style="bold"), Text(text))
    return table


def _playout_lines(info: GameInfo) -> list[tuple[str, str]]:
    ends = "".join(
        f", {count} {word}" for count, word in ((info.stuck, "stuck"), (info.cut, "cut short")) if count
    )
    lines = [("playouts", f"{info.playouts} at random{ends}")]
    if info.mean_moves is not None and info.most_moves is not None:
        moves = ", ".join(
            f"{role} {average:g} (at most {most})"
            for role, average, most in zip(info.roles, info.mean_moves, info.most_moves, strict=True)
        )
        lines.append(("branching", f"mean legal moves {moves}; joint moves {info.mean_joint_moves:g}"))
    if info.mean_length is not None:
        lines.append(("length", f"mean {info.mean_length:g} steps, {info.shortest} to {info.longest}"))
    if info.mean_goals is not None:
        goals = ", ".join(
            f"{role} {'none' if goal is None else f'{goal:g}'}"
            for role, goal in zip(info.roles, info.mean_goals, strict=True)
        )
        lines.append(("mean goals", goals))
    return lines


def _predicate_table(info: GameInfo) -> Table:
    table = Table(title=Text("relations"), title_justify="left")
    for heading in ("relation", "depends on", "stratum", "rules", "facts"):
        table.add_column(heading, justify="left" if heading in ("relation", "depends on") else "right")
    for predicate in info.predicates:
        kind = {"static": "-", "state": "state", "move": "state and moves"}[predicate.kind]
        table.add_row(
            Text(predicate.name), kind, str(predicate.stratum), str(predicate.rules), str(predicate.facts)
        )
    return table


def _show_solution(file: str, is_json: bool) -> None:
    """What a file that `ggp solve --save` wrote says of itself."""
    header = Tablebase(file).header
    shown = {
        key: header[key] for key in ("game", "values", "concept", "states", "transitions", "longest_line")
    }
    shown["values"] = dict(zip(header["roles"], header["values"], strict=True))
    if is_json:
        click.echo(json.dumps(shown | {"rules": header["rules"]}))
        return
    worths = ", ".join(f"{role} {worth:g}" for role, worth in shown["values"].items())
    click.echo(f"a solution of {shown['game']}: {worths}\n  by {shown['concept']}")
    click.echo(f"  {shown['states']:,} states, longest line of best play {shown['longest_line']} joint moves")
