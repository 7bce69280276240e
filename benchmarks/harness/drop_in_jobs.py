"""The same program with two modules: python-crfsuite, and ours under its name.

A job gets the name of a module and imports nothing else, so that time and memory are
those of a user who changed one line. Seconds are those of the processor, all threads
together, so that other jobs on the machine do not count; `wall` are those of a clock.
"""

from __future__ import annotations

import gzip
import importlib
import random
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.harness.child import peak_mib
from benchmarks.harness.chunking import feature_dicts, read_sentences

Data = tuple[list[Any], list[list[str]]]
WARM_UP = 20  # sentences that are trained on off the clock, so that all is compiled
TRAINED = {"original": "pycrfsuite", "partwise": "partwise.pycrfsuite"}
SEARCHED = {"original": "sklearn_crfsuite", "partwise": "partwise.sklearn_crfsuite"}


def token_features(sentence: list[tuple[str, str]], i: int) -> dict[str, Any]:
    """Return the features of sklearn-crfsuite's tutorial."""
    word, tag = sentence[i]
    features: dict[str, Any] = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    for offset, name in ((-1, "-1"), (1, "+1")):
        if not 0 <= i + offset < len(sentence):
            features["BOS" if offset < 0 else "EOS"] = True
            continue
        other, its_tag = sentence[i + offset]
        features |= {
            f"{name}:word.lower()": other.lower(),
            f"{name}:word.istitle()": other.istitle(),
            f"{name}:word.isupper()": other.isupper(),
            f"{name}:postag": its_tag,
            f"{name}:postag[:2]": its_tag[:2],
        }
    return features


def _name_sentences(path: str) -> Iterator[tuple[list[tuple[str, str]], list[str]]]:
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        tokens: list[list[str]] = []
        for line in [*lines, ""]:
            cells = line.split()
            if cells and not cells[0].startswith("-DOCSTART-"):
                tokens.append(cells)
            elif tokens:
                yield [(t[0], t[1]) for t in tokens], [t[-1] for t in tokens]
                tokens = []


def read(task: str, path: str, most: int | None = None) -> Data:
    """Return feature dicts and labels of a corpus."""
    if task == "chunks":
        sentences = list(islice(read_sentences(path), most))
        X = [feature_dicts(s.words, s.tags) for s in sentences]
        return X, [s.chunks for s in sentences]
    pairs = list(islice(_name_sentences(path), most))
    X = [[token_features(s, i) for i in range(len(s))] for s, _ in pairs]
    return X, [labels for _, labels in pairs]


def train(
    side: str, task: str, path: str, model: str, algorithm: str, params: dict[str, Any]
) -> dict[str, Any]:
    """Feed and train; return times, losses and memory."""
    module = importlib.import_module(TRAINED[side])
    X, y = read(task, path)
    before = peak_mib()
    if side == "partwise":
        _train(module, X[:WARM_UP], y[:WARM_UP], model, algorithm, params)
    fed, trained, wall, log = _train(module, X, y, model, algorithm, params)
    rows = [row for row in log.iterations if "loss" in row]
    return {
        "feeding": fed,
        "seconds": trained,
        "wall": wall,
        "iterations": len(rows),
        "loss": rows[-1]["loss"] if rows else None,
        "added_mib": peak_mib() - before,
    }


def _train(
    module: Any, X: Any, y: Any, model: str, algorithm: str, params: dict[str, Any]
) -> tuple[float, float, float, Any]:
    trainer = module.Trainer(algorithm, params, verbose=False)
    begin = time.process_time()
    for xs, ys in zip(X, y, strict=True):
        trainer.append(xs, ys)
    fed, wall = time.process_time(), time.perf_counter()
    trainer.train(model)
    trained, wall = time.process_time() - fed, time.perf_counter() - wall
    return fed - begin, trained, wall, trainer.logparser


def tag(side: str, task: str, path: str, model: str, repeats: int) -> dict[str, Any]:
    """Tag a corpus sentence by sentence; return the fastest time, and the labels."""
    module = importlib.import_module(TRAINED[side])
    X, _ = read(task, path)
    tagger = module.Tagger()
    tagger.open(model)
    tagger.tag(X[0])
    seconds, found = [], []
    for _ in range(repeats):
        begin = time.process_time()
        found = [tagger.tag(xs) for xs in X]
        seconds.append(time.process_time() - begin)
    return {"seconds": min(seconds), "tokens": sum(map(len, X)), "labels": found}


def search(side: str, path: str, most: int, n_trials: int) -> dict[str, Any]:
    """Search c1 and c2 at random, as the tutorial does, with scikit-learn."""
    from sklearn.model_selection import cross_val_score

    module = importlib.import_module(SEARCHED[side])
    X, y = read("names", path, most)
    if side == "partwise":
        module.CRF(c1=0.1, c2=0.1).fit(X[:WARM_UP], y[:WARM_UP])
    rng = random.Random(0)
    # Exponential distributions, with the tutorial's means.
    pairs = [
        (rng.expovariate(1 / 0.5), rng.expovariate(1 / 0.05)) for _ in range(n_trials)
    ]
    begin, scores = time.process_time(), []
    for c1, c2 in pairs:
        crf = module.CRF(
            c1=c1, c2=c2, max_iterations=100, all_possible_transitions=True
        )
        scores.append(float(cross_val_score(crf, X, y, cv=3).mean()))
    return {"seconds": time.process_time() - begin, "scores": scores, "pairs": pairs}


def f1(task: str, path: str, labels: list[list[str]]) -> float:
    """Return chunk F1 in percent, by the benchmark itself."""
    from partwise.metrics import chunk_f1

    _, y = read(task, str(Path(path)))
    return 100 * chunk_f1(y, labels)
