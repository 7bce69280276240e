"""One safetensors file for a model or a checkpoint, read without executing it.

`write` and `read` are the container, `Content` the checked view of what a file
held, and the ``pack`` functions turn strings and sparse weights into tensors.
A loader asks `Content` for every field by name, type and size, so that no
number of a file is ever trusted. Corpora that are larger than memory are folders
(`folder`), with such a file beside arrays that are mapped (`mapped`).
"""

from partwise.model_file.container import FORMAT_VERSION, check_writable, read, write
from partwise.model_file.content import Content
from partwise.model_file.packing import (
    pack_sparse,
    pack_strings,
    prefixed,
    unpack_sparse,
    unpack_strings,
)

__all__ = [
    "FORMAT_VERSION",
    "Content",
    "check_writable",
    "pack_sparse",
    "pack_strings",
    "prefixed",
    "read",
    "unpack_sparse",
    "unpack_strings",
    "write",
]
