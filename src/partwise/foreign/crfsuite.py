"""CRFsuite's model files: ``lCRF``, version 100, first-order chains.

Little-endian. A header of twelve words says where five chunks begin:

- ``FEAT``: all weights that are not zero: kind (0 a state feature, 1 a transition),
  source, target label, weight; state features first, sorted;
- two dictionaries (`cqdb`): labels, and attributes that have weights;
- ``LFRF`` and ``AFRF``: for every label the numbers of its transitions, for every
  attribute those of its state features.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.foreign.chain_model import ChainModel, make_chain_model, without_zeros
from partwise.foreign.cqdb import read_strings, write_strings
from partwise.foreign.field import WORD, Bytes
from partwise.model_file.content import most_numbers

MAGIC, TYPE, VERSION = b"lCRF", b"FOMC", 100
HEADER = 48
CHUNK = 3 * WORD  # the head of a chunk: name, size, count
STATE, TRANSITION = 0, 1
FEATURE = np.dtype(
    [("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")]
)
UNUSED = 2  # references at the end of LFRF: the begin and the end of sequences


class Header(NamedTuple):
    """The words of the header after magic, size, type and version."""

    n_features: int
    n_labels: int
    n_attributes: int
    features: int
    labels: int
    attributes: int
    label_references: int
    attribute_references: int


def read_header(data: bytes, source: str) -> Header:
    """Return the header, if it is one."""
    file = Bytes(data, source, "header")
    if len(data) <= HEADER:
        raise file.error(
            f"the file has {len(data)} bytes, not even a whole header; it is cut short"
        )
    file.expect(0, MAGIC)
    file.expect(2 * WORD, TYPE)
    size, _, version, *rest = file.words(WORD, 11).tolist()
    if version != VERSION:
        raise file.error(f"the version is {version}; only {VERSION} is known")
    if size != len(data):
        raise file.error(
            f"the file should have {size} bytes, but has {len(data)}; it is cut short "
            "or damaged"
        )
    return Header(*rest)


def read_crfsuite_model(data: bytes, source: str = "model") -> ChainModel:
    """Read the content of a CRFsuite model file.

    Parameters
    ----------
    data : bytes
        All of the file.
    source : str
        What to call it in messages.

    Returns
    -------
    ChainModel

    Raises
    ------
    ModelFileError
        If anything in it is missing or does not fit together.
    """
    head = read_header(data, source)
    file = Bytes(data, source, "file")
    K, A = head.n_labels, head.n_attributes
    features = _read_features(file, head)
    labels = read_strings(file.part(head.labels, "labels"), K)
    attributes = read_strings(file.part(head.attributes, "attributes"), A)
    part = file.part(head.label_references, "transitions of labels")
    part.expect(0, b"LFRF")
    moves, move_owner = _read_references(file, part, K, K + UNUSED, features)
    part = file.part(head.attribute_references, "weights of attributes")
    part.expect(0, b"AFRF")
    states, owner = _read_references(file, part, A, A, features)
    if states.size + moves.size != features.size:
        raise part.error(f"not all of the {features.size} weights are referred to")
    for which, kind, owners in (
        (states, STATE, owner),
        (moves, TRANSITION, move_owner),
    ):
        chosen = features[which]
        wrong = (chosen["kind"] != kind) | (chosen["source"] != owners)
        if wrong.any() or (chosen["target"] >= K).any():
            raise part.error("a weight belongs elsewhere than its reference says")
    if K * K > most_numbers(len(data) // WORD):
        raise part.error(f"transitions of {K} labels take far more than the whole file")
    transitions = np.zeros((K, K))
    transitions[move_owner, features["target"][moves]] = features["weight"][moves]
    order = np.lexsort((features["target"][states], owner))
    states, owner = states[order], owner[order]
    target = features["target"][states].astype(np.int64)
    for pairs in (owner * K + target, move_owner * K + features["target"][moves]):
        if np.unique(pairs).size < pairs.size:
            raise part.error("two weights are for the same pair")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=A))])
    weight = features["weight"][states]
    return make_chain_model(labels, attributes, ptr, target, weight, transitions)


def _read_features(file: Bytes, head: Header) -> NDArray[Any]:
    part = file.part(head.features, "weights")
    part.expect(0, b"FEAT")
    _, count = part.words(WORD, 2).tolist()
    if CHUNK + FEATURE.itemsize * count > part.size:
        raise part.error(f"there is no room for {count} of them; the file is damaged")
    # The count in the header is zero in files that CRFsuite writes.
    if head.n_features not in (0, count):
        raise part.error(f"there are {count}, but the header says {head.n_features}")
    features = np.frombuffer(file.data, FEATURE, count, part.start + CHUNK)
    if not np.isfinite(features["weight"]).all():
        raise part.error("a weight is not a finite number")
    return features


def _read_references(
    file: Bytes, part: Bytes, n: int, n_listed: int, features: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of all weights that are referred to, and by whom."""
    _, count = part.words(WORD, 2).tolist()
    if count != n_listed:
        raise part.error(f"there are {count} lists, but there should be {n_listed}")
    starts = part.words(CHUNK, n)
    lengths = file.word_at(starts)
    if lengths.sum() > features.size:
        raise part.error(f"they refer to more than all {features.size} weights")
    before = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(n), lengths)
    place = np.arange(owner.size) - before[owner] + 1
    numbers = file.word_at(starts[owner] + WORD * place)
    if (numbers >= features.size).any():
        raise part.error("they refer to a weight that is not there")
    return numbers, owner


def write_crfsuite_model(model: ChainModel) -> bytes:
    """Return a model as CRFsuite would write it: weights that are zero are left out.

    Examples
    --------
    >>> import numpy as np
    >>> model = make_chain_model(["A", "B"], ["x"], [0, 1], [1], [0.5], np.eye(2))
    >>> data = write_crfsuite_model(model)
    >>> read_crfsuite_model(data).transitions.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if model.edge_attributes or model.template:
        raise ValueError(
            "a CRFsuite file holds no templates and no features of transitions; save "
            "the model to a .partwise file"
        )
    model = without_zeros(model)
    K, A = len(model.labels), len(model.attributes)
    before, after = np.nonzero(model.transitions)
    n_states, n_moves = model.weight.size, before.size
    features = np.zeros(n_states + n_moves, FEATURE)
    states, moves = features[:n_states], features[n_states:]
    owner = np.repeat(np.arange(A), np.diff(model.ptr))
    states["source"], states["target"] = owner, model.label
    states["weight"] = model.weight
    moves["kind"] = TRANSITION
    moves["source"], moves["target"] = before, after
    moves["weight"] = model.transitions[before, after]

    chunks = [_chunk(b"FEAT", features.tobytes(), features.size)]
    at = [HEADER]
    for dictionary in (write_strings(model.labels), write_strings(model.attributes)):
        at.append(at[-1] + len(chunks[-1]))
        chunks.append(dictionary)
    chunks[-1] += bytes(-(at[-1] + len(chunks[-1])) % WORD)
    of_label = np.bincount(before, minlength=K)
    of_attribute = np.diff(model.ptr)
    for name, counts, first, unused in (
        (b"LFRF", of_label, n_states, UNUSED),
        (b"AFRF", of_attribute, 0, 0),
    ):
        at.append(at[-1] + len(chunks[-1]))
        chunks.append(_references(name, counts, first, unused, at[-1]))
    size = at[-1] + len(chunks[-1])
    if size >= 2**32:
        raise ValueError(
            f"the model takes {size} bytes; CRFsuite reads less than 4 GiB"
        )
    numbers = [VERSION, 0, K, A, *at]
    header = (
        MAGIC
        + np.array([size], "<u4").tobytes()
        + TYPE
        + np.array(numbers, "<u4").tobytes()
    )
    return b"".join([header, *chunks])


def _chunk(name: bytes, body: bytes, count: int) -> bytes:
    return name + np.array([CHUNK + len(body), count], "<u4").tobytes() + body


def _references(
    name: bytes, counts: NDArray[np.int64], first: int, unused: int, at: int
) -> bytes:
    """Return lists of consecutive numbers from `first` on, and where each begins."""
    n = counts.size
    lists_at = at + CHUNK + WORD * (n + unused)
    starts = lists_at + WORD * (np.cumsum(1 + counts) - 1 - counts)
    # A list is its length and then its numbers, which go on through all lists.
    total = int(counts.sum())
    words = np.zeros(n + total, np.int64)
    is_number = np.ones(words.size, bool)
    is_number[np.cumsum(1 + counts) - 1 - counts] = False
    words[is_number] = first + np.arange(total)
    words[~is_number] = counts
    offsets = np.concatenate([starts, np.zeros(unused, np.int64)])
    body = np.concatenate([offsets, words]).astype("<u4").tobytes()
    return _chunk(name, body, n + unused)
