"""What is on a page: the data of reports, and of examples alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partwise.metrics.labels import ConfusionTable
from partwise.pages.document import render, rounded, view_data
from partwise.pages.summary import calibration, confusions, score_all, score_labels
from partwise.pages.view import View

MOST_IN_A_TABLE = 30
"""Larger confusion tables show only the labels with the most mistakes."""


def examples_page(
    views: Sequence[View], title: str, *, subtitle: str = "", note: str = ""
) -> str:
    """Return a page with all examples: to scroll, to search, to filter.

    Parameters
    ----------
    views : sequence of View
        The examples; they are numbered as they come.
    title, subtitle : str
        What the page is called, and what it is about.
    note : str
        What readers should know, such as that probabilities are not calibrated.

    Examples
    --------
    >>> from partwise.pages import view_tags
    >>> page = examples_page([view_tags(["Hello"], ["UH"])], "Greetings")
    >>> page.startswith("<!doctype html>"), "https://" in page
    (True, False)
    """
    data = {"title": title, "subtitle": subtitle, "note": note}
    return render(data | example_data(views), title)


def report_page(
    views: Sequence[View],
    *,
    title: str,
    subtitle: str = "",
    facts: Sequence[tuple[str, str]] = (),
    certificate: str = "",
    note: str = "",
    trace: Mapping[str, Sequence[Any]] | None = None,
    path: Sequence[Mapping[str, Any]] = (),
    weights: Sequence[tuple[str, Sequence[tuple[str, float]]]] = (),
    quantity: str = "weights",
    transitions: tuple[Sequence[str], Any] | None = None,
    suspects: Mapping[str, Any] | None = None,
) -> str:
    """Return the page of a report.

    Parameters
    ----------
    views : sequence of View
        The examples, with right outputs.
    title, subtitle, note : str
        As in `examples_page`.
    facts : sequence of (name, value)
        What the model is.
    certificate : str
        How good its weights are proved to be, in words.
    trace : mapping
        Columns of the training: ``iteration``, ``seconds``, ``primal``, ``dual``,
        ``relative_gap``, ``dev_score``.
    path : sequence of mappings
        One point per C: ``C``, ``dev_score``, ``gap``, ``passes``, ``seconds``.
    quantity : {"weights", "probabilities"}
        What a model has learnt.
    weights : sequence of (label, features with their weights)
        What decides.
    transitions : (labels, matrix), optional
        The weight of every label after every other.
    suspects : mapping, optional
        What `suspect_data` returns.
    """
    tables = confusions(views)
    known = calibration(views)
    data: dict[str, Any] = {
        "title": title,
        "subtitle": subtitle,
        "note": note,
        "facts": [list(fact) for fact in facts],
        "certificate": certificate,
        "scores": {
            name: [*map(rounded, score)] for name, score in score_all(views).items()
        },
        "labels": [
            [row.label, *([*map(rounded, one)] for one in row[1:4]), row.support]
            for row in score_labels(views)
        ],
        "confusions": {name: _shown_confusion(table) for name, table in tables.items()},
        "calibration": None
        if known is None
        else {
            "bins": [[*map(rounded, one)] for one in known.bins],
            "error": rounded(known.error),
        },
        "trace": None
        if trace is None
        else {name: [*map(rounded, column)] for name, column in trace.items()},
        "path": [
            {name: rounded(value) for name, value in point.items()} for point in path
        ],
        "quantity": quantity,
        "weights": [
            [label, [[feature, rounded(w)] for feature, w in features]]
            for label, features in weights
        ],
        "transitions": None
        if transitions is None
        else {
            "labels": list(transitions[0]),
            "matrix": [[rounded(float(x)) for x in row] for row in transitions[1]],
        },
        "suspects": suspects,
    }
    return render(data | example_data(views), title)


def example_data(views: Sequence[View]) -> dict[str, Any]:
    """Return the examples of a page, and what their labels are called."""
    tables = {
        name: sorted(
            {label for v in views for p in v.tables.get(name, ()) for label in p}
        )
        for name in dict.fromkeys(name for view in views for name in view.tables)
    }
    codes = {name: {b: j for j, b in enumerate(own)} for name, own in tables.items()}
    return {
        "drawing": views[0].drawing if views else "tags",
        "tables": tables,
        "examples": [view_data(view, i, codes) for i, view in enumerate(views, 1)],
    }


def suspect_data(
    views: Sequence[View], numbers: Sequence[int], scores: Sequence[float], by: str
) -> dict[str, Any]:
    """Return training examples that fit the others least, as reports show them.

    Parameters
    ----------
    views : sequence of View
        The suspects, most suspicious first.
    numbers : sequence of int
        Their numbers among the training examples, from 1.
    scores : sequence of float
        How suspicious they are.
    by : str
        What that is measured by.
    """
    examples = [
        view_data(view, n, {}) | {"score": rounded(score)}
        for view, n, score in zip(views, numbers, scores, strict=True)
    ]
    return {"by": by, "examples": examples}


def _shown_confusion(table: ConfusionTable) -> dict[str, Any]:
    """Return a confusion table, or the part of it with the most mistakes."""
    wrong = table.counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-(wrong.sum(axis=0) + wrong.sum(axis=1)), kind="stable")
    kept = np.sort(order[:MOST_IN_A_TABLE])
    return {
        "labels": [str(table.labels[j]) for j in kept],
        "counts": table.counts[np.ix_(kept, kept)].tolist(),
        "left_out": len(table.labels) - len(kept),
    }
