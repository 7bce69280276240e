"""``partwise inspect``: what is in a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.cli.kind_options import Options
from partwise.cli.options import AsJson
from partwise.cli.output import Report
from partwise.errors import PartwiseError

# Settings that are about training rather than the model, or long.
NOT_SHOWN = {"template", "dev_metric", "time_limit", "patience"}


@dataclass(frozen=True)
class Findings:
    """What a kind adds to the description of a model.

    Attributes
    ----------
    reads : str, optional
        What data it reads, in words.
    numbers : mapping
        For programs, by name.
    pairs : sequence of pairs
        For people, by name, one line each.
    show : callable, optional
        Prints tables.
    """

    reads: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    pairs: Sequence[tuple[str, object]] = ()
    show: Callable[[], None] | None = None


def inspect(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A model saved by `partwise train`."),
    ],
    top: Annotated[
        int,
        typer.Option(
            min=0, help="How many features per label, and transitions, to show."
        ),
    ] = 5,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show every pass of training.")
    ] = False,
    json: AsJson = False,
    *,
    options: Options,
) -> None:
    """Show what is in a model: labels, sizes, certificate, settings, weights."""
    from partwise.cli.output import print_json

    fitted, kind = options.load(model)
    find = options.of_model(kind, "inspect", fitted, model)
    try:
        own = find(fitted, top)
    except PartwiseError as error:
        raise PartwiseError(f"{model}: {error}") from error
    if own is None:  # all that was asked for is printed
        return
    if isinstance(own, Report):  # a model of models, which describes itself
        own.print(json)
        return
    description = describe(fitted, model, top, own)
    if json:
        print_json(description)
    else:
        _show(description, fitted, trace, own)


def describe(model: Any, path: str, top: int, own: Findings) -> dict[str, Any]:
    """Return what there is to know about a model, by name."""
    import numpy as np

    from partwise.cli import certificates

    # Of a Bayesian network with several targets, the first one; lattices have none.
    several = isinstance(model.classes_, list)
    classes = list(model._labels.classes) if several else model.classes_.tolist()
    return {
        "model": path,
        "bytes": Path(path).stat().st_size,
        "kind": type(model).__name__,
        "input": getattr(getattr(model, "_input", None), "kind", None),
        "labels": classes,
        **own.numbers,
        "weights": int(model.weights_.size),
        "nonzero_weights": int(np.count_nonzero(model.weights_)),
        "passes": model.n_iter_,
        "certificate": certificates.in_numbers(model.certificate_),
        "status": model.status_,
        "generalization_bound": getattr(model, "bound_", None),
        "settings": _settings(model),
        "transitions": _strongest_transitions(model, top),
        "trace": model.trace_.to_dict(),
    }


def chosen_labels(model: Any, label: str | None) -> list[Any]:
    """Return the labels that are asked for: all, or one by its name."""
    classes: list[Any] = model.classes_.tolist()
    if label is None:
        return classes
    for one in classes:
        if str(one) == label:
            return [one]
    known = ", ".join(map(str, classes))
    raise PartwiseError(f"has no label {label!r} (its labels are {known})")


def top_features(
    model: Any, top: int, label: str | None, sign: str = "any"
) -> dict[str, Any]:
    """Return how many features there are, and those of labels with large weights."""
    weights, chosen = model._weights, set(chosen_labels(model, label))
    # With hidden states, each of them has weights of its own.
    of_codes = getattr(model, "_states", model._labels).classes
    return {
        "features": len(weights.names),
        "top_features": {
            str(weights.classes[code]): [
                {"feature": feature, "weight": weight}
                for feature, _, weight in weights.top(model.weights_, top, code, sign)
            ]
            for code, one in enumerate(of_codes)
            if one in chosen
        },
    }


def print_top_features(found: Mapping[str, Any], of: str = "label") -> None:
    """Show features with their weights, by what they are features of."""
    from partwise.cli.output import print_table

    print_table(
        "features with the largest weights",
        [of, "feature", "weight"],
        [
            ["" if i else label, one["feature"], one["weight"]]
            for label, features in found["top_features"].items()
            for i, one in enumerate(features)
        ],
    )


def objective_in_words(found: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return how probabilities were found, for people."""
    names = ("symbols", "objective", "reference", "C")
    return [(name, found.get(name)) for name in names]


def _bound_in_words(bound: float | None) -> str | None:
    """Describe the bound, and how little it says."""
    if bound is None:
        return None
    empty = "; 1 or more says nothing" * (bound >= 1.0)
    return (
        f"{bound:.3g} of triples of input, good and wrong output{empty} (a curiosity, "
        "no guarantee: there are exponentially many, and they are not independent)"
    )


def _settings(model: Any) -> dict[str, Any]:
    """Return the settings that shape the model, as plain values."""
    from partwise.cli.training import used_C
    from partwise.estimators.settings import transient_settings

    params = model.get_params(deep=False)
    if "C" in params:
        params["C"] = used_C(model)  # which may be the default
    hidden = NOT_SHOWN | transient_settings(type(model))
    return {
        name: value if isinstance(value, str | int | float | bool) else str(value)
        for name, value in sorted(params.items())
        if name not in hidden and value is not None and not isinstance(value, tuple)
    }


def _strongest_transitions(model: Any, top: int) -> list[dict[str, Any]]:
    """Return the largest and the smallest weights of one label after another."""
    import numpy as np

    if not hasattr(model, "transitions_"):
        return []
    matrix = model.transitions_
    names = getattr(model, "states_", model.classes_)
    order = np.argsort(-matrix, axis=None, kind="stable")
    ends = order if order.size <= 2 * top else np.r_[order[:top], order[-top:]]
    if not top:
        ends = order[:0]
    rows, columns = np.unravel_index(ends, matrix.shape)
    return [
        {"from": names[a], "to": names[b], "weight": float(matrix[a, b])}
        for a, b in zip(rows, columns, strict=True)
    ]


def _show(found: dict[str, Any], model: Any, trace: bool, own: Findings) -> None:
    from partwise.cli import certificates
    from partwise.cli.output import console, print_pairs, print_table

    out = console()
    labels = found["labels"]
    print_pairs(
        found["model"],
        [
            ("kind", found["kind"]),
            ("reads", own.reads),
            ("bytes", found["bytes"]),
            (
                "labels",
                f"{len(labels)}: {' '.join(map(str, labels))}" if labels else None,
            ),
            *own.pairs,
            ("weights", found["weights"]),
            ("not zero", found["nonzero_weights"]),
            ("passes", found["passes"]),
            ("status", found["status"]),
            ("bound on error", _bound_in_words(found["generalization_bound"])),
        ],
    )
    words = certificates.in_words(model.certificate_, model.trace_)
    out.print(f"\n{words}\n", soft_wrap=True)
    print_pairs("settings", found["settings"].items())
    if own.show is not None:
        out.print()
        own.show()
    if found["transitions"]:
        out.print()
        print_table(
            "transitions with the largest and the smallest weights",
            ["from", "to", "weight"],
            [list(one.values()) for one in found["transitions"]],
        )
    if trace:
        typer.echo(f"\ntraining\n{model.trace_}")
