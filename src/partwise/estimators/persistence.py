"""Saving and loading models: one validated file, nothing executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partwise import model_file
from partwise.data.files import replace_file
from partwise.estimators.labels import LabelCodes
from partwise.estimators.registry import find_estimator, registered
from partwise.estimators.settings import settings_of, transient_settings
from partwise.estimators.stored_labels import pack_labels, unpack_labels
from partwise.foreign import (
    read_foreign,
    recognise,
    refuse_unread,
    write_crfsuite_model,
)
from partwise.losses import Certificate, LocalCertificate
from partwise.model_file import Content, prefixed
from partwise.solvers.loop import Solution
from partwise.solvers.registry import all_solvers
from partwise.solvers.trace import ADDED, COLUMNS, Trace

KIND = "model"
OURS, CRFSUITE = "Partwise", "CRFsuite"
CRFSUITE_ENDING = ".crfsuite"
ENDINGS_OF_OTHERS = frozenset(
    ".txt .text .tsv .csv .json .xml .yaml .yml .html .pkl .pickle .joblib .npz .npy "
    ".onnx .gz .zip".split()
)
"""Endings that promise a format which `convert` cannot write."""

PLAIN = (str, int, float, bool, type(None))


def save_model(model: Any, path: str | Path, dtype: str) -> None:
    """Write a fitted estimator to `path`."""
    tensors, settings = model_content(model, dtype)
    model_file.write(path, tensors, settings, kind=KIND)


def model_content(model: Any, dtype: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings of a model file, or of a part of one."""
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', not {dtype!r}")
    cls = registered(type(model))
    tensors, settings = model._store()
    labels, are_integers = pack_labels("labels", model._labels)
    tensors |= labels
    tensors |= prefixed("w", model_file.pack_sparse(model.weights_, np.dtype(dtype)))
    trace = {name: model.trace_[name].astype(np.float64) for name in COLUMNS}
    for added in ADDED:  # left out if all zero, so that old versions can read the file
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
        "estimator": cls.__name__,
        "params": _plain_params(model, cls),
        "solver": _describe_solver(model.solver),
        "integer_labels": are_integers,
        "n_weights": int(model.weights_.size),
        "certificate": None if certificate is None else list(certificate),
        "status": model.status_,
        "reason": model.solution_.reason,
    }
    if isinstance(certificate, LocalCertificate):
        settings["local"] = True
    if model.bound_ is not None:
        settings["generalization_bound"] = model.bound_
    return tensors, settings


def load(path: str | Path) -> Any:
    """Load a model saved by ``save``, or by CRFsuite, CRF++ or Wapiti.

    The file is checked from end to end and nothing in it is executed; a damaged,
    unknown or newer file raises `ModelFileError`.

    Parameters
    ----------
    path : path
        The model file. Of other programs, those of CRFsuite (``lCRF``) and the text
        models of CRF++ and Wapiti are known.

    Returns
    -------
    estimator
        Of the class that was saved; a `SequenceTagger` from other programs.

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
    if recognise(path):
        return _load_foreign(path)
    refuse_unread(path)
    return model_from(model_file.read(path, kind=KIND))


def model_from(content: Content) -> Any:
    """Return the model that a file, or a part of one, holds."""
    try:
        cls = find_estimator(content.setting("estimator", str))
    except LookupError as error:
        raise content.error(str(error)) from None
    if hasattr(cls, "_from_content"):  # a model of models
        return cls._from_content(content)
    model = _empty_model(cls, content)
    are_integers = content.setting("integer_labels", bool)
    classes = unpack_labels(content, "labels", are_integers)
    if len(classes) < cls.least_labels:
        raise content.error(
            f"a model needs at least {cls.least_labels} labels, not {len(classes)}"
        )
    model._set_labels(LabelCodes(classes))
    size = model._fill(content)
    if size != content.setting("n_weights", int, at_least=0):
        raise content.error("the number of weights does not fit the vocabulary")
    w = model_file.unpack_sparse(
        content.part("w").tensors,
        size,
        max_size=_weight_limit(content.tensors),
        source=content.source,
    )
    bound = content.settings.get("generalization_bound")
    if not isinstance(bound, float | None):
        raise content.error("the generalization bound is damaged")
    model._keep(_read_solution(w, content), model.solver, bound=bound)
    return model


def _load_foreign(path: str | Path) -> Any:
    """Load the chain that another program saved."""
    model = find_estimator("SequenceTagger")(
        loss="log_loss",
        pairs="observed",
        transitions="observed",
        start=False,
        end=False,
    )
    model._fill_from(read_foreign(path), str(path))
    return model


def convert(source: Any, target: str | Path) -> None:
    """Write a model in another format, chosen by the ending of the file.

    Parameters
    ----------
    source : path or estimator
        A model, or a file that `load` reads.
    target : path
        Where to; ``.crfsuite`` is CRFsuite's format, which python-crfsuite opens, and
        every other ending ours, but for those that promise a format of other files,
        such as ``.txt``.

    Raises
    ------
    ValueError
        If the format cannot hold the model, or cannot be written; the message says
        what the model has too much, or which endings there are.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from partwise import SequenceTagger, convert, load
    >>> X, y = [[{"word": "the"}, {"word": "dog"}]], [["D", "N"]]
    >>> tagger = SequenceTagger("log_loss", start=False, end=False).fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tagger.crfsuite"
    >>> convert(tagger, path)
    >>> load(path).predict(X)
    [['D', 'N']]
    """
    program = program_of(target)
    model = load(source) if isinstance(source, str | Path) else source
    if program == OURS:
        model.save(target)
        return
    if not hasattr(model, "_chain_model"):
        raise ValueError(
            f"a CRFsuite file holds a sequence tagger, not a {type(model).__name__}"
        )
    data = write_crfsuite_model(model._chain_model())
    model_file.check_writable(target)
    with replace_file(target) as file:
        file.write(data)


def program_of(target: str | Path) -> str:
    """Return whose format the ending of a file to write asks for.

    Examples
    --------
    >>> program_of("names.crfsuite"), program_of("names.model")
    ('CRFsuite', 'Partwise')
    """
    ending = Path(target).suffix.lower()
    if ending in ENDINGS_OF_OTHERS:
        raise ValueError(
            f"{target}: a model is written in CRFsuite's format ({CRFSUITE_ENDING}) or "
            f"in ours (.partwise), never as {ending}; `partwise inspect` shows its "
            "weights as text or JSON"
        )
    return CRFSUITE if ending == CRFSUITE_ENDING else OURS


def _weight_limit(tensors: Mapping[str, Any]) -> int:
    """Bound the weights a file may ask for by what it holds.

    Zeros are not stored, and hashing makes many: two gigabytes of them, which take
    no memory until they are touched, are always allowed.
    """
    return max(2**28, 256 * sum(int(tensor.size) for tensor in tensors.values()))


def _plain_params(model: Any, cls: type) -> dict[str, Any]:
    """Return the settings that JSON can hold; rooms store others in their own way."""
    left_out = {"solver", *transient_settings(cls)}
    params = {name: getattr(model, name) for name in {*settings_of(cls)} - left_out}
    plain = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in sorted(params.items())
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
    raise content.error("this version does not know the solver")


def _empty_model(cls: Any, content: Content) -> Any:
    """Make an unfitted estimator with the saved settings."""
    params = content.setting("params", dict)
    known, transient = settings_of(cls), transient_settings(cls)
    for name, value in params.items():
        known_here = name in known and name not in (*transient, "solver")
        if not known_here or type(value) not in PLAIN:
            raise content.error(f"setting {name!r} is unknown or of a wrong type")
        try:
            known[name].check(value)
        except ValueError as error:
            raise content.error(str(error)) from None
    model = cls(**params, solver=_read_solver(content))
    try:
        model._check_settings()
    except (ValueError, TypeError) as error:
        raise content.error(f"its settings do not go together: {error}") from None
    return model


def _read_solution(w: Any, content: Content) -> Solution:
    """Return what training found; where the solver ended is not saved."""
    certificate = content.settings.get("certificate")
    if certificate is not None:
        try:
            primal, dual, exact = certificate
            kind = LocalCertificate if content.settings.get("local") else Certificate
            certificate = kind(float(primal), float(dual), bool(exact))
        except (TypeError, ValueError, OverflowError):
            raise content.error("the certificate is damaged") from None
    part = content.part("trace")
    columns = {
        c: part.tensor(c, dtype=np.float64, finite=False)
        for c in COLUMNS
        if c in part.tensors or c not in ADDED
    }
    try:
        trace = Trace.from_dict({c: v.tolist() for c, v in columns.items()})
    except (ValueError, OverflowError):
        raise content.error("the trace is damaged") from None
    status = content.setting("status", str)
    # The first versions saved the sentence only, which begins with the reason.
    reason = content.settings.get("reason", status.partition(" ")[0].strip(":"))
    if not isinstance(reason, str):
        raise content.error("why training ended is damaged")
    return Solution(w, certificate, trace, reason, status, None)
