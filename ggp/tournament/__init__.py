"""Tournaments: agents × games × repetitions, every match stored, and what the results prove.

agent_code              the files of an agent as a digest
plan                    the tournament as data: agents, games, conditions, stopping rule
config                  TOML file or command-line options → plan
schedule                plan → matches to play, every assignment of roles equally often
play                    one match, in a worker
batches                 which matches are played one by one, and which side by side
side_by_side            matches of plain UCT, hundreds in one worker
pool                    workers: local processes, or a Dask cluster
pool_process            a local worker
schema, store           finished matches in SQLite
stopping                when a pairing needs no more matches: SPRT, or width of the interval
runner                  schedule → pool → store
results                 stored matches → win rates, goals, faults, speed
ratings                 Bradley-Terry ratings with their intervals
tables                  results → tables as data
report, charts          tables → terminal, Markdown and SVG
agent_report            what became of one agent, match by match
live                    progress of a run in the terminal
network_gate            whether mcts plays better with a taught network
tuning                  the options of mcts that are best for one game
export                  CSV and JSON Lines
"""
