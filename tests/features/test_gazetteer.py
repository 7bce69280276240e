"""Gazetteers: their files, and what is found of them in sentences."""

import gzip
import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.data import read_gazetteer
from partwise.errors import DataError
from partwise.features import Gazetteer, Resources

# Files


def test_gazetteer_file_names_a_type_in_each_line(tmp_path: Path) -> None:
    text = "# places\nLOC\tNew   York\n\nLOC\tRome\nPER\tAda Lovelace \nLOC\tRome\n"
    expected = {"LOC": ["New York", "Rome", "Rome"], "PER": ["Ada Lovelace"]}
    assert read_gazetteer(io.StringIO(text)) == expected
    (tmp_path / "all.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert read_gazetteer(tmp_path / "all.tsv.gz") == expected


@pytest.mark.parametrize(
    ("name", "type"),
    [("people.txt", "people"), ("big cities.txt.gz", "big_cities"), ("PER", "PER")],
)
def test_gazetteer_plain_phrases_have_the_name_of_the_file(
    tmp_path: Path, name: str, type: str
) -> None:
    (tmp_path / name).write_text("Ada Lovelace\nÉva\n", encoding="utf-8")
    assert read_gazetteer(tmp_path / name) == {type: ["Ada Lovelace", "Éva"]}
    assert read_gazetteer(tmp_path / name, type="X") == {"X": ["Ada Lovelace", "Éva"]}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("LOC\tRome\nParis\n", 2, "expected a type, one tab and a phrase"),
        ("LOC\tRome\nLOC\t\n", 2, "expected a type, one tab and a phrase"),
        ("LOC\tRome\n\tParis\n", 2, "expected a type, one tab and a phrase"),
        ("LOC\tRome\nLOC\tNew\tYork\n", 2, "expected a type, one tab and a phrase"),
        ("# x\nRome\n\nLOC\tParis\n", 4, "a tab, but the lines before have none"),
        ("LOC\tRome\nA]\tParis\n", 2, "the type 'A]' must be one word"),
        ("LOC\tRome\nA B\tParis\n", 2, "the type 'A B' must be one word"),
        ("LOC\tRome\n100%\tParis\n", 2, "the type '100%' must be one word"),
    ],
)
def test_gazetteer_malformed_line_is_named(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = tmp_path / "places.txt"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_gazetteer(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert message in str(caught.value)


def test_gazetteer_file_must_be_readable(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_gazetteer(tmp_path / "nowhere.txt")
    with pytest.raises(DataError, match="holds no phrases"):
        read_gazetteer(io.StringIO("# nothing\n\n"))
    with pytest.raises(DataError, match="give type="):
        read_gazetteer(io.StringIO("Rome\n"))
    with pytest.raises(DataError, match="leave type='LOC' out"):
        read_gazetteer(io.StringIO("LOC\tRome\n"), type="LOC")
    (tmp_path / "latin.txt").write_bytes(b"Rome\nM\xe1laga\n")
    with pytest.raises(DataError, match=r"latin\.txt:2: .*not valid UTF-8"):
        read_gazetteer(tmp_path / "latin.txt")


@pytest.mark.parametrize(
    ("phrases", "error"),
    [
        ({}, ValueError),
        ({"LOC": []}, ValueError),
        ({"LOC": ["Rome", " "]}, ValueError),
        ({"two words": ["Rome"]}, ValueError),
        ({"LOC": "Rome"}, TypeError),
    ],
)
def test_gazetteer_refuses_what_finds_nothing(
    phrases: dict[str, list[str]], error: type[Exception]
) -> None:
    with pytest.raises(error):
        Gazetteer(phrases)


# Matching, against a slow and obvious reference


def reference(sentence: list[str], phrases: set[tuple[str, ...]]) -> list[str]:
    """Mark the longest phrases, from left to right."""
    marks = []
    while len(marks) < len(sentence):
        t = len(marks)
        rest = [p for p in phrases if tuple(sentence[t : t + len(p)]) == p]
        length = max(map(len, rest), default=0)
        marks += ["B"] + ["I"] * (length - 1) if length else [""]
    return marks


words = st.sampled_from(["a", "b", "c", "A"])
phrase_sets = st.sets(
    st.lists(words, min_size=1, max_size=4).map(tuple), min_size=1, max_size=8
)
corpora = st.lists(st.lists(words, max_size=8), max_size=4)


@given(phrase_sets, corpora, st.booleans())
def test_gazetteer_marks_the_longest_phrases(
    phrases: set[tuple[str, ...]], corpus: list[list[str]], ignore_case: bool
) -> None:
    gazetteer = Gazetteer({"X": map(" ".join, phrases)}, ignore_case)
    flat = [word for sentence in corpus for word in sentence]
    ptr = np.cumsum([0, *map(len, corpus)])
    marks = gazetteer.mark("X", flat, ptr)
    if ignore_case:
        phrases = {tuple(map(str.lower, phrase)) for phrase in phrases}
        corpus = [list(map(str.lower, sentence)) for sentence in corpus]
    found = [marks[a:b] for a, b in pairwise(ptr.tolist())]
    assert found == [reference(sentence, phrases) for sentence in corpus]


def test_gazetteer_tags_each_type_for_itself() -> None:
    gazetteer = Gazetteer({"LOC": ["New York"], "ORG": ["New York Times", "York"]})
    assert gazetteer.tags(["New", "York", "Times", "in", "York"]) == [
        ["B-LOC", "B-ORG"], ["I-LOC", "I-ORG"], ["I-ORG"], [], ["B-ORG"]
    ]  # fmt: skip
    assert gazetteer.tags([]) == []


def test_gazetteers_of_one_type_add_up() -> None:
    cased = Gazetteer({"LOC": ["Rome", "New York"]})
    other = Gazetteer({"LOC": ["york city", "rome"]}, ignore_case=True)
    sentence = ["New", "York", "City", "ROME", "in"]
    for gazetteers in [(cased, other), (other, cased)]:
        resources = Resources(gazetteers)
        assert resources.types == ("LOC",)
        marks = resources.column("gazetteer:LOC", sentence, np.array([0, 5]))
        assert marks == ["B", "B", "I", "B", ""]
