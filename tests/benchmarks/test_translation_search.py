"""The language model is one, and beam search without limits finds everything."""

import numpy as np
import pytest
from benchmarks.translation.beam_search import NO_OPTION, Limits, translate
from benchmarks.translation.bitext import Bitext
from benchmarks.translation.dense_features import FIRST_GUESS, N_DENSE
from benchmarks.translation.invented import invent_bitext
from benchmarks.translation.language_model import (
    log_probability,
    train_language_model,
)
from benchmarks.translation.lattices import join_lattices
from benchmarks.translation.translation_model import coverage, learn_translation
from benchmarks.translation.vocabulary import BEGIN, END, UNKNOWN, WIDTH
from numpy.testing import assert_allclose

import problems
from translation_data import all_translations

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)
NO_LIMITS = Limits(stack=100_000, width=np.inf, edges=1_000_000)


@pytest.fixture(scope="module")
def model():
    return learn_translation(invent_bitext(40), longest=3)


@pytest.fixture(scope="module")
def few(model):
    """The same, with two translations for a phrase."""
    from benchmarks.translation.phrase_table import score_phrases

    return model._replace(table=score_phrases(model.table.phrases, limit=2))


def test_translation_language_model_sums_to_one():
    sentences = [np.array([3, 4, 3, 5]), np.array([3, 4]), np.array([5, 5, 5])]
    model = train_language_model(sentences, 7)
    words = [word for word in range(7) if word != BEGIN]  # nothing returns to it
    for a in range(7):
        for b in range(7):
            logs = [log_probability(model, a, b, word) for word in words]
            assert_allclose(np.exp(logs).sum(), 1.0, atol=1e-12)
    assert np.exp(log_probability(model, BEGIN, BEGIN, 3)) > 0.5
    # A word never seen is as likely as the unknown one.
    unseen = log_probability(model, 3, 4, 1000)
    assert unseen == log_probability(model, 3, 4, UNKNOWN) > -np.inf
    assert WIDTH**3 < 2**63


def test_translation_language_model_discounts_by_hand():
    # "3 4" three times, "3 5" once: D = 1 / (1 + 2 * 0), too few: one half.
    model = train_language_model([np.array([3, 4])] * 3 + [np.array([3, 5])], 6)
    # Words by the different words before them: 3, 4, 5 and the end (after 4 and 5).
    # One discount of 3 / (3 + 2 * 1) = 0.6 for all four kinds of five bigrams.
    p4 = (1 - 0.6) / 5 + 0.6 * 4 / 5 / 5
    assert_allclose(np.exp(model.unigram[4]), p4)
    assert_allclose(np.exp(model.unigram[END]), (2 - 0.6) / 5 + 0.6 * 4 / 5 / 5)


def test_translation_search_without_limits_finds_all(few):
    sentence = ["un", "chien", "rouge", "saute"]
    options = few.options(sentence)
    expected = {}
    lm = few.language_model
    for words, features in all_translations(options, lm, options.longest):
        score = features @ FIRST_GUESS
        expected[words] = max(expected.get(words, -np.inf), score)
    found = translate(options, lm, FIRST_GUESS, NO_LIMITS)
    corpus = join_lattices([(found, options)], few.space)
    n_paths = 0
    best = {}
    values = corpus.rows.val * FIRST_GUESS[np.minimum(corpus.rows.idx, N_DENSE - 1)]
    values[corpus.rows.idx >= N_DENSE] = 0.0
    scores = np.add.reduceat(values, corpus.rows.ptr[:-1])
    after = [np.flatnonzero(found.source == v) for v in range(found.n_nodes)]
    waiting = [(0, 0.0, ())]
    while waiting:
        node, score, words = waiting.pop()
        if node == found.n_nodes - 1:
            n_paths += 1
            best[words] = max(best.get(words, -np.inf), score)
        for e in after[node]:
            own = corpus.words_of(0, [e]).tolist()
            waiting.append((found.target[e], score + scores[e], (*words, *own)))
    all_of_them = list(all_translations(options, lm, options.longest))
    assert n_paths == len(all_of_them)
    assert best.keys() == expected.keys()
    for words, score in best.items():
        assert_allclose(score, expected[words], atol=1e-9)


def test_translation_search_keeps_the_best_of_a_narrow_beam(few):
    options = few.options(["une", "maison", "jaune", "."])
    lm = few.language_model
    wide = translate(options, lm, FIRST_GUESS, NO_LIMITS)
    cut = translate(options, lm, FIRST_GUESS, NO_LIMITS._replace(edges=2))
    narrow = translate(options, lm, FIRST_GUESS, Limits(stack=3, width=1.0, edges=2))
    assert wide.source.size > cut.source.size > 0
    texts = [best_text(few, found, options) for found in (wide, cut)]
    assert texts[0] == texts[1]
    for found in (cut, narrow):
        assert found.source.size <= 2 * (options.size + 1)
        assert (np.diff(found.source) >= 0).all()  # topological


def best_text(model, found, options):
    from benchmarks.translation.lattices import best_paths

    corpus = join_lattices([(found, options)], model.space)
    w = np.zeros(model.space.size)
    w[:N_DENSE] = FIRST_GUESS
    (path,) = best_paths(corpus.structure(), w)
    return model.text(corpus.words_of(0, path))


def test_translation_search_passes_unknown_words_through(model):
    sentences = [["un", "zèbre", "court"], ["xyz"], []]
    texts = []
    for sentence in sentences:
        options = model.options(sentence)
        found = translate(options, model.language_model, FIRST_GUESS, Limits())
        texts.append(best_text(model, found, options))
    assert "zèbre" in texts[0]
    assert texts[1:] == ["xyz", ""]
    assert coverage(model, [["zèbre", "chien"]]).words == 50.0
    assert coverage(model, [["chien"], ["xyz"]]).sentences == 50.0


def test_translation_search_refuses_what_is_too_long(model):
    options = model.options(["chien"])._replace(size=5000)
    with pytest.raises(ValueError, match="too long"):
        translate(options, model.language_model, FIRST_GUESS, Limits())


def test_translation_search_refuses_what_finds_nothing(model):
    options = model.options(["chien"])
    lm = model.language_model
    for limits in (Limits(stack=0), Limits(edges=0), Limits(width=-1.0)):
        with pytest.raises(ValueError, match="at least one"):
            translate(options, lm, FIRST_GUESS, limits)
    for w in (FIRST_GUESS[1:], np.where(FIRST_GUESS < 0, np.nan, FIRST_GUESS)):
        with pytest.raises(ValueError, match="14 finite weights"):
            translate(options, lm, w, Limits())


def test_translation_takes_marks_in_a_text_for_words():
    # A begin within a sentence is impossible, if it is one and not the word "<s>".
    marks = ["<s>", "</s>", "<unk>"]
    bitext = Bitext([["un", "<s>", "chien"], ["un"]], [["a", "<s>", "dog"], ["a"]])
    for some in (bitext, Bitext([["un"]], [["a"]])):
        model = learn_translation(some)
        lm = model.language_model
        for sentence in (marks, ["<s>"], ["un", "<s>"]):
            options = model.options(sentence)
            found = translate(options, lm, FIRST_GUESS, Limits())
            assert np.isfinite(found.language_model).all()
            text = best_text(model, found, options)
            assert {*text.split()} & {*marks} == {*sentence} & {*marks}


def test_translation_features_name_trigrams_and_phrases(few):
    options = few.options(["un", "chien"])
    found = translate(options, few.language_model, FIRST_GUESS, Limits())
    corpus = join_lattices([(found, options)], few.space)
    n_trigrams = few.space.trigrams.size
    for e in range(found.source.size):
        own = corpus.rows.idx[corpus.rows.ptr[e] : corpus.rows.ptr[e + 1]]
        is_trigram = (own >= N_DENSE) & (own < N_DENSE + n_trigrams)
        pairs = own[own >= N_DENSE + n_trigrams] - N_DENSE - n_trigrams
        o = found.option[e]
        if o == NO_OPTION:
            assert pairs.size == 0
            continue
        assert is_trigram.sum() <= options.word_ptr[o + 1] - options.word_ptr[o]
        plain, oriented = pairs
        assert plain == options.pair[o]
        assert oriented == few.space.n_pairs + 3 * plain + found.backward[e]


def test_translation_model_without_a_sentence_has_not_seen_it():
    bitext = invent_bitext(30)
    bitext.source[0].insert(0, "oiseau")
    bitext.target[0].insert(0, "bird")
    model = learn_translation(bitext, longest=2)
    assert "bird" in model.text(model.options(["oiseau"]).words)
    left_out = np.zeros(30, bool)
    left_out[0] = True
    other = model.without(left_out)
    assert model.text(other.options(["oiseau"]).words) == "oiseau"
    bird = model.target_words.number(["bird"])[0]
    assert other.language_model.unigram[bird] < model.language_model.unigram[bird]
