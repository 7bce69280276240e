"""Compiled kernels and generic functions; the only folder that imports Numba.

Two decorators carry the whole package. ``kernel`` compiles a function, with a cache on
disk that knows all that the machine code depends on. ``generic`` makes a function that
picks its implementation by the class of its first argument, in plain Python and inside
kernels alike: solvers are written once and run on every structure.

A kernel with a parameter annotated ``Structure`` is compiled once for all structures:
it is handed the address of a corpus and a table of machine code that answers questions
about it. The answers of a structure are compiled once for all such kernels.

With ``NUMBA_DISABLE_JIT=1`` the same bodies run as ordinary Python.

- `modes`: plain Python, machine code, or machine code that checks its indices;
- `kernels`: the decorators; `places`: what a kernel gets behind an address;
- `fetching`: memory that will be wanted soon;
- `generics`: questions and their answers by class;
- `answers`: structures behind addresses;
- `image`: how a tuple of arrays lies in memory; `sealed`: what stands for it;
  `behind`: how compiled code passes it on;
- `compiler`, `linking`: how Numba compiles all this;
- `reach`: all that reaches the machine code of a function;
- `cache`: machine code on disk; `prebuilt`: what came with the installation;
- `clock`: the time that compiling takes.
"""

from partwise._jit.clock import Piece, Stopwatch, listening, working_time
from partwise._jit.fetching import prefetch
from partwise._jit.generics import Generic, generic, generic_with_default
from partwise._jit.kernels import bound, fused_kernel, kernel, vector_kernel

__all__ = [
    "Generic",
    "Piece",
    "Stopwatch",
    "bound",
    "fused_kernel",
    "generic",
    "generic_with_default",
    "kernel",
    "listening",
    "prefetch",
    "vector_kernel",
    "working_time",
]
