"""Saving and loading models: one validated file, nothing executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from partwise import model_file
from partwise.estimators.base import StructuredEstimator
from partwise.estimators.bayesian_network.classifier import BayesianNetworkClassifier
from partwise.estimators.bayesian_network.persistence import (
    fill_bayesian_network,
    store_bayesian_network,
)
from partwise.estimators.classifier.classifier import MulticlassClassifier
from partwise.estimators.classifier.persistence import fill_classifier, store_classifier
from partwise.estimators.constituency.parser import ConstituencyParser
from partwise.estimators.constituency.persistence import (
    fill_constituency,
    store_constituency,
)
from partwise.estimators.dependency.parser import DependencyParser
from partwise.estimators.dependency.persistence import fill_parser, store_parser
from partwise.estimators.graph.labeler import GraphLabeler
from partwise.estimators.graph.persistence import fill_labeler, store_labeler
from partwise.estimators.hidden_markov.model import HiddenMarkovModel
from partwise.estimators.hidden_markov.persistence import (
    fill_hidden_markov,
    store_hidden_markov,
)
from partwise.estimators.labels import LabelCodes, class_array, sorted_classes
from partwise.estimators.lattice.persistence import fill_ranker, store_ranker
from partwise.estimators.lattice.ranker import LatticeRanker
from partwise.estimators.sequence.persistence import fill_tagger, store_tagger
from partwise.estimators.sequence.tagger import SequenceTagger
from partwise.losses import Certificate
from partwise.model_file import Content, prefixed
from partwise.solvers.registry import all_solvers
from partwise.solvers.trace import ADDED, COLUMNS, Trace

KIND = "model"


class Storage(NamedTuple):
    """How the models of one class are written and read.

    Attributes
    ----------
    cls : type
        The estimator.
    store : callable
        Returns the tensors and settings of a model that are its class's own.
    fill : callable
        Reads them into a model that has its labels, and returns how many weights it
        has to have.
    least_labels : int
        How few labels a model may have.
    """

    cls: Any
    store: Callable[[Any], tuple[dict[str, Any], dict[str, Any]]]
    fill: Callable[[Any, Content], int]
    least_labels: int


STORAGES = {
    storage.cls.__name__: storage
    for storage in (
        Storage(SequenceTagger, store_tagger, fill_tagger, least_labels=2),
        Storage(MulticlassClassifier, store_classifier, fill_classifier, 2),
        Storage(GraphLabeler, store_labeler, fill_labeler, 2),
        Storage(LatticeRanker, store_ranker, fill_ranker, least_labels=0),
        Storage(DependencyParser, store_parser, fill_parser, least_labels=0),
        Storage(ConstituencyParser, store_constituency, fill_constituency, 1),
        Storage(HiddenMarkovModel, store_hidden_markov, fill_hidden_markov, 2),
        Storage(
            BayesianNetworkClassifier, store_bayesian_network, fill_bayesian_network, 2
        ),
    )
}

# Settings that speak of a run rather than of the model are not saved.
TRANSIENT = ("callbacks", "checkpoint", "resume", "verbose", "warm_start", "dev_metric")
FREE = ("random_state", "horizontal")
"""Settings of more than one type."""
PLAIN = (str, int, float, bool, type(None))


def save_model(model: StructuredEstimator, path: str | Path, dtype: str) -> None:
    """Write a fitted estimator to `path`."""
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', not {dtype!r}")
    name = _storage_name(model)
    tensors, settings = STORAGES[name].store(model)
    classes = model._labels.classes
    tensors |= prefixed("labels", model_file.pack_strings(list(map(str, classes))))
    tensors |= prefixed("w", model_file.pack_sparse(model.weights_, np.dtype(dtype)))
    trace = {name: model.trace_[name].astype(np.float64) for name in COLUMNS}
    for added in ADDED:  # where they say nothing, the first versions can read the file
        if not trace[added].any():
            del trace[added]
    tensors |= prefixed("trace", trace)
    if model.weights_.size > _weight_limit(tensors):
        raise ValueError(
            f"{model.weights_.size} weights, nearly all of them zero, are more than a "
            "model file may ask for; train with a smaller hash_bits"
        )
    certificate = model.certificate_
    settings |= {
        "estimator": name,
        "params": _plain_params(model),
        "solver": _describe_solver(model.solver),
        "integer_labels": bool(classes) and isinstance(classes[0], int),
        "n_weights": int(model.weights_.size),
        "certificate": None if certificate is None else list(certificate),
        "status": model.status_,
    }
    if getattr(model, "bound_", None) is not None:
        settings["generalization_bound"] = model.bound_
    model_file.write(path, tensors, settings, kind=KIND)


def load(path: str | Path) -> Any:
    """Load a model saved by ``save``.

    The file is checked from end to end and nothing in it is executed; a damaged,
    foreign or newer file raises `ModelFileError`.

    Parameters
    ----------
    path : path
        The model file.

    Returns
    -------
    estimator
        Of the class that was saved.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from partwise import MulticlassClassifier, load
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fruit.partwise"
    >>> X, y = [{"red": True}, {"green": True}], ["tomato", "pea"]
    >>> MulticlassClassifier().fit(X, y).save(path)
    >>> load(path).predict([{"green": True}])
    array(['pea'], dtype=object)
    """
    content = model_file.read(path, kind=KIND)
    storage = STORAGES[content.setting("estimator", str, choices=tuple(STORAGES))]
    model = _empty_model(storage.cls, content)
    labels = model_file.unpack_strings(
        content.part("labels").tensors, unique=True, source=str(path)
    )
    if len(labels) < storage.least_labels:
        raise content.error(
            f"a model needs at least {storage.least_labels} labels, not {len(labels)}"
        )
    classes: list[Any] = list(labels)
    if content.setting("integer_labels", bool):
        try:
            classes = sorted_classes([int(label) for label in labels])
        except ValueError:
            classes = []
        if list(map(str, classes)) != labels:
            raise content.error("labels are not the integers they should be")
    model._labels = LabelCodes(classes)
    model.classes_ = class_array(classes)
    size = storage.fill(model, content)
    if size != content.setting("n_weights", int, at_least=0):
        raise content.error("the number of weights does not fit the vocabulary")
    model.weights_ = model_file.unpack_sparse(
        content.part("w").tensors,
        size,
        max_size=_weight_limit(content.tensors),
        source=str(path),
    ).astype(np.float64)
    _fill_history(model, content)
    return model


def _storage_name(model: StructuredEstimator) -> str:
    """Return the name of the class that a model, or one it is derived from, has."""
    names = [cls.__name__ for cls in type(model).__mro__]
    return next(name for name in names if name in STORAGES)


def _weight_limit(tensors: Mapping[str, Any]) -> int:
    """Bound the weights a file may ask for by what it holds.

    Zeros are not stored, and hashing makes many: two gigabytes of them, which are
    no memory until they are touched, need no proof.
    """
    return max(2**28, 256 * sum(int(tensor.size) for tensor in tensors.values()))


def _plain_params(model: StructuredEstimator) -> dict[str, Any]:
    params = model.get_params(deep=False)
    plain = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in params.items()
        if name not in TRANSIENT and name != "solver"
    }
    return {name: value for name, value in plain.items() if type(value) in PLAIN}


def _known_solvers() -> dict[str, Any]:
    return {cls.__name__: cls for cls in all_solvers().values()}


def _describe_solver(solver: Any) -> Any:
    """Describe a solver in JSON; one from outside the package is left out."""
    if isinstance(solver, str):
        return solver
    name = type(solver).__name__
    if _known_solvers().get(name) is not type(solver) or not is_dataclass(solver):
        return "auto"
    return {"name": name, "settings": asdict(solver)}  # type: ignore[arg-type]


def _read_solver(content: Content) -> Any:
    described = content.settings.get("solver", "auto")
    if isinstance(described, str):
        return described
    known = _known_solvers()
    name = described.get("name") if isinstance(described, Mapping) else None
    if isinstance(name, str) and name in known:
        try:
            return known[name](**described.get("settings", {}))
        except (TypeError, ValueError) as error:
            raise content.error(f"the solver's settings are damaged: {error}") from None
    raise content.error("the solver is not one that this version knows")


def _empty_model(cls: Any, content: Content) -> Any:
    """Make an unfitted estimator with the saved settings."""
    params = content.setting("params", dict)
    defaults = cls().get_params(deep=False)
    C = params.get("C")
    if C is not None and (type(C) not in (int, float) or not 0 < C < np.inf):
        raise content.error(f"setting 'C' should be a positive number, not {C!r}")
    for name, value in params.items():
        if name not in defaults or name in TRANSIENT or type(value) not in PLAIN:
            raise content.error(f"setting {name!r} is unknown or of a wrong type")
        kind = type(defaults[name])
        kinds = (int, float) if kind is float else (kind,)
        free = defaults[name] is None or name in FREE
        if not free and type(value) not in kinds:
            raise content.error(f"setting {name!r} should be of {kind.__name__}")
    model = cls(**params, solver=_read_solver(content))
    if model.loss not in model.default_C:
        raise content.error(f"setting 'loss' is none that there is: {model.loss!r}")
    return model


def _fill_history(model: Any, content: Content) -> None:
    certificate = content.settings.get("certificate")
    if certificate is not None:
        try:
            primal, dual, exact = certificate
            certificate = Certificate(float(primal), float(dual), bool(exact))
        except (TypeError, ValueError, OverflowError):
            raise content.error("the certificate is damaged") from None
    model.certificate_ = certificate
    part = content.part("trace")
    columns = {
        c: part.tensor(c, dtype=np.float64, finite=False)
        for c in COLUMNS
        if c in part.tensors or c not in ADDED
    }
    try:
        model.trace_ = Trace.from_dict({c: v.tolist() for c, v in columns.items()})
    except (ValueError, OverflowError):
        raise content.error("the trace is damaged") from None
    model.status_ = content.setting("status", str)
    bound = content.settings.get("generalization_bound")
    if not isinstance(bound, float | None):
        raise content.error("the generalization bound is damaged")
    model.bound_ = bound
    model.n_iter_ = len(model.trace_)
    model.solver_ = model.solver
    model.C_ = model._effective_C()
    model._warm = None
