"""The settings of hidden Markov models."""

from __future__ import annotations

from typing import Any

from partwise.estimators.allowed_values import POSITIVE, number, one_of
from partwise.estimators.generative.settings import GenerativeSettings
from partwise.estimators.settings import declares_settings, setting


@declares_settings
class HiddenMarkovSettings(GenerativeSettings):
    """The settings of a hidden Markov model.

    Parameters
    ----------
    objective
        ... "auto" tries both, with several `C` and references, on sequences held out,
        and trains for margins only where they pay.
    C
        ... ``objective="auto"`` tries several unless one is given.
    reference : {"likelihood", "uniform"}, Probabilities or mapping
        ... Your own are a mapping with the keys "initial", "transitions" and
        "emissions". ``objective="auto"`` tries the first two unless one is given.
    costs : matrix, dict, callable, "hamming" or "ring"
        What predicting one state for another costs; 1 for every wrong one by default
        ("hamming"). A dict is keyed by ``(right, predicted)``, a callable takes the
        two. "ring": states are integers on a ring, the smallest after the largest, and
        a mistake costs the distance.
    cv
        Into how many parts "auto" divides the data where there is no development data.
        Every part is held out once, but no more of them than make up 1000 sequences.
    column
        Where sequences are columns of a file (`partwise.data.read_columns`), the one
        with the symbols.
    time_limit
        ... "auto" may take as long again to choose.
    """

    objective: str = setting(
        default="margin", allowed=one_of("margin", "likelihood", "auto"), kw_only=False
    )
    C: float | None = setting(default=None, allowed=POSITIVE, kw_only=False)
    reference: Any = setting(
        default=None,
        allowed=one_of("likelihood", "uniform", other="distributions"),
        kw_only=False,
    )
    costs: Any = None
    cv: int = setting(default=5, allowed=number(at_least=2, whole=True))
    column: int = setting(default=0, allowed=number(whole=True))
    time_limit: float | None = None
