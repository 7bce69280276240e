"""Wapiti's text models of chains.

A header, the patterns, the labels and the observations, each string as ``length:text,``
on its own line, and then the weights that are not zero, ``number=value``. Observations
are numbered as they come; one that begins with ``u`` has a weight for every label, with
``b`` one for every pair of labels, with ``*`` both.
"""

from __future__ import annotations

import re

import numpy as np

from partwise.foreign.chain_model import ChainModel, make_chain_model
from partwise.foreign.text_lines import TextLines

MAGIC = b"#mdl#"
CHAIN = "2"
_HEADER = re.compile(r"#mdl#(?:(\d+)#)?(\d+)")
_READER = re.compile(r"#rdr#(\d+)/(\d+)(?:/\d+)?")
_STRINGS = re.compile(r"#qrk#(\d+)")


def read_wapiti(data: bytes, source: str = "model") -> ChainModel:
    r"""Read the content of a text model of Wapiti.

    The attributes are the observations, with the letter they begin with; whoever uses
    the model makes these strings as the patterns do.

    Examples
    --------
    >>> text = "#mdl#2#3\n#rdr#0/0/0\n#qrk#2\n1:A,\n1:B,\n#qrk#2\n4:udog,\n1:b,\n"
    >>> model = read_wapiti((text + "0=0x1p-1\n2=0x1p+0\n5=-0x1p+1\n").encode())
    >>> model.attributes, model.weight.tolist(), model.transitions.tolist()
    (['udog'], [0.5], [[1.0, 0.0], [0.0, -2.0]])
    """
    lines = TextLines(data, source)
    head = _HEADER.fullmatch(lines.next("the header"))
    if head is None:
        raise lines.error("expected '#mdl#TYPE#COUNT'")
    if head.group(1) not in (None, CHAIN):
        raise lines.error("it is a maximum entropy model; only chains (crf) are read")
    reader = _READER.fullmatch(lines.next("'#rdr#...'"))
    if reader is None:
        raise lines.error("expected '#rdr#PATTERNS/TOKENS'")
    for _ in range(lines.number(reader.group(1), int, "the number of patterns")):
        _read_string(lines, "a pattern")
    labels, observations = _read_strings(lines, "label"), _read_strings(lines, "obs")
    K = len(labels)
    names, rows, moves = [], [], []
    n_weights = 0
    for name in observations:
        if name[:1] not in ("u", "b", "*"):
            raise lines.error(f"observation {name[:40]!r} begins with none of u, b, *")
        if name[0] in "u*":
            names.append(name)
            rows.append(n_weights)
            n_weights += K
        if name[0] in "b*":
            if len(name) > 1:
                raise lines.error(
                    f"observation {name[:40]!r} is a feature of transitions; only 'b' "
                    "alone, the transitions themselves, is read"
                )
            moves.append(n_weights)
            n_weights += K * K
    # Zeros are not in the file: what is made has its size, not that of all weights.
    found: dict[int, float] = {}
    for _ in range(lines.number(head.group(2), int, "the number of weights")):
        place, _, text = lines.next("a weight").partition("=")
        at = lines.number(place, int, "the number of a weight")
        if not 0 <= at < n_weights:
            raise lines.error(f"weight {at} is not one of the {n_weights} weights")
        found[at] = lines.number(text, float.fromhex, "a weight")
    lines.check_room(K * K, f"the transitions between {K} labels")
    places = np.array(sorted(found), np.int64)
    values = np.array([found[at] for at in places.tolist()])
    transitions = np.zeros(K * K)
    for first in moves:
        own = (places >= first) & (places < first + K * K)
        transitions[places[own] - first] += values[own]
    # An observation is the last one whose weights begin at a place or before it.
    begins = np.array(rows, np.int64)
    owner = np.searchsorted(begins, places, side="right") - 1
    label = places - begins[owner] if begins.size else places
    pairs = (owner >= 0) & (label < K)
    counts = np.bincount(owner[pairs], minlength=len(names))
    return make_chain_model(
        labels,
        names,
        np.concatenate([[0], np.cumsum(counts)]),
        label[pairs],
        values[pairs],
        transitions,
    )


def _read_string(lines: TextLines, what: str) -> str:
    size, colon, text = lines.next(what).partition(":")
    n_bytes = len(text.encode("utf-8", "surrogateescape"))
    if not colon or not text.endswith(",") or size != str(n_bytes - 1):
        raise lines.error(f"expected {what} as LENGTH:TEXT,")
    return text[:-1]


def _read_strings(lines: TextLines, what: str) -> list[str]:
    head = _STRINGS.fullmatch(lines.next("'#qrk#...'"))
    if head is None:
        raise lines.error("expected '#qrk#COUNT'")
    count = lines.number(head.group(1), int, "how many there are")
    strings = [_read_string(lines, f"a {what}") for _ in range(count)]
    if not strings or len(set(strings)) < len(strings):
        raise lines.error(f"there is no {what}, or one occurs twice")
    return strings
