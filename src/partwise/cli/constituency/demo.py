"""``partwise demo --constituents``: generated trees, and a parser."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from partwise.cli.demo import Data, Demo, Tested

if TYPE_CHECKING:
    from partwise import ConstituencyParser
    from partwise.constituents import Tree
    from partwise.synthetic import Corpus

SHOWN = 2
SHORT = range(6, 11)
# Parsing takes time cubic in the length, and a demo should be quick.
LONGEST = 15


def _read(corpus: Corpus) -> Data:
    from partwise.constituents import words

    trees = corpus.to_constituents()
    short = [tree for tree in trees if len(words(tree)) <= LONGEST]
    return Data(short, None, sum(len(words(tree)) for tree in short))


def _make(seed: int, verbose: int) -> ConstituencyParser:
    from partwise import ConstituencyParser

    return ConstituencyParser(random_state=seed, verbose=verbose)


def _test(parser: ConstituencyParser, data: Data) -> Tested:
    from partwise.cli.constituency.predict import parse
    from partwise.cli.output import Percent
    from partwise.metrics.brackets import bracket_scores

    predicted = parse(parser, data.X).trees
    scores = bracket_scores(data.X, predicted)
    return Tested(
        {"test": scores},
        [
            ("test precision", Percent(scores.precision)),
            ("test recall", Percent(scores.recall)),
            ("test F1", Percent(scores.f1)),
        ],
        partial(_draw, parser, data.X, predicted),
    )


DEMO = Demo(
    flag="--constituents",
    help="Constituency trees and a parser, which finds phrases within phrases.",
    write=lambda corpus: corpus.to_brackets(),
    ending="mrg",
    model="phrases",
    command=f"constituency --max-length {LONGEST}",
    read=_read,
    make=_make,
    test=_test,
    note=f" of at most {LONGEST} words",
)


def _draw(
    parser: ConstituencyParser, right: Sequence[Tree], predicted: Sequence[Tree]
) -> None:
    """Draw a few short test sentences, with the probability of each bracket."""
    from partwise.cli.constituency.predict import tree_probabilities
    from partwise.constituents import words
    from partwise.drawing import draw_constituents_text

    pairs = list(zip(right, predicted, strict=True))
    short = [pair for pair in pairs if len(words(pair[0])) in SHORT] or pairs
    for gold, tree in short[:SHOWN]:
        [marginals] = parser.predict_marginals([gold])
        verdict = "right" if gold == tree else "wrong"
        typer.echo(f"\n{' '.join(words(tree))} ({verdict})")
        shares: Any = tree_probabilities(tree, marginals)
        typer.echo(draw_constituents_text(tree, shares))
