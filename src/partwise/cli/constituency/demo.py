"""``partwise demo --constituents``: generated trees, a parser, what it can say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from partwise.constituents import Tree
    from partwise.synthetic import Corpus

SHOWN = 2
SHORT = range(6, 11)
# Parsing takes the cube of the length: a demonstration is to be quick.
LONGEST = 15


def train_and_show(train: Corpus, test: Corpus, seed: int, json: bool) -> None:
    """Train a constituency parser on one part of a corpus, and test it on another."""
    from partwise import ConstituencyParser
    from partwise.cli.constituency.predict import parse
    from partwise.cli.output import print_json
    from partwise.cli.training import fit, summary
    from partwise.constituents import words
    from partwise.metrics.brackets import bracket_scores

    trees, others = _short_trees(train), _short_trees(test)
    if not json:
        typer.echo(
            f"Training on {len(trees):,} generated sentences of at most {LONGEST} "
            f"words, testing on {len(others):,} others ..."
        )
    parser = ConstituencyParser(random_state=seed, verbose=int(not json))
    outcome = fit(parser, trees, None, quiet=json)
    numbers = {
        "sentences": len(trees),
        "words": sum(len(words(tree)) for tree in trees),
        **summary(parser, outcome),
    }
    predicted = parse(parser, others).trees
    scores = bracket_scores(others, predicted)
    if json:
        print_json({"training": numbers, "test": scores.to_dict()})
    else:
        _show(numbers, outcome, scores)
        _draw(parser, others, predicted)
    if outcome.interrupted:
        raise typer.Exit(130)


def _short_trees(corpus: Corpus) -> list[Tree]:
    from partwise.constituents import words

    trees = corpus.to_constituents()
    return [tree for tree in trees if len(words(tree)) <= LONGEST]


def _show(numbers: dict[str, Any], outcome: Any, scores: Any) -> None:
    from partwise.cli import certificates
    from partwise.cli.output import Percent, console, print_pairs

    certificate = outcome.solution.certificate
    print_pairs(
        "the model",
        [
            ("training words", numbers["words"]),
            ("labels", numbers["labels"]),
            ("weights", numbers["weights"]),
            ("passes", numbers["passes"]),
            ("seconds", round(numbers["seconds"], 2)),
            ("objective", None if certificate is None else certificate.primal),
            ("gap", None if certificate is None else Percent(certificate.relative_gap)),
            ("test precision", Percent(scores.precision)),
            ("test recall", Percent(scores.recall)),
            ("test F1", Percent(scores.f1)),
        ],
    )
    out = console()
    out.print(f"\n{outcome.solution.status}.", soft_wrap=True)
    out.print(
        certificates.in_words(certificate, outcome.solution.trace), soft_wrap=True
    )


def _draw(parser: Any, right: list[Tree], predicted: list[Tree]) -> None:
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
    typer.echo(_NEXT)


_NEXT = """
what to try next
  partwise demo --constituents --save-data demo
  partwise train constituency demo/train.mrg --max-length 15 -m demo/phrases.partwise
  partwise evaluate demo/phrases.partwise demo/test.mrg
  partwise show demo/test.mrg --model demo/phrases.partwise --marginals
  partwise inspect demo/phrases.partwise"""
