"""Small tagging tasks: the same sentences in every form that a tagger takes."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from partwise.features import Clusters, Gazetteer, TokenFeatures
from partwise.solvers.loop import Callback
from partwise.synthetic import make_corpus
from problems import plain_only

CORPUS = make_corpus(60, random_state=0)
WORDS = [list(sentence.words) for sentence in CORPUS.sentences]
TAGS = [list(sentence.tags) for sentence in CORPUS.sentences]
CHUNKS = [list(sentence.chunks) for sentence in CORPUS.sentences]
TEST = make_corpus(15, random_state=1)
TEST_WORDS = [list(sentence.words) for sentence in TEST.sentences]
TEST_CHUNKS = [list(sentence.chunks) for sentence in TEST.sentences]

TEMPLATE = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nU3:%x[0,0.suffix2]"
EDGE_TEMPLATE = TEMPLATE + "\nB0:%x[0,0.suffix2]\nB"


def dicts(sentences: list[list[str]]) -> list[list[dict[str, Any]]]:
    """Return a feature dict for every word, with all kinds of values."""
    return [
        [
            {
                "w": word,
                "suffix": word[-2:],
                "title": word.istitle(),
                "length": len(word) / 10,
                "before": words[t - 1] if t else None,
            }
            for t, word in enumerate(words)
        ]
        for words in sentences
    ]


def nested(sentences: list[list[str]]) -> list[list[dict[str, Any]]]:
    """Return the features of a word and of the next one, as dicts in dicts."""
    own = dicts(sentences)
    return [
        [{**token, "next": tokens[t + 1 : t + 2] and tokens[t + 1]} for t, token in x]
        for x, tokens in ((list(enumerate(tokens)), tokens) for tokens in own)
    ]


def strings(sentences: list[list[str]]) -> list[list[list[str]]]:
    """Return a list of strings for every word."""
    return [[[f"w={w}", f"suffix={w[-2:]}"] for w in words] for words in sentences]


def arrays(sentences: list[list[str]], width: int = 12) -> list[np.ndarray]:
    """Return a matrix for every sentence: which letters a word ends in."""
    return [
        np.array(
            [
                [float(ord(w[-1]) % width == j) + (len(w) == j) for j in range(width)]
                for w in words
            ]
        ).reshape(len(words), width)
        for words in sentences
    ]


def columns(sentences: list[list[str]]) -> list[list[tuple[str, ...]]]:
    """Return tuples of column strings."""
    return [[(word, word[:1].upper()) for word in words] for words in sentences]


def known_words() -> TokenFeatures:
    """Return features with a gazetteer and clusters of words in the corpus."""
    words = sorted({word for sentence in WORDS for word in sentence})
    pairs = [" ".join(pair) for sentence in WORDS for pair in pairwise(sentence)]
    return TokenFeatures(
        "words,suffixes:2",
        [Gazetteer({"word": words[::3], "pair": pairs[::5]}, ignore_case=True)],
        Clusters({word: f"{i % 37:06b}" for i, word in enumerate(words[::2])}),
    )


# By name: how to make the input, and the settings that go with it.
FORMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "dicts": (dicts, {}),
    "observed": (dicts, {"pairs": "observed"}),
    "nested": (nested, {}),
    "strings": (strings, {}),
    "hashed": (strings, {"hash_bits": 10}),
    "transition features": (strings, {"transition_features": ["suffix=ed"]}),
    "arrays": (arrays, {}),
    "columns": (columns, {"template": TEMPLATE}),
    "columns with B": (columns, {"template": EDGE_TEMPLATE}),
    "default template": (columns, {"template": "default"}),
    "resources": (columns, {"template": known_words()}),
}


# All forms, where what follows training matters: two have kernels of their own, which
# run in plain Python.
ALL_FORMS = [
    pytest.param(form, marks=plain_only) if form in ("observed", "arrays") else form
    for form in FORMS
]


class NoTraining(Callback):
    """Fails when training starts: for errors that must come before."""

    def on_start(self, problem: Any, solver: Any, max_iter: int) -> None:
        raise AssertionError("training started")


class InterruptAfter(Callback):
    """Presses Ctrl-C at the end of a pass."""

    def __init__(self, passes: int) -> None:
        self.passes = passes

    def on_pass(self, row: Any, w: Any) -> None:
        if row.iteration == self.passes:
            raise KeyboardInterrupt


def brute_force(tagger: Any, x: np.ndarray) -> dict[tuple[int, ...], float]:
    """Score every labelling of a dense sequence from the documented weights."""
    K, width = len(tagger.classes_), x.shape[1]
    w = tagger.weights_
    nodes = x @ w[: width * K].reshape(width, K)
    start, end = w[width * K + K * K :].reshape(2, K)
    scores = {}
    for y in product(range(K), repeat=len(x)):
        score = start[y[0]] + end[y[-1]] + sum(nodes[t, k] for t, k in enumerate(y))
        for a, b in pairwise(y):
            score += tagger.transitions_[a, b]
        scores[y] = score
    return scores
