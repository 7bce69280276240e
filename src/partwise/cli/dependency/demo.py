"""``partwise demo --trees``: a generated treebank, a parser, and what it can say."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from partwise.data import Sentence
    from partwise.synthetic import Corpus

SHOWN = 2
SHORT = range(6, 13)


def train_and_show(train: Corpus, test: Corpus, seed: int, json: bool) -> None:
    """Train a parser on one part of a corpus, and test it on another."""
    from partwise import DependencyParser
    from partwise.cli.dependency.evaluate import as_dict, measure
    from partwise.cli.output import print_json
    from partwise.cli.training import fit, summary

    sentences, others = _sentences(train), _sentences(test)
    if not json:
        typer.echo(
            f"Training on {len(sentences):,} generated sentences, "
            f"testing on {len(others):,} others ..."
        )
    # Arcs of some generated trees cross, as in real treebanks.
    parser = DependencyParser(crossing="lift", random_state=seed, verbose=int(not json))
    outcome = fit(parser, sentences, None, quiet=json)
    numbers = {
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
        **summary(parser, outcome),
    }
    predicted = parser.predict(others)
    scores = measure(others, predicted)
    if json:
        print_json({"training": numbers, "test": as_dict(scores)})
    else:
        _show(numbers, outcome, scores)
        _draw(parser, others, predicted)
    if outcome.interrupted:
        raise typer.Exit(130)


def _sentences(corpus: Corpus) -> list[Sentence]:
    from partwise.data import read_trees

    return read_trees(io.StringIO(corpus.to_conllu()), "conllu")


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
            ("test UAS", Percent(scores.all_words.uas)),
            ("test LAS", Percent(scores.all_words.las or 0.0)),
        ],
    )
    out = console()
    out.print(f"\n{outcome.solution.status}.", soft_wrap=True)
    out.print(
        certificates.in_words(certificate, outcome.solution.trace), soft_wrap=True
    )


def _draw(parser: Any, right: list[Sentence], predicted: list[Sentence]) -> None:
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
    typer.echo(_NEXT)


_NEXT = """
what to try next
  partwise demo --trees --save-data demo
  partwise train parse demo/train.conllu --crossing lift -m demo/trees.partwise
  partwise evaluate demo/trees.partwise demo/test.conllu
  partwise show demo/test.conllu --model demo/trees.partwise --marginals
  partwise inspect demo/trees.partwise"""
