"""What python-crfsuite does in a process of its own: train a file, tag a file."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.harness import crfsuite
from benchmarks.harness.chunking import feature_strings, read_sentences


def train(source: str, model: str) -> None:
    """Read a column file, make features, train, save."""
    sentences = list(read_sentences(Path(source)))
    X = (feature_strings(s.words, s.tags) for s in sentences)
    trainer = crfsuite.make_trainer(X, (s.chunks for s in sentences))
    crfsuite.train(trainer, Path(model), "ap", max_iterations=10)


def tag(model: str, source: str, target: str) -> None:
    """Read a column file, tag it, and write it with one more column."""
    tagger = crfsuite.open_tagger(model)
    with Path(target).open("w", encoding="utf-8") as out:
        for words, tags, chunks in read_sentences(Path(source)):
            labels = tagger.tag(feature_strings(words, tags))
            tokens = zip(words, tags, chunks, labels, strict=True)
            out.write("\n".join([*map(" ".join, tokens), "", ""]))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {"train": train, "tag": tag}[command](*arguments)
