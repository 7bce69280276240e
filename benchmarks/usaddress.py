"""Postal addresses from nested feature dicts, cross-validated, beside python-crfsuite.

Every token of an address is labelled (AddressNumber, StreetName, PlaceName, ...).
Features are nested dicts, the token's own and those of its neighbours, as address
parsers built on CRFsuite use them. Folds, features and the lack of tuning are the
same for all: each runs with its default settings.
"""

from __future__ import annotations

import gzip
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Figure, Report, Table
from partwise import SequenceTagger
from partwise.metrics import sequence_accuracy, token_accuracy
from partwise.synthetic import make_addresses

Sequences = list[list[Any]]
Tagger = Callable[[Sequences, Sequences, Sequences], Sequences]

DIRECTIONS = {
    "n", "s", "e", "w", "ne", "nw", "se", "sw", "north", "south", "east", "west",
    "northeast", "northwest", "southeast", "southwest",
}  # fmt: skip
STREET_TYPES = {
    "aly", "ave", "avenue", "blvd", "boulevard", "cir", "circle", "court", "ct",
    "dr", "drive", "highway", "hwy", "lane", "ln", "loop", "parkway", "pike", "pkwy",
    "pl", "place", "plaza", "rd", "road", "route", "sq", "square", "st", "street",
    "ter", "terrace", "trail", "way",
}  # fmt: skip


class Score(NamedTuple):
    """One fold."""

    token: float
    address: float
    seconds: float


def read_addresses(path: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Read tokens and labels: in the file, every token is an element."""
    with gzip.open(path) as file:
        collection = ElementTree.parse(file).getroot()
    tokens, labels = [], []
    for address in collection:
        if len(address):
            tokens.append([element.text or "" for element in address])
            labels.append([element.tag for element in address])
    return tokens, labels


def describe_token(token: str) -> dict[str, Any]:
    """Return the features of a token by itself."""
    clean = re.sub(r"^[^\w#&]+|[^\w#&]+$", "", token.lower())
    digits = sum(map(str.isdigit, clean))
    letters = clean.replace(".", "")
    kind = "all" if digits and digits == len(clean) else "some" if digits else "none"
    zeros = len(clean) - len(clean.rstrip("0"))
    return {
        "word": letters if digits == 0 else False,
        "digits": kind,
        "length": f"{'number' if kind == 'all' else 'word'} {len(letters)}",
        "trailing zeros": f"{zeros}" if kind == "all" and zeros else False,
        "ends with": token[-1] if token and not token[-1].isalnum() else False,
        "abbreviated": token.endswith("."),
        "capitals": token.isupper(),
        "direction": letters in DIRECTIONS,
        "street type": letters in STREET_TYPES,
        "has vowels": bool(set(letters[1:]) & set("aeiou")),
    }


def describe_address(tokens: list[str]) -> list[dict[str, Any]]:
    """Return nested dicts: a token's features, and its neighbours'."""
    alone = [describe_token(token) for token in tokens]
    nested: list[dict[str, Any]] = [dict(features) for features in alone]
    for t, features in enumerate(nested):
        if t:
            features["previous"] = alone[t - 1]
        if t + 1 < len(alone):
            features["next"] = alone[t + 1]
    if nested:
        nested[0]["first"] = True
        nested[-1]["last"] = True
    return nested


def with_partwise(X: Sequences, y: Sequences, X_test: Sequences) -> Sequences:
    """Train and tag with the defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap above tol says so in the defaults too
        return SequenceTagger().fit(X, y).predict(X_test)


def with_crfsuite(algorithm: str, path: Path) -> Tagger:
    """Return a function that trains and tags with the peer's defaults."""

    def tagger(X: Sequences, y: Sequences, X_test: Sequences) -> Sequences:
        crfsuite.train(crfsuite.make_trainer(X, y), path, algorithm)
        return crfsuite.tag(path, X_test)

    return tagger


def cross_validate(
    tagger: Tagger, X: Sequences, y: Sequences, n_folds: int, seed: int
) -> list[Score]:
    """Return the scores on every fold; folds depend on the seed alone."""
    fold = np.random.default_rng(seed).permutation(len(X)) % n_folds
    scores = []
    for held_out in range(n_folds):
        train = [i for i in range(len(X)) if fold[i] != held_out]
        test = [i for i in range(len(X)) if fold[i] == held_out]
        begin = time.perf_counter()
        predicted = tagger([X[i] for i in train], [y[i] for i in train],
                           [X[i] for i in test])  # fmt: skip
        seconds = time.perf_counter() - begin
        gold = [y[i] for i in test]
        scores.append(
            Score(
                100 * token_accuracy(gold, predicted),
                100 * sequence_accuracy(gold, predicted),
                seconds,
            )
        )
    return scores


def run(bench: Bench) -> Report:
    """Cross-validate all of them, several times with other folds."""
    crfsuite.peer()
    tokens, y = bench.data(
        "addresses",
        ["usaddress/train.xml.gz"],
        read_addresses,
        lambda: make_addresses(400, random_state=0),
    )
    if bench.quick:
        tokens, y = tokens[:400], y[:400]
    X = [describe_address(address) for address in tokens]
    seeds = bench.choose([0, 1, 2], [0])
    n_folds = bench.choose(10, 3)
    path = bench.scratch / "peer.crfsuite"
    taggers: dict[str, Tagger] = {
        "partwise": with_partwise,
        "crfsuite lbfgs": with_crfsuite("lbfgs", path),
        "crfsuite ap": with_crfsuite("ap", path),
    }
    with_partwise(X[:50], y[:50], X[:5])  # compiles
    scores: dict[str, list[Score]] = {}
    for name, tagger in taggers.items():
        for seed in seeds:
            bench.say(f"{name}, folds of seed {seed}")
            found = cross_validate(tagger, X, y, n_folds, seed)
            scores.setdefault(name, []).extend(found)

    def average(name: str, field: str) -> float:
        return float(mean(getattr(score, field) for score in scores[name]))

    peers = [name for name in taggers if name != "partwise"]
    figures = [
        Figure(
            f"{what} accuracy (goal: the better peer's)",
            average("partwise", field),
            "%",
            at_least=max(average(name, field) for name in peers),
        )
        for what, field in (("token", "token"), ("whole-address", "address"))
    ]
    figures.append(
        Figure(
            "time of a fold / crfsuite lbfgs's",
            average("partwise", "seconds") / average("crfsuite lbfgs", "seconds"),
            "ratio",
        )
    )
    rows = [
        [
            name,
            average(name, "token"),
            stdev(score.token for score in some),
            average(name, "address"),
            stdev(score.address for score in some),
            average(name, "seconds"),
        ]
        for name, some in scores.items()
    ]
    headings = ["", "token %", "sd", "whole address %", "sd", "s a fold"]
    title = f"{n_folds}-fold cross-validation, {len(seeds)} times"
    return Report(
        figures,
        settings={"n_addresses": len(X), "n_folds": n_folds, "taggers": "defaults"},
        seeds=seeds,
        tables=[Table(title, headings, rows)],
        notes=[
            "The time is that of a whole fold: encoding, training and tagging. The "
            "standard deviation is over folds."
        ],
    )
