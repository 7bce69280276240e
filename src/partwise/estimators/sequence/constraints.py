"""Hard constraints on label sequences: in training, decoding and marginals alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.estimators.labels import Label, LabelCodes
from partwise.metrics.chunks import SCHEMES, resolve_scheme


@dataclass(frozen=True)
class Constraints:
    """What is forbidden in label sequences.

    Parameters
    ----------
    transitions : iterable of (label, label)
        Pairs of which the second may not follow the first.
    start, end : iterable of labels
        Labels a sequence may not start, or end, with.

    Examples
    --------
    >>> rules = Constraints(transitions=[("O", "I-PER")], start=["I-PER"])
    >>> make_masks(rules, LabelCodes(["B-PER", "I-PER", "O"])).transitions[2]
    array([False,  True, False])
    """

    transitions: Iterable[tuple[Label, Label]] = ()
    start: Iterable[Label] = ()
    end: Iterable[Label] = ()

    def __post_init__(self) -> None:
        """Keep tuples: they can be read again, compared and copied."""
        pairs = tuple((before, after) for before, after in self.transitions)
        object.__setattr__(self, "transitions", pairs)
        object.__setattr__(self, "start", tuple(self.start))
        object.__setattr__(self, "end", tuple(self.end))


class Masks(NamedTuple):
    """Boolean arrays, True where something is forbidden."""

    transitions: NDArray[np.bool_]
    start: NDArray[np.bool_]
    end: NDArray[np.bool_]


def make_masks(constraints: Any, labels: LabelCodes) -> Masks:
    """Turn the name of a scheme, `Constraints` or None into masks.

    Examples
    --------
    >>> make_masks("BIO", LabelCodes(["B-PER", "I-PER", "O"])).start
    array([False,  True, False])
    """
    size = len(labels)
    masks = Masks(
        np.zeros((size, size), bool), np.zeros(size, bool), np.zeros(size, bool)
    )
    if constraints is None:
        return masks
    if isinstance(constraints, str):
        return _scheme_masks(str(resolve_scheme(constraints)), labels.classes)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            "constraints must be None, the name of a scheme such as 'BIO', or a "
            f"Constraints object, not {type(constraints).__name__}"
        )
    for before, after in constraints.transitions:
        where = "constraints, transitions"
        masks.transitions[labels.code(before, where), labels.code(after, where)] = True
    for label in constraints.start:
        masks.start[labels.code(label, "constraints, start")] = True
    for label in constraints.end:
        masks.end[labels.code(label, "constraints, end")] = True
    return masks


def constraints_of(masks: Masks, labels: LabelCodes) -> Constraints | None:
    """Turn masks back into `Constraints`, None if nothing is forbidden.

    Examples
    --------
    >>> labels, rules = LabelCodes(["N", "V"]), Constraints(end=["V"])
    >>> constraints_of(make_masks(rules, labels), labels) == rules
    True
    """
    if not any(mask.any() for mask in masks):
        return None
    names = labels.classes
    return Constraints(
        [(names[a], names[b]) for a, b in np.argwhere(masks.transitions)],
        [names[k] for k in np.flatnonzero(masks.start)],
        [names[k] for k in np.flatnonzero(masks.end)],
    )


def _scheme_masks(scheme: str, classes: Sequence[Label]) -> Masks:
    meaning = SCHEMES[scheme]
    parsed = []
    for label in classes:
        prefix, _, kind = str(label).partition("-")
        if prefix not in meaning:
            raise ValueError(
                f"label {label!r} does not belong to the scheme {scheme}: its labels "
                f"start with {', '.join(meaning)}"
            )
        parsed.append((meaning[prefix], kind))
    outside = ("O", "")
    pairs = [[_may_follow(scheme, a, b) for b in parsed] for a in parsed]
    return Masks(
        ~np.array(pairs, bool).reshape(len(parsed), len(parsed)),
        ~np.array([_may_follow(scheme, outside, b) for b in parsed], bool),
        ~np.array([_may_follow(scheme, a, outside) for a in parsed], bool),
    )


def _may_follow(scheme: str, before: tuple[str, str], after: tuple[str, str]) -> bool:
    """Say whether `after` may follow `before`; the border counts as O."""
    (was, was_kind), (now, now_kind) = before, after
    inside = was in "BI" and was_kind == now_kind
    if scheme == "IOB1":  # B only separates a chunk from one of the same type
        return now != "B" or inside
    if scheme == "IOB2":
        return now != "I" or inside
    # IOBES and its kin: a chunk that was begun goes on until its E.
    if was in "BI":
        return now in "IE" and was_kind == now_kind
    return now not in "IE"
