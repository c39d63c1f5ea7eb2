"""Steps per second of `ggp.env` next to PGX, EnvPool and OpenSpiel, and equality with PGX.

    python -m benchmarks.environments                 # the table, of the libraries that are installed
    python -m benchmarks.environments --check         # the same masks and rewards as PGX, 10^6 steps per game

A step is: actions in; observation, mask of legal actions, rewards and ends out; games begin again when they
end. Actions are random legal ones, drawn outside the measured time. Rates are steps per second of CPU time,
all threads of a library added up, and per second of wall time.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import ggp.env

GAMES = ("tictactoe", "connectfour", "othello", "hex_11x11", "hex_7x7", "breakthrough")
BATCHES = (64, 1024, 16384)
LIBRARIES = ("ggp", "pgx", "envpool", "openspiel")
PGX = {"tictactoe": "tic_tac_toe", "connectfour": "connect_four", "othello": "othello", "hex_11x11": "hex"}
ENVPOOL = {"tictactoe": "TicTacToe-v1", "connectfour": "ConnectFour-v1", "othello": "Othello-v1"}
OPENSPIEL = {
    "tictactoe": "tic_tac_toe",
    "connectfour": "connect_four",
    "othello": "othello",
    "hex_7x7": "hex(board_size=7)",
    "hex_11x11": "hex(board_size=11)",
    "breakthrough": "breakthrough",
}
MODULES = {"pgx": "pgx", "envpool": "envpool", "openspiel": "pyspiel"}


class Stepper(Protocol):
    """A batch of games of one library."""

    @property
    def mask(self) -> NDArray[np.bool_]:
        """bool[N, M]: legal actions."""
        ...

    def step(self, actions: NDArray[np.int32]) -> None:
        """One step of all games."""
        ...


class Ours:
    """`ggp.env`, with the board observation where a board is recognized."""

    def __init__(self, game: str, count: int, threads: int) -> None:
        try:
            self._env = ggp.env.make(game, count, observation="board", auto_reset=True, threads=threads)
        except ValueError:
            self._env = ggp.env.make(game, count, auto_reset=True, threads=threads)
        self._state = self._env.init()
        self.mask = self._state.legal_action_mask

    def step(self, actions: NDArray[np.int32]) -> None:
        self._state = self._env.step(self._state, actions, copy=False)
        self.mask = self._state.legal_action_mask


class Pgx:
    """PGX on JAX's CPU backend, one jitted call per step."""

    def __init__(self, game: str, count: int, threads: int) -> None:
        import jax
        from pgx.experimental import auto_reset

        env = make_pgx(game)
        self._wait: Callable[[Any], Any] = jax.block_until_ready
        self._step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
        self._keys = jax.random.split(jax.random.PRNGKey(0), count)
        self._state = jax.jit(jax.vmap(env.init))(self._keys)

    @property
    def mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._state.legal_action_mask)

    def step(self, actions: NDArray[np.int32]) -> None:
        self._state = self._step(self._state, actions, self._keys)
        self._wait(self._state)


def make_pgx(game: str) -> Any:
    """The environment of PGX, whose hex has 11x11 cells whatever size is asked for."""
    import pgx

    return pgx.make(PGX[game])


class EnvPool:
    """EnvPool with its own threads."""

    def __init__(self, game: str, count: int, threads: int) -> None:
        import envpool

        self._env = envpool.make_gymnasium(ENVPOOL[game], num_envs=count, num_threads=threads)
        _, infos = self._env.reset()
        self._name = next(name for name in infos if "mask" in name)
        self.mask = np.asarray(infos[self._name], np.bool_)

    def step(self, actions: NDArray[np.int32]) -> None:
        infos = self._env.step(actions)[-1]
        self.mask = infos[self._name]


class OpenSpiel:
    """OpenSpiel's C++ games through its Python binding, game after game."""

    def __init__(self, game: str, count: int, threads: int) -> None:
        import pyspiel

        self._game = pyspiel.load_game(OPENSPIEL[game])
        self._states = [self._game.new_initial_state() for _ in range(count)]
        self.mask = np.array([state.legal_actions_mask() for state in self._states], np.bool_)

    def step(self, actions: NDArray[np.int32]) -> None:
        for n, state in enumerate(self._states):
            state.apply_action(int(actions[n]))
            state.rewards()
            if state.is_terminal():
                state = self._states[n] = self._game.new_initial_state()
            state.observation_tensor(state.current_player())
            self.mask[n] = state.legal_actions_mask()


STEPPERS: dict[str, Callable[[str, int, int], Stepper]] = {
    "ggp": Ours,
    "pgx": Pgx,
    "envpool": EnvPool,
    "openspiel": OpenSpiel,
}
OFFERED = {"pgx": PGX, "envpool": ENVPOOL, "openspiel": OPENSPIEL}


@dataclass(frozen=True)
class Rate:
    """Steps of all games per second of CPU time and of wall time."""

    cpu: float
    wall: float


def draw(mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int32]:
    """A random legal action per row."""
    drawn = rng.random(mask.shape, np.float32)
    drawn[~mask] = -1
    chosen: NDArray[np.int32] = drawn.argmax(axis=1).astype(np.int32)
    return chosen


def measure(stepper: Stepper, count: int, seconds: float) -> Rate:
    """Step for a while; the fastest of three parts counts, since others may use the machine."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        stepper.step(draw(np.asarray(stepper.mask, np.bool_), rng))
    best = Rate(0.0, 0.0)
    for _ in range(3):
        cpu = wall = 0.0
        steps = 0
        until = time.monotonic() + seconds
        while time.monotonic() < until or not steps:
            actions = draw(np.asarray(stepper.mask, np.bool_), rng)
            cpu_before, before = time.process_time(), time.perf_counter()
            stepper.step(actions)
            wall += time.perf_counter() - before
            cpu += time.process_time() - cpu_before
            steps += count
        best = Rate(max(best.cpu, steps / cpu), max(best.wall, steps / wall))
    return best


def is_installed(library: str) -> bool:
    """Whether a library can be measured here."""
    return library == "ggp" or importlib.util.find_spec(MODULES[library]) is not None


def rates(
    games: list[str], batches: list[int], libraries: list[str], threads: int, seconds: float
) -> Iterator[tuple[str, str, int, Rate | str]]:
    """Game, library, batch and rate, or why there is none."""
    for game in games:
        for library in libraries:
            if library != "ggp" and game not in OFFERED[library]:
                continue
            for count in batches:
                if library == "openspiel" and count != 64:
                    continue  # their rate does not depend on how many games there are
                try:
                    stepper = STEPPERS[library](game, count, threads)
                    yield game, library, count, measure(stepper, count, seconds)
                except Exception as error:
                    yield game, library, count, str(error).splitlines()[0]


def cell_of(move: str, columns: int) -> int | None:
    """The number of the cell that a move is about; None for `noop`, -1 for `pass`."""
    numbers = [int(number) for number in re.findall(r"\d+", move)]
    if not numbers:
        return -1 if move == "pass" else None
    return numbers[0] - 1 if len(numbers) == 1 else (numbers[0] - 1) * columns + numbers[1] - 1


def action_maps(env: ggp.env.Environment, count: int, columns: int) -> Iterator[NDArray[np.int32]]:
    """int32[M]: their action for each of ours (-1: none), under each symmetry of the board."""
    for turn in range(8 if columns else 1):
        cells = np.arange(max(columns * columns, count))
        if columns:
            board = np.rot90(np.arange(columns * columns).reshape(columns, columns), turn % 4)
            cells[: columns * columns] = (board if turn < 4 else board.T).ravel()
        found = [cell_of(str(move), columns) for move in env.actions.moves[0]]
        yield np.array(
            [-1 if cell is None else count - 1 if cell < 0 else cells[cell] for cell in found], np.int32
        )


def check(game: str, steps: int, count: int = 512) -> int:
    """Compare masks, rewards and ends with those of PGX; the number of steps. Raises AssertionError."""
    columns = {"tictactoe": 3, "connectfour": 0, "othello": 8, "hex_11x11": 11}[game]
    ours, theirs = ggp.env.make(game, count), make_pgx(game)
    for theirs_of in action_maps(ours, theirs.num_actions, columns):
        try:
            _compare(ours, theirs, theirs_of, 4 * count, count)
        except AssertionError:
            continue
        return _compare(ours, theirs, theirs_of, steps, count)
    raise AssertionError(f"{game}: no symmetry of the board makes the games equal")


def _compare(
    ours: ggp.env.Environment, theirs: Any, theirs_of: NDArray[np.int32], steps: int, count: int
) -> int:
    import jax

    init, step = jax.jit(jax.vmap(theirs.init)), jax.jit(jax.vmap(theirs.step))
    rng = np.random.default_rng(0)
    mapped = np.flatnonzero(theirs_of >= 0)
    done = 0
    while done < steps:
        keys = jax.random.split(jax.random.PRNGKey(done), count)
        state, other = ours.init(), init(keys)
        first = np.asarray(other.current_player)
        seats = np.stack([first, 1 - first], axis=1)
        while not state.terminated.all():
            live = ~state.terminated
            mask, their_mask = state.legal_action_mask[live], np.asarray(other.legal_action_mask)[live]
            np.testing.assert_array_equal(mask[:, mapped], their_mask[:, theirs_of[mapped]])
            actions = draw(state.legal_action_mask[:, mapped], rng)
            state = ours.step(state, mapped[actions].astype(np.int32))
            other = step(other, theirs_of[mapped[actions]], keys)
            other = _pass_until_over(step, other, state.terminated & live, theirs.num_actions - 1, keys)
            done += int(live.sum())
            np.testing.assert_array_equal(state.terminated, np.asarray(other.terminated))
            np.testing.assert_array_equal(
                state.rewards[live], np.take_along_axis(np.asarray(other.rewards), seats, axis=1)[live]
            )
            np.testing.assert_array_equal(
                seats[np.arange(count), np.maximum(state.current_player, 0)][~state.terminated],
                np.asarray(other.current_player)[~state.terminated],
            )
    return done


def _pass_until_over(step: Any, other: Any, ended: NDArray[np.bool_], passing: int, keys: Any) -> Any:
    """Let both sides pass where our game has ended: PGX ends othello only after two passes."""
    import jax
    import jax.numpy as jnp

    for _ in range(2):
        late = ended & ~np.asarray(other.terminated)
        if not late.any():
            break
        only_passing = np.arange(passing + 1) == passing
        np.testing.assert_array_equal(
            np.asarray(other.legal_action_mask)[late], only_passing[None].repeat(late.sum(), axis=0)
        )
        following = step(other, np.full(len(ended), passing, np.int32), keys)

        def chosen(new: Any, old: Any, where: NDArray[np.bool_] = late) -> Any:
            return jnp.where(where.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        other = jax.tree_util.tree_map(chosen, following, other)
    return other


def main() -> None:
    """Print a table in Markdown, or check the rules."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", nargs="+", default=list(GAMES))
    parser.add_argument("--batches", nargs="+", type=int, default=list(BATCHES))
    parser.add_argument("--libraries", nargs="+", default=list(LIBRARIES), choices=LIBRARIES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each of three parts")
    parser.add_argument("--check", action="store_true", help="compare the rules with those of PGX")
    parser.add_argument("--steps", type=int, default=1_000_000, help="of --check")
    options = parser.parse_args()
    if options.check:
        for game in options.games:
            if game in PGX:
                print(f"{game}: equal in {check(game, options.steps):,} steps", flush=True)
        return
    libraries = [library for library in options.libraries if is_installed(library)]
    print("| game | library | batch | steps/CPU-s | steps/s |\n|---|---|---:|---:|---:|")
    for game, library, count, rate in rates(
        options.games, options.batches, libraries, options.threads, options.seconds
    ):
        figures = f"{rate.cpu:,.0f} | {rate.wall:,.0f}" if isinstance(rate, Rate) else f"– | {rate}"
        print(f"| {game} | {library} | {count:,} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
