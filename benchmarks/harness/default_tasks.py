"""Ten data sets of all kinds, as a user would hand them to `fit` without settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.parsing_task import SLOVENE, read_treebank
from benchmarks.harness.tagging import SOURCES, Source, read_corpus
from benchmarks.medpost_table1 import FILES, read_sentences
from benchmarks.mnist_multiclass import Digits, generate_digits, read_digits
from benchmarks.ocr_letters import generate_words, read_words
from benchmarks.usaddress import describe_address, read_addresses
from partwise.data import ColumnData, read_columns
from partwise.synthetic import make_addresses, make_corpus

WORDS, NUMBERS, IMAGES, TREES = "words", "numbers in sequence", "rows", "trees"
SIDE = 28  # pixels of a digit
SHIFT = 2  # pixels by which images are moved


class Data(NamedTuple):
    """What there is to learn from, to choose settings on, and to test on.

    Each is a pair of inputs and outputs; of trees, sentences and None.
    """

    train: tuple[Any, Any]
    dev: tuple[Any, Any]
    test: tuple[Any, Any]

    def some(self, count: int) -> Data:
        """Return some examples to learn from, and as many to choose on."""
        return Data(_some(self.train, count), _some(self.dev, count), self.test)


def _some(part: tuple[Any, Any], count: int) -> tuple[Any, Any]:
    """Return so many examples, drawn at random: some files are sorted."""
    X, y = part
    order = np.random.default_rng(0).permutation(len(X))[:count]
    return _chosen(X, order), None if y is None else _chosen(y, order)


def _chosen(values: Any, order: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values[order]
    return [values[i] for i in order.tolist()]


class Task(NamedTuple):
    """A data set: what features it has, and what is measured on it."""

    name: str
    kind: str
    measure: str
    read: Callable[[Bench], Data]


def _columns(data: ColumnData) -> tuple[Any, Any]:
    return list(data.without(-1)), data.column_sequences(-1)


def _shuffled(X: Any, y: Any, seed: int = 0) -> Data:
    """Return four fifths to learn from, a tenth to choose on, and a tenth to test."""
    order = np.random.default_rng(seed).permutation(len(X))
    cuts = np.split(order, [len(X) * 8 // 10, len(X) * 9 // 10])

    return Data(*((_chosen(X, some), _chosen(y, some)) for some in cuts))


def _corpus(source: Source, bench: Bench) -> Data:
    return Data(*map(_columns, read_corpus(bench, source)))


def _chunks(bench: Bench) -> Data:
    """Every tenth training sentence is held out: there is no development part."""
    size = bench.choose(None, 400)

    def real(*paths: Path) -> tuple[Any, ...]:
        return tuple(
            _columns(ColumnData.from_sentences(islice(read_columns(path), size)))
            for path in paths
        )

    def generated() -> tuple[Any, ...]:
        made = make_corpus(500, noise=0.05).sentences
        rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in made]
        whole = ColumnData.from_sentences(rows)
        X, y = _columns(whole)
        return (X[:400], y[:400]), (X[400:], y[400:])

    files = ["conll2000/train.txt.gz", "conll2000/test.txt.gz"]
    (X, y), test = bench.data("chunks", files, real, generated)
    held_out = X[9::10], y[9::10]
    del X[9::10], y[9::10]
    return Data((X, y), held_out, test)


def _medpost(bench: Bench) -> Data:
    def generated() -> Any:
        made = make_corpus(400, random_state=0, noise=0.05).sentences
        return [list(zip(s.words, s.tags, strict=True)) for s in made]

    sentences = bench.data("MedPost", FILES, read_sentences, generated)
    sentences = sentences[: bench.choose(None, 400)]
    words = [[(word,) for word, _ in s] for s in sentences]
    return _shuffled(words, [[tag for _, tag in s] for s in sentences])


def _addresses(bench: Bench) -> Data:
    def generated() -> Any:
        made = make_addresses(300)
        return made[0], made[1]

    files = ["usaddress/train.xml.gz"]
    tokens, labels = bench.data("addresses", files, read_addresses, generated)
    return _shuffled([describe_address(one) for one in tokens], labels)


def _letters(bench: Bench) -> Data:
    """Folds 2 to 9 to learn from, 1 to choose on, 0 to test: the task "large"."""
    words = bench.data("letters", ["ocr-letters.npz"], read_words, generate_words)
    learn, choose, test = words.fold > 1, words.fold == 1, words.fold == 0
    return Data(words.where(learn), words.where(choose), words.where(test))


def _digits(bench: Bench) -> Digits:
    files = [f"mnist-10k/{part}-ubyte.gz" for part in ("images-idx3", "labels-idx1")]
    digits = bench.data("digits", files, read_digits, generate_digits)
    return digits.part(slice(bench.choose(None, 600)))


def _plain_digits(bench: Bench) -> Data:
    return _shuffled(*_digits(bench))


def _moved_digits(bench: Bench) -> Data:
    """20,000 images: digits, each moved by up to two pixels in both directions."""
    plain = _shuffled(*_digits(bench))
    sizes = bench.choose((20_000, 4_000, 4_000), (600, 200, 200))
    return Data(
        *(
            _moved(*part, size, seed)
            for seed, (part, size) in enumerate(zip(plain, sizes, strict=True))
        )
    )


def _moved(X: Any, y: Any, count: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, len(X), count)
    if X.shape[1] != SIDE * SIDE:  # generated classes are no images
        return X[chosen], y[chosen]
    moved = X[chosen].reshape(-1, SIDE, SIDE)
    by = rng.integers(-SHIFT, SHIFT + 1, (count, 2)).tolist()
    for image, way in zip(moved, by, strict=True):
        image[:] = np.roll(image, way, (0, 1))
    return moved.reshape(count, -1), y[chosen]


def _trees(bench: Bench) -> Data:
    sentences = read_treebank(bench, SLOVENE)
    return Data(*((sentences[part], None) for part in ("train", "dev", "test")))


TASKS = [
    Task("CoNLL-2000 chunks", WORDS, "F1", _chunks),
    *(Task(s.name, WORDS, s.measure, partial(_corpus, s)) for s in SOURCES),
    Task("MedPost tags", WORDS, "accuracy", _medpost),
    Task("addresses", WORDS, "accuracy", _addresses),
    Task("letters", NUMBERS, "accuracy", _letters),
    Task("digits", IMAGES, "accuracy", _plain_digits),
    Task("digits, moved", IMAGES, "accuracy", _moved_digits),
    Task("Slovene trees", TREES, "UAS", _trees),
]
