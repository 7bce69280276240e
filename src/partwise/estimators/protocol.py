"""scikit-learn's protocol for estimators, without importing scikit-learn.

scikit-learn asks an estimator what it is by methods, not by its class. They are here;
those that answer with objects of scikit-learn's import it, which takes a second, and is
only done when it is asked for, by scikit-learn itself.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from typing import Any, Self

from partwise.errors import ConvergenceWarning

ROUTED = ("fit", "predict", "predict_proba", "decision_function", "score")
"""The methods of estimators that scikit-learn may pass more than examples."""


class Estimator:
    """What `clone`, `Pipeline`, `GridSearchCV` and their kin expect."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the settings, sorted: what the constructor takes."""
        own: Any = cls
        return sorted(_parameters(own))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name.

        Parameters
        ----------
        deep : bool
            Whether those of settings that are estimators follow, as ``name__its_name``.
        """
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params().items()
                found |= {f"{name}__{key}": its_value for key, its_value in inner}
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Change settings.

        Parameters
        ----------
        **params : object
            The new values by name; those of a setting that is an estimator as
            ``name__its_name``.

        Returns
        -------
        estimator
            Itself.
        """
        names = self._get_param_names()
        for name in params:
            if name.partition("__")[0] not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {names!r}."
                )
        # An estimator is set before its own settings are.
        for name, value in sorted(params.items(), key=lambda item: "__" in item[0]):
            outer, nested, inner = name.partition("__")
            if nested:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, outer, value)
        return self

    def __repr__(self) -> str:
        """Show the settings that are not at their defaults."""
        cls: Any = type(self)
        shown = [
            f"{name}={_shortened(value)}"
            for name, default in _parameters(cls).items()
            if (value := getattr(self, name)) is not default
            and repr(value) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what kind of estimator this is."""
        from sklearn.utils import Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=None,
            classifier_tags=None,
            regressor_tags=None,
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show notebooks a diagram that unfolds, as scikit-learn's own do."""
        from sklearn.utils import estimator_html_repr

        return {"text/plain": repr(self), "text/html": estimator_html_repr(self)}

    # --- requests for `sample_weight` and the like, where routing is switched on ------

    def _requester(self) -> Any:
        """Return an estimator of scikit-learn's own that requests the same."""
        cls: Any = type(self)
        requester = _requester_class(cls)()
        if "_metadata_request" in self.__dict__:
            requester._metadata_request = self._metadata_request
        return requester

    def get_metadata_routing(self) -> Any:
        """Tell scikit-learn which of `sample_weight` and the like methods request."""
        return self._requester().get_metadata_routing()

    def __getattr__(self, name: str) -> Any:
        """Find ``set_fit_request`` and its kin."""
        if name.startswith("set_") and name.endswith("_request"):
            requester = self._requester()
            if hasattr(requester, name):

                def request(**wanted: Any) -> Any:
                    getattr(requester, name)(**wanted)
                    self._metadata_request = requester._metadata_request
                    return self

                return request
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )


@functools.cache
def _parameters(cls: Any) -> dict[str, Any]:
    """Return the defaults of the constructor, by name."""
    _, *others = inspect.signature(cls.__init__).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in others):
        raise RuntimeError(
            f"the constructor of {cls.__name__} has *{others[-1].name}: settings must "
            "have names"
        )
    named = [one for one in others if one.kind is not one.VAR_KEYWORD]
    return {parameter.name: parameter.default for parameter in named}


@functools.cache
def _requester_class(cls: Any) -> Any:
    from sklearn.base import BaseEstimator

    methods = {name: getattr(cls, name) for name in ROUTED if hasattr(cls, name)}
    return type(cls.__name__, (BaseEstimator,), methods)


class Classifier(Estimator):
    """An estimator that predicts classes."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this is a classifier."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of examples whose class is predicted right.

        Parameters
        ----------
        X : examples
            As `fit` takes them.
        y : sequence
            Their classes.
        sample_weight : array, optional
            How much every example counts.
        """
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))


def warn_of_convergence(message: str, stacklevel: int) -> None:
    """Warn that training ended too early.

    Where scikit-learn is loaded, the warning is one of its `ConvergenceWarning`, too.
    """
    category: type[Warning] = ConvergenceWarning
    if "sklearn.exceptions" in sys.modules:
        category = _their_convergence_warning()
    warnings.warn(message, category, stacklevel=stacklevel + 1)


@functools.cache
def _their_convergence_warning() -> type[Warning]:
    from sklearn import exceptions

    bases = ConvergenceWarning, exceptions.ConvergenceWarning
    return type("ConvergenceWarning", bases, {"__module__": __name__})


def _shortened(value: Any, longest: int = 60) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
