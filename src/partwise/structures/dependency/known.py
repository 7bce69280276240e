"""What is known of trees, as parts that completions do not have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.partial import PartialOutputs, make_partial


def know_heads(
    s: DependencyTrees, head: NDArray[np.bool_], label: NDArray[np.bool_]
) -> PartialOutputs:
    """Return the corpus with the heads, and labels, of some words only.

    Parameters
    ----------
    s : DependencyTrees
        The corpus; heads and labels that are not known may be anything.
    head, label : arrays of bool
        Whether the head, and the label, of every word is known.
    """
    n_labels = s.labels.n_labels
    ptr, ids = [0], [np.zeros(0, np.int64)]
    for i in range(s.ptr.size - 1):
        first, n = int(s.ptr[i]), int(s.ptr[i + 1] - s.ptr[i])
        found = [np.zeros(0, np.int64)]
        for m in range(1, n + 1):
            word = first + m - 1
            if head[word]:
                h = np.arange(n + 1)
                others = h[(h != s.heads[word]) & (h != m)]
                found.append(others * (n + 1) + m)
            if n_labels and label[word]:
                k = np.arange(n_labels)
                k = k[k != s.word_labels[word]]
                for direction in range(2):
                    at = (n + 1) ** 2 + (direction * n + m - 1) * n_labels
                    found.append(at + k)
        ids.append(np.concatenate(found))
        ptr.append(ptr[-1] + ids[-1].size)
    return make_partial(s, ptr, np.concatenate(ids))
