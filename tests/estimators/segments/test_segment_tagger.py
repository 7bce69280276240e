"""Segment taggers: what they learn, what they refuse, and their files."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corruption import corruptions
from partwise import (
    Constraints,
    DataError,
    ModelFileError,
    SegmentTagger,
    SequenceTagger,
    WithVectors,
    WordVectors,
    load,
)
from partwise.estimators.segments.answers import spell
from partwise.features import Gazetteer
from partwise.features.phrase_table import PhraseTable
from partwise.metrics import segment_scores
from problems import plain_only

WORDS = [
    "Ada Lovelace met Alan Turing in New York".split(),
    "Alan Turing met Ada".split(),
    "he met Ada Lovelace in London".split(),
]
CUTS = [
    [(0, 2, "PER"), (3, 5, "PER"), (6, 8, "LOC")],
    [(0, 2, "PER"), (3, 4, "PER")],
    [(2, 4, "PER"), (5, 6, "LOC")],
]


def dicts(sentences: Any) -> Any:
    return [[{"word": w, "title": w.istitle()} for w in words] for words in sentences]


def arrays(sentences: Any) -> Any:
    return [
        np.array([[w.istitle(), len(w) / 5, 1.0] for w in words]) for words in sentences
    ]


FORMS: dict[str, Any] = {
    "template": (list, {"template": "words,shape", "whole_min_count": 1}),
    "dicts": (dicts, {"whole": ["word"], "gazetteers": [Gazetteer({"P": ["Ada"]})]}),
    "pairs": (dicts, {"pairs": "observed", "lengths": False, "max_length": 3}),
    "dense": (arrays, {"C": 10.0, "start": False}),
    "limits": (dicts, {"max_length": {"LOC": 4}, "segment_cost": 1.0, "end": False}),
}


def tagger(**settings: Any) -> SegmentTagger:
    return SegmentTagger(**{"C": 1.0, "tol": 0.3, "max_iter": 300, **settings})


def answers(model: SegmentTagger, X: Any) -> Any:
    return [
        model.predict(X),
        model.predict_kbest(X, 3),
        model.predict_spans(X),
        [shares.tolist() for shares in model.predict_marginals(X)],
        model.top_features(1000),
        model.transitions_.tolist(),
        model.limits_,
    ]


# --- learning ---------------------------------------------------------------------


@plain_only
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "log_loss"])
@pytest.mark.parametrize("form", ["dicts", "dense"])
def test_segment_tagger_learns_with_a_certificate(form: str, loss: str) -> None:
    make, settings = FORMS[form]
    model = tagger(loss=loss, **{**settings, "C": 100.0}).fit(make(WORDS), CUTS)
    assert model.certificate_ is not None
    assert model.certificate_.relative_gap <= 0.3
    assert model.score(make(WORDS), CUTS) == 1.0


@plain_only
def test_segment_tagger_reads_labels_that_spell_segments() -> None:
    spelled = [
        ["B-PER", "I-PER", "O", "B-PER", "I-PER", "O", "B-LOC", "I-LOC"],
        ["B-PER", "I-PER", "O", "B-PER"],
        ["O", "O", "S-PER", "O", "O", "U-LOC"],
    ]
    cuts = [*CUTS[:2], [(2, 3, "PER"), (5, 6, "LOC")]]
    X = dicts(WORDS)
    one, two = tagger().fit(X, cuts), tagger().fit(X, spelled)
    np.testing.assert_array_equal(one.weights_, two.weights_)


@plain_only
def test_segment_tagger_sees_what_no_chain_of_labels_can() -> None:
    """Scores of a chain are linear in the length of a run, and no line is so odd."""
    runs = [2, 3, 4] * 2
    X = [[["b"], *[["a"]] * n, ["b"]] for n in runs]
    cut = [[(1, 1 + n, "odd" if n % 2 else "even")] for n in runs]
    labels = spell(cut, map(len, X), "O")
    model = tagger(C=100.0).fit(X, cut)
    assert model.score(X, cut) == 1.0
    chain = SequenceTagger("squared_hinge", C=100.0, tol=0.1).fit(X, labels)
    assert chain.predict(X) != labels
    assert model.limits_ == {"O": 1, "even": 4, "odd": 3}


@plain_only
def test_segment_tagger_uses_gazetteers_of_whole_segments() -> None:
    places = Gazetteer({"LOC": ["new york", "los angeles"]}, ignore_case=True)
    X = dicts([["in", "New", "York"], ["in", "Big", "York"]])
    y = [[(1, 3, "LOC")], [(1, 3, "PER")]]
    model = tagger(C=10.0, whole=["word"], gazetteers=[places]).fit(X, y)
    new = dicts([["in", "Los", "Angeles"]])
    assert model.predict(new) == [[(1, 3, "LOC")]]
    names = {name for name, _, _ in model.top_features(1000)}
    assert {"whole gazetteer:LOC", "length=2", "first word=New"} <= names


@plain_only
def test_segment_tagger_keeps_to_what_is_allowed_and_known() -> None:
    X = dicts(WORDS)
    model = tagger().fit(X, CUTS)
    known = [[(1, 4, "PER")], None, None]
    with pytest.raises(DataError, match="those of its label have at most 2"):
        model.predict(X, known=known)  # longer than any segment of training
    known = [[(1, 3, "LOC")], None, []]
    found = model.predict(X, known=known)
    assert (1, 3, "LOC") in found[0]
    assert found[1:] == model.predict(X)[1:]
    open_ended = [[(0, 1, None), (1, 3, {"LOC", "PER"})], None, None]
    kinds = {cut[:2]: cut.label for cut in model.predict(X, known=open_ended)[0]}
    assert kinds[1, 3] in {"LOC", "PER"}
    either = model.predict_kbest(X, 1000)[0]
    fits = [one for one in either if {(1, 3, "LOC"), (1, 3, "PER")} & {*one.segments}]
    ranked = model.predict_kbest(X, 1000, known=open_ended)[0]
    assert len(fits) > 9
    assert [one.segments for one in ranked][: len(fits)] == [
        one.segments for one in fits
    ]
    with pytest.raises(DataError, match="an empty set of labels"):
        model.predict(X, known=[[(0, 1, set())], None, None])
    nothing = [[["O"]] * len(words) for words in X]
    assert model.predict(X, allowed=nothing) == [[], [], []]
    shares = model.predict_marginals(X, known=known)[0]
    assert shares[1:3, model.classes_.tolist().index("LOC")] == pytest.approx(1.0)
    assert shares.sum(axis=1) == pytest.approx(1.0)


@plain_only
def test_segment_tagger_scores_are_marginals_of_segments() -> None:
    """With all segmentations listed, they are sums of their probabilities."""
    X = dicts([["Ada", "Lovelace", "met"]])
    model = tagger().fit(dicts(WORDS), CUTS)
    ranked = model.predict_kbest(X, 1000)[0]
    shares = np.exp([one.score for one in ranked])
    shares /= shares.sum()
    for *segment, score in model.predict_spans(X)[0]:
        has_it = [tuple(segment) in one.segments for one in ranked]
        assert score == pytest.approx(shares[has_it].sum())


@plain_only
def test_segment_tagger_obeys_constraints_and_weights_in_training() -> None:
    rules = Constraints(transitions=[("O", "LOC")])
    with pytest.raises(DataError, match="forbid the segments of sequence 0 at token 6"):
        tagger(constraints=rules).fit(dicts(WORDS), CUTS)
    X, y = dicts(WORDS), [*CUTS[:2], [(2, 4, "LOC")]]
    fair = tagger(C=0.01, tol=0.1).fit(X, y)
    heavy = tagger(C=0.01, tol=0.1).fit(X, y, [1.0, 1.0, 1e4])
    assert heavy.predict(X)[2] == [(2, 4, "LOC")] != fair.predict(X)[2]
    ones = [[1.0] * len(words) for words in X]
    same = tagger(C=0.01, tol=0.1).fit(X, y, token_weight=ones)
    np.testing.assert_array_equal(same.weights_, fair.weights_)


@plain_only
def test_segment_tagger_class_weights_multiply_the_costs_of_labels(
    tmp_path: Path,
) -> None:
    X, weights = dicts(WORDS), {"PER": 3.0, "O": 0.5}
    given = tagger(costs={("PER", "LOC"): 2.0}, class_weight=weights)
    s = given._prepare(X, CUTS).structure
    assert given._labels.classes == ["LOC", "O", "PER"]
    assert s.costs.labels.tolist() == [[0, 1, 1], [0.5, 0, 0.5], [6, 3, 0]]
    balanced = tagger(class_weight="balanced")
    even = balanced._prepare(X, CUTS).structure.costs.labels.max(axis=1)
    np.testing.assert_allclose(even * [3, 6, 9], 18 / 3)
    partly = [[(0, 2, "PER"), (2, 8, None)], *CUTS[1:]]
    even = balanced._prepare(X, partly).structure.corpus.costs.labels.max(axis=1)
    np.testing.assert_allclose(even * [1, 4, 7], 12 / 3)
    model = given.fit(X, CUTS)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").class_weight == {"LOC": 1.0, **weights}
    free = tagger(class_weight=dict.fromkeys(["PER", "O", "LOC"], 0), border_cost=0)
    with pytest.raises(DataError, match="every mistake costs nothing"):
        free.fit(X, CUTS)


@plain_only
@pytest.mark.parametrize("metric", ["segment_f1", "accuracy", "sequence_accuracy"])
def test_segment_tagger_stops_by_development_data(metric: str) -> None:
    X = dicts(WORDS)
    model = tagger(C=100.0, dev_metric=metric).fit(X, CUTS, dev=(X, CUTS))
    assert max(model.trace_["dev_score"]) == 1.0


def test_segment_scores_count_whole_segments() -> None:
    scores = segment_scores([[(0, 2, 1), (2, 3, 2)]], [[(0, 2, 1), (2, 3, 1)]])
    assert scores.overall[:3] == (0.5, 0.5, 0.5)
    assert scores.per_type["1"].recall == 1.0
    with pytest.raises(DataError, match="2 sequences, but y_pred has 1"):
        segment_scores([[], []], [[]])


# --- calibration --------------------------------------------------------------------


def noisy(count: int, seed: int) -> tuple[Any, Any]:
    """Draw letters, of which a word is more probable than not to begin with a."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        letters = random.choice(["a", "b"], 6)
        begins = random.random(6) < np.where(letters == "a", 0.8, 0.2)
        at = [0, *(np.flatnonzero(begins[1:]) + 1).tolist(), 6]
        X.append([[letter] for letter in letters.tolist()])
        y.append([(a, b, "w") for a, b in pairwise(at)])
    return X, y


@pytest.fixture(scope="module")
def calibrated() -> SegmentTagger:
    model = tagger(calibrate="temperature", max_length=6, C=10.0)
    return model.fit(*noisy(30, 1), dev=noisy(120, 2))


@plain_only
def test_segment_tagger_sets_keep_their_promise(
    calibrated: SegmentTagger, tmp_path: Path
) -> None:
    model = calibrated
    X, y = noisy(150, 3)
    for risk in (0.1, 0.4):
        sets = [{one[:3] for one in some} for some in model.predict_sets(X, risk)]
        hits = [one in some for cut, some in zip(y, sets, strict=True) for one in cut]
        spread = 3 * np.sqrt(risk * (1 - risk) * (1 / len(hits) + 1 / 200))
        assert np.mean(hits) >= 1 - risk - spread
    assert np.mean(hits) <= 1 - risk + spread
    model.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.predict_sets(X[:5], 0.2) == model.predict_sets(X[:5], 0.2)
    assert loaded.predict_spans(X[:5]) == model.predict_spans(X[:5])


@plain_only
def test_segment_tagger_abstains_where_segments_are_disputed(
    calibrated: SegmentTagger,
) -> None:
    model, (X, _) = calibrated, noisy(20, 3)
    kinds: set[Any] = set()
    sets, careful = model.predict_sets(X, 0.4), model.predict(X, risk=0.4)
    for best, likely, found in zip(model.predict(X), sets, careful, strict=True):
        of_token: list[Any] = [set() for _ in range(6)]  # all that a token may be in
        for start, end, *_ in [*best, *likely]:
            for t in range(start, end):
                of_token[t].add((start, end))
        known = {one[:2] for one in likely}
        for start, end, label in found:
            assert (label is not None) == all(
                of_token[t] == {(start, end)} <= known for t in range(start, end)
            )
        told = [t for start, end, _ in found for t in range(start, end)]
        assert told == [t for t in range(6) if of_token[t]]
        kinds |= {label for _, _, label in found}
    assert kinds == {"w", None}
    # What a model abstains from may be learnt from, and is no mistake.
    assert tagger(max_length=6).fit(X, careful).predict(X)
    assert segment_scores(model.predict(X), careful).overall.precision == 1.0


@plain_only
def test_segment_tagger_calibration_needs_development_data() -> None:
    X, y = noisy(4, 1)
    with pytest.raises(DataError, match="needs development data"):
        tagger(calibrate="temperature").fit(X, y)
    with pytest.raises(ValueError, match="not calibrated"):
        tagger().fit(X, y).predict(X, risk=0.1)
    other = [[(0, 6, "new")]] * 4
    with pytest.raises(DataError, match="no sequence has only labels"):
        tagger(calibrate="temperature").fit(X, y, dev=(X, other))


# --- bad input ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        ([(0, 4, "PER")], "4 tokens, more than max_length=3 allows"),
        ([(0, 2, "PER"), (1, 3, "LOC")], r"\(0, 2, 'PER'\) and .* overlap"),
        ([(2, 2, "PER")], "is empty or not inside"),
        ([(0, 9, "PER")], "is empty or not inside"),
        ([(-1, 1, "PER")], "is empty or not inside"),
        ([(0.0, 1, "PER")], "must be integers"),
        ([(0, 1)], r"expected segments \(start, end, label\)"),
        ([7], r"expected segments \(start, end, label\)"),
        (["B-PER"], "1 labels for 8 tokens"),
        (3, "expected a list of segments"),
        ([(0, 1, 3)], "all strings or all integers"),
        ([(0, 1, 1.5)], "labels must be strings or integers"),
        ([(0, 1, set())], "an empty set of labels"),
    ],
)
def test_segment_tagger_refuses_bad_segments(cut: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        tagger(max_length=3).fit(dicts(WORDS), [cut, [], []])


def test_segment_tagger_names_the_label_whose_limit_is_too_low() -> None:
    cuts = [[(0, 4, "PER"), (4, 6, "LOC")], [], []]
    with pytest.raises(DataError, match=r"more than max_length\['PER'\]=2 allows"):
        tagger(max_length={"PER": 2}).fit(dicts(WORDS), cuts)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_length": 0}, "max_length must be an integer >= 1"),
        ({"max_length": {"PER": "x"}}, "max_length must be an integer >= 1"),
        ({"max_length": {"PERS": 3}}, "'PERS' is not a label"),
        ({"constraints": "BIO"}, "are for SequenceTagger"),
        ({"whole": "words"}, "whole must be 'auto' or a list"),
        ({"whole": [0]}, "whole must be names of features"),
        ({"whole": ["word", "word"]}, "names 'word' twice"),
        ({"gazetteers": [Gazetteer({"a": ["b"]})]}, "gazetteers are looked up"),
        ({"hash_bits": 10, "pairs": "observed"}, "with hash_bits use 'all'"),
        ({"costs": np.zeros((3, 3)), "border_cost": 0.0}, "every mistake costs"),
        ({"template": "words", "whole": [1]}, "column 1, but there are 1"),
    ],
)
def test_segment_tagger_refuses_bad_settings(settings: Any, words: str) -> None:
    X = WORDS if "template" in settings else dicts(WORDS)
    with pytest.raises(ValueError, match=words):
        tagger(**settings).fit(X, CUTS)


def test_segment_tagger_refuses_known_segments_that_cannot_be() -> None:
    model = tagger().fit(X := dicts(WORDS), CUTS)
    name = next(cut for cuts in CUTS for cut in cuts)
    for known, words in (
        ([(0, 2, name[2]), (1, 3, name[2])], "known, sequence 0: .* overlap"),
        ([(0, 1, name[2])], "no legal labels up to token 0"),
    ):
        none = [None] * (len(X) - 1)
        allowed = [[["O"], *[None] * (len(X[0]) - 1)], *none]
        with pytest.raises(DataError, match=words):
            model.predict(X, known=[known, *none], allowed=allowed)


def test_segment_tagger_refuses_what_teaches_nothing() -> None:
    with pytest.raises(DataError, match="no segments"):
        tagger().fit(dicts(WORDS), [[], [], []])
    with pytest.raises(DataError, match="all sequences are empty"):
        tagger().fit([[], []], [[], []])
    with pytest.raises(DataError, match="2 examples"):
        tagger().fit(dicts(WORDS[:2]), CUTS)
    dev = (dicts(WORDS[:1]), [[(0, 1, "ORG")]])
    with pytest.raises(DataError, match="none of its labels"):
        tagger().fit(dicts(WORDS), CUTS, dev=dev)
    with pytest.raises(TypeError, match="a list of Gazetteer"):
        tagger(gazetteers=Gazetteer({"a": ["b"]})).fit(dicts(WORDS), CUTS)
    with pytest.raises(DataError, match="tokens are no dicts"):
        tagger(whole=["word"]).fit([[["a"]]], [[(0, 1, "x")]])


# --- files ----------------------------------------------------------------------------


@plain_only
@pytest.mark.parametrize("form", FORMS)
def test_loaded_segment_tagger_is_the_same(form: str, tmp_path: Path) -> None:
    make, settings = FORMS[form]
    model = tagger(**settings).fit(make(WORDS), CUTS)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    X = make(["Ada met Alan Turing in London".split()])
    assert answers(loaded, X) == answers(model, X)
    for name in ("max_length", "pairs", "lengths", "segment_cost", "whole"):
        kept, given = getattr(loaded, name), getattr(model, name)
        # Limits by label come back for all labels.
        assert kept == given or (name == "max_length" and given.items() <= kept.items())
    again = loaded.fit(make(WORDS), CUTS)
    np.testing.assert_array_equal(again.weights_, model.weights_)


@plain_only
def test_damaged_segment_tagger_is_refused_or_works(tmp_path: Path) -> None:
    make, settings = FORMS["dicts"]
    model = tagger(**{**settings, "whole_min_count": 1}).fit(make(WORDS), CUTS)
    path = tmp_path / "model"
    model.save(path)
    refused = 0
    for damaged in corruptions(path.read_bytes(), 150, seed=28):
        path.write_bytes(damaged)
        try:
            loaded = load(path)
        except ModelFileError:
            refused += 1
            continue
        loaded.predict(make(WORDS))
    assert refused > 100


# --- phrases --------------------------------------------------------------------------


def test_phrase_table_finds_every_phrase() -> None:
    random = np.random.default_rng(0)
    tokens = random.choice(["a", "b", "c"], 60).tolist()
    ptr = np.array([0, 7, 7, 30, 60])
    sizes = (1, 1, 2, 2, 2, 3, 3, 4, 5)
    phrases = {tuple(random.choice(["a", "b", "c", "d"], n).tolist()) for n in sizes}
    table = PhraseTable(sorted(phrases))
    found = table.find(tokens, ptr)
    expected = {
        (t, length)
        for first, last in zip(ptr[:-1].tolist(), ptr[1:].tolist(), strict=True)
        for t in range(first, last)
        for length in range(1, last - t + 1)
        if tuple(tokens[t : t + length]) in phrases
    }
    assert expected
    places = list(zip(found.start.tolist(), found.length.tolist(), strict=True))
    assert sorted(places) == sorted(expected)
    spelled = table.phrases()
    for t, n, phrase in zip(*(column.tolist() for column in found), strict=True):
        assert spelled[phrase] == tuple(tokens[t : t + n])


def test_phrase_table_refuses_bad_phrases() -> None:
    with pytest.raises(ValueError, match="twice"):
        PhraseTable([["a"], ["a"]])
    with pytest.raises(ValueError, match="at least one token"):
        PhraseTable([[]])
    assert len(PhraseTable([]).find(["a"], np.array([0, 1])).start) == 0


# --- vectors and explanations ------------------------------------------------------


VECTORS = [np.array([[len(w), w.istitle()] for w in words]) / 3 for words in WORDS]


@plain_only
@pytest.mark.parametrize("pairs", ["all", "observed"])
def test_segment_tagger_vectors_mean_the_same_however_given(
    pairs: str, tmp_path: Path
) -> None:
    words, tables = sorted({w for one in WORDS for w in one}), {}
    for one, matrix in zip(WORDS, VECTORS, strict=True):
        tables |= dict(zip(one, matrix, strict=True))
    table = WordVectors(words, np.array([tables[w] for w in words]))
    X = dicts(WORDS)
    arrays = [
        [{**token, "v": row} for token, row in zip(x, matrix, strict=True)]
        for x, matrix in zip(X, VECTORS, strict=True)
    ]
    ways = [(X, VECTORS), list(map(WithVectors, X, VECTORS)), arrays]
    models = [tagger(pairs=pairs).fit(one, CUTS) for one in ways]
    models.append(tagger(pairs=pairs, vectors=table).fit(X, CUTS))
    ways.append(X)
    shares = [m.predict_marginals(x) for m, x in zip(models, ways, strict=True)]
    for other in shares[1:]:
        for one, two in zip(shares[0], other, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-6)
    models[0].save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.predict((X, VECTORS)) == models[0].predict((X, VECTORS))
    names = {name for name, _, _ in again.top_features(10_000)}
    assert {"vectors[0]", "first vectors[1]", "last vectors[0]"} <= names
    with pytest.raises(DataError, match="vectors"):
        again.predict(X)
    calibrated = tagger(pairs=pairs, calibrate="temperature")
    calibrated.fit(ways[1], CUTS, dev=(ways[1], CUTS))
    assert calibrated.predict_sets(ways[1], risk=0.3)


@plain_only
@pytest.mark.parametrize("form", ["template", "dicts", "pairs", "vectors", "dense"])
def test_segment_tagger_explanations_add_up_to_the_margin(form: str) -> None:
    make, settings = FORMS[form if form != "vectors" else "dicts"]
    X: Any = make(WORDS)
    if form == "vectors":
        X = list(map(WithVectors, X, VECTORS))
    model = tagger(**settings).fit(X, CUTS)
    explained = model.explain(X[0])
    for choice in explained:
        total = sum(c.value for c in choice.contributions)
        assert total == pytest.approx(choice.margin)
        assert choice.runner_up is not None
    [best] = model.predict(X[:1])
    inside = [choice for choice in explained if choice.label != "O"]
    assert [choice.label for choice in inside] == [one.label for one in best]
    ranked = model.predict_kbest(X[:1], 200)[0]
    for one, choice in zip(best, inside, strict=True):
        other = next(rank for rank in ranked if one not in rank.segments)
        assert choice.margin == pytest.approx(ranked[0].score - other.score)


@plain_only
def test_segment_tagger_explains_a_lone_choice() -> None:
    X, cuts = [["a", "b"]], [[(0, 1, "W"), (1, 2, "W")]]
    [one, two] = tagger(template="words").fit(X, cuts).explain(["a", "b"])
    assert (one.label, one.runner_up, one.margin) == ("W", None, float("inf"))
    assert two.contributions == []
