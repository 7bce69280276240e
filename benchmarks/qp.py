"""Quadratic programs: 10 to 10,000 variables to a gap of 1e-6, and Theorem 2's rate.

Random problems of several kinds and block sizes are solved by `eg_qp`; what it proves
is computed again here, from the points it visits. Small problems are also solved by
SciPy's SLSQP. The constant step of Theorem 2 (Bartlett et al., 2004) is measured
against the bound of the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from partwise.solvers import QPStep, eg_qp

TOL = 1e-6
SEEDS = [0, 1, 2]
# Steep problems take thousands of products: larger ones would take all the time.
MOST_STEEP = 1000


class QP(NamedTuple):
    """A problem and what to call it."""

    kind: str
    A: Any
    b: Any
    block: int

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self.b)

    def value(self, x: Any) -> float:
        """Return the objective."""
        return float(self.b @ x + 0.5 * x @ (self.A @ x))

    def value_and_bound(self, x: Any) -> tuple[float, float]:
        """Return the objective, and what its tangent at `x` says of the optimum."""
        Ax = self.A @ x
        value = float(self.b @ x + 0.5 * x @ Ax)
        gradient = (self.b + Ax).reshape(-1, self.block)
        excess = gradient - gradient.min(axis=1, keepdims=True)
        return value, value - float(excess.ravel() @ x)


def with_eigenvalues(eigenvalues: Any, rng: np.random.Generator) -> Any:
    """Return a dense matrix with given eigenvalues and mixed eigenvectors."""
    A = np.diag(eigenvalues)
    for _ in range(6):
        v = rng.normal(size=len(A))
        v /= np.linalg.norm(v)
        # H A H of the reflection H = 1 - 2 v v'.
        u = A @ v
        u -= (v @ u) * v
        A -= 2 * (np.outer(u, v) + np.outer(v, u))
    return A


def well_conditioned(m: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Make a dense matrix of condition 10."""
    return with_eigenvalues(np.logspace(0, -1, m), rng), 0.1 * rng.normal(size=m)


def ill_conditioned(m: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Make a dense matrix of condition 1e6."""
    return with_eigenvalues(np.logspace(0, -6, m), rng), 0.1 * rng.normal(size=m)


def gram(m: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Make a singular matrix of inner products, as kernel machines have."""
    factor = rng.normal(size=(m, max(2, m // 4)))
    return factor @ factor.T / len(factor[0]), rng.normal(size=m)


def steep(m: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Make such a matrix with large entries: many variables are almost zero."""
    A, b = gram(m, rng)
    return A * max(2, m // 4), b


def sparse_laplacian(m: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Make the Laplacian of a random sparse graph, which is singular."""
    from scipy import sparse

    a, b = rng.integers(0, m, size=(2, 4 * m))
    ones = np.ones(len(a))
    edges = sparse.csr_array((ones, (a, b)), shape=(m, m))
    adjacency = edges + edges.T
    degrees = sparse.diags_array(np.asarray(adjacency.sum(axis=1)).ravel())
    return (degrees - adjacency).tocsr(), rng.normal(size=m)


def low_rank(m: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Make an operator of rank 50 at most; the matrix is never formed."""
    from scipy.sparse.linalg import aslinearoperator

    factor = aslinearoperator(rng.normal(size=(m, min(50, m))) / np.sqrt(50))
    return factor @ factor.T, rng.normal(size=m)


KINDS: dict[str, Callable[[int, np.random.Generator], tuple[Any, Any]]] = {
    "dense, condition 10": well_conditioned,
    "dense, condition 1e6": ill_conditioned,
    "dense, singular": gram,
    "dense, singular, steep": steep,
    "sparse Laplacian": sparse_laplacian,
    "operator, rank 50": low_rank,
}


class Audit:
    """Recomputes value and bound at every point, and notes what is not as promised."""

    def __init__(self, qp: QP) -> None:
        self.qp = qp
        self.values: list[float] = []
        self.best_bound = -np.inf
        self.rise = 0.0

    def __call__(self, row: QPStep, x: Any) -> None:
        """Look at one iteration."""
        value, bound = self.qp.value_and_bound(x)
        if self.values:
            rise = (value - self.values[-1]) / max(1.0, abs(value))
            self.rise = max(self.rise, rise)
        self.values.append(value)
        self.best_bound = max(self.best_bound, bound)

    def relative_gap(self, x: Any) -> float:
        """Return the gap as `tol` counts it."""
        sums = x.reshape(-1, self.qp.block).sum(axis=1)
        if (x < 0).any() or np.abs(sums - 1).max() > 1e-9:
            return np.inf  # not feasible: nothing is proved
        value = self.qp.value(x)
        return (value - self.best_bound) / max(1.0, abs(value))


def optimum_of_peer(qp: QP) -> float:
    """Solve a small problem by SciPy's SLSQP."""
    from scipy.optimize import LinearConstraint, minimize

    n_blocks = qp.size // qp.block
    sums = np.repeat(np.eye(n_blocks), qp.block, axis=1)
    found = minimize(
        qp.value,
        np.full(qp.size, 1 / qp.block),
        jac=lambda x: qp.b + qp.A @ x,
        bounds=[(0, 1)] * qp.size,
        constraints=LinearConstraint(sums, 1, 1),
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    # 8: the line search finds nothing to gain at this precision.
    return float(found.fun) if found.status in (0, 8) else np.nan


class Rate(NamedTuple):
    """Objective above the optimum after 1, 2, ... iterations."""

    bound: Any
    mean: Any
    last: Any
    search: Any


def measure_rate(qp: QP, iterations: int) -> Rate:
    """Run the step of the theorem, and compute what the theorem says of it."""
    exact = eg_qp(qp.A, qp.b, qp.block, tol=1e-11, max_iter=100_000)
    optimum = qp.value(exact.x)
    search = np.array([row.value for row in exact.trace[1:]]) - optimum
    audit = Audit(qp)
    run = eg_qp(
        qp.A,
        qp.b,
        qp.block,
        eta="theory",
        tol=1e-15,
        max_iter=iterations,
        callback=audit,
    )
    values = np.array(audit.values)
    T = np.arange(1, len(values))
    divergence = float(exact.x @ np.log(exact.x * qp.block))
    assert run.eta is not None
    bound = divergence / (run.eta * T) + 1.5 * (values[0] - values[1:]) / T
    mean = np.cumsum(values[:-1]) / T
    return Rate(bound, mean - optimum, values[1:] - optimum, search)


def first_below(values: Any, level: float) -> int | None:
    """Return the first iteration at which the excess is at most `level`."""
    below = np.flatnonzero(values <= level)
    return int(below[0]) + 1 if len(below) else None


def make_problems(sizes: tuple[int, ...]) -> Iterator[QP]:
    """Make problems of every kind, size and block size, one at a time."""
    for m in sizes:
        for kind, make in KINDS.items():
            if make is steep and m > MOST_STEEP:
                continue
            for block in (2, 10, m) if m > 10 else (2, 5, 10):
                for seed in range(1 if m == 10_000 else len(SEEDS)):
                    rng = np.random.default_rng([seed, m, block])
                    yield QP(kind, *make(m, rng), block)


class Solved(NamedTuple):
    """Problems solved to the tolerance, audited."""

    rows: list[list[Any]]
    largest_gap: float
    largest_rise: float
    largest_difference: float


def solve_all(bench: Bench, sizes: tuple[int, ...]) -> Solved:
    """Solve the problems; the small ones by the peer as well."""
    found: dict[tuple[int, str, int], list[tuple[QPStep, float]]] = {}
    rises, differences = [], []
    for qp in make_problems(sizes):
        key = (qp.size, qp.kind, qp.block)
        if key not in found:
            bench.say(f"{qp.size} variables, {qp.kind}, blocks of {qp.block}")
        audit = Audit(qp)
        solution = eg_qp(
            qp.A, qp.b, qp.block, tol=TOL, max_iter=100_000, callback=audit
        )
        gap = audit.relative_gap(solution.x)
        found.setdefault(key, []).append((solution.trace[-1], gap))
        rises.append(audit.rise)
        if qp.size <= 100:
            value = qp.value(solution.x)
            difference = abs(value - optimum_of_peer(qp))
            differences.append(difference / max(1.0, abs(value)))
    rows = [
        [
            *key,
            float(np.median([last.products for last, _ in runs])),
            float(np.median([last.seconds for last, _ in runs])),
            max(gap for _, gap in runs),
        ]
        for key, runs in found.items()
    ]
    return Solved(
        rows,
        max(gap for runs in found.values() for _, gap in runs),
        max(rises),
        float(np.max(differences)),
    )


def run(bench: Bench) -> Report:
    """Solve everything, audit it, and measure the rate."""
    bench.sources["problems"] = "random, of fixed seeds"
    solved = solve_all(bench, bench.choose((10, 100, 1000, 10_000), (10, 100)))
    shares, rate_rows, plots = [], [], []
    iterations = bench.choose(20_000, 500)
    for kind, make in KINDS.items():
        for m, block in bench.choose([(10, 5), (100, 5), (1000, 10)], [(10, 5)]):
            bench.say(f"rate, {m} variables, {kind}")
            qp = QP(kind, *make(m, np.random.default_rng(m)), block)
            rate = measure_rate(qp, iterations)
            worst = np.maximum(rate.mean, rate.last)
            shares.append(float(np.max(worst / rate.bound)))
            level = 0.01 * rate.mean[0]
            reached = [first_below(values, level) for values in rate]
            rate_rows.append([m, kind, block, *reached, shares[-1]])
            if m == bench.choose(100, 10):
                plots.append(rate_plot(kind, rate))
    share = "largest share of the bound"
    return Report(
        [
            Figure("largest gap, recomputed", solved.largest_gap, "", at_most=TOL),
            Figure(
                "largest difference from SLSQP",
                solved.largest_difference,
                "",
                at_most=1e-5,
            ),
            Figure(
                "largest rise of the objective", solved.largest_rise, "", at_most=1e-12
            ),
            Figure(f"{share} of Theorem 2", max(shares), "", at_most=1.0),
        ],
        settings={"tol": TOL, "eta": "search"},
        seeds=SEEDS,
        tables=[
            Table(
                f"To a gap of {TOL:g}",
                "variables,kind,block,products with A,seconds,gap".split(","),
                solved.rows,
            ),
            Table(
                "Iterations until a hundredth of the first excess is left",
                [*"variables,kind,block,bound,mean,last,search".split(","), share],
                rate_rows,
            ),
        ],
        plots=plots,
        notes=[
            "Values, gaps and feasibility are computed here from the points visited. "
            "All are relative to max(1, |value|). Products and seconds are medians "
            "over three seeds (one for 10,000 variables), the gap is the largest; "
            "seconds include checking A.",
            "The theorem bounds the mean objective of the iterates so far, and the "
            "last. The search takes two products an iteration, the constant step one. "
            f"A dash: not within {iterations:,} iterations.",
            f"Steep problems stop at {MOST_STEEP:,} variables: at 10,000 they take "
            "thousands of iterations, and a quarter of an hour or more.",
        ],
    )


def rate_plot(kind: str, rate: Rate) -> Plot:
    """Draw excess against iterations, at points that a logarithmic axis can show."""
    curves = []
    for label, values in (
        ("bound of Theorem 2", rate.bound),
        ("its step: mean of the iterates", rate.mean),
        ("its step: last iterate", rate.last),
        ("search", rate.search),
    ):
        shown = np.unique(np.geomspace(1, len(values), 60).astype(int))
        curves.append(Curve(label, shown.tolist(), values[shown - 1].tolist()))
    name = kind.replace(",", "").replace(" ", "-")
    return Plot(
        f"rate-{name}",
        "iterations",
        "objective above optimum",
        curves,
        log_x=True,
        log_y=True,
        y_range=(1e-10, 1e3),
    )
