"""The model as a distribution over outputs: log-probabilities, counts, samples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.snapshot import of_one_model
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.probabilities import (
    draw,
    expected_features,
    log_probabilities,
    log_probabilities_without,
)


class Given(NamedTuple):
    """Inputs as a model sees them.

    Attributes
    ----------
    structure : structure
        The inputs; with outputs if they were given.
    weights : array
        Their weights.
    read : callable
        Turns the codes of an output of an example into what users know.
    legal : array of bool, optional
        Which of the outputs that were given are possible at all; by default all are.
    without : pair of arrays, optional
        Where several outputs are what users know as one: the parts that none of them
        has, and where those of an example begin.
    """

    structure: Structure
    weights: FloatArray
    read: Callable[[int, CodeArray], Any]
    legal: NDArray[np.bool_] | None = None
    without: tuple[IntArray, IntArray] | None = None


class Distribution:
    """What estimators with probabilities answer about given outputs.

    Probabilities are those of the log-linear model with the learnt weights; they are
    calibrated only for models trained with the log loss.
    """

    _given: Callable[..., Given]
    """Encodes inputs, and outputs if they are given: ``_given(X, y, **options)``."""
    _jobs: Callable[[], int]

    @of_one_model
    def log_probability(self, X: Any, y: Any, **options: Any) -> FloatArray:
        """Return the log-probability of the given output of every example.

        Parameters
        ----------
        X, y : inputs and outputs
            As in `fit`.
        **options
            As in `predict`.

        Returns
        -------
        array
            ``ln P(output | input)``: its exponential is the probability, and the mean
            of minus these numbers the log loss. -inf for outputs that constraints, or
            the kind of output, rule out.

        Examples
        --------
        >>> from partwise import MulticlassClassifier
        >>> model = MulticlassClassifier(loss="log_loss")
        >>> model = model.fit([[0.0], [1.0]], ["a", "b"])
        >>> p = np.exp(model.log_probability([[1.0], [1.0]], ["a", "b"]))
        >>> round(float(p.sum()), 6), bool(p[1] > p[0])
        (1.0, True)
        """
        given = self._given(X, y, **options)
        corpus, w, parts = given.structure, given.weights, given.without
        if parts is None:
            result = log_probabilities(corpus, w, self._jobs())
        else:
            result = log_probabilities_without(corpus, w, *parts, self._jobs())
        if given.legal is not None:
            result[~given.legal] = -np.inf
        return result

    @of_one_model
    def expected_counts(self, X: Any, **options: Any) -> FloatArray:
        """Return how often the model expects every feature, summed over the examples.

        A feature is what has a weight: an attribute with a label, a transition.
        Minus the counts in right outputs, this is the gradient of the log loss.

        Parameters
        ----------
        X : inputs
            As in `predict`, with its `options`.

        Returns
        -------
        array
            In the order of `weights_`.

        Examples
        --------
        >>> from partwise import MulticlassClassifier
        >>> model = MulticlassClassifier(fit_intercept=False, loss="log_loss")
        >>> model = model.fit([[-1.0], [1.0]], ["a", "b"])
        >>> model.expected_counts([[0.0], [0.0]]).tolist()
        [0.0, 0.0]
        """
        given = self._given(X, None, **options)
        return expected_features(given.structure, given.weights, self._jobs())


class Samples(Distribution):
    """Estimators that outputs can be drawn from."""

    @of_one_model
    def sample(
        self, X: Any, n: int = 1, random_state: Any = None, **options: Any
    ) -> list[list[Any]]:
        """Draw outputs from the model, each as often as it is probable.

        Parameters
        ----------
        X : inputs
            As in `predict`, with its `options`.
        n : int
            How many outputs of every example, independent of each other.
        random_state : int, RandomState, Generator or None
            Seed.

        Returns
        -------
        list of lists
            For every example `n` outputs, as `predict` returns them.

        Examples
        --------
        >>> from partwise import MulticlassClassifier
        >>> model = MulticlassClassifier(loss="log_loss")
        >>> model = model.fit([[0.0], [1.0]], ["a", "b"])
        >>> drawn = model.sample([[0.5]], n=4, random_state=0)[0]
        >>> len(drawn), set(drawn) <= {"a", "b"}
        (4, True)
        """
        return draw_outputs(
            self._given(X, None, **options), n, random_state, self._jobs()
        )


def draw_outputs(
    given: Given, n: int, random_state: Any, n_jobs: int
) -> list[list[Any]]:
    """Draw `n` outputs of every example, as users know them."""
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be an integer >= 1, not {n!r}")
    drawn = draw(
        given.structure, given.weights, int(n), generator(random_state), n_jobs
    )
    if not drawn.possible.all():
        i = int(np.flatnonzero(~drawn.possible)[0])
        raise DataError(f"example {i} has no possible output to draw", example=i)
    return [
        [given.read(i, drawn.codes[j, a:b]) for j in range(n)]
        for i, (a, b) in enumerate(pairwise(drawn.ptr.tolist()))
    ]


def generator(random_state: Any) -> np.random.Generator:
    """Return NumPy's generator from any of scikit-learn's ways to give a seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, int | np.integer) or random_state is None:
        return np.random.default_rng(random_state)
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
