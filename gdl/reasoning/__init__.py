"""Reasoning: forward chaining over the rules, compiled to Python functions.

values             ground terms as plain Python values
join_order         order of the literals of a body, by expected number of solutions
evaluation_modes   which predicates to derive completely, and which only on demand
magic_sets         rewriting of recursive predicates that are evaluated on demand
derivation_limits  limits on the terms and rows that rules may derive
rule_compiler      Python source under construction, access paths of literals, and matching of rows
relation_access    nested loops for rule bodies, and the slots, names and indexes that they read
derivation         the functions that derive relations, written when first needed
reasoner           questions about a state: legal moves, next facts, goals, …
"""
