"""What solvers race on: real data of several kinds, encoded as structures.

Text goes through the library's default templates, with weights for all pairs of
attribute and label. There is nothing to test on: a race is about the objective.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.chunking import TEMPLATE
from benchmarks.mnist_multiclass import generate_digits, read_digits
from benchmarks.ocr_letters import generate_words, read_words
from partwise.data import ColumnData, read_columns
from partwise.features import TemplateEncoder, default_template
from partwise.structures import make_dense_rows, make_multiclass
from partwise.structures.chain import Chain, make_chain
from partwise.structures.interface import Structure
from partwise.structures.rows import make_sparse_rows
from partwise.synthetic import make_corpus

Token = tuple[str, ...]


CHUNKS, LETTERS, DIGITS = "CoNLL-2000", "OCR letters", "MNIST"
SPANISH, DUTCH, ENGLISH = "CoNLL-2002 Spanish", "CoNLL-2002 Dutch", "EWT POS"


class TrainingSet(NamedTuple):
    """Encoded examples, a few of the same kind to compile with, and what it is for.

    `decides` says whether the choice of ``solver="auto"`` may rest on it. Where data
    is `special`, only those race who are named for it.
    """

    name: str
    structure: Structure
    few: Structure
    decides: bool
    special: bool = False


def training_sets(bench: Bench) -> list[TrainingSet]:
    """Return the data of the race, those that decide first; fewer in a quick run."""
    makers = {
        CHUNKS: chunks,
        LETTERS: letters,
        DIGITS: digits,
        SPANISH: spanish,
        DUTCH: dutch,
        ENGLISH: english,
    }
    if bench.quick:
        makers = {CHUNKS: chunks, DUTCH: dutch}
    shapes = {shape.name: partial(shaped, shape=shape) for shape in SHAPES}
    every: dict[str, Callable[[Bench], TrainingSet]] = {**makers, **shapes}
    return [every[name](bench) for name in bench.parts(every)]


class Shape(NamedTuple):
    """How many sequences, and how long: of numbers, with labels that are mostly noise.

    There are few weights, all examples pull at every one, and no weights explain all.
    """

    name: str
    count: int
    length: int


SHAPES = [
    Shape("one long sequence", 1, 5000),
    Shape("thirty sequences", 30, 20),
    Shape("many short sequences", 20_000, 3),
]
N_NUMBERS, N_NOISY_LABELS = 20, 5


def shaped(bench: Bench, shape: Shape) -> TrainingSet:
    """Draw sequences of a shape."""
    count = min(shape.count, bench.choose(shape.count, 200))
    length = min(shape.length, bench.choose(shape.length, 300))
    few = _noisy(min(count, 5), min(length, 5))
    return TrainingSet(shape.name, _noisy(count, length), few, True, special=True)


def _noisy(count: int, length: int) -> Chain:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count * length, N_NUMBERS))
    truth = rng.normal(size=(N_NUMBERS, N_NOISY_LABELS))
    scores = x @ truth + 2.0 * rng.normal(size=(len(x), N_NOISY_LABELS))
    gold = np.argmax(scores, axis=1).astype(np.int32)
    ptr = np.arange(0, len(x) + 1, length)
    return make_chain(make_dense_rows(x), ptr, gold, N_NOISY_LABELS)


def chunks(bench: Bench) -> TrainingSet:
    """Return chunking, CoNLL-2000, with the templates of CRFsuite's tutorial."""
    return _text(bench, CHUNKS, "conll2000/train.txt.gz", TEMPLATE)


def spanish(bench: Bench) -> TrainingSet:
    """Return named entities in Spanish."""
    return _text(bench, SPANISH, "conll2002/esp.train.gz")


def dutch(bench: Bench) -> TrainingSet:
    """Return named entities in Dutch."""
    return _text(bench, DUTCH, "conll2002/ned.train.gz", decides=False)


def english(bench: Bench) -> TrainingSet:
    """Return universal parts of speech of English, from the words alone."""
    path = "ud-english-ewt/train.conllu.gz"
    return _text(bench, ENGLISH, path, decides=False, read=read_tagged)


def letters(bench: Bench) -> TrainingSet:
    """Return handwritten words, folds 1-9: chains with dense features."""
    words = bench.data(LETTERS, ["ocr-letters.npz"], read_words, generate_words)
    X, y = words.where(words.fold != 0)
    size = bench.choose(len(X), 150)
    return TrainingSet(
        LETTERS, _letters(X[:size], y[:size]), _letters(X[:20], y[:20]), True
    )


def digits(bench: Bench) -> TrainingSet:
    """Return handwritten digits: ten classes, dense features."""
    files = ["mnist-10k/images-idx3-ubyte.gz", "mnist-10k/labels-idx1-ubyte.gz"]
    X, y = bench.data(DIGITS, files, read_digits, generate_digits)

    def first(size: int) -> Structure:
        rows = make_dense_rows(np.ascontiguousarray(X[:size]))
        return make_multiclass(rows, y[:size], 10)

    return TrainingSet(DIGITS, first(bench.choose(len(y), 300)), first(50), True)


def read_tagged(path: Path) -> list[list[Token]]:
    """Read words and universal parts of speech from CoNLL-U."""
    sentences: list[list[Token]] = [[]]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if cells == [""]:
                sentences.append([])
            elif cells[0].isdigit():  # no comment, no range of words, no empty node
                sentences[-1].append((cells[1].replace(" ", "_"), cells[3]))
    return [sentence for sentence in sentences if sentence]


def _read_columns(path: Path) -> list[list[Token]]:
    return [list(map(tuple, sentence)) for sentence in read_columns(path)]


def _text(
    bench: Bench,
    name: str,
    path: str,
    template: str | None = None,
    decides: bool = True,
    read: Callable[[Path], list[list[Token]]] = _read_columns,
) -> TrainingSet:
    """Encode sentences; their last column is the label."""
    size = bench.choose(None, 200)
    sentences = bench.data(
        name,
        [path],
        lambda path: list(islice(read(path), size)),
        lambda: _generated(200, seed=0 if decides else 1),
    )
    template = template or default_template(len(sentences[0][0]) - 1)
    labels = sorted({token[-1] for sentence in sentences for token in sentence})
    return TrainingSet(
        name,
        encode(sentences, template, labels),
        encode(sentences[:20], template, labels),
        decides,
    )


def _generated(size: int, seed: int) -> list[list[Token]]:
    corpus = make_corpus(size, random_state=seed, noise=0.05)
    return [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in corpus]


def encode(
    sentences: Iterable[Sequence[Token]], template: str, labels: Sequence[str]
) -> Chain:
    """Turn sentences, whose last column is the label, into chains."""
    data = ColumnData.from_sentences([list(sentence) for sentence in sentences])
    encoded = TemplateEncoder(template, boundaries="single").fit_encode(data)
    code = {label: number for number, label in enumerate(labels)}
    gold = np.array([code[label] for label in data.columns[-1]], np.int32)
    own = encoded.nodes
    rows = make_sparse_rows(own.ptr, own.idx, own.val, own.n_columns)
    return make_chain(rows, encoded.ptr, gold, len(labels))


def _letters(X: list[np.ndarray], y: list[list[str]]) -> Chain:
    ptr = np.concatenate([[0], np.cumsum([len(word) for word in y])])
    gold = np.array([ord(letter) - ord("a") for word in y for letter in word], np.int32)
    return make_chain(make_dense_rows(np.vstack(X)), ptr, gold, 26)
