"""Choices of features that have proved good, by the task they are for."""

from __future__ import annotations

from typing import NamedTuple


class NamedBlocks(NamedTuple):
    """Blocks for words, and for columns after the word where there are any."""

    words: tuple[str, ...]
    columns: tuple[str, ...] = ()


NAMED_BLOCKS: dict[str, NamedBlocks] = {
    # Names are recognised by capitals, endings, and the words next to them.
    "ner": NamedBlocks(
        (
            *("words", "neighbours:1", "bigrams", "lower:1", "affixes:4", "kind:1"),
            *("flags", "beside:2"),
        ),
        ("tags:1",),
    ),
    # Parts of speech are told by the word, its endings, its shape and its neighbours.
    "pos": NamedBlocks(
        (
            *("words", "neighbours:2", "lower:1", "lower_bigrams", "affixes:6"),
            *("shape", "short_shape:1", "kind_trigrams", "flags"),
        ),
        ("tags:2",),
    ),
}
