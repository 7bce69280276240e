"""Corpora for tagging: names in Spanish and Dutch, parts of speech in English."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness.bench import Bench
from partwise.data import ColumnData, read_columns

Token = tuple[str, ...]  # the word, perhaps a tag, and last the label
PARTS = ("train", "dev", "test")


class Corpus(NamedTuple):
    """Sentences to learn from, to choose settings on, and to test on."""

    train: ColumnData
    dev: ColumnData
    test: ColumnData


class Source(NamedTuple):
    """Where a corpus is, and how it is judged.

    `own` names the features that the package recommends for it.
    """

    name: str
    files: list[str]
    read: Callable[[Path], Iterator[list[Token]]]
    measure: str
    own: str


def _read_names(path: Path) -> Iterator[list[Token]]:
    yield from read_columns(path, skip_docstart=True)


def _read_tagged(path: Path) -> Iterator[list[Token]]:
    """Read lines of word, tag and head; the head is left out."""
    for sentence in read_columns(path, separator="\t"):
        yield [token[:2] for token in sentence]


def _read_conllu(path: Path) -> Iterator[list[Token]]:
    """Read words and universal tags; a word has an integer for its number."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        sentence: list[Token] = []
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if cells[0].isdecimal():
                sentence.append((cells[1], cells[3]))
            elif len(cells) == 1 and not line.startswith("#") and sentence:
                yield sentence
                sentence = []
        if sentence:
            yield sentence


def _files(folder: str, *names: str) -> list[str]:
    return [f"{folder}/{name}.gz" for name in names]


SOURCES = [
    Source(
        "Spanish names",
        _files("conll2002", "esp.train", "esp.testa", "esp.testb"),
        _read_names,
        "F1",
        "ner",
    ),
    Source(
        "Dutch names",
        _files("conll2002", "ned.train", "ned.testa", "ned.testb"),
        _read_names,
        "F1",
        "ner",
    ),
    Source(
        "WSJ sample, tags",
        _files("wsj-sample", "train.dp", "dev.dp", "test.dp"),
        _read_tagged,
        "accuracy",
        "pos",
    ),
    Source(
        "EWT, universal tags",
        _files("ud-english-ewt", "train.conllu", "dev.conllu", "test.conllu"),
        _read_conllu,
        "accuracy",
        "pos",
    ),
]


def read_corpus(bench: Bench, source: Source) -> Corpus:
    """Return a corpus; a slice or generated sentences in a quick run."""
    sizes: tuple[int | None, ...]
    sizes = bench.choose((None, None, None), (300, 100, 100))

    def real(*paths: Path) -> Corpus:
        some = zip(paths, sizes, strict=True)
        return Corpus(
            *(
                ColumnData.from_sentences(islice(source.read(path), size))
                for path, size in some
            )
        )

    def generated() -> Corpus:
        from partwise.synthetic import make_corpus

        parts = []
        for seed, size in enumerate(sizes):
            path = bench.scratch / f"{PARTS[seed]}.txt"
            text = make_corpus(size or 1, random_state=seed, noise=0.05).to_columns()
            path.write_text(text, encoding="utf-8")
            # Chunks stand for names; without them, the tags are what is to be told.
            width = 3 if source.measure == "F1" else 2
            sentences = ([token[:width] for token in s] for s in read_columns(path))
            parts.append(ColumnData.from_sentences(sentences))
        return Corpus(*parts)

    return bench.data(source.name, source.files, real, generated)
