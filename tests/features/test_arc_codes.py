"""Codes of words for arc features: what they depend on, and on nothing else."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from partwise.data import Sentence
from partwise.features import arc_codes
from partwise.features.arc_codes import (
    AGREEMENT_TEMPLATE,
    ARC_TEMPLATES,
    ATTRIBUTES,
    BETWEEN_TEMPLATE,
    CODES,
    HEAD_TEMPLATES,
    LABEL_CLASS,
    MODIFIER_TEMPLATES,
    PAIR_TEMPLATES,
    REACH,
    code_index,
    encode_words,
    hash_text,
    phrase_markers,
)

COLUMNS = {"w": "forms", "l": "lemmas", "u": "upos", "x": "xpos", "m": "feats"}


def sentence(**columns: Any) -> Sentence:
    given = {
        "forms": ["Old", "dogs", "bark"],
        "lemmas": ["old", "dog", "bark"],
        "upos": ["ADJ", "NOUN", "VERB"],
        "xpos": ["JJ", "NNS", "VBP"],
        "feats": ["_", "Case=Nom|Number=Plur", "Number=Plur|Person=3"],
    }
    return Sentence.from_columns(**(given | columns))


def changed_codes(one: Sentence, other: Sentence) -> dict[int, set[str]]:
    """Return the names of the codes that differ, by row."""
    a, b = encode_words([one]).codes, encode_words([other]).codes
    names = np.array(list(CODES))
    return {p: set(names[row]) for p, row in enumerate(a != b) if row.any()}


@pytest.mark.parametrize("letter", COLUMNS)
def test_arc_codes_depend_on_just_the_columns_they_name(letter: str) -> None:
    column = COLUMNS[letter]
    cells = list(getattr(sentence(), column))
    # The end is the same: suffixes stay as they are.
    cells[1] = "Case=Dat" if letter == "m" else "x" + cells[1]
    found = changed_codes(sentence(), sentence(**{column: cells}))
    seen = {letter, "c"} if letter == "m" else {letter}
    expected = {
        2 - shift: {
            name
            for name, letters in CODES.items()
            if any(one + mark in letters for one in seen)
        }
        for mark, shift in (("", 0), ("-1", -1), ("+1", 1), ("-2", -2), ("+2", 2))
    }
    assert found == {p: names for p, names in expected.items() if names and p <= 3}


def test_arc_codes_of_a_suffix_see_its_letters_only() -> None:
    one, other = sentence(), sentence(forms=["Old", "hogs", "bark"])
    s = code_index("s")
    for letters, same in ((3, True), (4, False)):
        a, b = (encode_words([x], letters).codes[2, s] for x in (one, other))
        assert (a == b) == same
    upper = encode_words([sentence(forms=["Old", "DOGS", "bark"])]).codes[2, s]
    assert upper == encode_words([one]).codes[2, s]


def test_arc_codes_take_what_is_not_given_from_elsewhere() -> None:
    none = ["_"] * 3
    only_fine = sentence(upos=none)
    assert_array_equal(
        encode_words([only_fine]).codes,
        encode_words([sentence(upos=sentence().xpos)]).codes,
    )
    only_coarse = encode_words([sentence(xpos=none)]).codes
    same = encode_words([sentence(xpos=sentence().upos)]).codes
    assert_array_equal(only_coarse, same)
    no_lemma = encode_words([sentence(lemmas=none)]).codes
    lower = encode_words([sentence(lemmas=["old", "dogs", "bark"])]).codes
    assert_array_equal(no_lemma, lower)


def test_arc_codes_do_not_depend_on_other_sentences() -> None:
    empty = Sentence.from_columns(forms=[])
    some = [sentence(), empty, sentence(forms=["a", "b", "c"]), empty]
    together = encode_words(some)
    for field in ("codes", "tags", "attributes"):
        apart = [getattr(encode_words([one]), field) for one in some]
        assert_array_equal(getattr(together, field), np.concatenate(apart))
    assert together.lengths.tolist() == [3, 0, 3, 0]
    assert encode_words([]).codes.shape == (0, len(CODES))


def test_arc_codes_tell_the_root_from_any_word() -> None:
    codes = encode_words([sentence()]).codes
    own = [code_index(name) for name, letters in CODES.items() if letters]
    assert (codes[0, own] != codes[1:, own]).all()
    assert (codes[:, code_index("any")] == codes[0, code_index("any")]).all()


def test_arc_codes_attributes_are_zero_where_there_are_none() -> None:
    attributes = encode_words([sentence()]).attributes
    case, number, person = map(ATTRIBUTES.index, ("Case", "Number", "Person"))
    assert not attributes[:2].any()
    assert np.flatnonzero(attributes[2]).tolist() == [case, number]
    assert np.flatnonzero(attributes[3]).tolist() == [number, person]
    assert attributes[2, number] == attributes[3, number]


@given(st.text(min_size=1).filter(lambda text: not set(text) & set("\t\n\r")))
def test_arc_codes_of_any_text_are_codes(text: str) -> None:
    """With surrogates too, as files in another encoding give them."""
    for odd in (text, text + "\udcff"):
        words = Sentence.from_columns(
            forms=[odd], lemmas=[odd], upos=[odd], xpos=[odd], feats=[odd]
        )
        encoded = encode_words([words])
        assert encoded.codes.dtype == encoded.tags.dtype == np.int32
        assert (encoded.codes >= 0).all()
        assert ((encoded.tags >= 0) & (encoded.tags < 2**15)).all()


@pytest.mark.parametrize("feats", ["Case", "=", "Case=", "Case=Nom|Case=Dat", "|", "a"])
def test_arc_codes_survive_odd_morphology(feats: str) -> None:
    encoded = encode_words([Sentence.from_columns(forms=["a"], feats=[feats])])
    assert encoded.attributes.shape == (2, len(ATTRIBUTES))


def test_arc_codes_are_the_same_in_every_program() -> None:
    """A saved model would be worthless otherwise: Python's own hashes are salted."""
    program = (
        "from partwise.data import Sentence\n"
        "from partwise.features.arc_codes import encode_words\n"
        "words = Sentence.from_columns(forms=['Paris'], feats=['Case=Nom'])\n"
        "print(encode_words([words]).codes.tolist())"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    words = Sentence.from_columns(forms=["Paris"], feats=["Case=Nom"])
    here = f"{encode_words([words]).codes.tolist()}\n"
    assert texts == [here, here]
    assert hash_text("Paris") == 1475208422


def test_arc_codes_templates_name_codes_that_there_are() -> None:
    pairs = [*ARC_TEMPLATES, *PAIR_TEMPLATES, BETWEEN_TEMPLATE, AGREEMENT_TEMPLATE]
    named = {name for pair in pairs for name in pair}
    named |= {*MODIFIER_TEMPLATES, *HEAD_TEMPLATES, LABEL_CLASS}
    assert named <= set(CODES)
    assert len(set(ARC_TEMPLATES)) == len(ARC_TEMPLATES)


def test_arc_codes_of_pairs_are_the_same_for_all_words_of_a_class() -> None:
    """What labels demand: words of a class share the rows of their pairs."""
    known = set(CODES[LABEL_CLASS])
    for pair in PAIR_TEMPLATES:
        for name in pair:
            assert set(CODES[name]) <= known


def test_arc_codes_rarely_collide() -> None:
    forms = [f"word{j}" for j in range(5000)]
    codes = encode_words([Sentence.from_columns(forms=forms)]).codes
    assert len(np.unique(codes[:, arc_codes.code_index("wx")])) >= 4998


def test_arc_codes_of_a_marker_reach_the_end_of_its_phrase() -> None:
    words = Sentence.from_columns(
        forms="He slept In the old red house , near trees".split(),
        upos="PRON VERB ADP DET ADJ ADJ NOUN PUNCT ADP NOUN".split(),
    )
    expected = "_ _ _ in in in in _ _ near".split()
    expected[7] = "in"  # the comma itself still sees it, what follows does not
    assert phrase_markers(words) == expected


def test_arc_codes_of_a_marker_do_not_reach_far() -> None:
    tags = ["IN", *["JJ"] * 7]
    words = Sentence.from_columns(forms=[*"ofabcdefg"[1:]], xpos=tags)
    assert phrase_markers(words) == ["_", *["f"] * REACH, "_", "_"]
