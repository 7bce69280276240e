"""The parts of pipelines: edit scripts, bundles, paragraphs, and the text of tokens."""

import io
import random

import pytest

from partwise.data import read_paragraphs
from partwise.data.surface import escape_spaces, unescape_spaces
from partwise.data.text_files import LONGEST, cut_paragraphs
from partwise.estimators.pipeline.bundles import Bundles
from partwise.estimators.pipeline.edit_scripts import (
    apply_script,
    apply_split,
    edit_script,
    split_script,
)

WORDS = ["dog", "Dogs", "najlepši", "lep", "IBM", "ran", "went", "İstanbul", "a", "ß"]


def test_edit_scripts_turn_any_word_into_any_other() -> None:
    for source in WORDS:
        for target in WORDS:
            assert apply_script(edit_script(source, target), source) == target


@pytest.mark.parametrize(
    ("script", "word", "made"),
    [
        ("lower 0+ 1+", "Cats", "cat"),
        ("title 0+ 1+", "PARISA", "Paris"),
        ("lower 3+ 2+", "cat", None),
        ("lower x+ 2+", "cat", None),
        ("nonsense", "cat", None),
    ],
)
def test_edit_scripts_fit_or_not(script: str, word: str, made: str | None) -> None:
    assert apply_script(script, word) == made


@pytest.mark.parametrize(
    ("token", "words", "other", "expected"),
    [
        ("don't", ["do", "n't"], "DON'T", ["DO", "N'T"]),
        ("dog's", ["dog", "'s"], "Anna's", ["Anna", "'s"]),
        ("del", ["de", "el"], "Del", ["De", "el"]),
        ("wabayt", ["wa", "bayt"], "wakitab", ["wa", "kitab"]),
        ("dámelo", ["da", "me", "lo"], "dámelo", ["da", "me", "lo"]),
    ],
)
def test_split_scripts_carry_over_to_other_tokens(
    token: str, words: list[str], other: str, expected: list[str]
) -> None:
    script = split_script(token, words)
    assert apply_split(script, token) == words
    assert apply_split(script, other) == expected


def test_split_scripts_with_endless_numbers_do_not_fit() -> None:
    assert apply_split("9" * 5000 + " keep 0+ 1+ x", "del") is None


def test_bundles_join_what_they_split() -> None:
    rng = random.Random(0)
    names = {"Case": "Nom Gen Dat".split(), "Number": "Sing Plur".split()}
    names |= {"Gender": "Fem Masc Neut".split(), "abbr": ["Yes"]}
    feats = ["_"]
    for _ in range(60):
        chosen = [n for n in names if rng.random() < 0.7]
        cells = sorted((f"{n}={rng.choice(names[n])}" for n in chosen), key=str.lower)
        feats.append("|".join(cells) or "_")
    positional = ["Ncmsg", "Z", "Va-r3s-n", "Ncfpa", "Rgp"]
    for labels in (feats, positional, ["a|b", "c", "d"]):
        for most in (1, 2, 4, 1000):
            bundles = Bundles.learn(labels, most)
            assert [bundles.join(bundles.split(one)) for one in labels] == labels
            parts = list(zip(*map(bundles.split, labels), strict=True))
            for group, part in zip(bundles.groups, parts, strict=True):
                assert len(group) < 2 or len(set(part)) <= most


TEXTS = [
    "One.\n\nTwo three.\n \t\nFour",
    "\n\n \n One\n\n\n\n",
    "   ",
    "",
    "a\r\n\r\nb\r\nc",
    "\ufeffOne.\n\nTwo",
    "x" * (LONGEST + 10) + " y",
    "one two " * 20_000,
]


@pytest.mark.parametrize("text", TEXTS)
def test_paragraphs_hold_every_character(text: str) -> None:
    found = list(cut_paragraphs([text]))
    plain = text.removeprefix("\ufeff")
    together = "".join(one.text for one in found)
    assert plain.startswith(together)
    assert not plain[len(together) :].strip()
    assert all(one.text.strip() and len(one.text) <= LONGEST + 1 for one in found)
    for one in found:
        assert plain[one.start : one.start + len(one.text)] == one.text


@pytest.mark.parametrize("text", TEXTS[:6])
def test_paragraphs_are_the_same_from_a_stream(text: str) -> None:
    class Slow(io.RawIOBase):
        """Gives a byte at a time, as a slow pipe does."""

        def __init__(self) -> None:
            self.left = text.encode()

        def readable(self) -> bool:
            return True

        def read1(self, size: int = -1) -> bytes:
            first, self.left = self.left[:1], self.left[1:]
            return first

    whole = [one[:3] for one in cut_paragraphs([text])]
    assert [one[:3] for one in read_paragraphs(Slow())] == whole  # type: ignore[arg-type]


def test_spaces_survive_escaping() -> None:
    spaces = "".join(c for c in map(chr, range(0x3001)) if c.isspace()) + "|\\ u00A0"
    escaped = escape_spaces(spaces)
    assert unescape_spaces(escaped) == spaces
    assert len(escaped.splitlines()) == 1
    assert not set("|\t ") & set(escaped)
    assert unescape_spaces(r"\u00A0\s") == "\u00a0 "
