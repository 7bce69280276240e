"""What arcs there are in training data: how long, and which of them are roots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise.data.treebank import Sentence
from partwise.model_file import Content, pack_strings, prefixed
from partwise.model_file.packing import stored_strings
from partwise.structures.dependency import DependencyTrees
from partwise.structures.dependency.reach import TreesWithinReach, within_reach
from partwise.structures.interface import CodeArray

ANY_LENGTH = 2**31 - 1


class Reach(NamedTuple):
    """The longest arc between words of two parts of speech, to the right and left.

    The last kind of words has parts of speech that were not seen: they may be anywhere.
    All arcs of the root, and no others, have the label `root`, if there is such a one.
    """

    tags: tuple[str, ...]
    longest: CodeArray
    root: str | None = None

    def limit(
        self, s: DependencyTrees, words: Sequence[Sentence], labels: Sequence[Any]
    ) -> TreesWithinReach:
        """Return the same trees, without arcs that are out of reach."""
        root = labels.index(self.root) if self.root in labels else -1
        return within_reach(s, _kinds(self.tags, words), self.longest, root)


def learn_reach(trees: Sequence[Sentence], start: Reach | None = None) -> Reach:
    """Measure all arcs of some trees.

    Parameters
    ----------
    trees : sequence of Sentence
        With heads.
    start : Reach, optional
        What was known before: what it allows stays allowed.

    Examples
    --------
    >>> one = Sentence.from_columns(
    ...     forms=["a", "b", "c"], upos=["X", "Y", "Y"], heads=[3, 1, 0]
    ... )
    >>> reach = learn_reach([one])
    >>> reach.tags
    ('X', 'Y')
    >>> reach.longest[:, :2, :2].tolist()  # from Y to X to the left: 2 words
    [[[0, 1], [0, 0]], [[0, 0], [2, 0]]]
    """
    known = () if start is None else start.tags
    tags = tuple(sorted({*known, *(tag for one in trees for tag in one.upos)}))
    unseen = len(tags)
    longest = np.zeros((2, unseen + 1, unseen + 1), np.int32)
    longest[:, unseen, :] = longest[:, :, unseen] = ANY_LENGTH
    if start is not None:
        own = np.searchsorted(tags, start.tags)
        longest[:, own[:, np.newaxis], own] = start.longest[:, :-1, :-1]
    kinds = _kinds(tags, trees)
    heads = np.array([h for one in trees for h in one.heads or ()], np.int64)
    lengths = np.array([len(one) for one in trees], np.int64)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    word = np.arange(heads.size) - first + 1
    inner = heads > 0
    cells = (
        (heads > word)[inner].astype(np.int64),
        kinds[(first + heads - 1)[inner]],
        kinds[inner],
    )
    np.maximum.at(longest, cells, np.abs(heads - word)[inner].astype(np.int32))
    root = _label_of_roots(trees)
    if start is not None and start.root != root:
        root = None
    return Reach(tags, longest, root)


def _label_of_roots(trees: Sequence[Sentence]) -> str | None:
    """Return the label that arcs of the root have, and no others; None without it.

    Examples
    --------
    >>> one = Sentence.from_columns(forms=["a", "b"], heads=[2, 0], labels=["x", "r"])
    >>> _label_of_roots([one])
    'r'
    >>> _label_of_roots([one, one.with_tree([2, 0], ["r", "r"])])
    """
    roots: set[str] = set()
    others: set[str] = set()
    for one in trees:
        for head, label in zip(one.heads or (), one.labels or (), strict=False):
            (others if head else roots).add(label)
    # Without other labels, no tree of two words would be left.
    return roots.pop() if len(roots) == 1 and others and not roots & others else None


def _kinds(tags: Sequence[str], words: Sequence[Sentence]) -> CodeArray:
    number = {tag: i for i, tag in enumerate(tags)}
    unseen = len(tags)
    return np.array(
        [number.get(tag, unseen) for one in words for tag in one.upos], np.int32
    )


def store_reach(reach: Reach | None) -> dict[str, Any]:
    """Return what a model file holds of a reach."""
    if reach is None:
        return {}
    tags = prefixed("reach.tags", pack_strings(list(reach.tags)))
    return {**tags, "reach.longest": reach.longest}


def read_reach(content: Content, root: str | None) -> Reach:
    """Read what `store_reach` returned, trusting nothing, and add the root's label."""
    part = content.part("reach")
    tags = stored_strings(part, "tags", unique=True)
    side = len(tags) + 1
    longest = part.tensor("longest", dtype=np.int32, shape=(2, side, side), at_least=0)
    return Reach(tuple(tags), longest, root)
