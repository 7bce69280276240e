"""A stream of batches: learning on against fitting all examples so far again.

CoNLL-2000 chunks as feature dicts, in ten batches. After each, one tagger learns on
with ``partial_fit`` and another is fitted to everything so far; both end with a
certificate for the same objective, within the same tolerance. The first batch announces
all labels, as scikit-learn wants it; a label that comes unannounced costs a stream most
of what it saves that time. Times are the processor's.
"""

from __future__ import annotations

import random
import time
from typing import Any

from benchmarks.harness.bench import Bench
from benchmarks.harness.chunking import corpus, feature_dicts, read_sentences
from benchmarks.harness.report import Figure, Report, Table
from partwise import SequenceTagger

N_BATCHES = 10
LOSSES = ("log_loss", "squared_hinge")


def run(bench: Bench) -> Report:
    """Learn on and fit again, after every batch."""
    path, _ = corpus(bench)
    sentences = list(read_sentences(path))[: bench.choose(None, 200)]
    random.Random(0).shuffle(sentences)
    X = [feature_dicts(s.words, s.tags) for s in sentences]
    y = [s.chunks for s in sentences]
    size = -(-len(X) // N_BATCHES)
    figures, rows = [], []
    for loss in LOSSES:
        _warm_up(loss, X, y)
        spent = {"partial_fit": 0.0, "fit": 0.0}
        stream, worst = SequenceTagger(loss), 0.0
        labels = sorted({label for chunks in y for label in chunks})
        for k in range(N_BATCHES):
            bench.say(f"{loss}, batch {k + 1}")
            new = slice(k * size, (k + 1) * size)
            took = {}
            took["partial_fit"], _ = _timed(
                stream.partial_fit, X[new], y[new], classes=labels
            )
            known = slice(0, (k + 1) * size)
            took["fit"], whole = _timed(SequenceTagger(loss).fit, X[known], y[known])
            for way, seconds in took.items():
                spent[way] += seconds
            gaps = [m.certificate_.relative_gap for m in (stream, whole)]
            worst = max(worst, gaps[0] / stream.tol)
            rows.append(
                [
                    loss, k + 1, took["partial_fit"], took["fit"], stream.n_iter_,
                    whole.n_iter_, *gaps,
                ]
            )  # fmt: skip
        share = spent["partial_fit"] / spent["fit"]
        figures += [
            Figure(f"{loss}: learning on / refitting", share, "times", at_most=1 / 3),
            Figure(f"{loss}: largest gap", worst, "tolerances", at_most=1.0),
        ]
    headings = [
        "loss", "batch", "s of partial_fit", "s of fit", "passes", "passes of fit",
        "gap", "gap of fit",
    ]  # fmt: skip
    settings = {"batches": N_BATCHES, "sentences": len(X), "tol": SequenceTagger().tol}
    return Report(
        figures, settings, tables=[Table("After every batch", headings, rows)]
    )


def _timed(learn: Any, *data: Any, **options: Any) -> tuple[float, Any]:
    begin = time.process_time()
    model = learn(*data, **options)
    return time.process_time() - begin, model


def _warm_up(loss: str, X: Any, y: Any) -> None:
    """Compile everything, off the clock."""
    SequenceTagger(loss).partial_fit(X[:9], y[:9]).partial_fit(X[9:18], y[9:18])
