"""Sequences for tests of hidden Markov models: small ones, and noisy ones."""

import numpy as np

X = [["walk", "shop", "clean"], ["clean", "clean", "walk"], ["shop", "walk"]]
Y = [["sun", "sun", "rain"], ["rain", "rain", "sun"], ["sun", "sun"]]


def noisy(
    count: int, seed: int, blur: float
) -> tuple[list[list[str]], list[list[str]]]:
    """Draw states 0, 1, 2 that seldom change, with symbols that often lie."""
    rng = np.random.default_rng(seed)
    symbols, states = [], []
    for _ in range(count):
        state, xs, ys = int(rng.integers(3)), [], []
        for _ in range(4):
            state = state if rng.random() < 0.8 else int(rng.integers(3))
            ys.append(str(state))
            xs.append(f"o{state if rng.random() >= blur else int(rng.integers(3))}")
        symbols.append(xs)
        states.append(ys)
    return symbols, states
