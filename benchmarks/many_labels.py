"""Tagging with hundreds of labels: the best path from a look at few of them.

Slovene morphological tags, cut to several lengths, so that there are 100 to 900 labels.
The same weights tag in python-crfsuite, which reads the converted model and looks at
all pairs of labels.
"""

from __future__ import annotations

import warnings
from typing import Any

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.clock import median_seconds
from benchmarks.harness.parsing_task import SLOVENE, read_treebank
from benchmarks.harness.report import Figure, Report, Table
from partwise import SequenceTagger, convert
from partwise.data import Sentence

CUTS = {"4 letters": 4, "5 letters": 5, "whole tags": None}
PASSES = 3
HEADINGS = ["tags", "labels", "tokens/s", "CRFsuite's", "times", "alike, %", "right, %"]
GOAL = 5  # times CRFsuite's tagger, with the most labels


def run(bench: Bench) -> Report:
    """Train a tagger for every length of tags, then let both tag."""
    crfsuite.peer()
    sentences = read_treebank(bench, SLOVENE)
    train, test = sentences["train"], sentences["test"]
    X, X_test = (list(map(_features, part)) for part in (train, test))
    n_tokens = sum(map(len, X_test))
    rows, times = [], 0.0
    for name, cut in CUTS.items():
        y, y_test = ([_tags(s, cut) for s in part] for part in (train, test))
        bench.say(f"training: {name}")
        tagger = SequenceTagger(
            solver="perceptron", loss="hinge", max_iter=PASSES,
            start=False, end=False, transitions="observed",
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few passes are enough to tag well
            tagger.fit(X, y)
        path = bench.scratch / "tags.crfsuite"
        convert(tagger, path)
        peer = crfsuite.open_tagger(path)
        theirs = [peer.tag(x) for x in X_test]
        ours = tagger.predict(X_test)
        taken = median_seconds(
            {
                "partwise": lambda tagger=tagger: tagger.predict(X_test),
                "crfsuite": lambda peer=peer: [peer.tag(x) for x in X_test],
            },
            bench.choose(5, 1),
        )
        times = taken["crfsuite"] / taken["partwise"]
        rows.append(
            [
                name,
                len(tagger.classes_),
                n_tokens / taken["partwise"],
                n_tokens / taken["crfsuite"],
                times,
                _share_alike(ours, theirs),
                _share_alike(ours, y_test),
            ]
        )
    return Report(
        [
            Figure("whole tags, times crfsuite", times, "x", at_least=GOAL),
            Figure("labels as crfsuite's, worst", min(r[5] for r in rows), "%"),
        ],
        settings={"passes of training": PASSES},
        seeds=[0],
        tables=[
            Table(
                "Tagging from feature dicts, medians",
                HEADINGS,
                rows,
            )
        ],
        notes=["The peer's tagger has the same weights, read from a converted model."],
    )


def _tags(sentence: Sentence, cut: int | None) -> list[str]:
    return [tag[:cut] for tag in sentence.xpos or sentence.upos]


def _features(sentence: Sentence) -> list[dict[str, float]]:
    words = ["^", *sentence.forms, "$"]
    return [
        {
            f"word={word.lower()}": 1.0,
            f"last2={word[-2:]}": 1.0,
            f"last3={word[-3:]}": 1.0,
            f"last4={word[-4:]}": 1.0,
            f"before={words[t]}": 1.0,
            f"after={words[t + 2]}": 1.0,
            "capital": float(word[0].isupper()),
        }
        for t, word in enumerate(sentence.forms)
    ]


def _share_alike(ours: list[Any], theirs: list[Any]) -> float:
    pairs = [
        (a, b)
        for one, other in zip(ours, theirs, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    return 100 * sum(a == b for a, b in pairs) / len(pairs)
