"""What a certificate says about a model, in words."""

from __future__ import annotations

import numpy as np

from partwise.losses import Certificate, LocalCertificate
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
    scores = trace["dev_score"]
    if not scores.size or np.isnan(scores).all():
        return None
    return int(np.nanargmax(scores)) + 1


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
        # The status, which is shown as well, says why.
        words = "There is no certificate of how good these weights are."
    else:
        about = "" if certificate.exact else "about "
        words = f"The model's objective is {about}{certificate.primal:.6g}"
        gap = f"more than {certificate.percent} (the gap)"
        if isinstance(certificate, LocalCertificate):
            words += (
                ". It is a local optimum: no convex step from here lowers it by "
                f"{gap}, though other weights may be better."
            )
        else:
            words += (
                ", and it is proved that no weights have one below "
                f"{about}{certificate.dual:.6g}: nothing could lower it by {gap}."
            )
    best = best_dev_pass(trace)
    if best in (None, len(trace)):
        return words
    return (
        f"{words} The model keeps the weights of pass {best}, which were best on the "
        "development data."
    )
