"""Small problems whose right outputs are known in part, and their completions."""

from typing import Any

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.partial import PartialOutputs, make_partial
from problems import Floats, Outputs


def count_parts(s: Any, i: int, y: Any) -> Floats:
    diff, counts = waist.make_diff(s), np.zeros(waist.n_parts(s, i))
    found = waist.parts_of(s, i, y, diff.ids, diff.counts)
    np.add.at(counts, diff.ids[:found], diff.counts[:found])
    return counts


def hide(s: Any, share: float, seed: int = 0) -> PartialOutputs:
    """Forbid some of the parts that the right outputs do not have."""
    rng, ptr, ids = np.random.default_rng(seed), [0], []
    for i in range(waist.n_examples(s)):
        y = np.zeros(waist.output_size(s, i), np.int32)
        waist.gold(s, i, y)
        wrong = np.flatnonzero(count_parts(s, i, y) == 0)
        ids += wrong[rng.random(wrong.size) < share].tolist()
        ptr.append(len(ids))
    return make_partial(s, ptr, ids)


def completions(s: PartialOutputs, i: int, outputs: Outputs) -> Any:
    """Say which outputs have no forbidden part."""
    own = s.forbidden.ids[s.forbidden.ptr[i] : s.forbidden.ptr[i + 1]]
    counts = np.array([count_parts(s.corpus, i, y) for y in outputs.codes])
    return ~counts[:, own].any(axis=1), counts
