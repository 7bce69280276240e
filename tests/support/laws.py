"""The laws of the waist, and the brute force that they are checked against.

A structure's own tests make a `Case`: a small corpus, an example of it, the list
of all its legal outputs, and the meaning of its features and costs written down
in the plainest way. The laws below hold for any structure whatever::

    @pytest.mark.parametrize("law", LAWS, ids=law_name)
    @given(case=cases_of_my_structure())
    def test_my_structure_obeys(law, case):
        law(case)

They ask through `drivers`, so from compiled code, or from plain Python in a process
with ``NUMBA_DISABLE_JIT=1``.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import drivers as ask
from partwise.structures import interface as waist

Output = tuple[int, ...]
Floats = NDArray[np.float64]

# Room behind every array: nobody may read it (it is not a number) or write to it.
GUARD = 3


class Case(NamedTuple):
    """One example of a corpus, with all that is true about it.

    `theta` are any scores of its parts, `w` any weights; they need not match.
    """

    s: Any
    i: int
    outputs: list[Output]
    theta: Floats
    w: Floats
    features: Callable[[Output], Floats]
    cost: Callable[[Output], float]
    seed: int


def enumerate_outputs(
    size: int, n_codes: int, is_legal: Callable[[Output], bool]
) -> list[Output]:
    """List every legal output of `size` codes."""
    return [y for y in itertools.product(range(n_codes), repeat=size) if is_legal(y)]


def draw_scores(random: np.random.Generator, size: int, scale: float) -> Floats:
    """Draw scores of the given range; a small one makes many ties."""
    scores = random.uniform(-scale, scale, size)
    return scores.round() if scale <= 2 else scores


def law_name(law: Callable[..., None]) -> str:
    """Name a law in the list of tests."""
    return law.__name__


# --- the pieces ---------------------------------------------------------------------


def guarded(values: Any) -> Floats:
    """Copy numbers into an array with guarded room behind them."""
    values = np.asarray(values, np.float64)
    return np.concatenate([values, np.full(GUARD, np.nan)])


def unguarded(values: Floats) -> Floats:
    """Take the numbers out again; fail if something wrote behind them."""
    assert np.isnan(values[-GUARD:]).all()
    return values[:-GUARD]


def code(y: Output) -> NDArray[np.int32]:
    """Write an output as the waist wants it."""
    return np.array(y, np.int32)


def empty_code(case: Case) -> NDArray[np.int32]:
    """Make room for an output, filled with a code that no output has."""
    return np.full(waist.output_size(case.s, case.i), -7, np.int32)


def part_counts(case: Case, y: Output) -> Floats:
    """Count the parts of an output."""
    n_parts = waist.n_parts(case.s, case.i)
    room = n_parts + 2 * waist.output_size(case.s, case.i)
    ids, counts = np.full(room, -1, np.int64), np.full(room, np.nan)
    found = ask.parts_of(case.s, case.i, code(y), ids, counts)
    total = np.zeros(n_parts)
    np.add.at(total, ids[:found], counts[:found])
    return total


def part_matrix(case: Case) -> Floats:
    """Write the feature vector of every part in full."""
    s, i, ws = case.s, case.i, waist.workspace(case.s, 1)
    room = waist.max_features(s)
    matrix = np.zeros((waist.n_parts(s, i), waist.n_weights(s)))
    for r in range(matrix.shape[0]):
        idx, val = np.full(room, -1, np.int64), np.full(room, np.nan)
        found = ask.part_row(s, i, r, idx, val, ws)
        np.add.at(matrix[r], idx[:found], val[:found])
    return matrix


def brute_scores(case: Case) -> Floats:
    """Score every legal output."""
    counts = [part_counts(case, y) for y in case.outputs]
    return np.array([count @ case.theta for count in counts])


def brute_log_partition(scores: Floats) -> float:
    """Sum over all outputs, in logarithms."""
    return float(np.logaddexp.reduce(scores)) if scores.size else -np.inf


def tolerance(case: Case) -> float:
    """Return what rounding may do to a sum of a few scores of this range."""
    return 1e-13 * (10.0 + 10.0 * float(np.abs(case.theta).max(initial=0.0)))


# --- inference ----------------------------------------------------------------------


def argmax_is_the_best_legal_output(case: Case) -> None:
    """No legal output has a higher score, and the score is the one returned."""
    y, ws = empty_code(case), waist.workspace(case.s, 1)
    result = ask.argmax(case.s, case.i, guarded(case.theta), y, ws)
    scores = brute_scores(case)
    if not case.outputs:
        assert result == -np.inf
        return
    assert_allclose(result, scores.max(), rtol=0, atol=tolerance(case))
    mine = scores[case.outputs.index(tuple(y.tolist()))]
    assert_allclose(mine, scores.max(), rtol=0, atol=tolerance(case))


def kbest_are_the_best_in_order(case: Case) -> None:
    """The k best are distinct, legal and sorted, and as many as there are."""
    s, i, n_outputs = case.s, case.i, len(case.outputs)
    brute = brute_scores(case)
    for k in {1, 2, 3, n_outputs + 2}:
        ys = np.full((k, waist.output_size(s, i)), -7, np.int32)
        scores = guarded(np.full(k, 0.5))
        ws = waist.workspace(s, k)
        found = ask.kbest(s, i, guarded(case.theta), k, ys, scores, ws)
        scores = unguarded(scores)[:found]
        assert found == min(k, n_outputs)
        outputs = [tuple(y.tolist()) for y in ys[:found]]
        assert len(set(outputs)) == found
        mine = np.array([brute[case.outputs.index(y)] for y in outputs])
        assert_allclose(scores, mine, rtol=0, atol=tolerance(case))
        best = np.sort(brute)[::-1][:found]
        assert_allclose(scores, best, rtol=0, atol=tolerance(case))
        assert (np.diff(scores) <= 0.0).all()


def log_partition_sums_every_output(case: Case) -> None:
    """It is the logarithm of the sum over all legal outputs, -inf over none."""
    ws = waist.workspace(case.s, 1)
    result = ask.log_partition(case.s, case.i, guarded(case.theta), ws)
    expected = brute_log_partition(brute_scores(case))
    assert_allclose(result, expected, rtol=0, atol=tolerance(case))


def marginals_are_expected_counts(case: Case) -> None:
    """They are the mean of the part counts, weighted by exp(score)."""
    n_parts = waist.n_parts(case.s, case.i)
    mu, ws = guarded(np.full(n_parts, 0.5)), waist.workspace(case.s, 1)
    result = ask.marginals(case.s, case.i, guarded(case.theta), mu, ws)
    scores = brute_scores(case)
    log_z = brute_log_partition(scores)
    expected = np.zeros(n_parts)
    for y, score in zip(case.outputs, scores, strict=True):
        expected += np.exp(score - log_z) * part_counts(case, y)
    assert_allclose(result, log_z, rtol=0, atol=tolerance(case))
    assert_allclose(unguarded(mu), expected, rtol=0, atol=10 * tolerance(case))


def marginals_are_the_gradient(case: Case) -> None:
    """They are the derivative of log Z by the scores, by central differences."""
    if not case.outputs:
        return
    s, i, ws = case.s, case.i, waist.workspace(case.s, 1)
    theta = case.theta * min(1.0, 3.0 / max(1.0, np.abs(case.theta).max(initial=1)))
    mu, step = np.zeros(theta.size), 1e-4
    ask.marginals(s, i, theta, mu, ws)
    for r in range(theta.size):
        there, back = theta.copy(), theta.copy()
        there[r] += step
        back[r] -= step
        change = ask.log_partition(s, i, there, ws) - ask.log_partition(s, i, back, ws)
        assert_allclose(mu[r], change / (2 * step), rtol=0, atol=1e-6)


def answers_do_not_depend_on_earlier_ones(case: Case) -> None:
    """A workspace carries nothing over, whatever was asked before."""
    s, i, random = case.s, case.i, np.random.default_rng(case.seed)
    used = waist.workspace(s, 3)
    sizes = [(waist.n_parts(s, j), waist.output_size(s, j)) for j in every_example(s)]

    def answer(j: int, theta: Floats, ws: Any) -> list[Any]:
        mu, y = np.zeros(theta.size), np.zeros(sizes[j][1], np.int32)
        ys, scores = np.zeros((3, sizes[j][1]), np.int32), np.zeros(3)
        best = ask.argmax(s, j, theta, y, ws)
        log_z = ask.marginals(s, j, theta, mu, ws)
        found = ask.kbest(s, j, theta, 3, ys, scores, ws)
        return [best, log_z, mu, found, ys[:found], scores[:found]]

    for j in every_example(s):
        answer(j, random.normal(0.0, 1e3, sizes[j][0]), used)
    fresh = answer(i, case.theta, waist.workspace(s, 3))
    for expected, got in zip(fresh, answer(i, case.theta, used), strict=True):
        np.testing.assert_array_equal(got, expected)


def every_example(s: Any) -> range:
    """Return the examples of a corpus."""
    return range(waist.n_examples(s))


# --- scores, features and costs -------------------------------------------------------


def part_scores_are_dot_products(case: Case) -> None:
    """The score of a part is its feature vector times the weights."""
    s, i, ws = case.s, case.i, waist.workspace(case.s, 1)
    theta = guarded(np.full(waist.n_parts(s, i), 0.5))
    ask.part_scores(s, i, guarded(case.w), theta, ws)
    assert_allclose(unguarded(theta), part_matrix(case) @ case.w, atol=1e-9)


def parts_add_up_to_the_output(case: Case) -> None:
    """The feature vector of an output is the sum of those of its parts."""
    matrix = part_matrix(case)
    assert matrix.shape[1] == case.w.size
    for y in case.outputs:
        mine = part_counts(case, y) @ matrix
        assert_allclose(mine, case.features(y), atol=1e-12)


def add_parts_is_the_adjoint_of_part_scores(case: Case) -> None:
    """``v . (change of w) = scale * mu . scores(v)`` for all `mu` and `v`."""
    s, i, ws = case.s, case.i, waist.workspace(case.s, 1)
    random = np.random.default_rng(case.seed)
    mu = random.normal(size=waist.n_parts(s, i))
    v = random.normal(size=case.w.size)
    theta = np.zeros(mu.size)
    ask.part_scores(s, i, v, theta, ws)
    w, scale = guarded(case.w), -0.7
    change = ask.add_parts(s, i, guarded(mu), scale, w, ws)
    w = unguarded(w)
    assert_allclose(v @ (w - case.w), scale * mu @ theta, atol=1e-9)
    assert_allclose(w - case.w, scale * mu @ part_matrix(case), atol=1e-9)
    assert_allclose(change, w @ w - case.w @ case.w, atol=1e-8)


def blocks_answer_as_their_examples_do(case: Case) -> None:
    """Scores and sums of a block are those of its examples, one after the other."""
    s, ws, random = case.s, waist.workspace(case.s, 1), np.random.default_rng(case.seed)
    first = case.i
    last = min(first + waist.block_size(s), waist.n_examples(s))
    sizes = [waist.n_parts(s, i) for i in range(first, last)]
    expected = [np.zeros(n) for n in sizes]
    mus = [random.normal(size=n) for n in sizes]
    w = case.w.copy()
    for i, theta, mu in zip(range(first, last), expected, mus, strict=True):
        ask.part_scores(s, i, case.w, theta, ws)
        ask.add_parts(s, i, mu, 1.0, w, ws)
    theta, sums = guarded(np.full(sum(sizes), 0.5)), guarded(case.w)
    ask.block_scores(s, first, last, case.w, theta, ws)
    ask.add_block(s, first, last, np.concatenate(mus), sums, ws)
    assert_allclose(unguarded(theta), np.concatenate(expected), atol=1e-9)
    assert_allclose(unguarded(sums), w, atol=1e-9)


def costs_add_up_over_parts(case: Case) -> None:
    """The cost of an output is that of its parts, and nothing at gold."""
    s, i = case.s, case.i
    base = np.arange(waist.n_parts(s, i), dtype=float)
    theta = guarded(base)
    ask.add_costs(s, i, theta)
    part_costs = unguarded(theta) - base
    for y in case.outputs:
        assert_allclose(ask.cost(s, i, code(y)), case.cost(y), atol=1e-12)
        assert_allclose(part_counts(case, y) @ part_costs, case.cost(y), atol=1e-9)
    right = empty_code(case)
    ask.gold(s, i, right)
    assert ask.cost(s, i, right) == 0.0


def differences_are_those_of_the_features(case: Case) -> None:
    """All of ``diff_*`` speak of ``Phi(y_ref) - Phi(y)``."""
    check_differences(case, case.s)


def differences_by_default_are_the_same(case: Case) -> None:
    """The default bodies say what the structure's own, faster ones say."""
    check_differences(case, ask.PLAIN_CLASSES[type(case.s)](*case.s))


def check_differences(case: Case, s: Any) -> None:
    """Compare ``diff_*`` with brute force on some pairs of outputs."""
    if not case.outputs:
        return
    random = np.random.default_rng(case.seed)
    first, last = case.outputs[0], case.outputs[-1]
    pairs = [(first, first), (first, last)]
    for a, b in random.integers(0, len(case.outputs), (4, 2)):
        pairs.append((case.outputs[a], case.outputs[b]))
    ws, diff = waist.workspace(s, 1), waist.make_diff(s)
    for y, y_ref in pairs:
        delta = case.features(y_ref) - case.features(y)
        assert np.count_nonzero(delta) <= waist.max_features(s)
        there, ref, w = code(y), code(y_ref), guarded(case.w)
        dot = ask.diff_dot(s, case.i, there, ref, w, diff, ws)
        assert_allclose(dot, delta @ case.w, atol=1e-9)
        ask.diff_add(s, case.i, there, ref, -0.7, w, diff, ws)
        assert_allclose(unguarded(w), case.w - 0.7 * delta, atol=1e-9)
        sqnorm = ask.diff_sqnorm(s, case.i, there, ref, diff, ws)
        assert_allclose(sqnorm, delta @ delta, atol=1e-9)


INFERENCE_LAWS = [
    argmax_is_the_best_legal_output,
    kbest_are_the_best_in_order,
    log_partition_sums_every_output,
    marginals_are_expected_counts,
    marginals_are_the_gradient,
    answers_do_not_depend_on_earlier_ones,
]
FEATURE_LAWS = [
    part_scores_are_dot_products,
    parts_add_up_to_the_output,
    add_parts_is_the_adjoint_of_part_scores,
    blocks_answer_as_their_examples_do,
    costs_add_up_over_parts,
    differences_are_those_of_the_features,
]
DEFAULT_LAWS = [differences_by_default_are_the_same]
LAWS = INFERENCE_LAWS + FEATURE_LAWS + DEFAULT_LAWS
