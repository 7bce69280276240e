"""What is said of the phrases that a parser looks at."""

from __future__ import annotations

from typing import Any


def told_of_pruning(parser: Any) -> dict[str, str]:
    """Say what pruning left, if there was any: of training and development data."""
    return {
        f"pruned {part}": f"{100 * left.phrases:.1f}% of all spans may be phrases; "
        f"{100 * left.oracle_brackets:.2f}% of the right brackets are among them"
        for part, left in (parser.pruning_ or {}).items()
    }
