"""Compilation of kernels; the only package that imports numba and llvmlite.

compiling         decorators of kernels and their pieces; compiled kernels on disk
checked_store     files of a cache, each with a checksum
quick_compiler    numba's compiler, made to waste less time on kernels of many pieces, and to emit less
second_process    compile two halves of the kernels at once
memory            large memory on large pages
rows              the row type and the operations that kernels import
vector_rows       rows as LLVM vectors: what compiled kernels use
plain_rows        rows as numpy arrays: what kernels use when NUMBA_DISABLE_JIT=1
unboxed           arguments taken out of their Python objects once
entry_points      calls from one kernel into another by its address
"""
