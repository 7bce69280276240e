"""Good and bad outputs by a metric: against all outputs, listed."""

import numpy as np
import pytest

import problems
from partwise import find_pseudo_references, good_and_bad, with_good_outputs
from partwise.errors import DataError
from partwise.losses import SetHinge
from partwise.solvers import ColumnGeneration, make_problem, solve
from partwise.structures import interface as waist

plain_only = problems.plain_only


def metric_of(seed):
    """Return a metric that is no sum over parts: a random number for every output."""

    def metric(i, outputs):
        return [
            np.random.default_rng([seed, i, *(y + 1).tolist()]).integers(0, 5)
            for y in outputs
        ]

    return metric


@plain_only
@pytest.mark.parametrize("make", problems.EACH_KIND, ids=lambda make: make.__name__)
def test_pseudo_references_are_the_best_by_the_metric_of_all_outputs(make):
    s = problems.make_small(make)
    if not waist.kbest.provided_by(type(waist.innermost(s))):
        pytest.skip("this structure has no k-best outputs")
    w = np.random.default_rng(0).normal(size=waist.n_weights(s))
    metric = metric_of(1)
    every = problems.enumerate_outputs(s)
    k = max(len(own.codes) for own in every)
    found = find_pseudo_references(s, w, metric, k=k, n_good=3, slack=1.0)
    assert len(found) == waist.n_examples(s)
    for i, (one, own) in enumerate(zip(found, every, strict=True)):
        quality = np.array(metric(i, list(own.codes)))
        assert len(one.outputs) == len(own.codes)
        assert sorted([*one.good, *one.bad]) == list(range(len(own.codes)))
        best = np.sort(quality)[::-1][:3]
        expected = best[best >= best[0] - 1.0]
        np.testing.assert_array_equal(one.quality[one.good], expected)
        assert (np.diff(one.quality[one.bad]) <= 0).all()
        # Of equal quality, what the model scores higher is preferred.
        ties = np.diff(one.quality[one.good]) == 0
        assert (np.diff(one.good)[ties] > 0).all()


@plain_only
def test_pseudo_references_train_a_linear_program():
    s = problems.make_small(problems.lattice_paths)
    w = np.zeros(waist.n_weights(s))
    found = find_pseudo_references(s, w, metric_of(0), k=100, n_good=2, slack=0.0)
    sets = []
    for i, one in enumerate(found):
        right = np.zeros_like(one.outputs[0])
        waist.gold(s, i, right)
        own = [y.tolist() for y in one.good_outputs if y.tolist() != right.tolist()]
        sets.append([right.tolist(), *own][: len(one.outputs) - 1 or 1])
    kept = with_good_outputs(s, sets)
    problem = make_problem(kept, SetHinge("unit"), 1.0, l1_ratio=1.0)
    assert solve(problem, ColumnGeneration("highs"), tol=1e-6).converged


@pytest.mark.parametrize(
    ("quality", "settings", "good"),
    [
        ([1.0], {}, [0]),
        ([1.0, 3.0, 2.0], {"n_good": 3}, [1]),
        ([1.0, 3.0, 2.0], {"n_good": 3, "slack": 1.0}, [1, 2]),
        ([1.0, 3.0, 2.0], {"n_good": 3, "slack": 9.0}, [1, 2, 0]),
        ([1.0, 3.0, 2.0], {"n_good": 2, "slack": 9.0}, [1, 2]),
        ([2.0, 2.0], {"n_good": 2}, [0, 1]),
    ],
)
def test_good_and_bad_of_a_list(quality, settings, good):
    split = good_and_bad(quality, **settings)
    assert split.good.tolist() == good
    assert sorted([*split.good, *split.bad]) == list(range(len(quality)))


@pytest.mark.parametrize(
    ("quality", "settings", "message"),
    [
        ([], {}, "one for every output"),
        ([np.nan], {}, "finite"),
        ([1.0], {"n_good": 0}, "n_good"),
        ([1.0], {"slack": -1.0}, "slack"),
    ],
)
def test_good_and_bad_refuses(quality, settings, message):
    with pytest.raises(ValueError, match=message):
        good_and_bad(quality, **settings)


@plain_only
def test_pseudo_references_refuse_a_metric_that_does_not_judge_all():
    s = problems.make_small(problems.chain_sparse)
    w = np.zeros(waist.n_weights(s))
    with pytest.raises(DataError, match=r"example 0: the metric must return \d+"):
        find_pseudo_references(s, w, lambda i, outputs: [1.0])
    with pytest.raises(ValueError, match="k must be"):
        find_pseudo_references(s, w, metric_of(0), k=0)
