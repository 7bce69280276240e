"""Words are aligned, phrases found and scored, as their definitions say."""

import gzip
import itertools

import numpy as np
import pytest
from benchmarks.translation import extraction, phrase_table, vocabulary
from benchmarks.translation.bitext import Bitext, read_bitext
from benchmarks.translation.extraction import DISCONTINUOUS, MONOTONE, SWAP, extract
from benchmarks.translation.invented import invent_bitext
from benchmarks.translation.phrase_table import number_phrases, score_phrases
from benchmarks.translation.symmetrise import grow_diag_final
from benchmarks.translation.translation_model import learn_translation
from benchmarks.translation.vocabulary import Vocabulary
from benchmarks.translation.word_alignment import NOWHERE, align, make_cells, model_one
from numpy.testing import assert_allclose

import problems
from partwise.errors import DataError

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)


def numbered(sentences):
    words = Vocabulary(sentences)
    return words, [words.number(sentence) for sentence in sentences]


@pytest.fixture(scope="module")
def bitext():
    return invent_bitext(60)


def test_translation_model_one_is_a_distribution(bitext):
    _, source = numbered(bitext.source)
    _, target = numbered(bitext.target)
    cells = make_cells(source, target)
    t = model_one(cells, 3)
    assert_allclose(np.bincount(cells.given, t)[np.unique(cells.given)], 1.0, atol=1e-6)
    # One pair of words alone in a sentence: so the others belong together.
    f, e = [np.array([0, 1]), np.array([1])], [np.array([0, 1]), np.array([1])]
    cells = make_cells(f, e)
    t = model_one(cells, 20)
    # The cells of the second sentence: nothing, and the word alone.
    assert t[cells.kind[cells.ptr[2] + 1]] > 0.9


def test_translation_alignment_never_becomes_less_likely(bitext):
    _, source = numbered(bitext.source)
    _, target = numbered(bitext.target)
    found = align(source, target, (2, 6))
    assert (np.diff(found.log_likelihoods) > 0).all()
    assert [a.size for a in found.places] == [e.size for e in target]


def test_translation_alignment_finds_translations(bitext):
    f_words, source = numbered(bitext.source)
    e_words, target = numbered(bitext.target)
    found = align(source, target).places
    right = {"dog": "chien", "red": "rouge", "jumps": "saute", "on": "sur"}
    hits = total = 0
    for f, e, places in zip(source, target, found, strict=True):
        for j, i in enumerate(places):
            wanted = right.get(e_words.words[e[j]])
            if wanted in [f_words.words[k] for k in f]:
                total += 1
                hits += i != NOWHERE and f_words.words[f[i]] == wanted
    assert hits / total > 0.9


def test_translation_symmetrised_links_are_of_either_direction():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, m = rng.integers(1, 6, size=2)
        to_source, to_target = rng.integers(-1, n, size=m), rng.integers(-1, m, size=n)
        links = grow_diag_final(to_source, to_target)
        one = {(i, j) for j, i in enumerate(to_source) if i >= 0}
        other = {(i, j) for i, j in enumerate(to_target) if j >= 0}
        assert one & other <= links <= one | other
        # Nothing is left that would link a word without a link.
        for i, j in (one | other) - links:
            assert any(link[0] == i for link in links)
            assert any(link[1] == j for link in links)


def spans_by_definition(links, n, m, longest):
    spans = itertools.product(range(n), range(1, n + 1), range(m), range(1, m + 1))
    for i0, i1, j0, j1 in spans:
        if not 0 < i1 - i0 <= longest or not 0 < j1 - j0 <= longest:
            continue
        inside = [(i0 <= i < i1, j0 <= j < j1) for i, j in links]
        if any(a and b for a, b in inside) and all(a == b for a, b in inside):
            yield i0, i1, j0, j1


def test_translation_phrases_are_the_consistent_ones():
    rng = np.random.default_rng(1)
    for _ in range(40):
        n, m = (int(size) for size in rng.integers(1, 6, size=2))
        links = {(int(rng.integers(n)), int(rng.integers(m))) for _ in range(4)}
        found = extract([links], [n], [m], longest=3)
        spans = list(zip(*(column.tolist() for column in found[1:5]), strict=True))
        assert len(spans) == len(set(spans))
        assert set(spans) == set(spans_by_definition(links, n, m, 3))


def test_translation_orientations_are_those_of_the_corners():
    # a b c -> A C B: the last two change places.
    found = extract([{(0, 0), (1, 2), (2, 1)}], [3], [3], longest=1)
    kinds = dict(
        zip(
            found.source_begin.tolist(),
            zip(found.backward.tolist(), found.forward.tolist(), strict=True),
            strict=True,
        )
    )
    assert kinds[0] == (MONOTONE, DISCONTINUOUS)
    assert kinds[2] == (DISCONTINUOUS, SWAP)
    assert kinds[1] == (SWAP, DISCONTINUOUS)
    assert extraction.MONOTONE == 0


def phrases_of(links, source, target):
    sizes = [f.size for f in source], [e.size for e in target]
    return number_phrases(extract(links, *sizes), links, source, target)


def test_translation_phrase_scores_are_relative_frequencies():
    # One word, translated twice as 7 and once as 8; a second word always as 8.
    source = [np.array([3])] * 3 + [np.array([4])]
    target = [np.array([7]), np.array([7]), np.array([8]), np.array([8])]
    phrases = phrases_of([{(0, 0)}] * 4, source, target)
    table = score_phrases(phrases)
    f = phrases.source_number[(3,)]
    own = slice(table.ptr[f], table.ptr[f + 1])
    words = [phrases.target_words[e] for e in phrases.target[table.pair[own]]]
    assert words == [(7,), (8,)]
    assert_allclose(np.exp(table.scores[own, 0]), [2 / 3, 1 / 3])
    assert_allclose(np.exp(table.scores[own, 1]), [1, 1 / 2])
    assert_allclose(np.exp(table.scores[own, 2]), [2 / 3, 1 / 3])  # w(e|f)
    for first in (4, 7):
        assert_allclose(np.exp(table.scores[:, first : first + 3]).sum(1), 1.0)
    without = score_phrases(phrases, np.array([True, False, True, False]))
    own = slice(without.ptr[f], without.ptr[f + 1])
    assert_allclose(np.exp(without.scores[own, 0]), [1.0])
    assert score_phrases(phrases, limit=1).pair.size == 2


def test_translation_lexical_weight_is_the_mean_over_links():
    source, target = [np.array([3, 4])], [np.array([7])]
    e_logs = phrase_table.lexical_logs([{(0, 0), (1, 0)}], source, target)[1]
    assert_allclose(np.exp(e_logs), [1.0])  # (w(7|3) + w(7|4)) / 2
    f_logs = phrase_table.lexical_logs([{(0, 0), (1, 0)}], source, target)[0]
    assert_allclose(np.exp(f_logs), [0.5, 0.5])


def test_translation_bitext_sides_must_match(tmp_path):
    one, other = tmp_path / "a.fr", tmp_path / "a.en"
    one.write_text("un chien\n\nune rue\n", encoding="utf-8")
    other.write_text("a dog\nnothing\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"3 lines and .* has 2"):
        read_bitext(one, other)
    other.write_text("a dog\nnothing\na street\n", encoding="utf-8")
    read = read_bitext(one, other)
    assert read.source == [["un", "chien"], ["une", "rue"]]
    assert read.n_left_out == 1
    assert len(read_bitext(one, other, keep_empty=True).source) == 3
    one.write_bytes(b"\xff\n\n\n")
    with pytest.raises(DataError, match="UTF-8"):
        read_bitext(one, other)
    one.write_text("\n\n\n")
    with pytest.raises(DataError, match="no pair"):
        read_bitext(one, other)


def test_translation_bitext_is_read_however_it_was_written(tmp_path):
    one, other = tmp_path / "a.fr", tmp_path / "a.en"
    text = "L'été 😀\r\n\r\nOui".encode()
    other.write_text("Summer 😀\nnothing\nYes\n", encoding="utf-8")
    zipped = gzip.compress(text)
    for written in (text, b"\xef\xbb\xbf" + text, zipped):  # also with a mark
        one.write_bytes(written)
        read = read_bitext(str(one), other)
        assert read.source == [["L'été", "😀"], ["Oui"]]
    one.write_bytes(zipped[:-12])
    with pytest.raises(DataError, match=r"a\.fr"):
        read_bitext(one, other)
    with pytest.raises(DataError, match="no such file"):
        read_bitext(tmp_path / "b.fr", other)


def test_translation_learns_from_nothing_empty():
    for bitext in (Bitext([], []), Bitext([["un"], []], [["a"], ["b"]])):
        with pytest.raises(DataError, match="none of them empty"):
            learn_translation(bitext)


def test_translation_vocabulary_has_room_for_so_many(monkeypatch):
    monkeypatch.setattr(vocabulary, "WIDTH", 5)
    words = Vocabulary([["a", "b"]])
    assert words.add("b") == 4
    with pytest.raises(ValueError, match="room for 5"):
        words.add("c")
