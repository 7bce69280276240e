"""The dense, or blanket, features of edges: 14 scores that any phrase has."""

from __future__ import annotations

import numpy as np

BACKWARD, FORWARD, LANGUAGE_MODEL, PHRASE_SCORES = 0, 3, 6, 7
N_WORDS, N_PHRASES, DISTORTION = 11, 12, 13
N_DENSE = 14
DENSE_NAMES = [
    *(f"{way} {kind}" for way in ("backward", "forward")
      for kind in ("monotone", "swap", "discontinuous")),
    "language model", "p(e|f)", "p(f|e)", "lexical e|f", "lexical f|e", "words",
    "phrases", "distortion",
]  # fmt: skip
FIRST_GUESS = np.array(
    [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.5, 0.2, 0.2, 0.2, 0.2, 0.7, -0.2, 0.1]
)
