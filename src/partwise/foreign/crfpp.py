"""CRF++'s text models, as ``crf_learn -t`` writes them.

Four blocks with empty lines between them, after a header: the labels, the template, the
attributes with the number of their first weight, and all weights. A ``U`` attribute has
a weight for every label, a ``B`` attribute one for every pair of labels.
"""

from __future__ import annotations

import numpy as np

from partwise.foreign.chain_model import ChainModel
from partwise.foreign.text_lines import TextLines

MAGIC = b"version: "
BINARY_MAGIC = bytes([100, 0, 0, 0, 0, 0, 0, 0])  # version 1.00, no kind of model
HEADER = ("version", "cost-factor", "maxid", "xsize")


def read_crfpp(data: bytes, source: str = "model") -> ChainModel:
    r"""Read the content of a text model of CRF++.

    Examples
    --------
    >>> text = "version: 100\ncost-factor: 1\nmaxid: 6\nxsize: 1\n\nA\nB\n\nU00:%x[0,0]"
    >>> text += "\nB\n\n0 U00:dog\n2 B\n\n0.5\n-0.5\n1\n2\n3\n4\n"
    >>> model = read_crfpp(text.encode())
    >>> model.attributes, model.weight.tolist(), model.transitions.tolist()
    (['U00:dog'], [0.5, -0.5], [[1.0, 2.0], [3.0, 4.0]])
    """
    lines = TextLines(data, source)
    header = {}
    for name in HEADER:
        found, _, text = lines.next(f"'{name}: ...'").partition(": ")
        if found != name:
            raise lines.error(f"expected '{name}: ...', found {found[:40]!r}")
        header[name] = lines.number(text, float, f"the number after {name}")
    if lines.next("an empty line"):
        raise lines.error("expected an empty line after the header")
    labels = lines.block("a label")
    template = lines.block("a line of the template")
    begin = lines.at
    entries = lines.block("an attribute")
    texts = lines.block("a weight")
    K = len(labels)
    if K == 0 or len(set(labels)) < K:
        raise lines.error("there are no labels, or one occurs twice")
    lines.check_room(K * K, f"the transitions between {K} labels")
    if len(texts) != header["maxid"]:
        raise lines.error(
            f"there are {len(texts)} weights, but the header says "
            f"{header['maxid']:.0f}; the file is cut short or damaged"
        )
    scale = header["cost-factor"]
    weights = scale * np.array([lines.number(t, float, "a weight") for t in texts])
    constant = {line for line in template if line.startswith("B") and "%" not in line}
    transitions = np.zeros((K, K))
    names: list[str] = []
    edge_names: list[str] = []
    rows: list[int] = []
    edge_rows: list[int] = []
    lines.at, used = begin, 0
    for entry in entries:
        lines.at += 1
        text, _, name = entry.partition(" ")
        first = lines.number(text, int, "the number of a weight")
        n_own = K if name.startswith("U") else K * K
        if name[:1] not in ("U", "B") or not 0 <= first <= weights.size - n_own:
            raise lines.error(f"attribute {name[:40]!r} has no weights in the file")
        used += n_own
        if used > weights.size:
            raise lines.error("two attributes have the same weights")
        if name in constant:
            transitions += weights[first : first + n_own].reshape(K, K)
        elif n_own == K:
            names.append(name)
            rows.append(first)
        else:
            edge_names.append(name)
            edge_rows.append(first)
    if len(set(names)) < len(names) or len(set(edge_names)) < len(edge_names):
        raise lines.error("an attribute occurs twice")
    at = np.array(rows, np.int64)[:, None] + np.arange(K)
    edge_at = np.array(edge_rows, np.int64)[:, None] + np.arange(K * K)
    return ChainModel(
        labels,
        names,
        K * np.arange(len(names) + 1, dtype=np.int64),
        np.tile(np.arange(K, dtype=np.int32), len(names)),
        weights[at].ravel(),
        transitions,
        edge_names,
        weights[edge_at].reshape(-1, K, K),
        "\n".join(line for line in template if line not in constant) or "U",
    )
