"""Machine code of circuits: for every phase of a game a function that settles it.

mapping           gates as operations with three inputs
parts             what there is machine code for, and where a circuit lies in rows
schedule          operations in order, in functions of bounded size; and a plain-Python twin
choice            counting and selecting moves as operations
fusion            all that lies before and after the draw of random moves as two schedules
emit              a schedule as LLVM's intermediate language, for a row width and an instruction set
code              object code of a phase, and loading it
compile_process   the process that makes it
compile_client    that process seen from here: its start, its turn, its answers
compile_limit     how much work it may take
background        from the cache or that process into the table that kernels look into
"""
