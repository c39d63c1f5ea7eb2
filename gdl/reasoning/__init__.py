"""Reasoning: forward chaining over the rules, compiled to Python functions.

values             ground terms as plain Python values
join_order         order of the literals of a body, by expected number of solutions
evaluation_modes   which predicates to derive completely, and which only on demand
magic_sets         rewriting of recursive predicates that are evaluated on demand
derivation_limits  limits on the terms and rows that rules may derive
source_writer      Python source under construction
rule_compiler      nested loops for one rule body
relation_access    slots, names and indexes by which generated code reads relations
derivation         the functions that derive relations, written when first needed
reasoner           questions about a state: legal moves, next facts, goals, …
"""
