"""Annotation mistakes among training data: the share of them that suspects hold.

One label, or head, of 2% of the training sentences is replaced at random. Sentences
are ranked as `suspects` does, by the least probable part of what the data says; by the
mass of their dual variables on wrong outputs, which has the same order as their loss;
and by models that have not seen them (two folds): how improbable they find the labels
in all, how sure they are of their most certain mistake, and, as `suspects(folds=2)`
does, how much more probable another decision is than the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.chunking import TEMPLATE, corpus
from benchmarks.harness.parsing_task import EWT, SLOVENE, Treebank, read_treebank
from benchmarks.harness.report import Figure, Report, Table
from partwise import DependencyParser, SequenceTagger
from partwise.data import read_columns
from partwise.estimators.suspicion import find_suspicion
from partwise.trees import is_projective

CHUNKS = "CoNLL-2000"
CORRUPTED = 0.02
LOOKED_AT = (0.02, 0.05, 0.10)
GOAL = 0.5
SEED = 0
RANKINGS = (
    "least probable part",
    "dual mass, or loss",
    "surprise, two folds",
    "most certain mistake, two folds",
    "preferred to the right decision, two folds",
)


def run(bench: Bench) -> Report:
    """Corrupt, train, rank and count on three corpora."""
    rows, figures = [], []
    for name, examples, corrupt, fit in _tasks(bench):
        rng = np.random.default_rng(SEED)
        count = max(round(CORRUPTED * len(examples)), 1)
        chosen = rng.permutation(len(examples))[:count]
        data = list(examples)
        for i in chosen.tolist():
            data[i] = corrupt(data[i], rng)
        for ranking, scores in zip(
            RANKINGS, _scores(bench, name, data, fit), strict=True
        ):
            order = np.argsort(-scores, kind="stable")
            found = [
                float(np.isin(chosen, order[: round(share * len(data))]).mean())
                for share in LOOKED_AT
            ]
            rows.append([name, ranking, *found])
            # Parsers learn mistakes by heart: they are asked with `folds=2`.
            if ranking == (RANKINGS[0] if name == CHUNKS else RANKINGS[-1]):
                title = f"{name}: corrupted sentences in the top 5% of the suspects"
                figures.append(Figure(title, found[1], "share", at_least=GOAL))
    headings = ["corpus", "ranked by", *(f"in the top {s:.0%}" for s in LOOKED_AT)]
    return Report(
        figures,
        settings={"corrupted sentences": CORRUPTED, "seed": SEED},
        tables=[Table("Share of the corrupted sentences", headings, rows)],
        notes=[
            "One label of each corrupted sentence is changed. The rest of the data "
            "has mistakes of its own, which count against every ranking."
        ],
    )


Fit = Callable[[Sequence[Any]], Any]


def _tasks(bench: Bench) -> Any:
    """Yield a name, examples, how to corrupt one, and how to train."""
    chosen = bench.parts([CHUNKS, EWT.name, SLOVENE.name])
    if CHUNKS in chosen:
        yield _chunks(bench)
    for treebank in (EWT, SLOVENE):
        if treebank.name in chosen:
            yield treebank.name, _trees(bench, treebank), _other_head, _parser


def _chunks(bench: Bench) -> Any:
    data = read_columns(corpus(bench)[0])
    labels = data.column_sequences(-1)
    known = sorted({label for own in labels for label in own})

    def change(example: Any, rng: Any) -> Any:
        words, own = example
        t = int(rng.integers(len(own)))
        others = [label for label in known if label != own[t]]
        new = [*own[:t], others[int(rng.integers(len(others)))], *own[t + 1 :]]
        return words, new

    def tagger(some: Sequence[Any]) -> Any:
        model = SequenceTagger(loss="log_loss", C=1.0, template=TEMPLATE)
        return model.fit([x for x, _ in some], [y for _, y in some])

    pairs = list(zip(data.without(-1), labels, strict=True))
    return CHUNKS, pairs, change, tagger


def _trees(bench: Bench, treebank: Treebank) -> list[Any]:
    return [
        sentence
        for sentence in read_treebank(bench, treebank)["train"]
        if len(sentence) > 2 and is_projective(sentence.heads or ())
    ]


def _parser(some: Sequence[Any]) -> Any:
    model = DependencyParser(
        loss="log_loss", C=0.1, projective=False, single_root=False, max_iter=10
    )
    return model.fit(list(some))


def _other_head(sentence: Any, rng: Any) -> Any:
    """Give a word another head, such that a tree is left."""
    heads = list(sentence.heads)
    for word in rng.permutation(len(heads)).tolist():
        below = {word + 1}
        for _ in heads:
            below |= {m + 1 for m, head in enumerate(heads) if head in below}
        others = [
            h for h in range(1, len(heads) + 1) if h not in below and h != heads[word]
        ]
        if others and heads[word]:
            heads[word] = others[int(rng.integers(len(others)))]
            break
    return sentence.with_tree(heads, sentence.labels)


def _scores(bench: Bench, name: str, data: list[Any], fit: Fit) -> list[Any]:
    """Return how suspicious every example is, by every ranking."""
    bench.say(f"{name}: training on {len(data)} sentences")
    found = find_suspicion(fit(data), *_both(_split(data)))
    part, loss = np.zeros(len(data)), np.zeros(len(data))
    part[found.numbers], loss[found.numbers] = found.scores, found.losses
    total, worst, least = (np.zeros(len(data)) for _ in range(3))
    for fold in range(2):
        bench.say(f"{name}: fold {fold + 1}")
        model = fit([x for i, x in enumerate(data) if i % 2 != fold])
        own = [i for i in range(len(data)) if i % 2 == fold]
        views = model._views(*_split([data[i] for i in own]))
        for i, view in zip(own, views, strict=True):
            total[i], least[i] = view.surprise, view.doubt
            wrong = [p for p, right in view.certain if not right]
            worst[i] = max(wrong, default=0.0)
    return [part, loss, total, worst, least]


def _both(given: tuple[Any, ...]) -> tuple[Any, Any]:
    return (given[0], given[1]) if len(given) > 1 else (given[0], None)


def _split(data: Sequence[Any]) -> Any:
    if isinstance(data[0], tuple):
        return [x for x, _ in data], [y for _, y in data]
    return (list(data),)
