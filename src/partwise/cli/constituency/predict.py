"""What ``partwise predict`` writes for constituency parsers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from partwise.cli.constituency.files import PlacedSentence, SentenceFiles
from partwise.cli.options import JsonLines, KBest, Marginals
from partwise.cli.output import as_json

if TYPE_CHECKING:
    from partwise import ConstituencyParser
    from partwise.constituents import Bracket, Tree

# How many sentences are parsed together; one by one in a pipe, which is answered while
# it is still open.
BATCH = 64


def predict(
    model: ConstituencyParser,
    input: str,
    output: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    json: JsonLines = False,
    files: SentenceFiles,
) -> None:
    """Parse sentences as they come in.

    Constituency parsers read sentences, one per line with blanks between words, or the
    sentences of trees in brackets, and write trees in brackets, one per line.
    """
    from partwise.data import open_output

    n_sentences, failed = 0, []
    unknown: dict[str, None] = {}
    sentences = files.sentences(input, with_tags=bool(model.given_tags))
    size = 1 if input == "-" else BATCH
    with open_output(output) as out:
        while batch := list(islice(sentences, size)):
            n_sentences += len(batch)
            given = [one.given for one in batch]
            if kbest is not None:
                lines = _ranked(model, batch, given, kbest, json)
            else:
                found = parse(model, given)
                failed += [batch[i].place for i in found.failed]
                flat = (given[i] for i in found.failed)
                unknown |= dict.fromkeys(model._unproduced(flat))
                shares = model.predict_marginals(given) if marginals else None
                lines = _parsed(found, shares, json)
            out.writelines(f"{line}\n" for line in lines)
            out.flush()
    if failed:
        from partwise.cli.output import say
        from partwise.estimators.constituency.decoding import name_unproduced

        say(
            f"warning: {len(failed)} of {n_sentences} sentences have no tree under the "
            f"grammar (the first is {failed[0]}): their trees are flat, and marked"
            f"{name_unproduced(list(unknown))}",
            err=True,
        )


class Parses(NamedTuple):
    """Trees, and which of them are flat because the grammar has none for the words."""

    trees: list[Tree]
    failed: list[int]


def parse(parser: ConstituencyParser, sentences: Sequence[Any]) -> Parses:
    """Return the predicted trees."""
    with warnings.catch_warnings():
        # Commands say it themselves, with the place of the sentence.
        warnings.simplefilter("ignore", UserWarning)
        found: list[Any] = parser.predict(sentences, no_parse="none")
        failed = [i for i, tree in enumerate(found) if tree is None]
        if failed:
            flat = parser.predict([sentences[i] for i in failed])
            for i, tree in zip(failed, flat, strict=True):
                found[i] = tree
    return Parses(found, failed)


def tree_probabilities(
    tree: Tree, marginals: Mapping[Bracket, float]
) -> dict[Bracket, float]:
    """Return how probable each bracket of a tree is."""
    from partwise.constituents import spans

    # A bracket that may occur twice is counted twice; probabilities end at 1.
    return {
        bracket: min(float(marginals.get(bracket, 0.0)), 1.0) for bracket in spans(tree)
    }


def _parsed(
    found: Parses, shares: Sequence[Mapping[Bracket, float]] | None, json: bool
) -> Iterator[str]:
    """Yield the lines for some sentences: trees, each after remarks about it."""
    from partwise.constituents import words
    from partwise.data.bracketed import to_line

    failed = set(found.failed)
    for i, tree in enumerate(found.trees):
        own = None if shares is None else tree_probabilities(tree, shares[i])
        if json:
            described: dict[str, Any] = {"words": words(tree), "tree": to_line(tree)}
            if i in failed:
                described["no_parse"] = True
            if own is not None:
                described["brackets"] = [
                    {**bracket._asdict(), "probability": p}
                    for bracket, p in own.items()
                ]
            yield as_json(described)
            continue
        if i in failed:
            yield "# no parse"
        for bracket, p in (own or {}).items():
            yield f"# {bracket.label} {bracket.start} {bracket.end} {p:.4f}"
        yield to_line(tree)


def _ranked(
    parser: ConstituencyParser,
    batch: Sequence[PlacedSentence],
    given: Sequence[Any],
    k: int,
    json: bool,
) -> Iterator[str]:
    """Yield the lines for some sentences: their best trees, with scores."""
    from partwise.data.bracketed import to_line

    for sentence, ranking in zip(batch, parser.predict_kbest(given, k), strict=True):
        if json:
            ranked = [
                {"tree": to_line(tree), "score": score} for tree, score in ranking
            ]
            yield as_json({"words": sentence.words, "kbest": ranked})
            continue
        if not ranking:
            yield f"# no parse of {sentence.place}"
        for rank, (tree, score) in enumerate(ranking, 1):
            yield f"# rank {rank} score {score:.6f}"
            yield to_line(tree)
