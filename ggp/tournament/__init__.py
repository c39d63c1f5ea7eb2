"""Tournaments: agents × games × repetitions, stored match by match, and what they prove.

config      TOML or flags → Plan
plan        the tournament as data
schedule    Plan → matches to play, every assignment of roles equally often
play        one match, in a worker
pool        workers: processes here, or a Dask cluster
store       finished matches in SQLite
runner      schedule → pool → store
results     matches → win rates, goals, faults, speed
intervals, ratings, sequential   the statistics
tables, report, charts, export, live   what people see
"""
