"""What is in a pipeline: its steps, and the certificate of each model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from partwise.cli.output import Report

if TYPE_CHECKING:
    from partwise import Pipeline


FOLLOWS = "by heart: it follows from upos and feats"
SEEN = "by heart: words that were seen in training; others stay as they are"


def inspect(model: Pipeline, top: int) -> Report:
    """Return the steps of a pipeline, and how good their models are proved to be."""
    found = describe(model)
    return Report(found, partial(show, found))


def describe(pipeline: Pipeline) -> dict[str, Any]:
    """Return what there is to know about a pipeline, by name."""
    import numpy as np

    from partwise.cli import certificates

    return {
        "kind": "Pipeline",
        "steps": [
            {
                "step": step,
                "model": name,
                "estimator": type(model).__name__,
                "labels": len(model.classes_),
                "weights": int(model.weights_.size),
                "nonzero_weights": int(np.count_nonzero(model.weights_)),
                "C": model.C_,
                "passes": model.n_iter_,
                "certificate": certificates.in_numbers(model.certificate_),
                "status": model.status_,
            }
            for step, fitted in pipeline.steps_.items()
            for name, model in fitted.models.items()
        ],
        "tables": {
            name: FOLLOWS if step.is_table else SEEN
            for name, step in pipeline.steps_.items()
            if not step.models
        },
        "left_out": pipeline.left_out_,
        "dev": pipeline.scores_,
        "chosen": {
            name: dict(step.choice)
            for name, step in pipeline.steps_.items()
            if step.choice
        },
    }


def show(found: dict[str, Any]) -> None:
    """Show the steps as a table."""
    from partwise.cli.output import Percent, print_pairs, print_table

    known = ("model", "sentences", "words")
    pairs = [(name, found[name]) for name in known if name in found]
    if "seconds" in found:
        pairs.append(("seconds", round(found["seconds"], 1)))
    if pairs:
        print_pairs("trained", pairs)
    print_table(
        "steps",
        ["model", "estimator", "labels", "not zero", "C", "passes", "gap", "dev"],
        [
            [
                one["model"],
                one["estimator"],
                one["labels"],
                one["nonzero_weights"],
                one["C"],
                one["passes"],
                _gap(one["certificate"]),
                Percent(found["dev"][one["step"]])
                if one["step"] in found["dev"]
                else "",
            ]
            for one in found["steps"]
        ],
    )
    if found["chosen"]:
        lines = [
            (step, ", ".join(f"{name} {value}" for name, value in choice.items()))
            for step, choice in found["chosen"].items()
        ]
        print_pairs("chosen on development data", lines)
    if found["tables"]:
        print_pairs("without a model", list(found["tables"].items()))
    if found.get("hurried"):
        print_pairs("short of time", list(found["hurried"].items()))
    if found["left_out"]:
        print_pairs("left out", list(found["left_out"].items()))


def _gap(certificate: Any) -> object:
    from partwise.cli.output import Percent

    gap = None if certificate is None else certificate.get("relative_gap")
    return "" if gap is None else Percent(gap)
