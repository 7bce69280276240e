"""What ``partwise predict`` writes for dependency parsers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from partwise.cli.dependency.files import TreebankFiles
from partwise.cli.options import (
    Decoding,
    DecodingOption,
    JsonLines,
    KBest,
    Marginals,
    Risk,
    check_risk_alone,
)
from partwise.cli.output import as_json
from partwise.cli.vectors import Vectors, attach

if TYPE_CHECKING:
    from partwise import DependencyParser
    from partwise.data import Sentence

PROBABILITY = "HeadProb"
"""The entry in MISC that holds the probability of a word's head."""


def predict(
    model: DependencyParser,
    input: str,
    output: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    json: JsonLines = False,
    decoding: DecodingOption = Decoding.best,
    risk: Risk = None,
    vectors: Vectors = None,
    files: TreebankFiles,
) -> None:
    """Parse the sentences of a treebank, batch by batch.

    Dependency parsers write treebanks with new heads and labels, and everything else
    unchanged; with --kbest, trees follow comments "# rank = R" and "# score = S".
    """
    from partwise.data import open_output, write_trees

    if kbest is not None and decoding is not Decoding.best:
        raise ValueError("--kbest ranks trees by score; leave --decoding out")
    check_risk_alone(risk, marginals or kbest is not None)
    attach(model, vectors)
    batches = files.stream(input)
    with open_output(output) as out:
        if json:
            for batch in batches:
                for one in _objects(model, batch, decoding, marginals, kbest, risk):
                    out.write(as_json(one) + "\n")
                out.flush()
            return

        def trees() -> Iterator[Sentence]:
            for batch in batches:
                if kbest is not None:
                    yield from _ranked(model, batch, kbest)
                else:
                    yield from _parsed(model, batch, decoding, marginals, risk)
                out.flush()  # a pipe is answered while it is still open

        write_trees(out, trees())


def chosen_probabilities(
    parser: DependencyParser, parsed: Sequence[Sentence]
) -> list[list[float]]:
    """Return the probability of the arc of each word."""
    # Sums over many trees may come out a rounding error above 1.
    return [
        [
            min(float(mu[head, word]), 1.0)
            for word, head in enumerate(sentence.heads or (), 1)
        ]
        for sentence, mu in zip(parsed, parser.predict_marginals(parsed), strict=True)
    ]


def _parsed(
    parser: DependencyParser,
    batch: Sequence[Sentence],
    decoding: Decoding,
    marginals: bool,
    risk: float | None,
) -> Iterator[Sentence]:
    from partwise.data.tree_notes import with_entries

    parsed = parser.predict(batch, decoding=decoding.setting, risk=risk)
    if not marginals:
        yield from parsed
        return
    for sentence, shares in zip(
        parsed, chosen_probabilities(parser, parsed), strict=True
    ):
        yield with_entries(sentence, PROBABILITY, (f"{p:.4f}" for p in shares))


def _ranked(
    parser: DependencyParser, batch: Sequence[Sentence], k: int
) -> Iterator[Sentence]:
    from partwise.data.tree_notes import with_comments

    for sentence, ranking in zip(batch, parser.predict_kbest(batch, k), strict=True):
        if not len(sentence):  # comments alone
            yield sentence
            continue
        for rank, (tree, score) in enumerate(ranking, 1):
            yield with_comments(tree, {"rank": rank, "score": f"{score:.6f}"})


def _objects(
    parser: DependencyParser,
    batch: Sequence[Sentence],
    decoding: Decoding,
    marginals: bool,
    kbest: int | None,
    risk: float | None,
) -> Iterator[dict[str, Any]]:
    """Describe each sentence that has words."""
    words = [sentence for sentence in batch if len(sentence)]
    if kbest is not None:
        for sentence, ranking in zip(
            words, parser.predict_kbest(words, kbest), strict=True
        ):
            ranked = [{**_tree(tree), "score": score} for tree, score in ranking]
            yield {"words": sentence.forms, "kbest": ranked}
        return
    parsed = parser.predict(words, decoding=decoding.setting, risk=risk)
    shares = chosen_probabilities(parser, parsed) if marginals else None
    for i, sentence in enumerate(parsed):
        found: dict[str, Any] = {"words": sentence.forms, **_tree(sentence)}
        if shares is not None:
            found["probabilities"] = shares[i]
        yield found


def _tree(sentence: Sentence) -> dict[str, Any]:
    labels = {} if sentence.labels is None else {"labels": sentence.labels}
    unknown = {"unknown": sentence.unknown} if sentence.unknown else {}
    return {"heads": sentence.heads, **labels, **unknown}
