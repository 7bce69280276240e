"""CQDB, CRFsuite's constant dictionary: numbers of strings, strings of numbers.

Little-endian. A header (``CQDB``, size, flag, byte order, size and offset of the
backward links), 256 references to hash tables (offset, number of buckets), the records
(number, length with the final zero, string), the tables (hash, offset of a record), and
the backward links: the offset of the record of every number. Offsets count from the
beginning of the dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partwise.foreign.field import WORD, Bytes
from partwise.foreign.jenkins import hash_keys

MAGIC = b"CQDB"
BYTE_ORDER = 0x62445371
N_TABLES = 256
HEADER = 6 * WORD
FIRST_RECORD = HEADER + 2 * WORD * N_TABLES
RECORD = 2 * WORD  # before the string


def read_strings(field: Bytes, count: int) -> list[str]:
    """Return the strings of a dictionary by their numbers, 0 to ``count - 1``."""
    field.expect(0, MAGIC)
    size, _, order, n_links, links_at = field.words(WORD, 5).tolist()
    if order != BYTE_ORDER:
        raise field.error(f"its byte order is {order:#x}, not {BYTE_ORDER:#x}")
    if not FIRST_RECORD <= size <= field.size:
        raise field.error(
            f"it should be {size} bytes long, but there are {field.size}; the file is "
            "cut short or damaged"
        )
    if n_links != count:
        raise field.error(f"it holds {n_links} strings, but there should be {count}")
    _check_tables(field, size, count)
    if count == 0:
        return []
    if links_at < FIRST_RECORD or links_at + WORD * count > size:
        raise field.error(f"its backward links at byte {links_at} are not inside it")
    records = field.words(links_at, count)
    wrong = (records < FIRST_RECORD) | (records > size - RECORD)
    if wrong.any():
        number = int(np.flatnonzero(wrong)[0])
        raise field.error(f"string {number} is not inside it")
    numbers, lengths = field.word_at(records), field.word_at(records + WORD)
    if (numbers != np.arange(count)).any():
        raise field.error("a string has another number than its link says")
    begin, end = records + RECORD, records + RECORD + lengths
    if (lengths < 1).any() or (end > size).any():
        raise field.error("a string ends outside of it")
    if lengths.sum() > size:
        raise field.error("its strings overlap")
    data, at = field.data, field.start
    spans = zip((begin + at).tolist(), (end + at).tolist(), strict=True)
    texts = [data[a:b] for a, b in spans]
    if any(text.find(b"\0") != len(text) - 1 for text in texts):
        raise field.error("a string is not closed by a zero byte where it ends")
    strings = [text[:-1].decode("utf-8", "surrogateescape") for text in texts]
    if len(set(strings)) < count:
        raise field.error("a string occurs twice")
    return strings


def _check_tables(field: Bytes, size: int, count: int) -> None:
    """Refuse hash tables that do not lie inside, or hold another number of strings."""
    offsets, buckets = field.words(HEADER, 2 * N_TABLES).reshape(N_TABLES, 2).T
    filled = buckets > 0
    outside = (offsets < FIRST_RECORD) | (offsets + 2 * WORD * buckets > size)
    if (filled & outside).any() or buckets.sum() != 2 * count:
        raise field.error("its hash tables do not fit its strings")


def write_strings(strings: Sequence[str]) -> bytes:
    """Return the dictionary of some strings, numbered as they come."""
    keys = [string.encode("utf-8", "surrogateescape") + b"\0" for string in strings]
    lengths = np.array([len(key) for key in keys], np.int64)
    n = len(keys)
    records = FIRST_RECORD + np.cumsum(RECORD + lengths) - RECORD - lengths
    heads = np.stack([np.arange(n), lengths], axis=1).astype("<u4").tobytes()
    body = b"".join(
        [heads[RECORD * i : RECORD * (i + 1)] + key for i, key in enumerate(keys)]
    )
    at = FIRST_RECORD + len(body)
    hashes = hash_keys(keys).astype(np.int64)
    tables, counts = _hash_tables(hashes, records)
    starts = at + 2 * WORD * (np.cumsum(2 * counts) - 2 * counts)
    references = np.stack([np.where(counts > 0, starts, 0), 2 * counts], axis=1)
    links_at = at + len(tables)
    size = links_at + WORD * n
    header = [size, 0, BYTE_ORDER, n, links_at if n else 0]
    return b"".join(
        [
            MAGIC,
            np.array(header, "<u4").tobytes(),
            references.astype("<u4").tobytes(),
            body,
            tables,
            records.astype("<u4").tobytes(),
        ]
    )


def _hash_tables(
    hashes: NDArray[np.int64], records: NDArray[np.int64]
) -> tuple[bytes, NDArray[np.int64]]:
    """Return all tables, and how many strings each holds.

    A string goes into the first free bucket from where its hash sends it; half of the
    buckets stay empty.
    """
    counts = np.bincount(hashes % N_TABLES, minlength=N_TABLES)
    first = (2 * (np.cumsum(counts) - counts)).tolist()
    sizes = (2 * counts).tolist()
    buckets = np.zeros((2 * hashes.size, 2), "<u4")
    taken = bytearray(2 * hashes.size)
    places = []
    for value in hashes.tolist():
        table = value % N_TABLES
        size, start = sizes[table], first[table]
        at = (value >> 8) % size
        while taken[start + at]:
            at = (at + 1) % size
        taken[start + at] = 1
        places.append(start + at)
    buckets[places, 0], buckets[places, 1] = hashes, records
    return buckets.tobytes(), counts
