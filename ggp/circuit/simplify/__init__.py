"""Simplification stages: a smaller circuit with the same behavior.

Each is correct wherever it stops.

plan                which stages run, in which order and for how long: `simplify`
counting            chains that count one by one become adders
factoring           ORs of ANDs that share literals are factored
constants           facts that never change and moves that are never legal leave the circuit
exactly_one_move    gates over one role's moves are written as sets of moves
joins               alternatives of which at most one is met, such as a king's cells, are taken apart
sharing             inputs that several gates have in common become a gate
implications        inputs that the rest of an AND already settles are left out
exclusive_facts     groups of facts of which at most one holds, proved by induction
tokens              such groups proved move by move, as joins need them
rewriting           what several stages need: fan-outs, cost, topological order; the order of gates
kernels/            factoring in compiled code, for large circuits
"""
