"""Tournaments: agents × games × repetitions, every match stored, results with intervals and ratings.

agent_code              the files of an agent as a digest
plan                    the tournament as data: agents, games, conditions, stopping rule
config                  TOML file or command-line options → plan
schedule                plan → matches to play, every assignment of roles equally often
play                    one match, in a worker
pool                    worker processes
pool_process            a local worker
store                   finished matches in SQLite, and their export
stopping                stopping rules of a pairing: SPRT, or width of the interval
runner                  schedule → pool → store
results                 stored matches → win rates, goals, faults, speed
ratings                 Bradley-Terry ratings with their intervals
tables                  results → tables as data
report                  tables → terminal
agent_report            one agent, match by match
network_gate            whether mcts plays better with a trained network
"""
