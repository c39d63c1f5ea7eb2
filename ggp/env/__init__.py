"""Environments: any rule sheet as a batch of environments for training agents.

actions        the numbering of moves, also as the other role sees them, and who moves when
observations   what agents see, as literals of the circuit
circuit_parts  what is read of a state and what a step needs, as two circuits
kernels        one step of all games: actions in, observations out
state          `EnvState`: the states of a batch of games, and the memory behind them
streams        random numbers, a stream for each environment
batch          `Environment`, numpy arrays in the shape of PGX
make           from rules to an `Environment`
opponents      who moves for the other seats: random, a tree search, a function
gymnasium      `GgpVectorEnv`, and `gymnasium.make("ggp/NAME-v0")`
pettingzoo     `env` (moves in turn) and `parallel_env`
extensive      the game tree, its chance nodes and information sets
openspiel      the game `ggp(rules=...)` of OpenSpiel
gambit         export of small games to Gambit (EFG)
"""

from ggp.env.batch import ActionError, Environment, Settings
from ggp.env.kernels.arrays import HOLD, RESTART
from ggp.env.make import make
from ggp.env.state import EnvState

__all__ = ["HOLD", "RESTART", "ActionError", "EnvState", "Environment", "Settings", "make"]
