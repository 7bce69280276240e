"""Saving and loading models: one validated file, nothing executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partwise import model_file
from partwise.errors import ModelFileError
from partwise.estimators.base import StructuredEstimator
from partwise.estimators.constraints import Masks, constraints_of
from partwise.estimators.costs import class_weights
from partwise.estimators.inputs import DictInput, TemplateInput, load_input
from partwise.estimators.labels import LabelCodes, class_array, sorted_classes
from partwise.estimators.multiclass_classifier import MulticlassClassifier
from partwise.estimators.sequence_tagger import SequenceTagger
from partwise.features import FeatureDictEncoder
from partwise.losses import Certificate
from partwise.model_file import Content, prefixed
from partwise.solvers.registry import all_solvers
from partwise.solvers.trace import COLUMNS, Trace
from partwise.structures.costs import hamming, make_cost_matrix
from partwise.structures.rows import make_pairs

KIND = "model"
ESTIMATORS = {cls.__name__: cls for cls in (SequenceTagger, MulticlassClassifier)}

# Settings that speak of a run rather than of the model are not saved.
TRANSIENT = ("callbacks", "checkpoint", "resume", "verbose", "warm_start", "dev_metric")
PLAIN = (str, int, float, bool, type(None))


def save_model(model: StructuredEstimator, path: str | Path, dtype: str) -> None:
    """Write a fitted estimator to `path`."""
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', not {dtype!r}")
    store = _store_tagger if isinstance(model, SequenceTagger) else _store_classifier
    tensors, settings = store(model)
    classes = model._labels.classes
    tensors |= prefixed("labels", model_file.pack_strings(list(map(str, classes))))
    tensors |= prefixed("w", model_file.pack_sparse(model.weights_, np.dtype(dtype)))
    trace = {name: model.trace_[name].astype(np.float64) for name in COLUMNS}
    tensors |= prefixed("trace", trace)
    if model.weights_.size > _weight_limit(tensors):
        raise ValueError(
            f"{model.weights_.size} weights, nearly all of them zero, are more than a "
            "model file may ask for; train with a smaller hash_bits"
        )
    certificate = model.certificate_
    settings |= {
        "estimator": type(model).__name__,
        "params": _plain_params(model),
        "solver": _describe_solver(model.solver),
        "integer_labels": isinstance(classes[0], int),
        "n_weights": int(model.weights_.size),
        "certificate": None if certificate is None else list(certificate),
        "status": model.status_,
    }
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
    SequenceTagger or MulticlassClassifier

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
    cls = ESTIMATORS[content.setting("estimator", str, choices=tuple(ESTIMATORS))]
    model = _empty_model(cls, content)
    labels = model_file.unpack_strings(
        content.part("labels").tensors, unique=True, source=str(path)
    )
    if len(labels) < 2:
        raise content.error("a model needs at least two labels")
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
    fill = _fill_tagger if cls is SequenceTagger else _fill_classifier
    size = fill(model, content)
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


def _empty_model(cls: type, content: Content) -> Any:
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
        free = defaults[name] is None or name == "random_state"
        if not free and type(value) not in kinds:
            raise content.error(f"setting {name!r} should be of {kind.__name__}")
    return cls(**params, solver=_read_solver(content))


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
    columns = {c: part.tensor(c, dtype=np.float64, finite=False) for c in COLUMNS}
    try:
        model.trace_ = Trace.from_dict({c: v.tolist() for c, v in columns.items()})
    except (ValueError, OverflowError):
        raise content.error("the trace is damaged") from None
    model.status_ = content.setting("status", str)
    model.n_iter_ = len(model.trace_)
    model.solver_ = model.solver
    model.C_ = model._effective_C()
    model._warm = None


# --- each estimator's own part ------------------------------------------------------


def _store_tagger(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    own, own_settings = model._input.to_tensors()
    tensors = prefixed("input", own)
    masks = {k: v.astype(np.uint8) for k, v in model._masks._asdict().items()}
    tensors |= prefixed("masks", masks)
    tensors |= _class_weight_tensors(model)
    if model.costs is not None:
        tensors["costs"] = model._costs
    if model._pairs is not None:
        tensors |= {"pairs.ptr": model._pairs.ptr, "pairs.label": model._pairs.label}
    settings = {
        "input": {"kind": model._input.kind, **own_settings},
        "has_costs": model.costs is not None,
        "has_pairs": model._pairs is not None,
    }
    return dict(tensors), settings


def _fill_tagger(model: SequenceTagger, content: Content) -> int:
    """Fill a tagger from a file; return how many weights it has to have."""
    K = len(model._labels)
    model._input = load_input(content.part("input"))
    masks = content.part("masks")
    shapes = {"transitions": (K, K), "start": (K,), "end": (K,)}
    model._masks = Masks(
        **{
            name: masks.tensor(name, dtype=np.uint8, ndim=len(shape), shape=shape) > 0
            for name, shape in shapes.items()
        }
    )
    model._costs, model.costs = _read_costs(content, K)
    _read_class_weight(model, content)
    _restore_params(model)
    n_columns = model._input.n_features
    n_nodes = n_columns * K
    model._pairs = None
    if content.setting("has_pairs", bool):
        pairs = content.part("pairs")
        label = pairs.tensor("label", dtype=np.int32, at_least=0, below=K)
        ptr = pairs.pointers("ptr", end=label.size, length=n_columns + 1)
        try:
            model._pairs = make_pairs(ptr, label, K)
        except ValueError as error:
            raise content.error(str(error)) from None
        n_nodes = label.size
    ends = K * (int(model.start) + int(model.end))
    return n_nodes + K * K + ends + model._input.n_edge_features * K * K


def _restore_params(model: SequenceTagger) -> None:
    """Say in plain settings what the file holds in other forms, for another fit."""
    if isinstance(model._input, TemplateInput):
        template = model._input.encoder.template
        model.template = template if template.resources else template.text
    if isinstance(model._input, DictInput):
        model.transition_features = model._input.encoder.transition_features
    if model.constraints is None:
        model.constraints = constraints_of(model._masks, model._labels)


def _store_classifier(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    tensors: dict[str, Any] = {}
    settings: dict[str, Any] = {
        "n_features": int(model.n_features_in_),
        "has_costs": model.costs is not None,
        "has_encoder": model._encoder is not None,
        "has_names": hasattr(model, "feature_names_in_"),
    }
    if settings["has_names"]:
        names = list(map(str, model.feature_names_in_))
        tensors |= prefixed("names", model_file.pack_strings(names))
    if model._encoder is not None:
        own, settings["encoder"] = model._encoder.to_tensors()
        tensors |= prefixed("encoder", dict(own))
    tensors |= _class_weight_tensors(model)
    if model.costs is not None:
        tensors["costs"] = model._costs
    return tensors, settings


def _fill_classifier(model: MulticlassClassifier, content: Content) -> int:
    """Fill a classifier from a file; return how many weights it has to have."""
    K = len(model._labels)
    width = content.setting("n_features", int, at_least=0, below=2**31)
    model._encoder = None
    if content.setting("has_encoder", bool):
        part = content.part("encoder")
        try:
            encoder = FeatureDictEncoder.from_tensors(part.tensors, part.settings)
        except ModelFileError as error:  # an encoder does not know the file's name
            raise part.error(str(error)) from None
        model._encoder = encoder
        if width != encoder.n_attributes:
            raise content.error("the number of features does not fit the vocabulary")
    model.n_features_in_ = width
    if content.setting("has_names", bool):
        part = content.part("names")
        names = model_file.unpack_strings(
            part.tensors, length=width, source=part.source
        )
        model.feature_names_in_ = np.array(names, object)
    model._costs, model.costs = _read_costs(content, K)
    _read_class_weight(model, content)
    return (width + int(model.fit_intercept)) * K


def _read_costs(content: Content, K: int) -> tuple[Any, Any]:
    if not content.setting("has_costs", bool):
        return hamming(K), None
    matrix = content.tensor("costs", dtype=np.float64, ndim=2, shape=(K, K))
    try:
        return make_cost_matrix(matrix, K), matrix
    except ValueError as error:
        raise ModelFileError(f"{content.source}: {error}") from None


def _class_weight_tensors(model: Any) -> dict[str, Any]:
    """Return a dict of class weights as an array; other settings save themselves."""
    if not isinstance(model.class_weight, Mapping):
        return {}
    by_class = class_weights(model.class_weight, model._labels, np.zeros(0, np.int32))
    return {"class_weight": by_class}


def _read_class_weight(model: Any, content: Content) -> None:
    if model.class_weight not in (None, "balanced"):
        raise content.error("setting 'class_weight' should be 'balanced' or nothing")
    if "class_weight" in content.tensors:
        K = len(model._labels)
        weights = content.tensor("class_weight", dtype=np.float64, length=K, at_least=0)
        model.class_weight = dict(
            zip(model._labels.classes, weights.tolist(), strict=True)
        )
