"""Measures agree with their references, tuning with trying everything."""

import numpy as np
import pytest
from benchmarks.translation import mert
from benchmarks.translation.beam_search import Limits
from benchmarks.translation.bleu import (
    all_counts,
    bleu_counts,
    corpus_bleu,
    sentence_bleu,
    total_bleu,
)
from benchmarks.translation.dense_features import FIRST_GUESS, N_DENSE
from benchmarks.translation.features import DENSE_ONLY
from benchmarks.translation.invented import invent_bitext
from benchmarks.translation.lattices import join_lattices
from benchmarks.translation.nbest import dense_matrix, list_best, merge
from benchmarks.translation.nist import nist, nist_sums
from benchmarks.translation.pseudo_references import find_pseudo_references
from benchmarks.translation.significance import p_value
from benchmarks.translation.translation_model import learn_translation
from numpy.testing import assert_allclose

import problems

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)


def some_sentences(rng, n, longest=9):
    return [rng.integers(3, 9, size=rng.integers(1, longest)) for _ in range(n)]


def as_text(words):
    return " ".join(f"w{k}" for k in words)


def test_translation_bleu_agrees_with_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    rng = np.random.default_rng(0)
    hypotheses, references = some_sentences(rng, 40), some_sentences(rng, 40)
    hypotheses[:20] = [r[:-1] if r.size > 1 else r for r in references[:20]]
    texts = [as_text(h) for h in hypotheses], [as_text(r) for r in references]
    expected = sacrebleu.corpus_bleu(texts[0], [texts[1]], tokenize="none", force=True)
    assert_allclose(total_bleu(hypotheses, references), expected.score, atol=1e-9)
    metric = sacrebleu.BLEU(tokenize="none", effective_order=True, force=True)
    ours = sentence_bleu(all_counts(hypotheses, np.arange(40), references))
    theirs = [metric.sentence_score(h, [r]).score for h, r in zip(*texts, strict=True)]
    assert_allclose(ours, theirs, atol=1e-9)
    assert np.ptp(ours) > 50
    assert sentence_bleu(bleu_counts(np.zeros(0), references[0]))[0] == 0.0


def test_translation_nist_agrees_with_nltk():
    nist_score = pytest.importorskip("nltk.translate.nist_score")
    rng = np.random.default_rng(1)
    hypotheses, references = some_sentences(rng, 30, 12), some_sentences(rng, 30, 12)
    hypotheses[:15] = [r[: max(r.size - 2, 1)] for r in references[:15]]
    hypotheses = [np.resize(h, max(h.size, 5)) for h in hypotheses]
    expected = nist_score.corpus_nist(
        [[r.tolist()] for r in references], [h.tolist() for h in hypotheses], n=5
    )
    assert_allclose(nist(nist_sums(hypotheses, references).sum(0)), expected)
    assert expected > 0.5


def test_translation_significance_knows_chance_from_skill():
    rng = np.random.default_rng(2)
    references = some_sentences(rng, 60, 12)
    noisy = [np.where(rng.random(r.size) < 0.3, 99, r) for r in references]
    alike = [np.where(rng.random(r.size) < 0.3, 99, r) for r in references]
    own, first, second = (
        all_counts(some, np.arange(60), references)
        for some in (references, noisy, alike)
    )
    assert p_value(own, first, corpus_bleu, 500) < 0.01
    assert p_value(first, second, corpus_bleu, 500) > 0.05


def random_lists(rng, n_sentences=6, k=5, width=3):
    references = some_sentences(rng, n_sentences, 12)
    owner = np.repeat(np.arange(n_sentences), k)
    hypotheses = [
        np.where(rng.random(references[i].size) < rng.random(), 99, references[i])
        for i in owner
    ]
    features = rng.normal(size=(owner.size, width))
    return features, all_counts(hypotheses, owner, references), owner


def test_translation_mert_line_search_is_exact():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        features, counts, owner = random_lists(rng)
        ptr = np.searchsorted(owner, np.arange(7))
        w, direction = rng.normal(size=3), rng.normal(size=3)
        step, bleu = mert.line_search(w, direction, features, counts, ptr)
        assert_allclose(mert.bleu_of(w + step * direction, features, counts, ptr), bleu)
        for t in np.linspace(-20, 20, 400):
            tried = mert.bleu_of(w + t * direction, features, counts, ptr)
            assert tried <= bleu + 1e-9


def test_translation_mert_tuning_climbs():
    features, counts, owner = random_lists(np.random.default_rng(5), 8)
    tuned = mert.tune(np.ones(3), features, counts, owner, n_restarts=3)
    ptr = np.searchsorted(owner, np.arange(9))
    assert (np.diff(tuned.history) >= 0).all()
    assert tuned.bleu > mert.bleu_of(np.ones(3), features, counts, ptr)
    assert_allclose(mert.bleu_of(tuned.w, features, counts, ptr), tuned.bleu)


@pytest.fixture(scope="module")
def translated():
    model = learn_translation(invent_bitext(40), longest=3)
    other = invent_bitext(4, random_state=1)
    references = [model.target_words.number_all(e) for e in other.target]
    lattices = model.lattices(other.source, FIRST_GUESS, Limits(6, 3.0, 5))
    return join_lattices(lattices, DENSE_ONLY), references


def test_translation_nbest_lists_different_words_in_order(translated):
    corpus, references = translated
    dense = dense_matrix(corpus)
    found = list_best(corpus, references, dense, FIRST_GUESS, 8)
    for i in range(len(references)):
        own = np.flatnonzero(found.owner == i)
        assert (np.diff(found.features[own] @ FIRST_GUESS) <= 1e-9).all()
        assert len({found.words[h].tobytes() for h in own}) == own.size > 1
        for h in own:
            edges = corpus.ptr[i] + np.array(found.paths[h])
            assert_allclose(found.features[h], dense[edges].sum(0))
    twice = merge(found, found)
    assert twice.owner.tolist() == found.owner.tolist()
    assert found.features.shape == (found.owner.size, N_DENSE)


def test_translation_pseudo_references_are_the_best_there_are(translated):
    corpus, references = translated
    everything = list_best(corpus, references, dense_matrix(corpus), FIRST_GUESS, 5000)
    found = find_pseudo_references(
        corpus, references, FIRST_GUESS, k=200, n_good=3, slack=20.0
    )
    all_bleu = sentence_bleu(everything.counts)
    for i in range(len(references)):
        best = all_bleu[everything.owner == i].max()
        assert_allclose(found.bleu[i][0], best)
        assert (np.diff(found.bleu[i]) <= 0).all()
        assert (found.bleu[i] >= best - 20.0).all()
        assert len(found.paths[i]) <= 3
    assert found.corpus_bleu <= 100
    corpus.structure(found.paths, by_words=True)  # paths that the library takes
