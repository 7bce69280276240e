"""What ``partwise inspect`` shows of a hidden Markov model: its probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from partwise.cli.inspect import Findings, chosen_labels, objective_in_words
from partwise.cli.options import Label

if TYPE_CHECKING:
    from partwise import HiddenMarkovModel


def inspect(model: HiddenMarkovModel, top: int, *, label: Label = None) -> Findings:
    """Return the largest probabilities."""
    found = _probabilities(model, top, chosen_labels(model, label))
    return Findings(
        "columns, one of them with symbols",
        {"probabilities": found},
        objective_in_words(found),
        partial(_show, found),
    )


def _probabilities(model: Any, top: int, states: Sequence[Any]) -> dict[str, Any]:
    """Return the largest probabilities of some states, by name, for JSON.

    Parameters
    ----------
    model : HiddenMarkovModel
        The model.
    top : int
        How many symbols, and next states, of every state.
    states : sequence
        Which states.
    """
    import numpy as np

    classes, symbols = model.classes_.tolist(), model.symbols_.tolist()
    p, missing = model.probabilities_, model.missing_

    def largest(row: Any, names: list[Any]) -> list[dict[str, Any]]:
        order = np.argsort(-row, kind="stable")[:top]
        return [{"to": names[j], "probability": float(row[j])} for j in order]

    codes = [classes.index(state) for state in states]
    return {
        "symbols": len(symbols),
        "objective": model.objective_,
        "reference": model.reference_,
        "C": model.C_ if model.objective_ == "margin" else None,
        "column": int(model.column),
        "emissions": {str(classes[k]): largest(p.emissions[k], symbols) for k in codes},
        "next_states": {
            str(classes[k]): largest(p.transitions[k], classes) for k in codes
        },
        "first_states": largest(p.initial, classes),
        "unknown_symbol": {str(classes[k]): float(missing.emissions[k]) for k in codes},
    }


def _show(found: dict[str, Any]) -> None:
    """Show probabilities as tables."""
    from partwise.cli.output import console, print_table

    tables = {
        "most probable symbols": ("state", "symbol", found["emissions"]),
        "most probable next states": ("state", "next", found["next_states"]),
        "most probable first states": ("", "state", {"": found["first_states"]}),
    }
    for i, (title, (of, what, rows)) in enumerate(tables.items()):
        if i and any(rows.values()):
            console().print()
        print_table(
            title,
            [of, what, "probability"],
            [
                ["" if j else state, one["to"], one["probability"]]
                for state, some in rows.items()
                for j, one in enumerate(some)
            ],
        )
    left = [[s, share] for s, share in found["unknown_symbol"].items() if share > 1e-6]
    if left:
        console().print()
        print_table("left for unknown symbols", ["state", "probability"], left)
