"""Circuits built in compiled code, for rule sheets of many ground rules.

gate_table      hash-consing: gates as arrays with a hash table
construction    ground rules to gates, without recursion
"""
