"""What is said of the arcs that a parser of second order looks at."""

from __future__ import annotations

from typing import Any


def told_of_pruning(parser: Any) -> dict[str, str]:
    """Say what pruning left, if there was any: of training and development data."""
    return {
        f"pruned {part}": f"{left.arcs_per_word:.1f} heads a word; the right one is "
        f"among them for {100 * left.oracle_heads:.2f}%"
        for part, left in (parser.pruning_ or {}).items()
    }
