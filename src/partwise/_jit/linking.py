"""Machine code is made of what is called from outside, not of every piece inside.

Numba turns each function that it compiles into machine code, though most are only ever
linked into the kernels that call them. Here a piece stays in LLVM's own form until its
address is asked for, which saves a third of the time to compile.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

from partwise._jit.modes import is_checked

ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of variables begin that hold the constants of a function."""


class _Codegen:
    """The code generator of a library whose variables may have no address yet."""

    def __init__(self, library: LazyLibrary):
        self._library = library

    def set_env(self, name: str, environment: Any) -> None:
        if self._library.is_machine_code:
            self._library._codegen.set_env(name, environment)
        # Otherwise `LazyLibrary.make_machine_code` finds it.

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library._codegen, name)


class LazyLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A compiled function that becomes machine code when its address is asked for."""

    is_machine_code = False

    @property
    def codegen(self) -> Any:
        """What generates the code."""
        return _Codegen(self)

    def _optimize_final_module(self) -> None:
        """Leave it to the kernel that this is linked into."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def make_machine_code(self) -> None:
        """Make it callable, with all that is linked into it."""
        if self.is_machine_code:
            return
        self.is_machine_code = True
        super()._optimize_final_module()
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, or 0 if there is none of this name."""
        self._ensure_finalized()
        defined = {f.name for f in self._final_module.functions if not f.is_declaration}
        if not self.is_machine_code and name not in defined:
            return 0
        self.make_machine_code()
        return int(super().get_pointer_to_function(name))

    def _get_compiled_object(self) -> Any:
        self.make_machine_code()
        return super()._get_compiled_object()


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with such libraries."""

    def define_pipelines(self) -> Any:
        """Return the usual passes."""
        state = self.state
        state.library = LazyLibrary(
            state.targetctx.codegen(), state.func_id.func_qualname
        )
        state.library.enable_object_caching()
        return super().define_pipelines()


# What only other compiled code calls.
INNER = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": KernelCompiler,
    "boundscheck": is_checked() or None,
}
