"""Helpers for the tests of encoders."""

import numpy as np
from hypothesis import strategies as st


def as_dicts(rows):
    """Turn sparse rows back into a list of {id: value}."""
    val = rows.val if rows.val.size else np.ones(rows.idx.size)
    bounds = zip(rows.ptr[:-1], rows.ptr[1:], strict=True)
    pieces = [(rows.idx[a:b].tolist(), val[a:b].tolist()) for a, b in bounds]
    for ids, _ in pieces:
        assert len(set(ids)) == len(ids)
    return [dict(zip(ids, values, strict=True)) for ids, values in pieces]


def corrupt_tensors(data, tensors):
    """Change one tensor in one of the ways a damaged file might."""
    name = data.draw(st.sampled_from(sorted(tensors)))
    tensor = tensors[name]
    change = data.draw(st.integers(0, 4))
    changed = dict(tensors)
    if change == 0:
        del changed[name]
    elif change == 1:
        changed[name] = tensor[:-1]
    elif change == 2:
        changed[name] = tensor.astype(np.float64)
    elif change == 3:
        changed[name] = tensor[None]
    elif tensor.size:
        damaged = tensor.copy()
        at = data.draw(st.integers(0, damaged.size - 1))
        low, high = np.iinfo(damaged.dtype).min, np.iinfo(damaged.dtype).max
        damaged.flat[at] = data.draw(st.integers(low, high))
        changed[name] = damaged
    return changed
