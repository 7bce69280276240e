"""What the log says of labels predicted for the held-out group."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from partwise.structures.chain import Chain
from partwise.structures.decoding import decode
from partwise.structures.interface import FloatArray


def evaluation_lines(chain: Chain, w: FloatArray, labels: list[str]) -> Iterator[str]:
    """Yield the lines of CRFsuite's evaluation of labels, token by token."""
    K = len(labels)
    found = decode(chain, w).codes
    match = np.bincount(chain.labels[found == chain.labels], minlength=K)
    model = np.bincount(found, minlength=K)
    reference = np.bincount(chain.labels, minlength=K)
    precision = match / np.maximum(model, 1)
    recall = match / np.maximum(reference, 1)
    f1 = 2 * precision * recall / np.where(match > 0, precision + recall, 1.0)
    counted = reference > 0
    yield "Performance by label (#match, #model, #ref) (precision, recall, F1):\n"
    for k, label in enumerate(labels):
        scores = "******, ******, ******"
        if counted[k]:
            scores = f"{precision[k]:1.4f}, {recall[k]:1.4f}, {f1[k]:1.4f}"
        yield f"    {label}: ({match[k]}, {model[k]}, {reference[k]}) ({scores})\n"
    means = [float(x[counted].sum()) / max(K, 1) for x in (precision, recall, f1)]
    yield "Macro-average precision, recall, F1: ({:f}, {:f}, {:f})\n".format(*means)
    right = int((found == chain.labels).sum())
    yield _share("Item accuracy", right, int(found.size))
    wrong_before = np.concatenate([[0], np.cumsum(found != chain.labels)])
    borders = wrong_before[chain.ptr].tolist()
    whole = sum(a == b for a, b in pairwise(borders))
    yield _share("Instance accuracy", whole, chain.ptr.size - 1)


def _share(what: str, part: int, total: int) -> str:
    return f"{what}: {part} / {total} ({part / max(total, 1):1.4f})\n"
