"""CoNLL-2000 chunking with the nineteen templates of CRFsuite's tutorial.

The same features in three forms: a template, strings, and dicts. Nothing but the
standard library is imported, since peers are measured without the rest.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness.bench import Bench

N_ATTRIBUTES = 338_547  # with boundaries="single"

TEMPLATE = """\
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]
B
"""

NUMBERED = (["_B-2", "_B-1"], ["_B+1", "_B+2"])
SINGLE = (["_B", "_B"], ["_B", "_B"])
Edges = tuple[list[str], list[str]]


class Chunked(NamedTuple):
    """A sentence: words, part-of-speech tags and chunk labels."""

    words: list[str]
    tags: list[str]
    chunks: list[str]


def corpus(bench: Bench) -> tuple[Path, Path]:
    """Return plain column files, for training and for testing."""
    return bench.data(
        "chunking",
        ["conll2000/train.txt.gz", "conll2000/test.txt.gz"],
        lambda train, test: (
            _plain_copy(bench, train, "train", bench.choose(None, 1000)),
            _plain_copy(bench, test, "test", bench.choose(None, 250)),
        ),
        lambda: (
            _generated(bench, "train", 1000, 0),
            _generated(bench, "test", 250, 1),
        ),
    )


def _plain_copy(bench: Bench, packed: Path, name: str, first: int | None) -> Path:
    path = bench.scratch / f"{name}.txt"
    with path.open("w", encoding="utf-8") as target:
        for sentence in islice(read_sentences(packed), first):
            lines = [" ".join(token) for token in zip(*sentence, strict=True)]
            target.write("\n".join([*lines, "", ""]))
    return path


def _generated(bench: Bench, name: str, n_sentences: int, seed: int) -> Path:
    from partwise.synthetic import make_corpus

    path = bench.scratch / f"{name}.txt"
    text = make_corpus(n_sentences, random_state=seed, noise=0.05).to_columns()
    path.write_text(text, encoding="utf-8")
    return path


def read_sentences(path: str | Path) -> Iterator[Chunked]:
    """Read a column file as a user of CRFsuite would, sentence by sentence."""
    path = Path(path)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        tokens: list[list[str]] = []
        for line in lines:
            cells = line.split()
            if cells:
                tokens.append(cells)
            elif tokens:
                yield Chunked(*map(list, zip(*tokens, strict=True)))
                tokens = []
        if tokens:
            yield Chunked(*map(list, zip(*tokens, strict=True)))


def feature_strings(
    words: list[str], tags: list[str], edges: Edges = NUMBERED
) -> list[list[str]]:
    """Return the attributes of every token of a sentence, as `TEMPLATE` names them."""
    before, after = edges
    w, g = [*before, *words, *after], [*before, *tags, *after]
    features = []
    for i in range(len(words)):
        a, b, c, d, e = w[i : i + 5]
        p, q, r, s, t = g[i : i + 5]
        features.append(
            [
                f"U00:{a}", f"U01:{b}", f"U02:{c}", f"U03:{d}", f"U04:{e}",
                f"U05:{b}/{c}", f"U06:{c}/{d}",
                f"U10:{p}", f"U11:{q}", f"U12:{r}", f"U13:{s}", f"U14:{t}",
                f"U15:{p}/{q}", f"U16:{q}/{r}", f"U17:{r}/{s}", f"U18:{s}/{t}",
                f"U20:{p}/{q}/{r}", f"U21:{q}/{r}/{s}", f"U22:{r}/{s}/{t}",
            ]
        )  # fmt: skip
    return features


def feature_dicts(words: list[str], tags: list[str]) -> list[dict[str, str]]:
    """Return the same attributes as dicts from the name of a line to its value."""
    before, after = NUMBERED
    w, g = [*before, *words, *after], [*before, *tags, *after]
    features = []
    for i in range(len(words)):
        a, b, c, d, e = w[i : i + 5]
        p, q, r, s, t = g[i : i + 5]
        features.append(
            {
                "U00": a, "U01": b, "U02": c, "U03": d, "U04": e,
                "U05": f"{b}/{c}", "U06": f"{c}/{d}",
                "U10": p, "U11": q, "U12": r, "U13": s, "U14": t,
                "U15": f"{p}/{q}", "U16": f"{q}/{r}",
                "U17": f"{r}/{s}", "U18": f"{s}/{t}",
                "U20": f"{p}/{q}/{r}", "U21": f"{q}/{r}/{s}", "U22": f"{r}/{s}/{t}",
            }
        )  # fmt: skip
    return features
