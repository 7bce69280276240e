"""Use the two examples as a test would; ``python docs/examples/check.py``.

In a process of its own, since code from outside the package is part of what
compiled kernels are cached by.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from batch_frank_wolfe import BatchFrankWolfe
from candidates import Candidates

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import problems  # noqa: E402
from partwise.losses import get_loss  # noqa: E402
from partwise.solvers import DualCoordinateDescent, make_problem, solve  # noqa: E402
from partwise.testing import Case, check_structure  # noqa: E402


def make_candidates(random):
    """Make examples of 2 to 4 candidates, the right one chosen by hidden weights."""
    ptr = np.concatenate([[0], np.cumsum(random.integers(2, 5, size=12))])
    values = random.normal(size=(ptr[-1], 5))
    score = values @ random.normal(size=5) + 0.3 * random.normal(size=len(values))
    right = [score[a:b].argmax() for a, b in itertools.pairwise(ptr)]
    right = np.array(right, np.int32)
    costs = random.uniform(0.5, 2.0, size=len(values))
    costs[ptr[:-1] + right] = 0.0
    return Candidates(values, ptr, right, costs)


def check_structure_obeys_the_laws():
    """Compare every answer of `Candidates` with brute force."""
    random = np.random.default_rng(0)
    s = make_candidates(random)
    for i in range(s.right.size):
        rows = s.values[s.ptr[i] : s.ptr[i + 1]]
        case = Case(
            s=s,
            i=i,
            outputs=[(y,) for y in range(len(rows))],
            theta=random.normal(size=len(rows)),
            w=random.normal(size=5),
            features=lambda y, rows=rows: rows[y[0]],
            cost=lambda y, i=i: s.costs[s.ptr[i] + y[0]],
            seed=i,
        )
        skipped = check_structure(case)
        assert "kbest_are_the_best_in_order" in skipped
        assert "argmax_is_the_best_legal_output" not in skipped


def check_structure_can_be_trained_on():
    """Train on `Candidates`, and compare with the enumerated optimum."""
    s = make_candidates(np.random.default_rng(1))
    problem = make_problem(s, get_loss("squared_hinge"))
    solution = solve(problem, DualCoordinateDescent(), tol=1e-5)
    outputs = []
    for i in range(s.right.size):
        rows = slice(s.ptr[i], s.ptr[i + 1])
        gold = s.values[s.ptr[i] + s.right[i]]
        outputs.append(problems.Outputs(None, s.costs[rows], gold - s.values[rows]))
    best, _ = problems.best_squared_hinge(outputs, problem.C)
    assert solution.converged, solution.status
    assert best <= solution.certificate.primal * (1 + 1e-9)
    assert solution.certificate.primal <= best * (1 + 1e-4)


def check_solver_reaches_the_optimum_of_liblinear():
    """Compare `BatchFrankWolfe` with scikit-learn's Crammer-Singer machine."""
    from sklearn.svm import LinearSVC

    s = problems.make_small(problems.classes_dense, count=20)
    problem = make_problem(s, get_loss("hinge"), C=0.1)
    solution = solve(problem, BatchFrankWolfe(), tol=1e-2, max_iter=2000)
    peer = LinearSVC(
        multi_class="crammer_singer", C=0.1, fit_intercept=False, tol=1e-8
    ).fit(s.rows.values, s.labels)
    best = problem.primal(np.ascontiguousarray(peer.coef_.T).ravel())
    assert solution.converged, solution.status
    assert solution.certificate.dual <= best * (1 + 1e-6)
    assert best * (1 - 1e-6) <= solution.certificate.primal <= best * 1.02


def check_solver_works_on_the_other_structures():
    """Train candidates and chains with `BatchFrankWolfe`; the dual must rise."""
    corpora = [make_candidates(np.random.default_rng(2))]
    if problems.PLAIN_PYTHON:  # chains take longer to compile than all the rest
        corpora += map(problems.make_small, problems.CHAINS)
    for s in corpora:
        problem = make_problem(s, get_loss("hinge"), C=0.1)
        solution = solve(problem, BatchFrankWolfe(), tol=2e-2, max_iter=2000)
        assert solution.converged, solution.status
        assert (np.diff(solution.trace["dual"]) > -1e-12).all()


def check_solver_resumes(folder):
    """Stop the solver and go on, bit for bit: the loop does it for any solver."""
    s = problems.make_small(problems.classes_dense)
    problem = make_problem(s, get_loss("hinge"))
    options = {"tol": 1e-9, "checkpoint": folder / "run"}
    unbroken = solve(problem, BatchFrankWolfe(), tol=1e-9, max_iter=9)
    solve(problem, BatchFrankWolfe(), max_iter=4, **options)
    resumed = solve(problem, BatchFrankWolfe(), max_iter=9, resume=True, **options)
    assert np.array_equal(unbroken.w, resumed.w)
    assert unbroken.certificate == resumed.certificate
    calls = [run.trace["oracle_calls"].tolist() for run in (unbroken, resumed)]
    assert calls[0] == calls[1]


if __name__ == "__main__":
    import tempfile

    check_structure_obeys_the_laws()
    check_structure_can_be_trained_on()
    check_solver_reaches_the_optimum_of_liblinear()
    check_solver_works_on_the_other_structures()
    with tempfile.TemporaryDirectory() as folder:
        check_solver_resumes(Path(folder))
    print("the examples work")
