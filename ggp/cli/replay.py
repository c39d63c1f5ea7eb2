"""`ggp replay`: check an engine against a reference trace."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import click

from ggp.cli.options import INPUT_FILE
from ggp.cli.progress import load_visibly
from ggp.engines.loading import find_rules
from ggp.validation.replay import TraceError, explain, read_trace, replay


@click.command("replay")
@click.argument("rules", metavar="FILE")
@click.argument("trace", metavar="TRACE", type=INPUT_FILE)
def command(rules: str, trace: Path) -> None:
    """Check the engine against TRACE, the states that a reference prover derived in matches of FILE.

    Prints the first difference. Exit code: 0 no difference, 1 a difference.
    """
    try:
        result = replay(load_visibly(rules), trace)
        header = next(read_trace(trace))
    except TraceError as error:
        text = str(error)
        raise click.UsageError(text if text.startswith(str(trace)) else f"{trace}: {text}") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    click.echo(explain(result))
    if not result.is_same:
        digest = hashlib.sha256(find_rules(rules).read_bytes()).hexdigest()
        if header.get("kif_sha256") not in (None, digest):
            click.echo("  note: the trace was made from a different version of these rules")
    sys.exit(0 if result.is_same else 1)
