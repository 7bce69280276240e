"""``partwise demo``: a generated corpus, a model, and what it can say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from partwise.cli.options import AsJson

if TYPE_CHECKING:
    from partwise.synthetic import Corpus

SHOWN = 3
PARTS = ("train", "dev", "test")


def demo(
    size: Annotated[
        int, typer.Option(min=20, help="How many sentences to generate.")
    ] = 3000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the corpus.")] = 0,
    save_data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the corpus to train, dev and test files there, and stop.",
        ),
    ] = None,
    trees: Annotated[
        bool,
        typer.Option("--trees", help="Dependency trees and a parser, not chunks."),
    ] = False,
    constituents: Annotated[
        bool,
        typer.Option(
            "--constituents", help="Constituency trees and a parser, not chunks."
        ),
    ] = False,
    json: AsJson = False,
) -> None:
    """Train a model on generated sentences and show what comes out.

    The task is chunking: finding noun phrases, verb phrases and so on, given words
    and their parts of speech. With --trees it is finding the head of every word, with
    --constituents finding phrases within phrases.
    """
    if trees and constituents:
        raise ValueError("give --trees or --constituents, not both")
    parts = make_parts(size, seed)
    if save_data is not None:
        _save(
            parts,
            save_data,
            json,
            _TREES if trees else _PHRASES if constituents else _CHUNKS,
        )
    elif constituents:
        from partwise.cli.constituency.demo import train_and_show as train_phrases

        train_phrases(parts["train"], parts["test"], seed, json)
    elif trees:
        from partwise.cli.dependency.demo import train_and_show

        train_and_show(parts["train"], parts["test"], seed, json)
    else:
        _train_and_show(parts["train"], parts["test"], seed, json)


def make_parts(size: int, seed: int) -> dict[str, Corpus]:
    """Generate a corpus: 80% to train on, 10% to develop on, 10% to test on."""
    from partwise.synthetic import make_corpus

    # With a little noise, as in real data, no model can be perfect.
    train, rest = make_corpus(size, seed, noise=0.01).split(0.2)
    return dict(zip(PARTS, (train, *rest.split(0.5)), strict=True))


class _Task(NamedTuple):
    """How a corpus is written, and what to do with it then."""

    to_text: str
    ending: str
    model: str
    command: str


_CHUNKS = _Task("to_columns", "txt", "chunks", "tag")
# Arcs of some generated trees cross, as in real treebanks.
_TREES = _Task("to_conllu", "conllu", "trees", "parse --crossing lift")
_PHRASES = _Task("to_brackets", "mrg", "phrases", "constituency --max-length 15")


def _save(parts: dict[str, Corpus], folder: Path, json: bool, task: _Task) -> None:
    from partwise.cli.output import print_json
    from partwise.data import open_output

    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.{task.ending}" for name in parts}
    for name, corpus in parts.items():
        with open_output(paths[name]) as out:
            out.write(getattr(corpus, task.to_text)())
    if json:
        print_json({name: str(path) for name, path in paths.items()})
        return
    for name, path in paths.items():
        typer.echo(f"{path}: {len(parts[name]):,} sentences")
    model = folder / f"{task.model}.partwise"
    typer.echo(
        f"\nNext:\n  partwise train {task.command} {paths['train']} --dev "
        f"{paths['dev']} --model {model}\n  partwise evaluate {model} {paths['test']}"
    )


def _train_and_show(train: Corpus, test: Corpus, seed: int, json: bool) -> None:
    from partwise import SequenceTagger
    from partwise.cli.output import print_json
    from partwise.cli.sequence.evaluate import measure
    from partwise.cli.training import fit, summary

    if not json:
        typer.echo(
            f"Training on {len(train):,} generated sentences, "
            f"testing on {len(test):,} others ..."
        )
    tagger = SequenceTagger(
        template="default", random_state=seed, verbose=int(not json)
    )
    outcome = fit(tagger, _tokens(train), train.column("chunks"))
    numbers = {
        "sentences": len(train),
        "tokens": sum(len(sentence.words) for sentence in train),
        **summary(tagger, outcome),
    }
    scores = measure(test.column("chunks"), tagger.predict(_tokens(test)))
    examples = _examples(tagger, test)
    if json:
        result = {**scores, "chunks": scores["chunks"].to_dict()}
        print_json({"training": numbers, "test": result, "examples": examples})
    else:
        _show(numbers, outcome, scores, examples)
    if outcome.interrupted:
        raise typer.Exit(130)


def _tokens(corpus: Corpus) -> list[list[tuple[str, str]]]:
    return [list(zip(s.words, s.tags, strict=True)) for s in corpus]


def _examples(tagger: Any, test: Corpus) -> list[dict[str, Any]]:
    """Return a certain, a typical and the most doubtful of some test sentences."""
    some = [s for s in test if 6 <= len(s.words) <= 14] or list(test)
    ranked = tagger.predict_kbest(
        [list(zip(s.words, s.tags, strict=True)) for s in some], k=2
    )
    found = []
    for sentence, (best, *others) in zip(some, ranked, strict=True):
        runner_up = others[0] if others else None
        found.append(
            {
                "words": list(sentence.words),
                "right": list(sentence.chunks),
                "predicted": best.labels,
                "runner_up": runner_up and runner_up.labels,
                "margin": runner_up and best.score - runner_up.score,
            }
        )
    found.sort(key=lambda one: -(one["margin"] or 0.0))
    places = {round(i * (len(found) - 1) / (SHOWN - 1)) for i in range(SHOWN)}
    return [found[place] for place in sorted(places)]


def _show(
    numbers: dict[str, Any],
    outcome: Any,
    scores: dict[str, Any],
    examples: list[dict[str, Any]],
) -> None:
    from partwise.cli import certificates
    from partwise.cli.output import (
        Percent,
        console,
        print_pairs,
        print_scores,
    )

    certificate = outcome.solution.certificate
    out = console()
    out.print()
    print_pairs(
        "the model",
        [
            ("training tokens", numbers["tokens"]),
            ("features", numbers["features"]),
            ("weights", numbers["weights"]),
            ("passes", numbers["passes"]),
            ("seconds", round(numbers["seconds"], 2)),
            ("objective", None if certificate is None else certificate.primal),
            ("gap", None if certificate is None else Percent(certificate.relative_gap)),
            ("test token accuracy", Percent(scores["token_accuracy"])),
            ("test chunk F1", Percent(scores["chunks"].overall.f1)),
        ],
    )
    out.print(f"\n{outcome.solution.status}.")
    out.print(certificates.in_words(certificate, outcome.solution.trace) + "\n")
    chunks = scores["chunks"]
    rows = [*chunks.per_type.items(), ("all chunks", chunks.overall)]
    print_scores("chunks found in the test sentences", rows)
    out.print(
        "\ntest sentences, from the most certain to the most doubtful", style="bold"
    )
    for example in examples:
        _show_example(out, example)
    out.print(_NEXT)


def _show_example(out: Any, example: dict[str, Any]) -> None:
    from partwise.metrics.chunks import spans

    def bracketed(labels: list[str]) -> str:
        pieces, at = [], 0
        for begin, end, kind in spans(labels):
            pieces += words[at:begin]
            pieces.append(f"[{kind} {' '.join(words[begin:end])}]")
            at = end
        return " ".join([*pieces, *words[at:]])

    words = example["words"]
    verdict = "right" if example["predicted"] == example["right"] else "wrong"
    out.print(f"\n  {bracketed(example['predicted'])}")
    if example["runner_up"] is None:
        return
    changed = [
        f"{word} {other} instead of {label}"
        for word, label, other in zip(
            words, example["predicted"], example["runner_up"], strict=True
        )
        if label != other
    ]
    out.print(
        f"  {verdict}; margin {example['margin']:.3f} to the runner-up: "
        f"{', '.join(changed)}",
        style="dim",
    )


_NEXT = """
what to try next
  partwise demo --save-data demo
  partwise train tag demo/train.txt --dev demo/dev.txt --model demo/chunks.partwise
  partwise evaluate demo/chunks.partwise demo/test.txt
  partwise predict demo/chunks.partwise demo/test.txt --marginals
  partwise inspect demo/chunks.partwise"""
