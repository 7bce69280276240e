"""``partwise demo``: generated chunks, a tagger, and what it predicts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from partwise.cli.demo import Data, Demo, Tested

if TYPE_CHECKING:
    from partwise import SequenceTagger
    from partwise.synthetic import Corpus

SHOWN = 3


def _read(corpus: Corpus) -> Data:
    X = [list(zip(s.words, s.tags, strict=True)) for s in corpus]
    return Data(X, corpus.column("chunks"), sum(map(len, X)))


def _make(seed: int, verbose: int) -> SequenceTagger:
    from partwise import SequenceTagger

    return SequenceTagger(template="default", random_state=seed, verbose=verbose)


def _test(tagger: SequenceTagger, data: Data) -> Tested:
    from partwise.cli.output import Percent
    from partwise.cli.sequence.evaluate import measure

    scores = measure(data.y, tagger.predict(data.X))
    examples = _examples(tagger, data)
    return Tested(
        {"test": scores, "examples": examples},
        [
            ("test token accuracy", Percent(scores["token_accuracy"])),
            ("test chunk F1", Percent(scores["chunks"].overall.f1)),
        ],
        partial(_show, scores["chunks"], examples),
    )


DEMO = Demo(
    write=lambda corpus: corpus.to_columns(),
    ending="txt",
    model="chunks",
    command="tag",
    look="predict",
    unit="tokens",
    read=_read,
    make=_make,
    test=_test,
)


def _examples(tagger: SequenceTagger, data: Data) -> list[dict[str, Any]]:
    """Return a certain, a typical and the most doubtful of some test sentences."""
    pairs = list(zip(data.X, data.y or (), strict=True))
    some = [pair for pair in pairs if 6 <= len(pair[0]) <= 14] or pairs
    ranked = tagger.predict_kbest([tokens for tokens, _ in some], k=2)
    found: list[dict[str, Any]] = []
    for (tokens, right), (best, *others) in zip(some, ranked, strict=True):
        runner_up = others[0] if others else None
        found.append(
            {
                "words": [word for word, _ in tokens],
                "right": list(right),
                "predicted": best.labels,
                "runner_up": runner_up and runner_up.labels,
                "margin": runner_up and best.score - runner_up.score,
            }
        )
    found.sort(key=lambda one: -(one["margin"] or 0.0))
    places = {round(i * (len(found) - 1) / (SHOWN - 1)) for i in range(SHOWN)}
    return [found[place] for place in sorted(places)]


def _show(chunks: Any, examples: list[dict[str, Any]]) -> None:
    from partwise.cli.output import console, print_scores

    out = console()
    out.print()
    rows = [*chunks.per_type.items(), ("all chunks", chunks.overall)]
    print_scores("chunks found in the test sentences", rows)
    out.print(
        "\ntest sentences, from the most certain to the most doubtful", style="bold"
    )
    for example in examples:
        _show_example(out, example)


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
