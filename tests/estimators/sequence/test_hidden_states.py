"""States behind labels: what they can learn, and all answers against enumeration."""

from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import problems
from command_line import run
from partwise import SequenceTagger, load
from partwise.losses import LocalCertificate

pytestmark = problems.plain_only

# Every third label is a B, which the label before does not tell.
X = [[["x"]] * n for n in range(2, 9)]
Y = [list("AABAABAA"[:n]) for n in range(2, 9)]


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    return SequenceTagger("log_loss", C=10.0, states=2).fit(X, Y)


def test_hidden_states_learn_what_labels_alone_cannot(tagger: SequenceTagger) -> None:
    assert tagger.score(X, Y) == 1.0
    assert tagger.predict([[["x"]] * 11]) == [list("AABAABAABAA")]
    without = SequenceTagger("log_loss", C=10.0).fit(X, Y)
    assert without.score(X, Y) < 0.8
    assert isinstance(tagger.certificate_, LocalCertificate)
    assert "local optimum" in tagger.status_


def test_hidden_states_are_found_with_margins() -> None:
    found = SequenceTagger("hinge", C=10.0, states=2).fit(X, Y)
    assert found.score(X, Y) == 1.0


class Paths:
    """All state sequences of a model with the labels O, B-X and I-X, two states each.

    Features are the words a, b, c; there are weights of first and last states.
    """

    def __init__(self, words: str, **settings: Any) -> None:
        labels = [["O", "B-X", "I-X"], ["B-X", "I-X", "I-X"], ["I-X", "O", "B-X"]]
        X = [[[word] for word in "abc"]] * 3
        model = SequenceTagger("log_loss", states=2, tol=1.0, **settings)
        self.model = model.fit(X, labels)
        self.words = words
        self.labels = self.model.classes_.tolist()
        w = np.random.default_rng(0).normal(size=model.weights_.size)
        self.model.weights_ = w
        K = 6
        nodes, w = w[: 3 * K].reshape(3, K), w[3 * K :]
        between, start, end = w[: K * K].reshape(K, K), w[K * K :][:K], w[-K:]
        np.testing.assert_array_equal(between, self.model.transitions_)
        self.paths = list(product(range(K), repeat=len(words)))
        rows = ["abc".index(word) for word in words]
        self.scores = np.array([
            start[path[0]] + end[path[-1]]
            + sum(nodes[row, k] for row, k in zip(rows, path, strict=True))
            + sum(between[a, b] for a, b in pairwise(path))
            for path in self.paths
        ])  # fmt: skip
        self.p = np.exp(self.scores - logsumexp(self.scores))

    def read(self, path: Any) -> list[str]:
        return [self.labels[k // 2] for k in path]

    def share(self, is_meant: Any) -> float:
        some = [is_meant(self.read(path)) for path in self.paths]
        return float(self.p[np.array(some)].sum())


@pytest.fixture(scope="module")
def paths() -> Paths:
    return Paths("cab")


def test_hidden_states_are_decoded_by_the_best_path(paths: Paths) -> None:
    x, order = [[[word] for word in paths.words]], np.argsort(-paths.scores)
    assert paths.model.predict(x) == [paths.read(paths.paths[order[0]])]
    ranked = paths.model.predict_kbest(x, 12)[0]
    best: dict[tuple[str, ...], float] = {}
    for j in order[:12]:
        best.setdefault(tuple(paths.read(paths.paths[j])), paths.scores[j])
    assert [tuple(one.labels) for one in ranked] == list(best)
    np.testing.assert_allclose([one.score for one in ranked], list(best.values()))


def test_hidden_states_are_summed_in_probabilities(paths: Paths) -> None:
    model, x = paths.model, [[[word] for word in paths.words]]
    [shares], [pairs] = model.predict_marginals(x), model.predict_transitions(x)
    for t, k in product(range(3), range(3)):
        own = paths.share(lambda y, t=t, k=k: y[t] == paths.labels[k])
        assert shares[t, k] == pytest.approx(own)
        for other in range(3) if t < 2 else ():
            both = [paths.labels[k], paths.labels[other]]
            own = paths.share(lambda y, t=t, both=both: y[t : t + 2] == both)
            assert pairs[t, k, other] == pytest.approx(own)
    for labels in (["B-X", "I-X", "O"], ["O", "O", "B-X"]):
        own = paths.share(lambda y, labels=labels: y == labels)
        assert model.log_probability(x, [labels])[0] == pytest.approx(np.log(own))
    for span in model.predict_span_marginals(x, at_least=0.0)[0]:
        own = paths.share(lambda y, span=span: (span.start, span.end) in chunks(y))
        assert span.score == pytest.approx(own)
    [best] = model.predict(x)
    for span in model.predict_spans(x)[0]:
        own = slice(span.start, span.end)
        same = paths.share(lambda y, own=own: y[own] == best[own])
        assert span.score == pytest.approx(same)


def chunks(labels: list[str]) -> set[tuple[int, int]]:
    """Return the chunks of one type: a B begins one, and so does an I after O."""
    found, start = set(), None
    for t, label in enumerate([*labels, "O"]):
        if start is not None and label != "I-X":
            found.add((start, t))
            start = None
        if label != "O" and start is None:
            start = t
    return found


def test_hidden_states_are_drawn_as_often_as_probable(paths: Paths) -> None:
    x = [[[word] for word in paths.words]]
    drawn = paths.model.sample(x, 400, random_state=0)[0]
    [shares] = paths.model.predict_marginals(x)
    for k, label in enumerate(paths.labels):
        found = np.mean([labels[0] == label for labels in drawn])
        assert found == pytest.approx(shares[0, k], abs=0.1)


def test_hidden_states_keep_to_constraints() -> None:
    rows = Paths("abc").model
    free = rows.predict_marginals(
        [[["a"], ["b"], ["c"]]], allowed=[[["O"], None, None]]
    )[0]
    np.testing.assert_allclose(free[0], [0.0, 0.0, 1.0], atol=1e-12)
    labels = [["O", "B-X", "I-X"]] * 2
    x = [[["a"], ["b"], ["c"]]] * 2
    model = SequenceTagger("log_loss", states=2, constraints="BIO").fit(x, labels)
    assert model.predict_marginals([[["c"]]])[0][0, 1] == 0.0  # no I comes first
    assert model.log_probability([[["c"]]], [["I-X"]])[0] == -np.inf


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge"])
def test_hidden_states_minimise_what_they_say(loss: str) -> None:
    model = SequenceTagger(loss, C=2.0, states=2, start=False, end=False).fit(X, Y)
    w = model.weights_
    nodes, between = w[:4], w[4:].reshape(4, 4)
    losses = []
    for x, y in zip(X[:4], Y[:4], strict=True):
        found = list(product(range(4), repeat=len(x)))
        scores = np.array([
            sum(nodes[k] for k in path)
            + sum(between[a, b] for a, b in pairwise(path))
            for path in found
        ])  # fmt: skip
        wrong = np.array([
            sum("AB"[k // 2] != label for k, label in zip(path, y, strict=True))
            for path in found
        ])  # fmt: skip
        right = scores[wrong == 0]
        if loss == "log_loss":
            losses.append(logsumexp(scores) - logsumexp(right))
        else:
            losses.append((scores + wrong).max() - right.max())
    few = SequenceTagger(loss, C=2.0, states=2, start=False, end=False)
    structure = few._prepare(X[:4], Y[:4]).structure
    from partwise.losses import get_loss
    from partwise.solvers import make_problem
    from partwise.solvers.convex_concave import as_partial_problem

    problem = as_partial_problem(make_problem(structure, get_loss(loss), 2.0))
    meant = np.square(losses) if loss == "squared_hinge" else losses
    np.testing.assert_allclose(problem.values(w), meant, atol=1e-9)


def test_hidden_states_are_explained(tagger: SequenceTagger) -> None:
    for choice in tagger.explain([["x"]] * 4):
        assert {choice.label, choice.runner_up} == {"A", "B"}
        total = sum(c.value for c in choice.contributions)
        assert total == pytest.approx(choice.margin)
    named = {label for _, label, _ in tagger.top_features(50)}
    assert named == set(tagger.states_) == {"A#1", "A#2", "B#1", "B#2"}
    assert {one[1] for one in tagger.top_features(50, "A")} == {"A#1", "A#2"}


def test_hidden_states_are_kept_in_files_and_reached_by_commands(
    tagger: SequenceTagger, tmp_path: Path
) -> None:
    tagger.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.states == 2
    assert again.predict([[["x"]] * 8]) == tagger.predict([[["x"]] * 8])
    lines = ["".join(f"x {label}\n" for label in labels) for labels in Y]
    (tmp_path / "train").write_text("\n".join(lines))
    args = ["--states", 2, "--loss", "log_loss", "-C", 10, "--quiet"]
    run("train", "tag", tmp_path / "train", "--model", tmp_path / "c", *args)
    out = run("inspect", tmp_path / "c", "--top", 50).stdout
    assert "A#1" in out
    assert "2 behind each label" in out
    predicted = run("predict", tmp_path / "c", tmp_path / "train").stdout
    assert predicted.count("B B") == sum(y.count("B") for y in Y)


def test_hidden_states_go_with_labels_known_in_part() -> None:
    some = [[None if t == 1 else label for t, label in enumerate(y)] for y in Y]
    model = SequenceTagger("log_loss", C=10.0, states=2).fit(X, some)
    assert model.score(X, Y) > 0.9


@pytest.mark.parametrize(
    "settings",
    [
        {"order": 2},
        {"transitions": "observed"},
        {"loss": "hinge", "rescaling": "slack"},
    ],
)
def test_hidden_states_refuse_what_does_not_go_together(settings: Any) -> None:
    with pytest.raises(ValueError, match="states=2 is for order=1"):
        SequenceTagger(states=2, **settings).fit(X, Y)
    with pytest.raises(ValueError, match="hidden states, use solver='auto'"):
        SequenceTagger(states=2, solver="perceptron").fit(X, Y)


def test_hidden_states_can_be_calibrated() -> None:
    model = SequenceTagger("hinge", C=10.0, states=2, calibrate="temperature")
    model.fit(X, Y, dev=(X, Y))
    assert model._calibration is not None
    assert model.predict_sets(X[-1:], risk=0.05)[0][2][0] == "B"
