"""The settings of hidden Markov models."""

from __future__ import annotations

from typing import Any

from partwise.estimators.allowed_values import Number, OneOf, OneOfOr
from partwise.estimators.generative.settings import (
    BY_MARGIN,
    REFERENCE,
    WEIGHT,
    GenerativeSettings,
)
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import POSITIVE


@declares_settings
class HiddenMarkovSettings(GenerativeSettings):
    """What a hidden Markov model has to be told."""

    objective: str = setting(
        default="margin",
        kw_only=False,
        allowed=OneOf("margin", "likelihood", "auto"),
        doc=f'{BY_MARGIN} "auto" tries both, with several `C` and references, on '
        "sequences held out, and trains for margins only where they pay.",
    )
    C: float | None = setting(
        default=None,
        kw_only=False,
        allowed=POSITIVE,
        optional=True,
        doc=f'{WEIGHT} ``objective="auto"`` tries several unless one is given.',
    )
    reference: Any = setting(
        default=None,
        kw_only=False,
        allowed=OneOfOr("likelihood", "uniform", other="distributions"),
        type_text='{"likelihood", "uniform"}, Probabilities or mapping',
        optional=True,
        doc=f'{REFERENCE}, as a mapping with the keys "initial", "transitions" and '
        '"emissions". ``objective="auto"`` tries the first two unless one is given.',
    )
    costs: Any = setting(
        default=None,
        type_text='matrix, dict, callable, "hamming" or "ring"',
        doc="What predicting one state for another costs; 1 for every wrong one by "
        'default ("hamming"). A dict is keyed by ``(right, predicted)``, a callable '
        'takes the two. "ring": states are integers on a ring, the smallest after the '
        "largest, and a mistake costs the distance.",
    )
    cv: int = setting(
        default=5,
        allowed=Number(at_least=2, whole=True),
        doc='Into how many parts "auto" divides the data where there is no development '
        "data. Every part is held out once, but no more of them than make up 1000 "
        "sequences.",
    )
    column: int = setting(
        default=0,
        allowed=Number(whole=True),
        doc="Where sequences are columns of a file (`partwise.data.read_columns`), the "
        "one with the symbols.",
    )
    time_limit: float | None = setting(
        default=None, more='"auto" may take as long again to choose.'
    )
