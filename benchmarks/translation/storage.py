"""Keeping lattices in files, so that every method can run in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.translation.lattices import Corpus
from benchmarks.translation.vocabulary import IntArray, join
from partwise.structures import Words, make_sparse_rows

PLAIN = ("n_nodes", "ptr", "source", "target", "covered", "history")


def save_corpus(folder: Path, corpus: Corpus, references: Sequence[IntArray]) -> None:
    """Write lattices and reference translations to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    words, word_ptr = join(references)
    arrays = {name: getattr(corpus, name) for name in PLAIN}
    arrays |= {
        "word_ptr": corpus.words.ptr,
        "words": corpus.words.number,
        "row_ptr": corpus.rows.ptr,
        "row_idx": corpus.rows.idx,
        "row_val": corpus.rows.val,
        "width": np.array(corpus.rows.n_columns),
        "references": words,
        "reference_ptr": word_ptr,
    }
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)


def load_corpus(folder: Path) -> tuple[Corpus, list[IntArray]]:
    """Read what `save_corpus` wrote."""

    def load(name: str) -> Any:
        return np.load(folder / f"{name}.npy")

    corpus = Corpus(
        **{name: load(name) for name in PLAIN},
        words=Words(load("word_ptr"), load("words")),
        rows=make_sparse_rows(
            load("row_ptr"), load("row_idx"), load("row_val"), int(load("width"))
        ),
    )
    return corpus, np.split(load("references"), load("reference_ptr")[1:-1])
