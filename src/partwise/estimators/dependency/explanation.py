"""Why a word has its head: the features of two trees, by name, and their weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from partwise._jit import kernel
from partwise.data.treebank import Sentence
from partwise.estimators.dependency.corpus import TreeSettings
from partwise.estimators.explanation import Contribution
from partwise.estimators.labels import Label
from partwise.features import arc_codes
from partwise.features.arc_groups import ChosenTemplates
from partwise.structures import interface as waist
from partwise.structures.decoding import decode
from partwise.structures.dependency import AddedArcs, DependencyTrees
from partwise.structures.dependency.arcs import n_arc_weights
from partwise.structures.dependency.hashed_arcs import LENGTHS
from partwise.structures.dependency.restricted import best_tree_with
from partwise.structures.dependency.second_order import SecondOrderTrees
from partwise.structures.dependency.second_order.corpus import is_last, sibling_of
from partwise.structures.dependency.vector_arcs import N_CLASSES, ROOT
from partwise.structures.interface import CodeArray, FloatArray, Structure


class ArcChoice(NamedTuple):
    """Why a word has its head.

    Attributes
    ----------
    word, head, label
        The word and its head, counted from 1 (0 is the root), and the arc's label.
    runner_up, runner_up_label
        The head (and label) it would have otherwise; None if there is no other.
    margin : float
        The score of the best tree with this head minus that of the best tree with
        another one.
    contributions : list of Contribution
        What adds up to the margin, largest first; `label` says for which arc a feature
        speaks, as ``"bark → dogs"``. The two trees may differ in other words as well.
    """

    word: int
    head: int
    label: Label | None
    runner_up: int | None
    runner_up_label: Label | None
    margin: float
    contributions: list[Contribution]


def explain_arc(
    sentence: Sentence,
    s: Any,
    w: FloatArray,
    classes: Sequence[Label],
    head: int | None,
    word: int,
    settings: TreeSettings,
    vectors: Sequence[str] = (),
) -> ArcChoice:
    """Compare the best tree that has an arc with the best one that does not."""
    n = len(sentence)
    if head is None:
        head = int(decode(s, w).codes[word - 1])
    value, winner = best_tree_with(s, w, head, word)
    other_value, loser = best_tree_with(s, w, head, word, with_arc=False)
    if np.isneginf(value):
        raise ValueError(f"no tree has the arc from {head} to {word}")

    def label(y: CodeArray) -> Label | None:
        return classes[y[n + word - 1]] if len(classes) else None

    if np.isneginf(other_value):
        return ArcChoice(word, head, label(winner), None, None, np.inf, [])
    columns, templates = _columns(sentence, settings.suffix), settings.templates
    own = OwnFeatures(settings.n_arc_features, vectors)
    found = [
        *_contributions(columns, templates, s, w, classes, winner, loser, 1.0, own),
        *_contributions(columns, templates, s, w, classes, loser, winner, -1.0, own),
    ]
    return ArcChoice(
        word,
        head,
        label(winner),
        int(loser[word - 1]),
        label(loser),
        value - other_value,
        sorted(found, key=lambda c: -abs(c.value)),
    )


class OwnFeatures(NamedTuple):
    """The features that do not come from templates: the user's, and of vectors."""

    n_listed: int
    vectors: Sequence[str]

    def name(self, number: int) -> str:
        """Name a feature by its number."""
        if number < self.n_listed:
            return f"arc feature {number}"
        of_class, column = divmod(number - self.n_listed, len(self.vectors))
        side, of_class = divmod(of_class, N_CLASSES)
        where = "from the root"
        if of_class != ROOT:
            left, length = divmod(of_class, len(LENGTHS))
            where = f"{'left' if left else 'right'} {LENGTHS[length]}"
        return f"{'head' if side else 'word'} {self.vectors[column]}, {where}"


LABEL_KINDS = ("label of the word", "label of the head", "label of both")
"""The label parts of an arc, in the order in which it has them."""

Columns: TypeAlias = dict[str, Sequence[str]]
"""What features see of the words, by the letters that codes use."""


@kernel
def _visit(s: Structure, ws: Any) -> None:
    """Prepare the sentence: all its words and templates are too many for Python."""
    waist.visit(s, 0, ws)


def _contributions(
    columns: Columns,
    templates: ChosenTemplates,
    s: Any,
    w: FloatArray,
    classes: Sequence[Label],
    y: CodeArray,
    y_other: CodeArray,
    sign: float,
    own_features: OwnFeatures,
) -> Iterator[Contribution]:
    """Name what arcs that only one of two trees has add to its score."""
    forms, n_labels = columns["w"], len(classes)
    n = len(forms)
    ws, diff = waist.workspace(s, 1), waist.make_diff(s)
    _visit(s, ws)
    hashed = (s.first if isinstance(s, SecondOrderTrees) else s).arcs
    while isinstance(hashed, AddedArcs):
        hashed = hashed.hashed
    n_hashed = int(n_arc_weights(hashed))
    kinds = ["arc", *(LABEL_KINDS if n_labels else ())]
    if isinstance(s, SecondOrderTrees):
        kinds += ["siblings", "grandparents", "last"]
    parts = _parts_by_word(s, y, len(kinds), diff)
    others = _parts_by_word(s, y_other, len(kinds), diff)
    for m in range(1, n + 1):
        h = int(y[m - 1])
        arc = f"{'root' if h == 0 else forms[h - 1]} → {forms[m - 1]}"
        for kind, part, other in zip(kinds, parts[m - 1], others[m - 1], strict=True):
            if part in (other, -1):
                continue
            if kind == "arc":
                names = _arc_names(columns, templates, hashed.tags, h, m)
            elif kind == "siblings":
                names = _sibling_names(columns, templates, h, sibling_of(y, m), m)
            elif kind == "last":
                names = _sibling_names(columns, templates, h, m, 0)
            elif kind == "grandparents":
                names = _grandparent_names(columns, templates, y, m)
            else:
                own = str(classes[y[n + m - 1]])
                names = [
                    f"{own}: {name}"
                    for name in _label_names(columns, templates, h, m, kind)
                ]
            count = waist.part_row(s, 0, part, diff.idx, diff.val, ws)
            for j in range(count):
                value = sign * float(w[diff.idx[j]] * diff.val[j])
                if value and j < len(names):
                    yield Contribution(names[j], arc, value)
                elif value:  # the arc's own, after those from templates
                    own = own_features.name(int(diff.idx[j]) - n_hashed)
                    yield Contribution(own, arc, value)


def _parts_by_word(
    s: Any, y: CodeArray, n_kinds: int, diff: waist.Diff
) -> list[list[int]]:
    """Return the parts of a tree, word by word: one of each kind, -1 for none."""
    n = int(s.ptr[1] if isinstance(s, DependencyTrees) else s.first.ptr[1])
    found = waist.parts_of(s, 0, y, diff.ids, diff.counts)
    if isinstance(s, DependencyTrees):
        parts: list[list[int]] = diff.ids[:found].reshape(n, n_kinds).tolist()
        return parts
    # What says that a word is the last of its siblings comes after all others.
    parts = diff.ids[: n * (n_kinds - 1)].reshape(n, n_kinds - 1).tolist()
    last = iter(diff.ids[n * (n_kinds - 1) : found].tolist())
    return [
        [*own, next(last) if is_last(y, n, m) else -1] for m, own in enumerate(parts, 1)
    ]


def _columns(sentence: Sentence, suffix: int) -> Columns:
    """Return what `encode_words` makes codes of: what is not given, from elsewhere."""

    def given(column: Sequence[str], otherwise: Sequence[str]) -> list[str]:
        pairs = zip(column, otherwise, strict=True)
        return [other if cell == arc_codes.NOT_GIVEN else cell for cell, other in pairs]

    lower = [form.lower() for form in sentence.forms]
    return {
        "w": sentence.forms,
        "l": given(sentence.lemmas, lower),
        "u": given(sentence.upos, sentence.xpos),
        "x": given(sentence.xpos, sentence.upos),
        "m": sentence.feats,
        "c": [arc_codes.case_of(feats) for feats in sentence.feats],
        "k": arc_codes.phrase_markers(sentence),
        "s": ["-" + form[-suffix:] for form in lower],
    }


def _cell(columns: Columns, name: str, position: int) -> str:
    """Return what a part of a code, such as "x" or "w-1", sees of a word."""
    column, at = columns[name[0]], position + int(name[1:] or 0)
    if at == 0:
        return "(root)"
    return column[at - 1] if 0 < at <= len(column) else "(end)"


def _described(columns: Columns, names: tuple[str, ...], position: int) -> str:
    return " ".join(f"{name}={_cell(columns, name, position)}" for name in names)


def _sides(columns: Columns, h: int, m: int, pair: tuple[str, str]) -> str:
    sides = []
    if arc_codes.CODES[pair[0]]:
        sides.append("head " + _described(columns, arc_codes.CODES[pair[0]], h))
    if arc_codes.CODES[pair[1]]:
        sides.append("word " + _described(columns, arc_codes.CODES[pair[1]], m))
    return ", ".join(sides) or "any arc"


def _arc_names(
    columns: Columns, templates: ChosenTemplates, tags: CodeArray, h: int, m: int
) -> list[str]:
    """Name the features of an arc, in the order in which it has them."""
    direction = "right" if h < m else "left"
    length = _length(h - m)
    names = []
    for pair in templates.arcs:
        own = _sides(columns, h, m, pair)
        names += [f"{own}, {direction}", f"{own}, {direction} {length}"]
    if templates.between:
        # Told apart by the numbers that the features have, which two might share.
        seen: dict[int, str] = {}
        for p in range(min(h, m) + 1, max(h, m)):
            seen.setdefault(int(tags[p]), columns["u"][p - 1])
        names += [f"between: {tag}, {direction}" for tag in seen.values()]
    if templates.agreement:
        names.append(
            f"agreement in {', '.join(arc_codes.ATTRIBUTES).lower()}, "
            f"{_sides(columns, h, m, templates.agreement)}, {direction}"
        )
    return names


def _label_names(
    columns: Columns, templates: ChosenTemplates, h: int, m: int, kind: str
) -> list[str]:
    """Name the features of one of the three label parts of an arc."""
    direction = "right" if h < m else "left"
    if kind == "label of the word":
        pairs: Any = [("any", name) for name in templates.modifier]
    elif kind == "label of the head":
        pairs = [(name, "any") for name in templates.head]
    else:
        pairs = templates.pairs
    return [f"{_sides(columns, h, m, pair)}, {direction}" for pair in pairs]


def _sibling_names(
    columns: Columns, templates: ChosenTemplates, h: int, sibling: int, m: int
) -> list[str]:
    """Name the features of a head and two words below it, 0 for none."""
    sides = (("head", h), ("sibling", sibling or None), ("word", m or None))
    where = "right" if h < max(sibling, m) else "left"
    length = _length((m or h) - (sibling or h))
    return _triple_names(columns, templates.siblings, sides, where, length)


def _grandparent_names(
    columns: Columns, templates: ChosenTemplates, y: CodeArray, m: int
) -> list[str]:
    """Name the features of a word, its head and the head of that."""
    h = int(y[m - 1])
    if h == 0:
        return []
    g = int(y[h - 1])
    sides = (("head's head", g), ("head", h), ("word", m))
    where = "right" if h < m else "left"
    where += ", same side" if (g < h) == (m < h) else ", other side"
    return _triple_names(columns, templates.grandparents, sides, where, _length(g - h))


def _triple_names(
    columns: Columns, templates: Any, sides: Any, where: str, length: str
) -> list[str]:
    names = []
    for triple in templates:
        seen = []
        for code, (side, position) in zip(triple, sides, strict=True):
            if position is None:
                seen.append(f"no {side}")
            elif arc_codes.CODES[code]:
                described = _described(columns, arc_codes.CODES[code], position)
                seen.append(f"{side} {described}")
        own = ", ".join(seen)
        names += [f"{own}, {where}", f"{own}, {where} {length}"]
    return names


def _length(distance: int) -> str:
    """Name the class of a length."""
    start = [low for low in LENGTHS if low <= abs(distance)][-1]
    return f"{start}+" if start in LENGTHS[3:] else str(start)


def head_and_word(arc: Any) -> tuple[int | None, int]:
    """Return the head, if one is asked for, and the word."""
    given = (None, arc) if isinstance(arc, int | np.integer) else arc
    try:
        head, word = given
        return None if head is None else index(head), index(word)
    except (TypeError, ValueError):
        raise ValueError(
            f"arc must be the number of a word, or (head, word), not {arc!r}"
        ) from None
