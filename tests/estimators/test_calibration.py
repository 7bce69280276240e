"""Calibrated probabilities, sets with a promise, and models that abstain."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from command_line import message, run
from corruption import corruptions
from partwise import (
    C_path,
    DataError,
    DependencyParser,
    ModelFileError,
    SequenceTagger,
    load,
)
from partwise.estimators.calibration import Calibration, strangeness
from partwise.metrics import calibration_error, coverage
from small_treebank import short_sentences

pytestmark = problems.plain_only


def test_strangeness_is_a_share_however_sums_round() -> None:
    assert strangeness([1.0 + 1e-15, 0.5, 0.0]).tolist() == [0.0, 0.5, 1.0]


def noisy(count: int, seed: int) -> tuple[Any, Any]:
    """Draw tokens whose label is what they look like three times out of four."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        seen = random.integers(3, size=4)
        wrong = random.random(4) < 0.25
        labels = np.where(wrong, (seen + random.integers(1, 3, 4)) % 3, seen)
        X.append([[f"w{k}"] for k in seen])
        y.append([f"L{k}" for k in labels])
    return X, y


TRAIN, DEV, TEST = noisy(40, 1), noisy(80, 2), noisy(150, 3)


def make(**settings: Any) -> SequenceTagger:
    # Large margins: scores are much further apart than the noise would have them.
    costs = 8.0 * (1.0 - np.eye(3))
    given = {"solver": "dcd-ssvm", "C": 1.0, "tol": 0.3, "costs": costs}
    return SequenceTagger(**(given | settings))


@pytest.fixture(scope="module", params=["temperature", "isotonic"])
def tagger(request: pytest.FixtureRequest) -> SequenceTagger:
    return make(calibrate=request.param).fit(*TRAIN, dev=DEV)


def measured(model: SequenceTagger) -> float:
    shares = np.vstack(model.predict_marginals(TEST[0]))
    gold = [model.classes_.tolist().index(k) for y in TEST[1] for k in y]
    return calibration_error(shares.max(axis=1), shares.argmax(axis=1) == gold)


def test_calibration_makes_probabilities_believable(tagger: SequenceTagger) -> None:
    plain = make().fit(*TRAIN, dev=(DEV[0][::2], DEV[1][::2]))
    np.testing.assert_array_equal(plain.weights_, tagger.weights_)
    assert plain.predict(TEST[0]) == tagger.predict(TEST[0])
    assert measured(tagger) < 0.06
    assert measured(tagger) < measured(plain) / 3
    for rows in tagger.predict_marginals(TEST[0][:5]):
        assert rows.sum(axis=1) == pytest.approx(1.0)


def test_calibration_scale_makes_development_data_most_probable() -> None:
    model = make(calibrate="temperature").fit(*TRAIN, dev=DEV)
    found = model._calibration
    assert found is not None

    def surprise(scale: float) -> float:
        model._calibration = found._replace(scale=scale * found.scale)
        shares = model.predict_marginals(DEV[0][::2])
        codes = [[model.classes_.tolist().index(k) for k in y] for y in DEV[1][::2]]
        picked = [rows[range(4), own] for rows, own in zip(shares, codes, strict=True)]
        return -float(np.log(np.concatenate(picked)).mean())

    assert surprise(1.0) < min(surprise(0.7), surprise(1.4))


def test_calibration_covers_transitions_and_spans() -> None:
    chunk = {"L0": "O", "L1": "B-X", "L2": "B-Y"}
    (X, y), (X_dev, y_dev) = (
        (data[0], [[chunk[k] for k in one] for one in data[1]]) for data in (TRAIN, DEV)
    )
    model = make(calibrate="temperature").fit(X, y, dev=(X_dev, y_dev))
    (marginals,) = model.predict_marginals(TEST[0][:1])
    (pairs,) = model.predict_transitions(TEST[0][:1])
    np.testing.assert_allclose(pairs.sum(axis=2), marginals[:-1])
    # Chunks of one token are as probable as the label that begins them.
    (chunks,) = model.predict_span_marginals(TEST[0][:1], at_least=0.0)
    found = {(one.start, "B-" + one.label): one.score for one in chunks}
    names = model.classes_.tolist()
    assert found == {
        (at, label): pytest.approx(marginals[at, names.index(label)])
        for at in range(len(marginals))
        for label in ("B-X", "B-Y")
    }


@pytest.mark.parametrize("risk", [0.02, 0.1, 0.3])
def test_calibration_sets_keep_their_promise(
    risk: float, tagger: SequenceTagger
) -> None:
    sets = [some for one in tagger.predict_sets(TEST[0], risk) for some in one]
    # Of 600 tokens, and as few held-out ones: three standard errors of both.
    spread = 3 * np.sqrt(risk * (1 - risk) * (1 / 600 + 1 / 160))
    assert coverage(sets, [k for y in TEST[1] for k in y]) >= 1 - risk - spread
    assert sum(map(len, sets)) < 3 * len(sets) or risk < 0.1


def test_calibration_sets_begin_with_the_most_probable(tagger: SequenceTagger) -> None:
    (sets,) = tagger.predict_sets(TEST[0][:1], 0.001)
    (shares,) = tagger.predict_marginals(TEST[0][:1])
    for some, row in zip(sets, shares, strict=True):
        assert some[0] == tagger.classes_[row.argmax()]
        assert len(some) == 3  # there is too little data to promise so much


def test_calibration_does_not_hinder_suspects(tagger: SequenceTagger) -> None:
    assert len(tagger.suspects(*TRAIN, n=2).found) == 2


def test_calibration_abstains_where_a_set_has_more(tagger: SequenceTagger) -> None:
    best, sets = tagger.predict(TEST[0]), tagger.predict_sets(TEST[0], 0.3)
    careful = tagger.predict(TEST[0], risk=0.3)
    for labels, one, given in zip(best, sets, careful, strict=True):
        for label, some, said in zip(labels, one, given, strict=True):
            assert said == (label if some == [label] else None)
    assert any(label is not None for one in careful for label in one)


def test_calibration_rank_is_that_of_the_theorem() -> None:
    found = Calibration(1.0, np.zeros(0), np.zeros(0), np.arange(1, 10) / 10)
    assert found.least_share(0.5) == pytest.approx(0.5)  # the fifth of nine
    assert found.least_share(0.1) == pytest.approx(0.1)  # the ninth
    assert found.least_share(0.09) == 0.0  # there is no tenth


def test_calibration_counts_unknown_labels_as_strange() -> None:
    X, y = DEV
    new = [["new"] * 4 if i % 2 else one for i, one in enumerate(y)]
    model = make(calibrate="temperature").fit(*TRAIN, dev=(X, new))
    assert len(model.predict_sets(X[:1], 0.1)[0][0]) == 3


def test_calibration_goes_through_a_path_of_C() -> None:
    found = C_path(make(calibrate="temperature"), *TRAIN, Cs=[0.1, 1.0], dev=DEV)
    assert found.best.estimator.predict_sets(TEST[0][:1], 0.1)


def test_calibration_needs_development_data() -> None:
    with pytest.raises(DataError, match="needs development data"):
        make(calibrate="temperature").fit(*TRAIN)
    with pytest.raises(DataError, match="at least two sequences"):
        make(calibrate="isotonic").fit(*TRAIN, dev=(DEV[0][:1], DEV[1][:1]))
    with pytest.raises(ValueError, match="calibrate must be"):
        make(calibrate="platt").fit(*TRAIN, dev=DEV)
    plain = make().fit(*TRAIN)
    with pytest.raises(ValueError, match="not calibrated"):
        plain.predict(TEST[0], risk=0.1)
    for risk in (0, 1, -0.1, True, "x"):
        with pytest.raises(ValueError, match="between 0 and 1"):
            plain.predict_sets(TEST[0], risk)


def test_calibration_is_saved(tagger: SequenceTagger, tmp_path: Path) -> None:
    path = tmp_path / "model"
    tagger.save(path)
    loaded, X = load(path), TEST[0][:3]
    assert loaded.predict_sets(X, 0.2) == tagger.predict_sets(X, 0.2)
    assert loaded.predict_spans is not None
    for one, two in zip(
        loaded.predict_marginals(X), tagger.predict_marginals(X), strict=True
    ):
        np.testing.assert_array_equal(one, two)
    for damaged in corruptions(path.read_bytes(), 60, seed=5, forged=0.9):
        path.write_bytes(damaged)
        try:
            model = load(path)
        except ModelFileError:
            continue
        if model.calibrate is not None:
            model.predict_sets(X, 0.2)


def test_calibration_beyond_measure_is_refused(
    tagger: SequenceTagger, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    for scale in (1e308, 1e-308):  # finite weights would become infinite, or all zero
        model = copy.copy(tagger)
        model._calibration = model._calibration._replace(scale=scale)
        model.save(path)
        with pytest.raises(ModelFileError, match="scale"):
            load(path)


# --- arcs -----------------------------------------------------------------------------


def test_calibration_of_arcs_keeps_its_promise(tmp_path: Path) -> None:
    trees = short_sentences(90)
    settings = {"hash_bits": 10, "tol": 0.3, "labelled": False}
    parser = DependencyParser(calibrate="temperature", **settings)
    parser.fit(trees[:10], dev=trees[10:60])
    plain = DependencyParser(**settings).fit(trees[:10], dev=trees[10:60:2])
    np.testing.assert_array_equal(plain.weights_, parser.weights_)
    every = parser.predict_sets(trees[60:], 0.2)
    sets = [some for one in every for some in one]
    right = [head for tree in trees[60:] for head in tree.heads or ()]
    spread = 3 * np.sqrt(0.2 * 0.8 * 2 / len(right))
    assert coverage(sets, right) >= 0.8 - spread
    shares = parser.predict_marginals(trees[60:61])[0]
    for m, some in enumerate(every[0], 1):
        assert some == sorted(some, key=lambda h: -shares[h, m])
    for sure, best, one in zip(
        parser.predict(trees[60:], risk=0.2),
        parser.predict(trees[60:]),
        every,
        strict=True,
    ):
        given = list(enumerate(best.heads or (), 1))
        kept = [head if one[m - 1] == [head] else 0 for m, head in given]
        assert list(sure.heads or ()) == kept
        assert all(m in sure.unknown or one[m - 1] == [h] for m, h in given)
    before = plain.predict_marginals(trees[60:61])[0]
    assert np.abs(before - shares).max() > 0.01
    path = tmp_path / "parser"
    parser.save(path)
    assert load(path).predict_sets(trees[60:70], 0.2) == every[:10]
    with pytest.raises(ValueError, match="not calibrated"):
        plain.predict_sets(trees[60:])
    with pytest.raises(DataError, match="needs development data"):
        DependencyParser(calibrate="temperature", **settings).fit(trees[:5])


def test_calibration_on_the_command_line(tmp_path: Path) -> None:
    for name, (X, y) in {"train": TRAIN, "dev": DEV, "test": TEST}.items():
        lines = [
            "\n".join(f"{t[0]} {k}" for t, k in zip(x, labels, strict=True)) + "\n\n"
            for x, labels in zip(X, y, strict=True)
        ]
        (tmp_path / name).write_text("".join(lines))
    model = tmp_path / "m"
    train = ("train", "tag", tmp_path / "train", "-m", model, "-q", "--tol", 0.3)
    features = ("--features", "words", "--calibrate", "temperature")
    assert "needs development data" in message(*train, *features)
    run(*train, *features, "--dev", tmp_path / "dev")
    said = run("predict", model, tmp_path / "test", "--risk", 0.1, "--json").stdout
    labels = [k for line in said.splitlines() for k in json.loads(line)["labels"]]
    assert "?" in labels
    both = message("predict", model, tmp_path / "test", "--risk", 0.1, "--kbest", 2)
    assert "--risk goes with none of" in both
