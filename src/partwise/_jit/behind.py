"""Named tuples that stay in memory while compiled code passes them on.

A corpus is a tuple of dozens of arrays, each of seven numbers. Handed from function to
function by value, all of these are arguments of every function, and compiling takes
most of its time for them. Here an address travels; a field is read where it is used.
"""

from __future__ import annotations

import hashlib
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import (
    impl_ret_borrowed,
    lower_builtin,
    lower_getattr_generic,
)


class Behind(types.NamedTuple):  # type: ignore[misc]
    """The type of a named tuple of which there is an address; so are those in it."""

    def __init__(self, whole: Any):
        super().__init__(map(behind, whole.types), whole.instance_class)
        self.whole = whole
        # It is part of the names of all functions that take it: what a tuple is made of
        # would make them thousands of letters long.
        digest = hashlib.sha256(str(whole).encode()).hexdigest()
        self.name = f"{whole.instance_class.__name__}_{digest[:16]}"


def behind(kind: Any) -> Any:
    """Return the type of a value in memory as compiled code passes it on."""
    return Behind(kind) if isinstance(kind, types.BaseNamedTuple) else kind


register_default(Behind)(models.OpaqueModel)


def value_at(context: Any, builder: Any, kind: Any, place: Any) -> Any:
    """Return what compiled code passes on of a value of this type at a pointer."""
    if isinstance(kind, Behind):
        return builder.bitcast(place, cgutils.voidptr_t)
    value = builder.load(place)
    # Images of tuples are not written to while they are in use, whatever happens to
    # the numbers in their arrays: one load serves for a whole loop.
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    if isinstance(kind, types.Array):  # they have no owner: see `image`
        value = builder.insert_value(value, cgutils.voidptr_t(None), 0)
    return value


def _field(context: Any, builder: Any, kind: Behind, address: Any, k: int) -> Any:
    whole = context.get_value_type(kind.whole)
    pointer = builder.bitcast(address, whole.as_pointer())
    place = builder.gep(pointer, [ir.IntType(32)(0), ir.IntType(32)(k)], inbounds=True)
    value = value_at(context, builder, kind.types[k], place)
    return impl_ret_borrowed(context, builder, kind.types[k], value)


@lower_getattr_generic(Behind)  # type: ignore[untyped-decorator]
def _lower_attribute(
    context: Any, builder: Any, kind: Behind, address: Any, name: str
) -> Any:
    return _field(context, builder, kind, address, kind.fields.index(name))


@lower_builtin("static_getitem", Behind, types.IntegerLiteral)  # type: ignore[untyped-decorator]
def _lower_item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind, index = signature.args
    k = index.literal_value % len(kind)
    return _field(context, builder, kind, args[0], k)
