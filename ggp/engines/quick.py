"""Play on a circuit as first built, while a thread makes the simplified one.

Simplification takes most of the time from rule text to the first legal moves. States of the two circuits
differ: facts that can never hold have left the simplified one. So a search runs on one of them from its
beginning to its end, and its owner changes between moves.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from gdl.program import Program
from ggp.circuit.circuit import Circuit
from ggp.circuit.tables import tabulate
from ggp.engines.compiled import CompiledGame, PackedState

_logger = logging.getLogger("ggp")


class QuickGame(CompiledGame):
    """A game on its circuit as built; `finish` gives the same game on the simplified one.

    >>> import ggp
    >>> game = ggp.load("tictactoe", quick=True, use_cache=False)
    >>> state = game.initial_state()
    >>> finished = game.finish()
    >>> finished.facts(game.translate(state)) == game.facts(state)
    True
    """

    def __init__(
        self, program: Program, circuit: Circuit, name: str, simplify: Callable[[], Circuit]
    ) -> None:
        """Start `simplify`, which returns a circuit equivalent to `circuit`, in a thread."""
        super().__init__(program, tabulate(circuit), circuit.terms, name, exclusive=circuit.exclusive)
        self._finished: CompiledGame = self
        self._kept: list[int] = []
        self._finishing = threading.Thread(target=self._finish, args=(simplify,), daemon=True)
        self._finishing.start()

    def finish(self, seconds: float | None = None) -> CompiledGame | None:
        """The game on the simplified circuit; None if it takes more than `seconds` (wall time) from now. This
        game itself if simplification ran out of memory."""
        self._finishing.join(seconds)
        return None if self._finishing.is_alive() else self._finished

    def translate(self, state: PackedState) -> PackedState:
        """`state` as a state of the finished game, which must be there."""
        assert not self._finishing.is_alive(), "translate before finish"
        if self._finished is self:
            return state
        return self._finished.pack(self.unpack(state)[self._kept])

    def _finish(self, simplify: Callable[[], Circuit]) -> None:
        try:
            circuit = simplify()
            finished = CompiledGame(
                self.program, tabulate(circuit), circuit.terms, self.name, exclusive=circuit.exclusive
            )
        except (MemoryError, OSError) as error:
            reason = str(error) or "not enough memory"
            _logger.warning("%s: playing on the circuit as built: %s", self.name, reason)
            return
        number = {fluent: f for f, fluent in enumerate(self.terms.fluents)}
        self._kept = [number[fluent] for fluent in finished.terms.fluents]
        self._finished = finished
