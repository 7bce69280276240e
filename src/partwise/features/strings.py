"""Stable hashes of strings, and the settings of encoders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from partwise.errors import ModelFileError

Tensors = dict[str, NDArray[Any]]
Settings = dict[str, Any]

# Lone surrogates come from badly decoded files; they are kept, not refused.
_CODEC = ("utf-8", "surrogatepass")

MAX_HASH_BITS = 30  # ids are int32


def stable_hash(*parts: str) -> int:
    """Hash strings to 63 bits, the same in every process and on every machine.

    Examples
    --------
    >>> stable_hash("word", "Paris") == stable_hash("word", "Paris")
    True
    >>> stable_hash("a", "bc") == stable_hash("ab", "c")
    False
    """
    # The byte 0xff never occurs in UTF-8, so parts cannot run into each other.
    joined = b"\xff".join(part.encode(*_CODEC) for part in parts)
    digest = hashlib.blake2b(joined, digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def check_settings(min_count: object, hash_bits: object) -> None:
    """Raise unless these two encoder settings make sense."""
    if type(min_count) is not int or min_count < 1:
        raise ValueError(f"min_count must be an integer >= 1, not {min_count!r}")
    if hash_bits is None:
        return
    if type(hash_bits) is not int or not 1 <= hash_bits <= MAX_HASH_BITS:
        raise ValueError(
            f"hash_bits must be None or an integer from 1 to {MAX_HASH_BITS},"
            f" not {hash_bits!r}"
        )
    if min_count > 1:
        raise ValueError(
            "min_count needs a vocabulary, and hash_bits keeps none: use one of them"
        )


def bucket_names(hash_bits: int) -> list[str]:
    """Name the attributes of an encoder that hashes.

    Examples
    --------
    >>> bucket_names(1)
    ['#0', '#1']
    """
    return [f"#{bucket}" for bucket in range(1 << hash_bits)]


def take_settings(settings: object, names: frozenset[str]) -> Settings:
    """Return settings that have exactly the given names, or say which differ."""
    if not isinstance(settings, Mapping) or set(settings) != names:
        found = (
            sorted(map(str, settings)) if isinstance(settings, Mapping) else settings
        )
        raise ModelFileError(
            f"encoder settings must be {sorted(names)}, but are {found!r}"
        )
    return dict(settings)
