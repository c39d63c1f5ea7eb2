"""The SWI-Prolog process: `python -m ggp.engines.prolog_process`.

pyswip does not support threads, and a query that never ends can only be stopped with its process, so
Prolog runs in a child process that exchanges lines of JSON. The first line holds the program's source; each
later one is a goal, and says whether the value of its last argument `Texts` is wanted:
{"goal": "…", "wants": true} → {"texts": […]} or {"error": "…"}.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any


def answer(prolog: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Prove one goal once."""
    try:
        found = list(prolog.query(request["goal"], maxresult=1))
    except Exception as error:  # pyswip raises its own error for anything that Prolog throws
        return {"error": str(error)}
    if not request["wants"]:
        return {"texts": ["true"] if found else []}
    texts = found[0]["Texts"] if found else []
    return {"texts": [text.decode() if isinstance(text, bytes) else str(text) for text in texts]}


def main() -> int:
    """Prove goals from standard input until it closes."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Prolog prints must not end up among the replies
    from pyswip import Prolog

    prolog = Prolog()
    source = json.loads(sys.stdin.readline())["program"]
    with tempfile.NamedTemporaryFile("w", suffix=".pl", encoding="utf-8") as file:
        file.write(source)
        file.flush()
        prolog.consult(file.name)
    for line in sys.stdin:
        replies.write(json.dumps(answer(prolog, json.loads(line))) + "\n")
        replies.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
