"""A small world: rain, a hose, and whether the grass is wet."""

import numpy as np

GRAPH = [("season", "rain"), ("season", "hose"), ("rain", "grass"), ("hose", "grass")]
NAMES = ["season", "rain", "hose", "grass"]


def lawn(count: int, seed: int = 0) -> list[dict[str, str]]:
    """Draw rows of a small world."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        summer = rng.random() < 0.5
        rain = rng.random() < (0.2 if summer else 0.7)
        hose = rng.random() < (0.6 if summer and not rain else 0.1)
        wet = rng.random() < (0.95 if rain or hose else 0.05)
        values = [summer, rain, hose, wet]
        words = [("winter", "summer"), ("no", "yes"), ("off", "on"), ("dry", "wet")]
        drawn = [pair[value] for pair, value in zip(words, values, strict=True)]
        rows.append(dict(zip(NAMES, drawn, strict=True)))
    return rows
