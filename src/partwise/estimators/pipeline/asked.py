"""What users ask a pipeline for, by name, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.estimators.pipeline.spans import SPAN_STEPS
from partwise.estimators.pipeline.training import STEPS
from partwise.trees import check_tree

KEPT = {
    **{"lemma": "lemmas", "upos": "upos", "xpos": "xpos", "feats": "feats"},
    **{"ner": "NER", "chunk": "Chunk"},
}
"""Columns of CoNLL-U that can be kept as they are, and what sentences call them."""


def find_steps(steps: str | Sequence[str]) -> list[str]:
    """Return the steps that a user names, in their order.

    Examples
    --------
    >>> find_steps("trees,upos")
    ['upos', 'trees']
    """
    if steps == "all":
        return list(STEPS)
    names = steps.split(",") if isinstance(steps, str) else list(steps)
    wanted = {name.strip() for name in names}
    unknown = sorted(wanted - STEPS.keys())
    if unknown or not wanted:
        raise ValueError(
            f"there is no step {(unknown or [''])[0]!r} (there are: "
            f"{', '.join(STEPS)}; or all)"
        )
    return [name for name in STEPS if name in wanted]


def wanted_steps(
    steps: str | Sequence[str], train: Sequence[Sentence], corpora: Iterable[str]
) -> list[str]:
    """Return the steps to train: spans only if they are named, or can be learnt."""
    names = find_steps(steps)
    if steps != "all":
        return [name for name in STEPS if name in names or name in corpora]
    return [
        name
        for name in names
        if name not in SPAN_STEPS
        or name in corpora
        or any(f"{SPAN_STEPS[name].entry}=" in _lines(one) for one in train)
    ]


def _lines(sentence: Sentence) -> str:
    return "" if sentence.verbatim is None else sentence.verbatim.text


def kept_columns(keep: Iterable[str]) -> set[str]:
    """Return what sentences call the columns that a user wants to keep."""
    names = [name.lower() for name in keep]
    for name in names:
        if name not in KEPT:
            raise ValueError(
                f"there is no column {name!r} to keep (there are: {', '.join(KEPT)})"
            )
    return {KEPT[name] for name in names}


def check_trees(sentences: Iterable[Sentence]) -> None:
    """Refuse sentences whose heads are no tree, before anything is trained."""
    for i, one in enumerate(sentences):
        if one.heads is not None and not one.unknown:
            where = one.place or f"sentence {i}"
            check_tree(one.heads, where, forms=one.forms)
            if one.heads.count(0) > 1:
                raise DataError(
                    f"{one.heads.count(0)} words have the root as their head; attach "
                    "all but one of them to it",
                    where=where,
                )


def check_alike(train: Sequence[Sentence], dev: Sequence[Sentence]) -> None:
    """Refuse development data with another set of tags, or of labels."""
    for what, values in (("parts of speech", _tags), ("labels of arcs", _labels)):
        known, other = values(train), values(dev)
        if known and other and known.isdisjoint(other):
            raise DataError(
                f"the development data has other {what} than the treebank "
                f"({', '.join(sorted(other)[:3])} instead of "
                f"{', '.join(sorted(known)[:3])}); use one with the same annotation"
            )


def _tags(sentences: Iterable[Sentence]) -> set[str]:
    return {x for one in sentences for x in one.upos} - {"_"}


def _labels(sentences: Iterable[Sentence]) -> set[str]:
    """Return the labels of all arcs but the root's, which most treebanks share."""
    return {
        label
        for one in sentences
        for head, label in zip(one.heads or (), one.labels or (), strict=False)
        if head and label != "_"
    }
