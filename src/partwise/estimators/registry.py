"""Finding estimators by name, without importing any of them before."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

MODULES = {
    "SequenceTagger": "partwise.estimators.sequence.tagger",
    "SegmentTagger": "partwise.estimators.segments.tagger",
    "MulticlassClassifier": "partwise.estimators.classifier.classifier",
    "GraphLabeler": "partwise.estimators.graph.labeler",
    "LatticeRanker": "partwise.estimators.lattice.ranker",
    "DependencyParser": "partwise.estimators.dependency.parser",
    "ConstituencyParser": "partwise.estimators.constituency.parser",
    "HiddenMarkovModel": "partwise.estimators.hidden_markov.model",
    "BayesianNetworkClassifier": "partwise.estimators.bayesian_network.classifier",
}
"""The module of every estimator of this package, by the name of its class."""

GROUP = "partwise.kinds"
"""The entry points by which other packages add theirs; each has an `estimator`."""


def find_estimator(name: str) -> Any:
    """Return the estimator of this name: one of the package, or of an entry point.

    Parameters
    ----------
    name : str
        The name of a class, as model files have it.

    Returns
    -------
    type

    Raises
    ------
    LookupError
        If there is none; the message names entry points that could not be loaded.

    Examples
    --------
    >>> find_estimator("SequenceTagger").__module__
    'partwise.estimators.sequence.tagger'
    >>> find_estimator("Oracle")
    Traceback (most recent call last):
        ...
    LookupError: no estimator is called 'Oracle' (is its package installed?)
    """
    if name in MODULES:
        return getattr(import_module(MODULES[name]), name)
    broken = []
    for point in entry_points(group=GROUP):
        try:
            found = _estimator(point, name)
        except Exception as error:  # code of another package may raise anything
            broken.append(f"{point.name} ({point.value}): {error}")
            continue
        if found is not None:
            return found
    hint = "is its package installed?"
    if broken:
        hint = f"these entry points cannot be loaded: {'; '.join(broken)}"
    raise LookupError(f"no estimator is called {name!r} ({hint})")


def registered(cls: type) -> type:
    """Return the class under whose name models of a class are saved.

    For a class that is not registered, that is one it is derived from.

    Examples
    --------
    >>> from partwise import SequenceTagger
    >>> class MyTagger(SequenceTagger): ...
    >>> registered(MyTagger).__name__
    'SequenceTagger'
    """
    for base in cls.__mro__:
        name = base.__name__
        if MODULES.get(name) == base.__module__ or base in _added(name):
            return base
    raise LookupError(
        f"models of {cls.__name__} cannot be saved: no entry point of {GROUP!r} has it"
    )


def _added(name: str) -> Iterator[Any]:
    """Yield the estimators of entry points that have this name."""
    for point in entry_points(group=GROUP):
        try:
            yield _estimator(point, name)
        except Exception:  # it cannot be one that is in use
            continue


def _estimator(point: EntryPoint, name: str) -> Any:
    """Return the estimator of an entry point if it has this name, else None."""
    found = point.load().estimator
    if isinstance(found, str):
        module, _, own = found.partition(":")
        return getattr(import_module(module), own) if own == name else None
    return found if found.__name__ == name else None
