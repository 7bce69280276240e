"""What a certificate says about the model at hand, in words and in numbers.

A certificate is of the weights after the last pass. With development data a model
may keep the weights of an earlier pass, of which it says nothing: commands must
not claim otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partwise.losses import Certificate
    from partwise.solvers.trace import Trace


def best_dev_pass(trace: Trace) -> int | None:
    """Return the number of the pass that was best on development data, if any.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from partwise.solvers.trace import Trace, TraceRow
    >>> some = TraceRow(1, 9, 0.1, 4.0, 3.0, 0.25, True, dev_score=0.8)
    >>> best_dev_pass(Trace([some, replace(some, iteration=2, dev_score=0.9)]))
    2
    """
    import numpy as np

    scores = trace["dev_score"]
    if not scores.size or np.isnan(scores).all():
        return None
    return int(np.nanargmax(scores)) + 1


def is_of_model(trace: Trace) -> bool:
    """Say whether the certificate is of the weights that were kept."""
    return best_dev_pass(trace) in (None, len(trace))


def in_words(certificate: Certificate | None, trace: Trace) -> str:
    """Say what the gap means.

    Examples
    --------
    >>> from partwise.losses import Certificate
    >>> from partwise.solvers.trace import Trace
    >>> print(in_words(Certificate(101.0, 100.0), Trace()))
    The model's objective is 101, and it is proved that no weights have one below \
100: nothing could lower it by more than 0.99% (the gap).
    """
    if certificate is None:
        return "Training ended before there was anything to certify."
    about = "" if certificate.exact else "about "
    owner = (
        "The model's objective is"
        if is_of_model(trace)
        else "The last pass had the objective"
    )
    words = (
        f"{owner} {about}{certificate.primal:.6g}, and it is proved that no weights "
        f"have one below {about}{certificate.dual:.6g}: nothing could lower it by more "
        f"than {_percent(certificate.relative_gap)} (the gap)."
    )
    if is_of_model(trace):
        return words
    return (
        f"{words} The model keeps the weights of pass {best_dev_pass(trace)}, which "
        "were best on the development data."
    )


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.2g}%" if percent < 10 else f"{percent:.0f}%"


def in_numbers(certificate: Certificate | None, trace: Trace) -> dict[str, Any] | None:
    """Return the certificate as numbers, for JSON."""
    if certificate is None:
        return None
    return {
        "objective": certificate.primal,
        "lower_bound": certificate.dual,
        "relative_gap": certificate.relative_gap,
        "exact": certificate.exact,
        "of_kept_weights": is_of_model(trace),
    }
