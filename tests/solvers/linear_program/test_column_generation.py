"""Column generation: against the linear program written out whole, solved by HiGHS."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import problems
from partwise import ColumnGeneration, MulticlassClassifier, generalization_bound
from partwise.errors import DataError, PairingError
from partwise.losses import SetHinge, get_loss
from partwise.solvers import Problem, Solution, make_problem, solve
from partwise.solvers.linear_program.master import make_master_problem
from partwise.solvers.registry import make_solver
from partwise.structures import make_dense_rows, make_multiclass, with_good_outputs
from partwise.structures.interface import is_good
from problems import Floats, Maker

WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25, 1.0, 3.0])
C = 2.0

# Compiled, classes are enough: what is general runs in plain Python.
MAKERS: tuple[Maker, ...] = (
    problems.EACH_KIND if problems.PLAIN_PYTHON else (problems.classes_dense,)
)
MASTERS = ("proximal", "chambolle-pock", "extragradient", "highs", "pdlp")


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def good_sets(s: Any) -> list[list[list[int]]]:
    """Let every third output that is left be good, beside the right one."""
    sets = []
    for out in problems.enumerate_outputs(s):
        codes = out.codes.tolist()
        at = int(np.flatnonzero(~out.dphi.any(axis=1) & (out.cost == 0))[0])
        others = [y for y in codes if y != codes[at]]
        sets.append([*others[: len(others) - 1 : 3], codes[at]])
    return sets


def distance(s: Any, i: int, y: Any, other: Any, kind: str) -> float:
    if kind == "codes":
        return float((y != other).sum())
    vectors = [problems._phi(s, i, one) for one in (y, other)]
    if kind == "features":
        return float(((vectors[0] - vectors[1]) ** 2).sum())
    counts = np.zeros((2, problems.n_parts(s, i)))
    room = problems.make_diff(s)
    for row, one in zip(counts, (y, other), strict=True):
        found = problems.parts_of(s, i, one, room.ids, room.counts)
        np.add.at(row, room.ids[:found], room.counts[:found])
    return float(np.abs(counts[0] - counts[1]).sum())


def all_constraints(s: Any, loss: Any, sets: Any = None) -> list[tuple[Floats, Floats]]:
    """List (differences, margins) of every example: a row for every constraint."""
    listed = []
    rules = loss if isinstance(loss, SetHinge) else SetHinge("cost")
    for i, out in enumerate(problems.enumerate_outputs(s)):
        codes = [tuple(y) for y in out.codes.tolist()]
        right = np.zeros(len(codes[0]), np.int32)
        problems.gold(s, i, right)
        good = {tuple(right.tolist())} if sets is None else {tuple(y) for y in sets[i]}
        at = {y: n for n, y in enumerate(codes)}
        rows, margins = [np.zeros(out.dphi.shape[1])], [0.0]
        for y in set(codes) - good:
            own = sorted(good, key=lambda one: at[one])
            if rules.compare == "closest":
                # The first of equals, as they are numbered: the right one first.
                own.sort(key=lambda one: one != tuple(right.tolist()))
                wrong = np.array(y, np.int32)
                key = [
                    distance(s, i, wrong, np.array(one, np.int32), rules.distance)
                    for one in own
                ]
                own = [own[int(np.argmin(np.round(key, 9)))]]
            for one in own:
                rows.append(out.dphi[at[y]] - out.dphi[at[one]])
                margins.append(1.0 if rules.margin == "unit" else out.cost[at[y]])
        listed.append((np.array(rows), np.array(margins)))
    return listed


def optimum(constraints: Any, costs: Floats, positive: bool) -> float:
    """Solve the whole linear program."""
    n = len(constraints)
    blocks, margins = [], []
    for i, (rows, own) in enumerate(constraints):
        split = rows if positive else np.hstack([rows, -rows])
        slack = np.zeros((len(rows), n))
        slack[:, i] = 1.0
        blocks.append(np.hstack([split, slack]))
        margins.append(own)
    H, m = np.vstack(blocks), np.concatenate(margins)
    c = np.concatenate([np.ones(H.shape[1] - n), costs])
    result = linprog(c, A_ub=-H, b_ub=-m, bounds=(0, None), method="highs")
    assert result.success
    return float(result.fun)


def value(constraints: Any, costs: Floats, w: Floats) -> float:
    slack = [max((m - rows @ w).max(), 0.0) for rows, m in constraints]
    return float(np.abs(w).sum() + costs @ np.array(slack))


def check(problem: Problem, constraints: Any, solution: Solution, tol: float) -> None:
    best = optimum(constraints, problem.C, problem.positive)
    certificate = solution.certificate
    assert certificate is not None
    assert solution.converged, solution.status
    assert certificate.dual <= best * (1 + 1e-9) + 1e-9
    assert certificate.primal >= best * (1 - 1e-9) - 1e-9
    assert certificate.primal <= best * (1 + tol) + 1e-12
    found = value(constraints, problem.C, solution.w)
    assert found == pytest.approx(certificate.primal, rel=1e-9, abs=1e-9)
    if problem.positive:
        assert (solution.w >= 0.0).all()


def linear_program(s: Any, loss: Any, positive: bool = False) -> Problem:
    return make_problem(s, loss, C, WEIGHTS, 1.0, positive=positive)


@pytest.mark.parametrize("positive", [True, False], ids=["positive", "signed"])
@pytest.mark.parametrize("margin", ["unit", "cost"])
@pytest.mark.parametrize("master", ["proximal", "highs"])
def test_column_generation_reaches_the_whole_program(
    make: Maker, master: str, margin: str, positive: bool
) -> None:
    s = problems.make_small(make)
    problem = linear_program(s, SetHinge(margin), positive)
    solution = solve(problem, ColumnGeneration(master), tol=1e-6, max_iter=500)
    check(problem, all_constraints(s, problem.loss), solution, 1e-6)


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="many steps: compiled only")
@pytest.mark.parametrize("step", ["spectral", "frobenius"])
def test_column_generation_extragradient_reaches_the_whole_program(step: str) -> None:
    s = problems.make_small(problems.classes_dense, count=6)
    problem = linear_program(s, SetHinge("unit"))
    solver = ColumnGeneration(
        "extragradient", step=step, change=1e-9, steps=300, tighten=False
    )
    solution = solve(problem, solver, tol=1e-4, max_iter=60)
    check(problem, all_constraints(s, problem.loss), solution, 1e-4)


def test_column_generation_chambolle_pock_reaches_the_whole_program() -> None:
    s = problems.make_small(problems.classes_dense, count=6)
    problem = linear_program(s, SetHinge("unit"))
    solver = ColumnGeneration("chambolle-pock", steps=300, tighten=False)
    solution = solve(problem, solver, tol=1e-6, max_iter=60)
    check(problem, all_constraints(s, problem.loss), solution, 1e-6)
    with pytest.warns(FutureWarning, match="write master='chambolle-pock'"):
        old = ColumnGeneration("extragradient", step="scaled", steps=300, tighten=False)
    same = solve(problem, old, tol=1e-6, max_iter=60)
    assert same.w.tolist() == solution.w.tolist()


# --- Algorithm 1 as printed ---------------------------------------------------------


@pytest.mark.parametrize("positive", [True, False], ids=["positive", "signed"])
def test_column_generation_as_printed_reaches_the_whole_program(
    make: Maker, positive: bool
) -> None:
    s = problems.make_small(make)
    problem = linear_program(s, SetHinge("unit"), positive)
    solver = make_solver("column-generation-printed")
    solution = solve(problem, solver, tol=1e-6, max_iter=500)
    check(problem, all_constraints(s, problem.loss), solution, 1e-6)


@problems.plain_only
def test_column_generation_as_printed_is_algorithm_1_line_by_line() -> None:
    """Every round has the rows and the optimum that the algorithm says."""
    s = problems.make_small(problems.chain_sparse)
    problem = linear_program(s, SetHinge("unit"), positive=True)
    solver, rng = ColumnGeneration("highs", as_printed=True), np.random.default_rng(0)
    state = solver.start(problem, rng, None)
    assert state.master_w.tolist() == [1.0] * problem.n_weights  # line 2
    constraints = all_constraints(s, problem.loss)
    known: list[Any] = [np.zeros((1, problem.n_weights)) for _ in constraints]
    w = np.ones(problem.n_weights)
    for lap in range(6):
        if lap == 0:
            list(solver._begin(problem, state, rng))
        else:
            solver._solve_master(problem, state, rng)  # line 12
            w = state.master_w
            listed = [(own, np.append(0.0, np.ones(len(own) - 1))) for own in known]
            best = optimum(listed, problem.C, positive=True)
            assert value(listed, problem.C, w) == pytest.approx(best)
            list(solver._generate(problem, state))
        rows = state.row_set
        for i, (every, margins) in enumerate(constraints):  # lines 4 to 11
            slack = max(float((1.0 - known[i][1:] @ w).max(initial=0.0)), 0.0)
            missed = float((margins - every @ w).max())
            own = np.zeros((int((rows.owner == i).sum()), problem.n_weights))
            for row, r in zip(own, np.flatnonzero(rows.owner == i), strict=True):
                at = slice(rows.ptr[r], rows.ptr[r + 1])
                row[rows.weight_of[rows.idx[at]]] = rows.val[at]
            n_new = len(own) - (len(known[i]) - 1)  # none is dropped
            assert n_new == (missed > slack + 1e-9)
            if n_new:
                assert 1.0 - own[-1] @ w == pytest.approx(missed)
            known[i] = np.vstack([known[i][:1], own])
    assert sum(map(len, known)) > 2 * problem.n_examples


@problems.plain_only
def test_column_generation_as_printed_keeps_all_rows() -> None:
    s = problems.make_small(problems.chain_sparse, count=6)
    problem = linear_program(s, SetHinge("unit"), positive=True)
    printed = ColumnGeneration("highs", drop_after=1, as_printed=True)
    rows = solve(problem, printed, tol=1e-9, max_iter=60).trace["rows"]
    assert (np.diff(rows) >= 0).all()
    ours = ColumnGeneration("highs", drop_after=1)
    rows = solve(problem, ours, tol=1e-9, max_iter=60).trace["rows"]
    assert (np.diff(rows) < 0).any()


def test_column_generation_pdlp_reaches_the_whole_program() -> None:
    s = problems.make_small(problems.classes_dense)
    problem = linear_program(s, SetHinge("unit"))
    solution = solve(problem, ColumnGeneration("pdlp"), tol=1e-5, max_iter=100)
    check(problem, all_constraints(s, problem.loss), solution, 1e-5)


@pytest.mark.parametrize("positive", [True, False], ids=["positive", "signed"])
@pytest.mark.parametrize(
    ("compare", "distance"),
    [("worst", "codes"), *itertools.product(["closest"], ["codes", "parts"])],
)
@problems.plain_only
def test_column_generation_compares_with_sets_of_good_outputs(
    compare: str, distance: str, positive: bool
) -> None:
    plain = problems.make_small(
        problems.chain_sparse if problems.PLAIN_PYTHON else problems.classes_dense
    )
    sets = good_sets(plain)
    s = with_good_outputs(plain, sets)
    loss = SetHinge("unit", compare, distance)
    problem = linear_program(s, loss, positive)
    solution = solve(problem, ColumnGeneration("highs"), tol=1e-6, max_iter=300)
    check(problem, all_constraints(plain, loss, sets), solution, 1e-6)


@problems.plain_only
@pytest.mark.parametrize("margin", ["unit", "cost"])
@pytest.mark.parametrize("distance", ["codes", "parts", "features"])
@pytest.mark.parametrize("compare", ["worst", "closest"])
def test_set_hinge_is_what_enumeration_says(
    compare: str, distance: str, margin: str
) -> None:
    plain = problems.make_small(problems.chain_costs)
    sets = good_sets(plain)
    loss = SetHinge(margin, compare, distance)
    constraints = all_constraints(plain, loss, sets)
    s = with_good_outputs(plain, sets)
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=int(problems.n_weights(s)))
        expected = [max((m - rows @ w).max(), 0.0) for rows, m in constraints]
        assert loss.values(s, w) == pytest.approx(expected, abs=1e-9)


@problems.plain_only
def test_set_hinge_with_costs_and_one_good_output_is_the_hinge(make: Maker) -> None:
    s = problems.make_small(make)
    w = np.random.default_rng(0).normal(size=int(problems.n_weights(s)))
    hinge = get_loss("hinge").values(s, w)
    assert SetHinge("cost").values(s, w) == pytest.approx(hinge, abs=1e-9)


def test_column_generation_certificate_holds_in_every_round() -> None:
    s = problems.make_small(problems.classes_dense)
    problem = linear_program(s, SetHinge("unit"))
    best = optimum(all_constraints(s, problem.loss), problem.C, False)
    for master in MASTERS[:3]:
        solver = ColumnGeneration(master, passes=0)
        solution = solve(problem, solver, tol=1e-6, max_iter=200)
        assert (solution.trace["dual"] <= best * (1 + 1e-9)).all()
        assert (solution.trace["primal"] >= best * (1 - 1e-9)).all()
        assert (np.diff(solution.trace["dual"]) >= 0).all()
        assert solution.trace["rows"][-1] > 0
        assert (np.diff(solution.trace["master_seconds"]) >= 0).all()
        assert solution.trace["decoding_seconds"][-1] > 0


@problems.plain_only
def test_column_generation_leaves_exact_zeros() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 20))
    y = (x[:, 0] > 0).astype(int)
    model = MulticlassClassifier(
        loss="hinge", penalty="l1", C=0.2, margin="unit", tol=1e-3
    ).fit(x, y)
    n_used = int(np.count_nonzero(model.weights_))
    assert 0 < n_used < 10
    assert f"{n_used} of {model.weights_.size} weights are not zero" in model.status_


@problems.plain_only
@pytest.mark.parametrize("master", ["proximal", "extragradient"])
def test_column_generation_resumes_bit_for_bit(master: str, tmp_path: Any) -> None:
    s = problems.make_small(problems.chain_sparse)
    problem = linear_program(s, SetHinge("unit"))
    solver = ColumnGeneration(master, steps=20)
    whole = solve(problem, solver, tol=1e-12, max_iter=6)
    path = tmp_path / "run"
    solve(problem, solver, tol=1e-12, max_iter=3, checkpoint=path)
    rest = solve(problem, solver, tol=1e-12, max_iter=6, checkpoint=path, resume=True)
    assert rest.w.tolist() == whole.w.tolist()
    assert rest.certificate == whole.certificate
    assert rest.trace["rows"].tolist() == whole.trace["rows"].tolist()


@problems.plain_only
def test_column_generation_with_highs_resumes_to_the_same_optimum(
    tmp_path: Any,
) -> None:
    s = problems.make_small(problems.chain_sparse)
    problem = linear_program(s, SetHinge("unit"))
    solver, path = ColumnGeneration("highs"), tmp_path / "run"
    solve(problem, solver, tol=1e-9, max_iter=2, checkpoint=path)
    rest = solve(problem, solver, tol=1e-6, max_iter=99, checkpoint=path, resume=True)
    check(problem, all_constraints(s, problem.loss), rest, 1e-6)


@problems.plain_only
def test_column_generation_drops_rows_and_stays_right() -> None:
    s = problems.make_small(problems.chain_sparse)
    problem = linear_program(s, SetHinge("unit"))
    for master in ("proximal", "highs"):
        solver = ColumnGeneration(master, drop_after=1)
        solution = solve(problem, solver, tol=1e-6, max_iter=500)
        check(problem, all_constraints(s, problem.loss), solution, 1e-6)
        assert (np.diff(solution.trace["rows"]) < 0).any()


@problems.plain_only
def test_column_generation_starts_from_an_earlier_run() -> None:
    s = problems.make_small(problems.chain_sparse)
    first = solve(linear_program(s, SetHinge()), ColumnGeneration(), tol=1e-6)
    problem = make_problem(s, SetHinge(), 3 * C, WEIGHTS, 1.0)
    again = solve(problem, ColumnGeneration(), tol=1e-6, previous=first.state)
    check(problem, all_constraints(s, problem.loss), again, 1e-6)
    with pytest.raises(ValueError, match="negative weights"):
        solve(
            linear_program(s, SetHinge(), positive=True),
            ColumnGeneration(),
            previous=first.state,
        )


@problems.plain_only
def test_column_generation_passes_over_examples_of_weight_zero() -> None:
    chosen = problems.draw(problems.chain_sparse)
    weight = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    kept = [x for x, n in zip(chosen, weight, strict=True) if n]
    values = [
        solve(problem, ColumnGeneration("highs"), tol=1e-9).certificate
        for problem in (
            make_problem(problems.chain_sparse(chosen), SetHinge(), C, weight, 1.0),
            make_problem(problems.chain_sparse(kept), SetHinge(), C, None, 1.0),
        )
    ]
    assert values[0] is not None
    assert values[1] is not None
    assert values[0].primal == pytest.approx(values[1].primal, rel=1e-8)


@problems.plain_only
def test_dual_bound_scales_an_infeasible_point_down() -> None:
    from partwise.solvers.linear_program.column_generation import ColumnGenerationState
    from partwise.solvers.linear_program.master import dual_bound

    s = problems.make_small(problems.chain_sparse)
    problem = linear_program(s, SetHinge())
    best = optimum(all_constraints(s, problem.loss), problem.C, False)
    state = solve(problem, ColumnGeneration(), tol=1e-3).state
    assert isinstance(state, ColumnGenerationState)
    p = make_master_problem(state.row_set, problem.C, False)
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 100.0):
        lam = scale * rng.random(len(state.row_set))
        assert dual_bound(p, lam, state.row_set.n_columns) <= best * (1 + 1e-12)


# --- bad input ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"master": "simplex"},
        {"step": "long"},
        {"change": 0.0},
        {"steps": 0},
        {"passes": -1},
        {"drop_after": 0},
    ],
)
def test_column_generation_refuses_bad_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        ColumnGeneration(**settings)


@pytest.mark.parametrize("name", ["margin", "compare", "distance"])
def test_set_hinge_refuses_bad_settings(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        SetHinge(**{name: "none"})


def test_column_generation_is_found_by_name() -> None:
    names = {"column-generation": "proximal"}
    for master in MASTERS[1:]:
        names[f"column-generation-{master}"] = master
    for name, master in names.items():
        solver = make_solver(name)
        assert isinstance(solver, ColumnGeneration)
        assert solver.master == master


def test_column_generation_needs_the_l1_penalty() -> None:
    s = problems.make_small(problems.classes_dense)
    with pytest.raises(PairingError, match="cannot minimise"):
        solve(make_problem(s, get_loss("hinge")), ColumnGeneration())
    with pytest.raises(PairingError, match="column-generation"):
        solve(make_problem(s, SetHinge(), 1.0, None, 1.0), make_solver("frank-wolfe"))


@pytest.mark.parametrize(
    "settings",
    [
        {"margin": "unit"},
        {"margin": "unit", "loss": "hinge"},
        {"positive": True, "loss": "hinge"},
        {"positive": True, "loss": "log_loss", "penalty": "l1"},
        {"positive": "yes", "loss": "hinge", "penalty": "l1"},
        {"margin": "two", "loss": "hinge", "penalty": "l1"},
        {"loss": "set_hinge"},
    ],
)
def test_estimators_refuse_what_is_for_linear_programs(settings: Any) -> None:
    with pytest.raises(ValueError, match=r"positive|margin|loss"):
        MulticlassClassifier(**settings).fit([[0.0], [1.0]], ["a", "b"])


CLASSES = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 2], 3)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("x", [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
@pytest.mark.parametrize("master", MASTERS)
def test_column_generation_outputs_without_a_difference(
    master: str, x: list[float], positive: bool
) -> None:
    """An example without features costs C whatever the weights: its rows are empty."""
    s = make_multiclass(make_dense_rows([[value] for value in x]), [0, 1], 3)
    problem = make_problem(s, get_loss("hinge"), C, l1_ratio=1.0, positive=positive)
    solver = ColumnGeneration(master)
    solution = solve(problem, solver, tol=1e-4, max_iter=200)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    # A single weight of one tells the classes of an example with a feature.
    best = sum(1.0 if value else C for value in x)
    assert solution.certificate.primal == pytest.approx(best, rel=2e-4)


@pytest.mark.parametrize(
    ("outputs", "says"),
    [
        ([[[0]]], "1 sets of good outputs for 2 examples"),
        ([[], [[2]]], "example 0 has no good output"),
        ([[[1]], [[2]]], "right output of example 0"),
        ([[[0], [1], [2]], [[2]]], "every output of example 0 is good"),
        ([[[0], [7]], [[2]]], "no output of it can have"),
        ([[[0, 1]], [[2]]], "expected 1 integer codes"),
        ([[[0.5]], [[2]]], "expected 1 integer codes"),
    ],
)
def test_good_outputs_that_cannot_be_are_refused(outputs: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        with_good_outputs(CLASSES, outputs)


@problems.plain_only
def test_good_outputs_are_told_from_wrong_ones() -> None:
    s = with_good_outputs(CLASSES, [[[1], [0], [1]], [[2]]])
    scratch = np.zeros(1, np.int32)
    told = [[is_good(s, i, np.array([k]), scratch) for k in range(3)] for i in (0, 1)]
    assert told == [[True, True, False], [False, False, True]]


@problems.plain_only
def test_good_outputs_leave_other_losses_alone() -> None:
    s = with_good_outputs(CLASSES, [[[0], [1]], [[2]]])
    for loss, solver in (("squared_hinge", "dcd-ssvm"), ("log_loss", "eg")):
        plain, wrapped = (
            solve(make_problem(x, get_loss(loss)), make_solver(solver), tol=1e-6)
            for x in (CLASSES, s)
        )
        assert wrapped.w.tolist() == plain.w.tolist()


# --- the bound ----------------------------------------------------------------------


def test_generalization_bound_is_that_of_the_theorem() -> None:
    c, b, d, m, size, gamma, eta = 60.0, 2.0, 1000, 50, 10**9, 1.0, 0.05
    radius = gamma / 2
    covering = 36 * c**2 * b**2 * (1 + np.log(d + m)) / radius**2
    covering *= np.log2(2 * np.ceil(4 * c * b / radius + 2) * 2 * size + 1)
    expected = 2 / size * (covering + np.log2(2 / eta))
    found = generalization_bound(
        50.0, 20.0, C=0.5, n_features=d, n_examples=m, n_triples=size,
        largest_difference=1.5,
    )  # fmt: skip
    assert found == pytest.approx(expected)


def test_generalization_bound_takes_numbers_of_any_size() -> None:
    known: dict[str, Any] = {"C": 1.0, "n_features": 10, "n_examples": 10}
    known |= {"largest_difference": 1.0}
    assert generalization_bound(1.0, 0.0, n_triples=63**400, **known) < 1e-300
    for name in known:
        with pytest.raises(ValueError, match=name):
            generalization_bound(1.0, 0.0, n_triples=10, **{**known, name: 0})
    with pytest.raises(ValueError, match="confidence"):
        generalization_bound(1.0, 0.0, n_triples=10, confidence=1.0, **known)


@problems.plain_only
def test_generalization_bound_is_kept_in_model_files(tmp_path: Any) -> None:
    from partwise import load

    model = MulticlassClassifier(
        loss="hinge", penalty="l1", margin="unit", positive=True, C=1.0
    )
    model.fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["a", "b", "b"])
    assert model.bound_ is not None
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.bound_, again.margin) == (model.bound_, "unit")
    assert again.trace_["rows"].tolist() == model.trace_["rows"].tolist()


@problems.plain_only
def test_linear_programs_are_trained_and_inspected_in_the_shell(tmp_path: Any) -> None:
    import json

    from typer.testing import CliRunner

    from partwise.cli.app import app

    (tmp_path / "train.txt").write_text("the D\ndog N\n\na D\ncat N\n\nthe D\ncat N\n")
    model, runner = str(tmp_path / "model"), CliRunner()
    settings = (
        "--loss hinge --penalty l1 --margin unit --positive --C 10 --json".split()
    )
    trained = runner.invoke(
        app,
        ["train", "tag", str(tmp_path / "train.txt"), "--model", model, *settings],
    )
    assert trained.exit_code == 0, trained.output
    shown = runner.invoke(app, ["inspect", model])
    assert "a curiosity, no guarantee" in " ".join(shown.output.split())
    found = json.loads(runner.invoke(app, ["inspect", model, "--json"]).output)
    assert found["settings"]["margin"] == "unit"
    assert 0 < found["nonzero_weights"] < found["weights"]
    assert found["generalization_bound"] > 0
