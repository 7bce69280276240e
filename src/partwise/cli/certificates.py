"""What a certificate says about a model, in words and in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwise.characters import printable
from partwise.estimators.certificates import best_dev_pass, in_words

if TYPE_CHECKING:
    from partwise.losses import Certificate
    from partwise.solvers.loop import Solution

__all__ = ["best_dev_pass", "in_numbers", "in_pairs", "in_words", "print_ending"]


def in_pairs(certificate: Certificate | None) -> list[tuple[str, object]]:
    """Return the objective and the gap, by name."""
    if certificate is None:
        return []
    gap = f"{certificate.relative_gap:.2%}"
    return [("objective", certificate.primal), ("gap", gap)]


def print_ending(solution: Solution) -> None:
    """Show how training ended, and what its certificate means."""
    from partwise.cli.output import console

    for text in (
        f"\n{solution.status}.",
        in_words(solution.certificate, solution.trace),
    ):
        console().print("\n".join(map(printable, text.split("\n"))), soft_wrap=True)


def in_numbers(certificate: Certificate | None) -> dict[str, Any] | None:
    """Return the certificate as numbers, for JSON."""
    if certificate is None:
        return None
    return {
        "objective": certificate.primal,
        "lower_bound": certificate.dual,
        "relative_gap": certificate.relative_gap,
        "exact": certificate.exact,
    }
