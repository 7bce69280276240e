"""Trees whose arcs have a reach: the best of them, by listing all trees."""

import numpy as np
import pytest

from dependency_cases import ARCS, make_case
from partwise.estimators.best_codes import kbest
from partwise.structures.decoding import decode
from partwise.structures.dependency.reach import within_reach
from problems import plain_only

N_KINDS = 3


def draw(kind, n_labels, projective, seed):
    """Return a case, its corpus with a reach, and what arcs of its example may be."""
    random = np.random.default_rng(seed)
    lengths = [int(x) for x in random.integers(1, 4 if n_labels else 5, 2)]
    case = make_case(
        kind, lengths, n_labels, projective, bool(seed % 2), False, 1.0, seed
    )
    kinds = random.integers(0, N_KINDS, sum(lengths))
    longest = random.integers(0, 3, (2, N_KINDS, N_KINDS))
    own = kinds[sum(lengths[: case.i]) :]

    def is_within(h, m):
        if h == 0 or abs(h - m) == 1:
            return True
        return abs(h - m) <= longest[int(h > m), own[h - 1], own[m - 1]]

    n = lengths[case.i]
    root = seed % 3 - 1 if n_labels else -1

    def is_left(y):
        arcs = zip(y[:n], y[n:], strict=bool(n_labels))
        fits = root == -1 or all((h == 0) == (k == root) for h, k in arcs)
        return fits and all(is_within(h, m) for m, h in enumerate(y[:n], 1))

    left = [y for y in case.outputs if is_left(y)]
    return case, within_reach(case.s, kinds, longest, root), left


@plain_only
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("n_labels", [0, 2])
@pytest.mark.parametrize("kind", ARCS)
def test_the_best_tree_is_the_best_within_reach(kind, n_labels, projective):
    fewer = 0
    for seed in range(12):
        case, s, left = draw(kind, n_labels, projective, seed)
        scores = sorted((float(case.w @ case.features(y)) for y in left), reverse=True)
        fewer += len(left) < len(case.outputs)
        found = decode(s, case.w)
        best = tuple(found.codes[found.ptr[case.i] : found.ptr[case.i + 1]].tolist())
        assert best in left
        assert case.w @ case.features(best) == pytest.approx(scores[0])
        assert found.scores[case.i] == pytest.approx(scores[0])
        ranked = [one.score for one in list(kbest(s, case.w, 3, 1))[case.i]]
        assert ranked == pytest.approx(scores[:3])
    assert fewer


def test_a_reach_must_fit_the_words():
    s = make_case("hashed", [2], 0, True, True, False, 1.0, 0).s
    with pytest.raises(ValueError, match="1 kinds for 2 words"):
        within_reach(s, [0], np.ones((2, 1, 1)))
    with pytest.raises(ValueError, match="each direction"):
        within_reach(s, [0, 0], np.ones((1, 1)))
    with pytest.raises(ValueError, match=r"lie in 0\.\.0"):
        within_reach(s, [0, 1], np.ones((2, 1, 1)))


def test_a_label_of_the_root_is_one_of_several():
    for n_labels, label in ((0, 0), (1, 0), (2, 2), (2, -2)):
        s = make_case("hashed", [2], n_labels, True, True, False, 1.0, 0).s
        with pytest.raises(ValueError, match="that of the root only"):
            within_reach(s, [0, 0], np.ones((2, 1, 1)), label)
