"""Damaged copies of a model file: by accident, and by someone who knows the format.

An accident leaves the checksum wrong and must always be found. A forger edits the
header or the tensors and then puts the right checksum in; what a forged file
claims must be checked by whoever loads it.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from partwise.model_file.container import seal

Header = dict[str, Any]


def corruptions(
    data: bytes, n: int, seed: int, *, forged: float = 0.5
) -> Iterator[bytes]:
    """Yield `n` damaged copies of a file, a share `forged` with a right checksum."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < n:
        if rng.random() < forged:
            damaged = forge(data, rng)
        else:
            damaged = ACCIDENTS[rng.integers(len(ACCIDENTS))](data, rng)
        if damaged != data:
            made += 1
            yield damaged


def forge(data: bytes, rng: np.random.Generator) -> bytes:
    """Edit a file as a whole, with a right checksum afterwards."""
    header, body = split(data)
    forgery = FORGERIES[rng.integers(len(FORGERIES))]
    body = forgery(header, bytearray(body), rng)
    return join(header, body)


def split(data: bytes) -> tuple[Header, bytes]:
    """Take a file apart into its header and the bytes of its tensors."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    entry = header["__metadata__"].pop("partwise")
    return {**header, "partwise": json.loads(entry)}, data[8 + size :]


def join(header: Header, body: bytes) -> bytes:
    """Put a file together again, with the checksum that it should have."""
    header = dict(header)
    entry = header.pop("partwise")
    header["__metadata__"] = {"partwise": json.dumps(entry)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return seal(len(text).to_bytes(8, "little") + text + body)


# Accidents: bytes in, bytes out.


def flip_bit(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    changed[_place(data, rng)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def change_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        changed[_place(data, rng)] = int(rng.integers(256))
    return bytes(changed)


def truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: _place(data, rng)]


def extend(data: bytes, rng: np.random.Generator) -> bytes:
    return data + rng.bytes(int(rng.integers(1, 100)))


def drop_block(data: bytes, rng: np.random.Generator) -> bytes:
    start = _place(data, rng)
    return data[:start] + data[start + int(rng.integers(1, 64)) :]


def insert_block(data: bytes, rng: np.random.Generator) -> bytes:
    start = _place(data, rng)
    return data[:start] + rng.bytes(int(rng.integers(1, 64))) + data[start:]


def zero_block(data: bytes, rng: np.random.Generator) -> bytes:
    start = _place(data, rng)
    size = min(int(rng.integers(1, 512)), len(data) - start)
    return data[:start] + bytes(size) + data[start + size :]


def swap_blocks(data: bytes, rng: np.random.Generator) -> bytes:
    size = int(rng.integers(1, 64))
    first, second = sorted(_place(data, rng) for _ in range(2))
    if first + size > second or second + size > len(data):
        return data
    one, other = data[first : first + size], data[second : second + size]
    rest = data[second + size :]
    return data[:first] + other + data[first + size : second] + one + rest


def lie_about_header(data: bytes, rng: np.random.Generator) -> bytes:
    sizes = [0, 1, len(data), len(data) - 8, 2**31, 2**63, 2**64 - 1]
    sizes.append(int(rng.integers(2 * len(data))))
    return sizes[rng.integers(len(sizes))].to_bytes(8, "little") + data[8:]


def _place(data: bytes, rng: np.random.Generator) -> int:
    """Pick a position, in the header as often as in the tensors."""
    header_end = 8 + int.from_bytes(data[:8], "little")
    end = header_end if rng.random() < 0.5 else len(data)
    return int(rng.integers(min(end, len(data))))


ACCIDENTS: list[Callable[[bytes, np.random.Generator], bytes]] = [
    flip_bit,
    change_bytes,
    truncate,
    extend,
    drop_block,
    insert_block,
    zero_block,
    swap_blocks,
    lie_about_header,
]


# Forgeries: they edit the header in place and return the tensors' bytes.

EXTREMES = [-(2**63), -1, 0, 1, 2, 2**31, 2**40, 2**62, 2**63 - 1, 2**64 - 1, 2**70]
ODD_NUMBERS = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e150, 1e300, -1e300]
ODD_NUMBERS += [np.inf, -np.inf, np.nan]
ODD_VALUES = [None, True, -1, 0, 1, 2**70, 1e308, float("nan"), "", "x", [], [0], {}]


def forge_values(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    """Overwrite a few aligned words of the tensors: indices, offsets, weights."""
    for _ in range(int(rng.integers(1, 6))):
        size = int(rng.choice([1, 4, 8]))
        if len(body) >= size:
            place = size * int(rng.integers(len(body) // size))
            value = EXTREMES[rng.integers(len(EXTREMES))]
            if rng.random() < 0.5:
                value = int(rng.integers(256))
            body[place : place + size] = (value % 256**size).to_bytes(size, "little")
    return bytes(body)


def swap_tensors(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    """Exchange the places of two tensors, or exchange them altogether."""
    names = _tensors(header)
    if len(names) > 1:
        first, second = rng.choice(names, 2, replace=False)
        one, other = header[first], header[second]
        if rng.random() < 0.5:
            header[first], header[second] = other, one
        else:
            one["data_offsets"], other["data_offsets"] = (
                other["data_offsets"],
                one["data_offsets"],
            )
    return bytes(body)


def lie_about_shape(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    names = _tensors(header)
    if names:
        tensor = header[rng.choice(names)]
        extreme = EXTREMES[rng.integers(len(EXTREMES))]
        shapes = [
            [],
            [extreme],
            [0, extreme],
            [extreme, extreme],
            [*tensor["shape"], 1],
            [1, *tensor["shape"]],
            [1] * 100,
        ]
        tensor["shape"] = shapes[rng.integers(len(shapes))]
    return bytes(body)


def lie_about_dtype(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    names = _tensors(header)
    if names:
        dtypes = ["F64", "F32", "I64", "U64", "I32", "U32", "U8", "BOOL", "BF16", "X"]
        header[rng.choice(names)]["dtype"] = str(rng.choice(dtypes))
    return bytes(body)


def resize_tensor(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    """Cut or lengthen a tensor, with offsets and shapes that agree with it."""
    names = _tensors(header)
    if not names:
        return bytes(body)
    tensor = header[rng.choice(names)]
    start, stop = tensor["data_offsets"]
    items = int(np.prod(tensor["shape"], dtype=np.int64))
    item = (stop - start) // items if items else 1
    kept = int(rng.integers(items + 1))
    added = 0 if rng.random() < 0.5 else int(rng.integers(3))
    new_stop = start + item * (kept + added)
    for name in _tensors(header):
        offsets = header[name]["data_offsets"]
        if offsets[0] >= stop and header[name] is not tensor:
            header[name]["data_offsets"] = [x + new_stop - stop for x in offsets]
    tensor["data_offsets"] = [start, new_stop]
    tensor["shape"] = [kept + added]
    inserted = rng.bytes(item * added)
    return bytes(body[: start + item * kept] + inserted + body[stop:])


def rename_tensor(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    names = _tensors(header)
    if names:
        tensor = header.pop(rng.choice(names))
        header[str(rng.choice(["", "x", *names]))] = tensor
    return bytes(body)


def forge_settings(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    """Change or drop a setting, at any depth."""
    place, key = header["partwise"], "settings"
    while rng.random() < 0.9:
        inner = place[key]
        if isinstance(inner, dict) and inner:
            place, key = inner, list(inner)[rng.integers(len(inner))]
        elif isinstance(inner, list) and inner:
            place, key = inner, int(rng.integers(len(inner)))
        else:
            break
    if rng.random() < 0.3:
        del place[key]
    else:
        place[key] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    return bytes(body)


def forge_entry(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    key = ["format", "kind", "settings"][rng.integers(3)]
    header["partwise"][key] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    return bytes(body)


def fill_tensor(header: Header, body: bytearray, rng: np.random.Generator) -> bytes:
    """Fill one whole tensor, or a stretch of it, with one value."""
    names = [name for name in _tensors(header) if header[name]["data_offsets"][1]]
    if not names:
        return bytes(body)
    tensor = header[rng.choice(names)]
    start, stop = tensor["data_offsets"]
    items = int(np.prod(tensor["shape"], dtype=np.int64))
    if items == 0:
        return bytes(body)
    size = (stop - start) // items
    first = start + size * int(rng.integers(items)) * int(rng.integers(2))
    if tensor["dtype"].startswith("F"):
        kind = np.float64 if size == 8 else np.float32
        with np.errstate(over="ignore"):
            word = np.array(ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))], kind).tobytes()
    else:
        value = EXTREMES[rng.integers(len(EXTREMES))]
        if rng.random() < 0.5:
            value = int(rng.integers(-2, 2 * items + 2))
        word = (value % 256**size).to_bytes(size, "little")
    body[first:stop] = word * ((stop - first) // size)
    return bytes(body)


def _tensors(header: Header) -> list[str]:
    return [name for name in header if name not in ("__metadata__", "partwise")]


FORGERIES: list[Callable[[Header, bytearray, np.random.Generator], bytes]] = [
    forge_values,
    fill_tensor,
    swap_tensors,
    lie_about_shape,
    lie_about_dtype,
    resize_tensor,
    rename_tensor,
    forge_settings,
    forge_entry,
]
