"""Ground rules to a small Boolean circuit, and arrays for kernels.

circuit         the circuit (propnet), its outputs and phases; GateBuilder makes gates
subgames        independent groups of facts, clocks, and facts that do not matter
automorphisms   symmetries of a circuit: facts, moves, or roles that change places
packed_gates    gates as two arrays, for circuits too large for tuples
fixpoint        atoms that depend on each other positively: their least fixpoint as gates
construction    ground rules to the circuit that they spell out
kernels         construction and hash-consing in compiled code, for large rule sheets
simplify/       that circuit to a small one that plays alike
tables          the circuit as arrays: CircuitTables, what kernels read
cache           simplified circuits as bytes, in files of the user's cache folder
"""
