"""``partwise demo --trees``: a generated treebank, a parser, and what it predicts."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import typer

from partwise.cli.demo import Data, Demo, Tested

if TYPE_CHECKING:
    from partwise import DependencyParser
    from partwise.data import Sentence
    from partwise.synthetic import Corpus

SHOWN = 2
SHORT = range(6, 13)


def _read(corpus: Corpus) -> Data:
    from partwise.data import read_trees

    sentences = read_trees(io.StringIO(corpus.to_conllu()), "conllu")
    return Data(sentences, None, sum(map(len, sentences)))


def _make(seed: int, verbose: int) -> DependencyParser:
    from partwise import DependencyParser

    # Arcs of some generated trees cross, as in real treebanks.
    return DependencyParser(crossing="lift", random_state=seed, verbose=verbose)


def _test(parser: DependencyParser, data: Data) -> Tested:
    from partwise.cli.dependency.evaluate import measure
    from partwise.cli.output import Percent

    predicted = parser.predict(data.X)
    scores = measure(data.X, predicted)
    return Tested(
        {"test": scores.to_dict()},
        [
            ("test UAS", Percent(scores.all_words.uas)),
            ("test LAS", Percent(scores.all_words.las or 0.0)),
        ],
        partial(_draw, parser, data.X, predicted),
    )


DEMO = Demo(
    flag="--trees",
    help="Dependency trees and a parser, which finds the head of every word.",
    write=lambda corpus: corpus.to_conllu(),
    ending="conllu",
    model="trees",
    command="parse --crossing lift",
    read=_read,
    make=_make,
    test=_test,
)


def _draw(
    parser: DependencyParser, right: Sequence[Sentence], predicted: Sequence[Sentence]
) -> None:
    """Draw a few short test sentences, with the probability of each arc."""
    from partwise.cli.dependency.predict import chosen_probabilities
    from partwise.drawing import draw_text

    pairs = list(zip(right, predicted, strict=True))
    short = [pair for pair in pairs if len(pair[0]) in SHORT] or pairs
    for gold, tree in short[:SHOWN]:
        [shares] = chosen_probabilities(parser, [tree])
        wrong = sum(
            found != head
            for found, head in zip(tree.heads or (), gold.heads or (), strict=True)
        )
        verdict = f"{wrong} wrong head{'s' * (wrong != 1)}" if wrong else "right"
        typer.echo(f"\n{' '.join(tree.forms)} ({verdict})")
        typer.echo(draw_text(tree.forms, tree.heads or (), tree.labels, shares))
