"""Explanations: names for weights, and which of them decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from partwise._notebooks import html_table
from partwise.estimators.labels import Label
from partwise.structures import interface as waist
from partwise.structures.chain import Chain
from partwise.structures.decoding import decode
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.rows import Pairs


class Contribution(NamedTuple):
    """What one feature added to the margin; `label` says for or against whom."""

    feature: str
    label: Label
    value: float


class Choice(NamedTuple):
    """One decision: the winner, the runner-up, the margin and where it came from."""

    token: str
    label: Label
    runner_up: Label | None
    margin: float
    contributions: list[Contribution]


class Explanation(list[Choice]):
    """One `Choice` per token; prints as a table."""

    def __str__(self) -> str:
        """Return a table with the three largest contributions of each choice."""
        lines = [
            f"{'token':<16}{'label':<12}{'runner-up':<12}{'margin':>8}  because of"
        ]
        for choice in self:
            reasons = ", ".join(
                f"{c.feature} → {c.label} {c.value:+.2f}"
                for c in choice.contributions[:3]
            )
            lines.append(
                f"{choice.token[:15]:<16}{choice.label!s:<12}"
                f"{'-' if choice.runner_up is None else choice.runner_up!s:<12}"
                f"{choice.margin:8.2f}  {reasons}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the same table for notebooks."""
        return html_table(
            ["token", "label", "runner-up", "margin", "because of"],
            [
                [
                    choice.token,
                    choice.label,
                    "-" if choice.runner_up is None else choice.runner_up,
                    f"{choice.margin:.2f}",
                    ", ".join(
                        f"{c.feature} → {c.label} {c.value:+.2f}"
                        for c in choice.contributions[:3]
                    ),
                ]
                for choice in self
            ],
        )


class NumberedNames(Sequence[str]):
    """Names that are only numbers, made when asked for: there may be millions.

    Examples
    --------
    >>> list(NumberedNames("x", 2, "(intercept)"))
    ['x0', 'x1', '(intercept)']
    """

    def __init__(self, prefix: str, count: int, *more: str):
        self.prefix, self.size, self.more = prefix, count, more

    def __len__(self) -> int:
        """Return how many names there are."""
        return self.size + len(self.more)

    def __getitem__(self, index: Any) -> Any:
        """Return one name."""
        index = range(len(self))[index]
        if index < self.size:
            return f"{self.prefix}{index}"
        return self.more[index - self.size]


Named = TypeVar("Named", bound="RowWeights")

_NAMED: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()


def named_once(model: Any, name: Callable[[], Named]) -> Named:
    """Return the names of a model's weights, made once for all of its explanations.

    They are made anew when the model has new weights: a large vocabulary takes a second
    to write down.
    """
    weights, named = _NAMED.get(model, (None, None))
    if weights is not model.weights_:
        named = name()
        _NAMED[model] = model.weights_, named
    found: Named = named
    return found


SIGNS = {"any": 0, "positive": 1, "negative": -1}


def of_sign(w: FloatArray, sign: str) -> IntArray:
    """Return the numbers of the weights with a sign: "any", "positive", "negative".

    Examples
    --------
    >>> of_sign(np.array([0.5, 0.0, -2.0]), "negative").tolist()
    [2]
    """
    if sign not in SIGNS:
        raise ValueError(f"sign must be one of {', '.join(SIGNS)}, not {sign!r}")
    return np.flatnonzero(w * SIGNS[sign] > 0 if SIGNS[sign] else w)


@dataclass(frozen=True)
class RowWeights:
    """Names for the weights of feature rows: attribute, or column, and label.

    The weights of vectors come after those of words, label by label.
    """

    names: Sequence[str]
    classes: Sequence[Label]
    pairs: Pairs | None
    vectors: Sequence[str] = field(default=(), kw_only=True)

    @property
    def n_word_weights(self) -> int:
        """How many weights words have."""
        if self.pairs is not None:
            return int(self.pairs.label.size)
        return len(self.names) * len(self.classes)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.n_word_weights + len(self.vectors) * len(self.classes)

    def name(self, index: int) -> tuple[str, Label]:
        """Return attribute and label of a weight."""
        attribute, label = (int(part[0]) for part in self._split(np.array([index])))
        if attribute < len(self.names):
            return self.names[attribute], self.classes[label]
        return self.vectors[attribute - len(self.names)], self.classes[label]

    def _split(self, index: Any) -> tuple[Any, Any]:
        """Return attributes, columns of vectors counting on from them, and labels."""
        n_words = self.n_word_weights
        of_words, beyond = np.minimum(index, max(n_words - 1, 0)), index - n_words
        if self.pairs is None:
            owner, label = np.divmod(of_words, len(self.classes))
        elif n_words:
            owner = np.searchsorted(self.pairs.ptr, of_words, side="right") - 1
            label = self.pairs.label[of_words]
        else:
            owner = label = of_words
        if not self.vectors:
            return owner, label
        vector_label, column = np.divmod(beyond, len(self.vectors))
        is_word = index < n_words
        return (
            np.where(is_word, owner, len(self.names) + column),
            np.where(is_word, label, vector_label),
        )

    def top(
        self, w: FloatArray, n: int, label: Any, sign: str = "any"
    ) -> list[tuple[str, Label, float]]:
        """Return the `n` weights largest in absolute value, of one label if given.

        `label` is a code, or several, or None.
        """
        index = of_sign(w[: self.size], sign)
        if label is not None:
            index = index[np.isin(self._split(index)[1], label)]
        if 0 < n < index.size:  # sorting a few is faster than sorting all
            cut = np.argpartition(-np.abs(w[index]), n - 1)[:n]
            index = np.sort(index[cut])
        order = index[np.argsort(-np.abs(w[index]), kind="stable")][: max(n, 0)]
        return [(*self.name(int(j)), float(w[j])) for j in order]


def name_transition(
    classes: Sequence[Label], index: int, start: bool
) -> tuple[str, Label]:
    """Name a weight of a label after another, of a first label, or of a last one.

    Examples
    --------
    >>> [name_transition(["N", "V"], index, start=True) for index in (1, 4, 7)]
    [('after N', 'V'), ('at the start', 'N'), ('at the end', 'V')]
    """
    K = len(classes)
    if index < K * K:
        return f"after {classes[index // K]}", classes[index % K]
    at_start = start and index < K * K + K
    return "at the start" if at_start else "at the end", classes[index % K]


@dataclass(frozen=True)
class ChainWeights(RowWeights):
    """Names for the weights of a chain."""

    edge_names: Sequence[str]
    start: bool
    end: bool

    @property
    def transition_at(self) -> int:
        """Where the transition weights begin."""
        return self.size

    def name(self, index: int) -> tuple[str, Label]:
        """Return feature and label of a weight."""
        K = len(self.classes)
        if index < self.size:
            return super().name(index)
        index -= self.size
        ends = K * (int(self.start) + int(self.end))
        if index < K * K + ends:
            return name_transition(self.classes, index, self.start)
        attribute, pair = divmod(index - K * K - ends, K * K)
        before = self.classes[pair // K]
        return f"{self.edge_names[attribute]} after {before}", self.classes[pair % K]


def difference(
    s: Structure, w: FloatArray, winner: CodeArray, loser: CodeArray, ws: Any
) -> dict[int, float]:
    """Split ``w . (Phi(winner) - Phi(loser))`` of example 0 over the weights."""
    diff = waist.make_diff(s)
    parts: dict[int, float] = {}
    for y, sign in ((winner, 1.0), (loser, -1.0)):
        found = waist.parts_of(s, 0, y, diff.ids, diff.counts)
        for r, count in zip(diff.ids[:found].tolist(), diff.counts, strict=False):
            parts[r] = parts.get(r, 0.0) + sign * count
    total: dict[int, float] = {}
    waist.visit(s, 0, ws)
    for r, count in parts.items():
        if count:
            n = waist.part_row(s, 0, r, diff.idx, diff.val, ws)
            for j, value in zip(diff.idx[:n].tolist(), diff.val, strict=False):
                total[j] = total.get(j, 0.0) + count * value * w[j]
    return {j: value for j, value in total.items() if value}


def contributions(total: dict[int, float], names: RowWeights) -> list[Contribution]:
    """Name the entries of a difference, largest first."""
    order = sorted(total, key=lambda j: (-abs(total[j]), j))
    return [Contribution(*names.name(j), float(total[j])) for j in order]


def explain_sequence(
    s: Chain,
    w: FloatArray,
    names: RowWeights,
    words: Sequence[str],
    labels: Sequence[Label],
) -> Explanation:
    """Explain every label of the one sequence in `s`.

    `labels` are what the codes mean; those behind which there are hidden states are
    there several times.
    """
    ws = waist.workspace(s, 1)
    _, best, score = decode(s, w)
    length, K = best.size, s.layout.n_labels
    open_labels = (
        s.mask.tokens if s.mask.tokens.size else np.ones((length, K), np.uint8)
    )
    result = Explanation()
    for t in range(length):
        label, allowed = labels[best[t]], open_labels.copy()
        allowed[t, [other == label for other in labels]] = 0
        mask = s.mask._replace(tokens=allowed)
        _, other, other_score = decode(s._replace(mask=mask), w)
        if np.isneginf(other_score[0]):
            result.append(Choice(words[t], label, None, float("inf"), []))
            continue
        result.append(
            Choice(
                words[t],
                label,
                labels[other[t]],
                float(score[0] - other_score[0]),
                contributions(difference(s, w, best, other, ws), names),
            )
        )
    return result


def show_token(token: Any) -> str:
    """Return a short name of a token for a table."""
    if isinstance(token, str):
        return token
    if isinstance(token, dict):
        for key in ("word", "token", "text", "w", "word.lower()", "form"):
            if isinstance(token.get(key), str):
                return str(token[key])
        return next((v for v in token.values() if isinstance(v, str)), "")
    if isinstance(token, tuple | list) and token and isinstance(token[0], str):
        return str(token[0])
    return ""
