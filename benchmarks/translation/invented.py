"""A small invented bitext, for when there is no other: captions of two languages.

Adjectives follow their nouns in one language and precede them in the other, articles
agree with nouns, and some words have two translations.
"""

from __future__ import annotations

import numpy as np

from benchmarks.translation.bitext import Bitext, Sentence

# French, its gender, and English; of several translations the first is likelier.
NOUNS = [
    ("homme", "un", ["man", "guy"]), ("femme", "une", ["woman", "lady"]),
    ("chien", "un", ["dog"]), ("fille", "une", ["girl"]), ("garçon", "un", ["boy"]),
    ("rue", "une", ["street", "road"]), ("maison", "une", ["house", "home"]),
    ("chapeau", "un", ["hat"]), ("voiture", "une", ["car"]), ("ballon", "un", ["ball"]),
    ("table", "une", ["table"]), ("arbre", "un", ["tree"]),
]  # fmt: skip
ADJECTIVES = [
    ("rouge", "red"), ("noir", "black"), ("jaune", "yellow"), ("calme", "quiet"),
    ("sale", "dirty"), ("mince", "thin"),
]  # fmt: skip
VERBS = [
    (["court"], ["runs", "is running"]), (["est", "assis"], ["sits", "is sitting"]),
    (["regarde"], ["watches", "looks at"]), (["saute"], ["jumps"]),
    (["se", "tient"], ["stands", "is standing"]),
]  # fmt: skip
PLACES = [
    (["dans"], ["in", "inside"]), (["sur"], ["on"]),
    (["devant"], ["in front of", "before"]), (["près", "de"], ["near", "next to"]),
]  # fmt: skip
LIKELIER = 0.75


def invent_bitext(n: int, random_state: int = 0) -> Bitext:
    """Return so many pairs of sentences."""
    rng = np.random.default_rng(random_state)

    def choose(several: list[str]) -> list[str]:
        likelier = len(several) == 1 or rng.random() < LIKELIER
        return several[0 if likelier else 1].split()

    def thing() -> tuple[Sentence, Sentence]:
        noun, article, translations = NOUNS[rng.integers(len(NOUNS))]
        french, english = [article, noun], choose(translations)
        if rng.random() < 0.6:
            adjective, other = ADJECTIVES[rng.integers(len(ADJECTIVES))]
            french.append(adjective)
            english = [other, *english]
        return french, ["a", *english]

    def pair() -> tuple[Sentence, Sentence]:
        (f1, e1), (f2, e2) = thing(), thing()
        verb, verb_translations = VERBS[rng.integers(len(VERBS))]
        place, place_translations = PLACES[rng.integers(len(PLACES))]
        english = [*e1, *choose(verb_translations), *choose(place_translations), *e2]
        return [*f1, *verb, *place, *f2, "."], [*english, "."]

    pairs = [pair() for _ in range(n)]
    return Bitext([f for f, _ in pairs], [e for _, e in pairs])
