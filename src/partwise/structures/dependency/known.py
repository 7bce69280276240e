"""What is known of trees, as parts that completions do not have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.structures.dependency.arc_parts import arc_parts, label_parts
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.partial import PartialOutputs, make_partial


def know_heads(
    s: Any, head: NDArray[np.bool_], label: NDArray[np.bool_]
) -> PartialOutputs:
    """Return the corpus with the heads, and labels, of some words only.

    Parameters
    ----------
    s : DependencyTrees or SecondOrderTrees
        The corpus; heads and labels that are not known may be anything.
    head, label : arrays of bool
        Whether the head, and the label, of every word is known.
    """
    trees: DependencyTrees = s if isinstance(s, DependencyTrees) else s.first
    ptr, ids = [0], [np.zeros(0, np.int64)]
    for i, first in enumerate(trees.ptr[:-1].tolist()):
        arcs, rows = arc_parts(s, i), label_parts(s, i)
        word = first + arcs.word - 1
        wrong = arcs.part[head[word] & (arcs.head != trees.heads[word])]
        word = (first + rows.word - 1)[:, np.newaxis]
        k = np.arange(trees.labels.n_labels)
        is_wrong = label[word] & (k != trees.word_labels[word])
        ids += [wrong, (rows.part[:, np.newaxis] + k)[is_wrong]]
        ptr.append(ptr[-1] + ids[-2].size + ids[-1].size)
    return make_partial(s, ptr, np.concatenate(ids))
