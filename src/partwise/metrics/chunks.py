"""Chunks in label sequences, and their scores: ``B-PER I-PER O`` is a PER of 0 to 2.

A label is a prefix and a type. All schemes are read through one table of the
prefixes B (begins a chunk), I (goes on), E (ends it), S (is one by itself) and O
(outside), and one question for each pair of neighbours: does the second label go
on with the chunk of the first? Neighbours repeat, so answers are remembered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from partwise.errors import DataError
from partwise.metrics import scores as shared
from partwise.metrics.scores import Labels, Scores

OUTSIDE = "O"
UNTYPED = "_"

Span: TypeAlias = tuple[int, int, str]
Segments: TypeAlias = Iterable[Iterable[tuple[int, int, Any]]]

# For each scheme: the prefixes its labels may have, and what they mean.
SCHEMES = {
    "IOB1": {"I": "I", "O": "O", "B": "B"},
    "IOB2": {"I": "I", "O": "O", "B": "B"},
    "IOBES": {"I": "I", "O": "O", "B": "B", "E": "E", "S": "S"},
    "BILOU": {"B": "B", "I": "I", "L": "E", "O": "O", "U": "S"},
    "BMEWO": {"B": "B", "M": "I", "E": "E", "W": "S", "O": "O"},
}
ALIASES = {"BIO": "IOB2", "BIOES": "IOBES", "BILUO": "BILOU"}
_ANY_SCHEME = {"M": "I", "L": "E", "W": "S", "U": "S"}


class _Label(NamedTuple):
    prefix: str
    type: str


class _Step(NamedTuple):
    """What happens to the chunk between two neighbouring labels."""

    continues: bool
    complete: bool  # the chunk that ends here, if one does, is well formed
    opens: bool
    type: str


def resolve_scheme(scheme: str | None) -> str | None:
    """Return the proper name of a labelling scheme.

    Parameters
    ----------
    scheme : {"IOB1", "IOB2", "IOBES", "BILOU", "BMEWO"} or None
        ``"BIO"``, ``"BIOES"`` and ``"BILUO"`` are other names for some of them.

    Returns
    -------
    str or None
        A key of ``SCHEMES``, or None if `scheme` is None.

    Examples
    --------
    >>> resolve_scheme("BIO")
    'IOB2'
    """
    if scheme is None:
        return None
    name = ALIASES.get(scheme.upper(), scheme.upper())
    if name not in SCHEMES:
        known = ", ".join(sorted([*SCHEMES, *ALIASES]))
        raise ValueError(f"unknown scheme {scheme!r} (choose from {known})")
    return name


def spans(labels: Iterable[str], scheme: str | None = None) -> list[Span]:
    """Return the chunks of a label sequence.

    Parameters
    ----------
    labels : iterable of str
        Labels such as ``"B-PER"``. Without a type (``"B"``), it is ``"_"``.
    scheme : {"IOB1", "IOB2", "IOBES", "BILOU", "BMEWO"}, optional
        Count only chunks that are well formed in this scheme. By default every
        label but ``"O"`` is part of a chunk, whatever the scheme, as conlleval
        and seqeval read them.

    Returns
    -------
    list of (start, end, label)
        The chunks in order; `end` is exclusive.

    Examples
    --------
    >>> spans(["B-PER", "I-PER", "O", "I-LOC"])
    [(0, 2, 'PER'), (3, 4, 'LOC')]
    >>> spans(["B-PER", "I-PER", "O", "I-LOC"], scheme="IOB2")
    [(0, 2, 'PER')]
    """
    scheme = resolve_scheme(scheme)
    if isinstance(labels, str):
        raise TypeError(f"labels must be a sequence of labels, not one: {labels!r}")
    found: list[Span] = []
    start = -1
    kind = ""
    previous = OUTSIDE
    for t, label in enumerate(chain(labels, [OUTSIDE])):
        step = chunk_step(scheme, previous, label)
        if start >= 0 and not step.continues:
            if step.complete:
                found.append((start, t, kind))
            start = -1
        if start < 0 and step.opens:
            start, kind = t, step.type
        previous = label
    return found


@lru_cache(maxsize=1 << 16)
def chunk_step(scheme: str | None, previous: str, label: str) -> _Step:
    """Say what happens to the chunk between two neighbouring labels."""
    before, after = _parse(scheme, previous), _parse(scheme, label)
    prefixes = before.prefix + after.prefix
    same = before.type == after.type
    complete = True
    if scheme is None:
        opens = after.prefix not in "O."
        continues = (
            opens and same and before.prefix not in "O.ES" and after.prefix not in "BS"
        )
    elif scheme == "IOB1":
        # B only parts two chunks of one type; elsewhere it is out of place.
        continues = same and prefixes in {"BI", "II"}
        opens = (
            prefixes in {"OI", "BI"}
            or (prefixes == "II" and not same)
            or (prefixes in {"IB", "BB"} and same)
        )
        complete = same or prefixes != "BB"
    else:
        continues = same and prefixes in {"BI", "II", "BE", "IE"}
        opens = after.prefix in "BS"
        complete = scheme == "IOB2" or before.prefix in "ES"
    return _Step(continues, complete, opens, after.type)


def _parse(scheme: str | None, label: str) -> _Label:
    if not isinstance(label, str):
        raise TypeError(f"chunk labels must be strings such as 'B-PER', not {label!r}")
    if not label:
        raise DataError('a chunk label is empty (outside of chunks it is "O")')
    prefix, rest = label[0], label[1:]
    if scheme is None:
        # A name such as "LOC" is not L-OC: only a dash sets the prefix apart.
        if prefix in _ANY_SCHEME and rest[:1] in ("", "-"):
            prefix = _ANY_SCHEME[prefix]
        return _Label(prefix, rest.split("-", maxsplit=1)[-1] or UNTYPED)
    prefixes = SCHEMES[scheme]
    if prefix not in prefixes:
        raise DataError(
            f"{label!r} is not a label of {scheme}, whose labels begin with "
            f"{', '.join(prefixes)} (leave the scheme out to read it leniently)"
        )
    return _Label(prefixes[prefix], rest.strip("-") or UNTYPED)


def are_chunk_labels(labels: Iterable[object]) -> bool:
    """Tell whether labels look like chunks: ``"O"`` and prefixes with types.

    Parameters
    ----------
    labels : iterable
        The different labels of a task.

    Returns
    -------
    bool
        True if at least one label has a prefix and a type, as ``"B-PER"``, and
        all others do too or are ``"O"``.

    Examples
    --------
    >>> are_chunk_labels(["B-PER", "I-PER", "O"]), are_chunk_labels(["NN", "VB"])
    (True, False)
    """
    typed = set(labels) - {OUTSIDE}
    return bool(typed) and all(
        isinstance(label, str) and label[:1] in "BIESMWLU" and label[1:2] == "-"
        for label in typed
    )


@dataclass(frozen=True, slots=True)
class ChunkScores:
    """Precision, recall and F1 of chunks, together and for each type.

    Parameters
    ----------
    overall : Scores
        Of all chunks together (micro average).
    per_type : dict of str to Scores
        Of each type, in alphabetical order.

    See Also
    --------
    chunk_scores : Makes one.
    """

    overall: Scores
    per_type: dict[str, Scores]

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the types, each counting the same."""
        return shared.mean([scores.f1 for scores in self.per_type.values()])

    @property
    def weighted_f1(self) -> float:
        """The mean F1 of the types, each counting as often as it is right."""
        return shared.weighted_f1(self.per_type.values())

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in dicts, ready for JSON."""
        return {
            **self.overall._asdict(),
            "macro_f1": self.macro_f1,
            "weighted_f1": self.weighted_f1,
            "per_type": {name: s._asdict() for name, s in self.per_type.items()},
        }

    def __str__(self) -> str:
        """Show a table, one row per type."""
        return shared.score_table([*self.per_type.items(), ("overall", self.overall)])


def chunk_scores(
    y_true: Labels, y_pred: Labels, scheme: str | None = None
) -> ChunkScores:
    """Score chunks: one counts as found if start, end and type are all right.

    Parameters
    ----------
    y_true, y_pred : iterables of label sequences
        The right labels and the predicted ones, such as ``"B-PER"``.
    scheme : {"IOB1", "IOB2", "IOBES", "BILOU", "BMEWO"}, optional
        Count only chunks that are well formed in this scheme. By default labels
        are read leniently, as conlleval does; see `spans`.

    Returns
    -------
    ChunkScores
        Overall and by type; prints as a table.

    Examples
    --------
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"]]
    >>> print(chunk_scores(y_true, y_pred))
             precision  recall      f1  support
    LOC         1.0000  1.0000  1.0000        1
    PER         0.0000  0.0000  0.0000        1
    overall     0.5000  0.5000  0.5000        2
    """
    resolve_scheme(scheme)
    return _compare(
        (spans(gold, scheme), spans(predicted, scheme))
        for gold, predicted in shared.pair_sequences(y_true, y_pred)
    )


def segment_scores(y_true: Segments, y_pred: Segments) -> ChunkScores:
    """Score segments: one counts as found if start, end and label are all right.

    Parameters
    ----------
    y_true, y_pred : lists of lists of (start, end, label)
        The right segments of every sequence and the predicted ones. Where a model
        abstains, with a label that is None, nothing is predicted.

    Returns
    -------
    ChunkScores
        Overall and by label; prints as a table.

    Examples
    --------
    >>> segment_scores([[(0, 2, "PER"), (3, 4, "LOC")]], [[(3, 4, "LOC")]]).overall.f1
    0.6666666666666666
    """
    gold, predicted = list(y_true), list(y_pred)
    if len(gold) != len(predicted):
        raise shared.unequal("sequence", y_true=len(gold), y_pred=len(predicted))
    pairs = zip(gold, predicted, strict=True)
    return _compare(
        ([*map(_named, a)], [_named(one) for one in b if one[2] is not None])
        for a, b in pairs
    )


def _named(segment: tuple[int, int, Any]) -> Span:
    start, end, label = segment
    return start, end, str(label)


def _compare(pairs: Iterable[tuple[list[Span], list[Span]]]) -> ChunkScores:
    """Count the right spans among the predicted ones, sequence by sequence."""
    gold_of, predicted_of, right_of = (Counter[str]() for _ in range(3))
    for gold, predicted in pairs:
        gold_of.update(kind for _, _, kind in gold)
        predicted_of.update(kind for _, _, kind in predicted)
        right_of.update(kind for _, _, kind in set(gold).intersection(predicted))
    return ChunkScores(
        shared.score(right_of.total(), predicted_of.total(), gold_of.total()),
        shared.score_each(right_of, predicted_of, gold_of),
    )


def chunk_f1(y_true: Labels, y_pred: Labels, scheme: str | None = None) -> float:
    """Return the F1 of all chunks together, between 0 and 1.

    Parameters
    ----------
    y_true, y_pred, scheme
        As in `chunk_scores`.

    Returns
    -------
    float
        The micro-averaged F1.

    Examples
    --------
    >>> chunk_f1([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "O", "O", "B-LOC"]])
    0.5
    """
    return chunk_scores(y_true, y_pred, scheme).overall.f1
