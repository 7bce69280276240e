"""Feature dicts with vectors, from files that know lists only."""

from typing import Any

import numpy as np


def with_arrays(X: list[Any]) -> list[Any]:
    """Return feature dicts whose lists of numbers are arrays."""
    return [
        [
            {k: np.array(v) if isinstance(v, list) else v for k, v in token.items()}
            for token in own
        ]
        for own in X
    ]
