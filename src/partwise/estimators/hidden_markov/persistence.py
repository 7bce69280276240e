"""What a hidden Markov model's file holds besides states, weights and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.estimators import stored_labels
from partwise.estimators.generative.reference_distributions import check_probabilities
from partwise.estimators.hidden_markov.choice import Candidate
from partwise.estimators.labels import LabelCodes, class_array
from partwise.model_file import Content, prefixed
from partwise.structures.hidden_markov import Probabilities


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a hidden Markov model's own."""
    tensors, are_integers = stored_labels.pack_labels("symbols", model._symbols)
    own = not isinstance(model.reference, str | None)
    if own:
        given = check_probabilities(
            model.reference, len(model.classes_), len(model.symbols_)
        )
        tensors |= prefixed("reference", given._asdict())
    settings = {
        "integer_symbols": are_integers,
        "has_reference": own,
        "has_costs": model.costs is not None,
        "suitable_C": model._suitable_C,
        "chosen": None if model._chosen is None else list(model._chosen[:3]),
    }
    return tensors | stored_labels.cost_tensors(model), settings


def fill(model: Any, content: Content) -> int:
    """Fill a model from a file; return how many weights it has to have."""
    K = len(model._labels)
    are_integers = content.setting("integer_symbols", bool)
    symbols = stored_labels.unpack_labels(content, "symbols", are_integers)
    if not symbols:
        raise content.error("a model needs at least one symbol")
    model._symbols = LabelCodes(symbols)
    model.symbols_ = class_array(symbols)
    V = len(symbols)
    stored_labels.read_costs(model, content)
    model._suitable_C = content.setting("suitable_C", float)
    if not 0.0 < model._suitable_C < np.inf:
        raise content.error("setting 'suitable_C' should be a positive number")
    model._chosen, model.candidates_ = _read_chosen(content), ()
    if (model._chosen is None) == (model.objective == "auto"):
        raise content.error("the choice is missing, or there was nothing to choose")
    if content.setting("has_reference", bool):
        part = content.part("reference")
        shapes = {"initial": (K,), "transitions": (K, K), "emissions": (K, V)}
        model.reference = Probabilities(
            **{
                name: part.tensor(
                    name, dtype=np.float64, ndim=len(shape), shape=shape, at_least=0
                )
                for name, shape in shapes.items()
            }
        )
    return V * K + K * K + K


def _read_chosen(content: Content) -> Candidate | None:
    """Return what objective "auto" had chosen, if it did."""
    match content.settings.get("chosen"):
        case None:
            return None
        case ["likelihood", None, None]:
            return Candidate("likelihood")
        case ["margin", "likelihood" | "uniform" | "own" as name, int() | float() as C]:
            if 0.0 < C < np.inf:
                return Candidate("margin", name, float(C))
    raise content.error("what was chosen is damaged")
