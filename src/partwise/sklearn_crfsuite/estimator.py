"""A CRF with scikit-learn's interface, and sklearn-crfsuite's parameters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partwise.pycrfsuite import Tagger
from partwise.pycrfsuite._dumpparser import ParsedDump
from partwise.sklearn_crfsuite.metrics import flat_accuracy_score
from partwise.sklearn_crfsuite.model_resource import FileResource
from partwise.sklearn_crfsuite.trainer import LinePerIterationTrainer

try:
    from sklearn.base import BaseEstimator
except ImportError:  # pragma: no cover

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""


TRAINER_PARAMETERS = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "c1": "c1",
    "c2": "c2",
    "max_iterations": "max_iterations",
    "num_memories": "num_memories",
    "epsilon": "epsilon",
    "period": "period",
    "delta": "delta",
    "linesearch": "linesearch",
    "max_linesearch": "max_linesearch",
    "calibration_eta": "calibration.eta",
    "calibration_rate": "calibration.rate",
    "calibration_samples": "calibration.samples",
    "calibration_candidates": "calibration.candidates",
    "calibration_max_trials": "calibration.max_trials",
    "pa_type": "type",
    "c": "c",
    "error_sensitive": "error_sensitive",
    "averaging": "averaging",
    "variance": "variance",
    "gamma": "gamma",
}
"""What a trainer calls the parameters."""


class CRF(BaseEstimator):  # type: ignore[misc]
    """A conditional random field, or a chain trained by correcting mistakes.

    All parameters left at None have the defaults of the algorithm.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}
        The log loss ("lbfgs", the default, with L1 and L2 norms; "l2sgd" with the L2
        norm), the averaged perceptron, passive-aggressive updates, AROW.
    min_freq : float
        Features whose values sum up to less in the training data get no weight.
    all_possible_states, all_possible_transitions : bool
        Also give weights to pairs that do not occur in the training data, of attribute
        and label, or of neighbouring labels.
    c1, c2 : float
        The factors of the L1 norm (0 by default) and of the squared L2 norm (1).
    max_iterations : int
        The most passes over the data: no limit for "lbfgs", 1000 for "l2sgd", else 100.
    epsilon, period, delta
        How exactly to train.
    num_memories, linesearch, max_linesearch, calibration_eta, calibration_rate, \
calibration_samples, calibration_candidates, calibration_max_trials
        Accepted, and without effect: the solvers here have nothing to set.
    pa_type : {0, 1, 2}
        PA without slack, PA-I, PA-II.
    c : float
        The aggressiveness of "pa".
    error_sensitive : bool
        Whether the margin of "pa" grows with the number of wrong labels.
    averaging : bool
        Whether "pa" averages its weights.
    variance, gamma : float
        The initial variance of weights, and the distrust of examples, of "arow".
    verbose : bool
        Whether to print how far training is.
    model_filename : str
        The model file to write, or to read if it exists; a temporary one by default.
    keep_tempfiles : bool
        Whether temporary files stay.
    trainer_cls : type
        The class of the trainer.

    Attributes
    ----------
    training_log_ : TrainLogParser
        The log of the last training.

    Examples
    --------
    >>> X = [[{"walk": True}, {"shop": True}], [{"shop": True}, {"shop": True}]]
    >>> y = [["sunny", "rainy"], ["rainy", "rainy"]]
    >>> crf = CRF(c2=0.1).fit(X, y)
    >>> crf.predict_single([{"shop": True}, {"walk": True}])
    ['rainy', 'sunny']
    >>> crf.score(X, y)
    1.0
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: Any = None,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.modelfile = FileResource(
            filename=model_filename,
            keep_tempfiles=keep_tempfiles,
            suffix=".crfsuite",
            prefix="model",
        )
        self.training_log_: Any = None
        self._tagger: Tagger | None = None
        self._info_cached: ParsedDump | None = None

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Train on labelled sequences.

        Parameters
        ----------
        X : list of lists of items
            The features of every token of every sequence.
        y : list of lists of str
            Their labels.
        X_dev, y_dev : lists, optional
            Sequences that are evaluated after every iteration.

        Returns
        -------
        CRF
            Itself.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data")
        self._forget()
        self.modelfile.refresh()
        trainer = self._get_trainer()
        for xseq, yseq in zip(X, y):  # noqa: B905 - the original ignores the rest, too
            try:
                trainer.append(xseq, yseq)
            except TypeError as error:
                if any(isinstance(label, Mapping | list | tuple) for label in yseq):
                    error.add_note("labels are strings; write fit(X, y), inputs first")
                raise
        if X_dev is not None:
            for xseq, yseq in zip(X_dev, y_dev):  # noqa: B905
                trainer.append(xseq, yseq, 1)
        trainer.train(self.modelfile.name, holdout=-1 if X_dev is None else 1)
        self.training_log_ = trainer.logparser
        return self

    def _forget(self) -> None:
        if self._tagger is not None:
            self._tagger.close()
        self._tagger = self._info_cached = None

    def _get_trainer(self) -> Any:
        values = {
            called: getattr(self, name) for name, called in TRAINER_PARAMETERS.items()
        }
        trainer_cls = self.trainer_cls or LinePerIterationTrainer
        return trainer_cls(
            algorithm=self.algorithm,
            params={name: x for name, x in values.items() if x is not None},
            verbose=self.verbose,
        )

    def predict(self, X: Any) -> Any:
        """Return the best labels of every sequence, as an array of lists."""
        self._warn_of_mistaken(X)
        return np.array(list(map(self.predict_single, X)), dtype=object)

    def predict_single(self, xseq: Any) -> list[str]:
        """Return the best labels of one sequence."""
        return self._tag_with().tag(xseq)

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """Return the probability of every label at every token of every sequence."""
        self._warn_of_mistaken(X)
        return list(map(self.predict_marginals_single, X))

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """Return the probability of every label at every token of one sequence."""
        tagger = self._tag_with()
        labels = tagger.labels()
        tagger.set(xseq)
        return [
            {label: tagger.marginal(label, i) for label in labels}
            for i in range(len(xseq))
        ]

    def score(self, X: Any, y: Any) -> float:
        """Return the share of tokens with the right label."""
        return flat_accuracy_score(y, self.predict(X))

    def _warn_of_mistaken(self, X: Any) -> None:
        """Warn of what the original takes without a word, and reads by letters."""
        first = next(iter(X), None) if isinstance(X, Sequence) else None
        token = next(iter(first), None) if isinstance(first, list | tuple) else None
        if isinstance(first, Mapping):
            said = "X is a list of sequences; for one sequence, use predict_single"
        elif isinstance(token, str) and token in (self.classes_ or ()):
            said = (
                f"X holds labels of the model, such as {token!r}, whose letters are "
                "taken for features; give the features of tokens, not y"
            )
        else:
            return
        warnings.warn(said, UserWarning, stacklevel=3)

    def _tag_with(self) -> Tagger:
        tagger = self.tagger_
        if tagger is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this CRF is not fitted yet; call fit first")
        return tagger

    @property
    def tagger_(self) -> Tagger | None:
        """The tagger of the model; None before training."""
        if self._tagger is None and self.modelfile.name is not None:
            tagger = Tagger()
            tagger.open(self.modelfile.name)
            self._tagger, self._info_cached = tagger, None
        return self._tagger

    @property
    def _info(self) -> ParsedDump | None:
        tagger = self.tagger_
        if tagger is None:
            return None
        if self._info_cached is None:
            self._info_cached = tagger.info()
        return self._info_cached

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def size_(self) -> int | None:
        """The size of the model file, in bytes."""
        return None if self._info is None else int(self._info.header["size"])

    @property
    def num_attributes_(self) -> int | None:
        """How many attributes have a weight that is not zero."""
        return None if self._info is None else int(self._info.header["num_attrs"])

    @property
    def attributes_(self) -> list[str] | None:
        """These attributes, by number."""
        return None if self._info is None else list(self._info.attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """The weights of ``(attribute, label)``."""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """The weights of ``(label, next label)``."""
        return None if self._info is None else self._info.transitions

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds; an open tagger is opened again."""
        return {**self.__dict__, "_tagger": None, "_info_cached": None}
