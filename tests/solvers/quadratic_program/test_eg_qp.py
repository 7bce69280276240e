"""EG for quadratic programs: the optimum, its bound, Theorem 2, and bad input."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import LinearConstraint, minimize
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from partwise.errors import DataError
from partwise.solvers import eg_qp
from partwise.solvers.quadratic_program import steps as qp_steps
from partwise.solvers.quadratic_program.problem import QuadraticProgram

ROUNDING = 1e-12


def random_qp(seed, sizes, rank, scale=1.0):
    """Return a matrix of a given rank and a linear part."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(sum(sizes), rank))
    return scale * factor @ factor.T, scale * rng.normal(size=sum(sizes))


def objective(A, b, x):
    return b @ x + 0.5 * x @ A @ x


def reference(A, b, sizes):
    """Return the optimum as an independent solver finds it."""
    sums = np.repeat(np.eye(len(sizes)), sizes, axis=1)
    found = minimize(
        lambda x: objective(A, b, x),
        1 / np.repeat(sizes, sizes),
        jac=lambda x: b + A @ x,
        bounds=[(0, 1)] * len(b),
        constraints=LinearConstraint(sums, 1, 1),
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    # 8: the line search finds nothing to gain at this precision.
    assert found.status in (0, 8), found.message
    return found.fun


def assert_feasible(x, sizes):
    assert (x > 0).all()
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    np.testing.assert_allclose(np.add.reduceat(x, starts), 1, rtol=1e-9)


problems = st.tuples(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 6), min_size=1, max_size=5).filter(lambda s: max(s) > 1),
    st.integers(1, 8),
)


@settings(max_examples=60)
@given(problem=problems, scale=st.sampled_from([1e-3, 1.0, 1e4]))
def test_eg_qp_optimum_is_that_of_an_independent_solver(problem, scale):
    seed, sizes, rank = problem
    A, b = random_qp(seed, sizes, rank)  # the reference wants a problem of size one
    solution = eg_qp(scale * A, scale * b, sizes, tol=1e-8, max_iter=100_000)
    assert solution.converged, solution.status
    assert_feasible(solution.x, sizes)
    optimum = scale * reference(A, b, sizes)
    assert solution.value == pytest.approx(optimum, rel=1e-6, abs=1e-6 * max(1, scale))
    assert solution.value == pytest.approx(
        objective(scale * A, scale * b, solution.x), rel=1e-9, abs=1e-9
    )


@settings(max_examples=30)
@given(problem=problems, eta=st.sampled_from(["search", "theory", 0.1]))
def test_eg_qp_bound_holds_at_every_iteration(problem, eta):
    seed, sizes, rank = problem
    A, b = random_qp(seed, sizes, rank)
    optimum = reference(A, b, sizes)
    solution = eg_qp(A, b, sizes, eta=eta, max_iter=50)
    slack = 1e-7 * max(1, abs(optimum))
    for row in solution.trace:
        assert row.lower_bound <= optimum + slack
        assert row.value >= optimum - slack
    assert solution.gap == solution.value - solution.lower_bound


def test_eg_qp_bound_is_not_loose():
    A, b = random_qp(3, [5] * 4, 20)
    solution = eg_qp(A, b, 5, tol=1e-9)
    assert solution.lower_bound == pytest.approx(reference(A, b, [5] * 4), abs=1e-6)


@settings(max_examples=40)
@given(problem=problems, eta=st.sampled_from(["search", "theory", "Lemma 3"]))
def test_eg_qp_objective_never_increases(problem, eta):
    seed, sizes, rank = problem
    A, b = random_qp(seed, sizes, rank)
    if eta == "Lemma 3":  # the longest step that it allows, not the 0.4 of Theorem 2
        eta = 0.567 / 0.4 * QuadraticProgram(A, b, sizes).theory_step()
    values = []
    eg_qp(
        A,
        b,
        sizes,
        eta=eta,
        max_iter=200,
        callback=lambda row, x: values.append(objective(A, b, x)),
    )
    for before, after in itertools.pairwise(values):
        assert after <= before + ROUNDING * max(1, abs(before))


@settings(max_examples=30)
@given(problem=problems, kind=st.sampled_from(["dense", "sparse", "operator"]))
def test_eg_qp_theory_step_keeps_the_bound_of_theorem_2(problem, kind):
    seed, sizes, rank = problem
    A, b = random_qp(seed, sizes, rank)
    u = eg_qp(A, b, sizes, tol=1e-9, max_iter=100_000).x
    given_as = {"dense": A, "sparse": sparse.csr_array(A)}
    matrix = given_as.get(kind, aslinearoperator(A))
    values = []
    solution = eg_qp(
        matrix,
        b,
        sizes,
        eta="theory",
        max_iter=100,
        callback=lambda row, x: values.append(objective(A, b, x)),
    )
    divergence = np.sum(u * np.log(u * np.repeat(sizes, sizes)))
    for T in range(1, len(values)):
        bound = divergence / (solution.eta * T) + 1.5 * (values[0] - values[T]) / T
        mean = np.mean(values[:T])
        slack = ROUNDING * max(1, abs(mean))
        assert values[T] <= mean + slack
        assert mean <= objective(A, b, u) + bound + slack


@settings(max_examples=30)
@given(problem=problems)
def test_eg_qp_theory_step_uses_upper_bounds(problem):
    seed, sizes, rank = problem
    A, b = random_qp(seed, sizes, rank)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    # The range of the gradient within a block is largest at vertices.
    vertices = itertools.islice(itertools.product(*map(range, sizes)), 500)
    spread = 0.0
    for choice in vertices:
        gradient = b + A[:, starts + np.array(choice)].sum(axis=1)
        spread = max(spread, QuadraticProgram(A, b, sizes).blocks.range(gradient))
    largest = np.linalg.eigvalsh(A)[-1]
    for matrix in (A, sparse.csr_array(A), aslinearoperator(A)):
        step = QuadraticProgram(matrix, b, sizes).theory_step()
        assert 0 < step <= 0.4 / (spread + largest) * (1 + 1e-9)


def test_eg_qp_constant_step_is_figure_3_of_the_paper():
    A, b = random_qp(0, [3, 2], 4)
    x = np.array([1, 1, 1, 1.5, 1.5]) / 3
    for _ in range(7):
        weights = x * np.exp(-0.05 * (b + A @ x))
        x = weights / np.repeat(np.add.reduceat(weights, [0, 3]), [3, 2])
    seen = []
    eg_qp(A, b, [3, 2], eta=0.05, max_iter=7, callback=lambda row, x: seen.append(x))
    np.testing.assert_allclose(seen[-1], x, rtol=1e-12)


@pytest.mark.parametrize(("eta", "tol"), [("search", 1e-10), ("theory", 1e-2)])
def test_eg_qp_operators_and_sparse_equal_dense(eta, tol):
    A, b = random_qp(1, [4] * 5, 30)
    dense = eg_qp(A, b, 4, eta=eta, tol=tol, max_iter=100_000)
    for matrix in (sparse.csr_matrix(A), sparse.coo_array(A), aslinearoperator(A)):
        other = eg_qp(matrix, b, 4, eta=eta, tol=tol, max_iter=100_000)
        assert other.converged
        assert abs(other.value - dense.value) <= max(other.gap, dense.gap)
        if eta == "search":
            np.testing.assert_allclose(other.x, dense.x, atol=1e-4)


def test_eg_qp_labels_in_any_order_are_blocks():
    A, b = random_qp(2, [3, 4, 2], 9)
    order = np.random.default_rng(0).permutation(9)
    labels = np.repeat(["left", "middle", "right"], [3, 4, 2])
    by_sizes = eg_qp(A, b, [3, 4, 2], tol=1e-9)
    for eta in ("search", "theory"):
        mixed = eg_qp(
            A[np.ix_(order, order)],
            b[order],
            labels[order],
            eta=eta,
            tol={"search": 1e-9, "theory": 1e-2}[eta],
        )
        assert mixed.value - by_sizes.value <= mixed.gap + 1e-9
        if eta == "search":
            np.testing.assert_allclose(mixed.x, by_sizes.x[order], atol=1e-4)


def test_eg_qp_ill_conditioned_and_singular_problems_converge_quickly():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(120, 120)))[0]
    for eigenvalues in (
        np.logspace(0, -8, 120),
        np.where(np.arange(120) < 10, 1.0, 0.0),
        np.ones(120),
    ):
        A = (basis * eigenvalues) @ basis.T
        for blocks in (120, 10, 2):
            solution = eg_qp((A + A.T) / 2, 0.1 * rng.normal(size=120), blocks)
            assert solution.converged
            assert solution.trace[-1].products < 500


def test_eg_qp_without_curvature_is_a_linear_program():
    b = np.array([3.0, 1.0, 2.0, -5.0, 7.0])
    solution = eg_qp(np.zeros((5, 5)), b, [3, 2])
    assert solution.value == pytest.approx(1 - 5, abs=1e-5)
    assert eg_qp(np.zeros((5, 5)), np.zeros(5), [3, 2]).n_iter == 0


def test_eg_qp_extreme_values_stay_finite():
    A, b = random_qp(5, [4, 4], 8)
    for scale in (1e-250, 1e-30, 1e30, 1e200):
        solution = eg_qp(scale * A, scale * b, 4, max_iter=50)
        assert np.isfinite(solution.x).all()
        assert np.isfinite(solution.value)
    huge = eg_qp(A, b, 4, eta=1e300, max_iter=50)
    assert_feasible(huge.x, [4, 4])
    assert huge.value <= huge.trace[0].value
    far = eg_qp(A, b + 1e9, 4, tol=1e-12)  # constants a block change nothing
    np.testing.assert_allclose(far.x, eg_qp(A, b, 4).x, atol=1e-2)


def test_eg_qp_start_is_used():
    A, b = random_qp(6, [5, 5], 10)
    solution = eg_qp(A, b, 5, tol=1e-8)
    again = eg_qp(A, b, 5, start=solution.x, tol=1e-7)
    assert again.n_iter == 0
    assert again.value == pytest.approx(solution.value, rel=1e-9)


def test_eg_qp_interrupted_returns_the_best_so_far():
    A, b = random_qp(7, [5] * 4, 20)

    def interrupt(row, x):
        if row.iteration == 5:
            raise KeyboardInterrupt

    solution = eg_qp(A, b, 5, tol=1e-12, callback=interrupt)
    assert solution.reason == "interrupted"
    assert "interrupted after 5 iterations" in solution.status
    assert solution.value == solution.trace[5].value < solution.trace[0].value
    assert_feasible(solution.x, [5] * 4)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_eg_qp_units_change_no_bit(scale):
    """Nor when it stops: no tolerance is absolute."""
    A, b = random_qp(9, [5] * 4, 20)
    one, two = (eg_qp(c * A, c * b, 5, tol=1e-4) for c in (1.0, scale))
    assert one.converged
    assert two.n_iter == one.n_iter
    np.testing.assert_array_equal(one.x, two.x)
    assert two.gap == scale * one.gap


def test_eg_qp_status_says_why_it_ended(monkeypatch):
    A, b = random_qp(8, [5] * 4, 20)
    short = eg_qp(A, b, 5, max_iter=2)
    assert (short.reason, short.n_iter, short.converged) == ("max_iter", 2, False)
    assert "raise max_iter" in short.status
    assert "within the tolerance 0.001" in eg_qp(A, b, 5, tol=1e-3).status
    monkeypatch.setattr(qp_steps, "SHORTENINGS", 0)
    stalled = eg_qp(A, b, 5)
    assert stalled.reason == "stalled"
    assert "too small for this problem" in stalled.status


@settings(max_examples=20)
@given(problem=problems)
def test_eg_qp_tolerance_below_rounding_ends_near_the_optimum(problem):
    seed, sizes, rank = problem
    A, b = random_qp(seed, sizes, rank)
    solution = eg_qp(A, b, sizes, tol=1e-40, max_iter=2000)
    assert solution.gap <= 1e-9 * max(1, abs(solution.value))


def bad_operator(product):
    return LinearOperator((4, 4), matvec=product, dtype=np.float64)


EYE = np.eye(4)
ASYMMETRIC = EYE + np.triu(np.ones((4, 4)), 1)
INDEFINITE = np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"blocks": [2, 3]}, ValueError, "add up to 5, but b has 4"),
        ({"blocks": [4, 0]}, ValueError, r"blocks\[1\] is 0"),
        ({"blocks": 3}, ValueError, "cannot be split into blocks of size 3"),
        ({"blocks": 0}, ValueError, "cannot be split"),
        ({"blocks": [1, 1, 1, 1]}, ValueError, "one block with the label 1"),
        ({"blocks": []}, ValueError, "blocks must be"),
        ({"blocks": [2.0, 2.0]}, TypeError, "integers"),
        ({"b": np.zeros(3)}, ValueError, "b has 3 variables, but A is 4 x 4"),
        ({"b": []}, ValueError, "not empty"),
        ({"b": np.zeros((4, 1))}, ValueError, "one-dimensional"),
        ({"b": [0, np.nan, 0, 0]}, DataError, r"b\[1\] is nan"),
        ({"b": ["a"] * 4}, TypeError, "b must be"),
        ({"A": np.ones((4, 3))}, ValueError, "square"),
        ({"A": "matrix"}, TypeError, "A must be a real matrix"),
        ({"A": sparse.csr_array(1j * EYE)}, TypeError, "complex"),
        ({"A": EYE + np.inf}, DataError, "NaN or infinite"),
        ({"A": sparse.csr_array(np.diag([1, np.nan, 1, 1]))}, DataError, "NaN"),
        ({"A": bad_operator(lambda x: x * np.nan)}, DataError, "NaN"),
        ({"A": ASYMMETRIC}, DataError, r"\(A \+ A.T\) / 2"),
        ({"A": sparse.csr_array(ASYMMETRIC)}, DataError, "not symmetric"),
        ({"A": aslinearoperator(ASYMMETRIC)}, DataError, "not symmetric"),
        ({"A": -EYE}, DataError, r"A\[0, 0\] is -1"),
        ({"A": np.kron(INDEFINITE, np.eye(2))}, DataError, "an eigenvalue is -1"),
        ({"A": sparse.csr_array(np.kron(INDEFINITE, np.eye(2)))}, DataError, "convex"),
        ({"A": aslinearoperator(-EYE)}, DataError, "not positive semidefinite"),
        ({"eta": 0.0}, ValueError, "eta must be positive"),
        ({"eta": -1.0}, ValueError, "eta must be positive"),
        ({"eta": np.inf}, ValueError, "eta must be positive"),
        ({"eta": "fast"}, ValueError, '"search", "theory" or a number'),
        ({"tol": 0.0}, ValueError, "tol must be positive"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"start": [0.5, 0.5, 0.5]}, ValueError, "start has 3 variables"),
        ({"start": [0.5, 0.5, 0.5, 0.6]}, ValueError, "block 1 sums to 1.1"),
        ({"start": [1.0, 0.0, 0.5, 0.5]}, ValueError, "never revives a zero"),
        ({"start": [0.5, np.nan, 0.5, 0.5]}, DataError, r"start\[1\] is nan"),
    ],
)  # fmt: skip
def test_eg_qp_bad_input_is_refused(change, error, message):
    arguments = {"A": EYE, "b": np.arange(4.0), "blocks": [2, 2]} | change
    with pytest.raises(error, match=message):
        eg_qp(**arguments)


def test_eg_qp_downward_curvature_met_on_the_way_is_refused(monkeypatch):
    monkeypatch.setattr(QuadraticProgram, "_ritz_values", lambda self: np.ones(2))
    indefinite = aslinearoperator(np.diag([1.0, -2.0]))
    with pytest.raises(DataError, match="a direction has curvature"):
        eg_qp(indefinite, np.array([0.1, 0.0]), 2)
