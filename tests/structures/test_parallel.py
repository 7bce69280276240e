"""Threads: the same bits for the same number, errors, Ctrl-C, and small data."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import problems
from partwise import MulticlassClassifier, SequenceTagger, _threads
from partwise._threads import check_jobs, count_jobs, cut_evenly, run_slices
from partwise.cli.app import app
from partwise.data import ColumnData
from partwise.features import TemplateEncoder, shared_rows
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import all_solvers, make_solver
from partwise.structures.decoding import decode, decode_kbest, part_marginals
from partwise.structures.interface import n_examples, n_parts
from partwise.structures.parallel import Threads, Worker, worth_threads
from partwise.structures.sharing import summed
from problems import Maker
from tagging_data import CHUNKS, EDGE_TEMPLATE, TEMPLATE, TEST_WORDS, WORDS

# The matrix of structures is for plain Python; one is compiled.
MAKERS = problems.MAKERS if problems.PLAIN_PYTHON else [problems.chain_sparse]
# Of the solvers too; these are what threads make most of.
COMPILED = [("lbfgs", "log_loss"), ("eg-batch", "log_loss"), ("cpd", "squared_hinge")]
RESUMED = ["lbfgs", "eg-batch", "cpd"]
RESUMED += ["dcd", "sgd", "mira"] if problems.PLAIN_PYTHON else []
BAD_JOBS = [0, -2, 1.5, True, "two", None]


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def some_weights(s: Any) -> Any:
    problem = make_problem(s, get_loss("log_loss"))
    return np.random.default_rng(1).normal(size=problem.n_weights)


# --- slices ---


@pytest.mark.parametrize("n_slices", [1, 2, 3, 7, 100])
def test_parallel_slices_cover_everything_once(n_slices: int) -> None:
    rng = np.random.default_rng(n_slices)
    for count in (0, 1, 2, 40):
        sizes = rng.integers(0, 9, count)
        slices = cut_evenly(sizes, n_slices)
        assert len(slices) <= n_slices
        assert [i for a, b in slices for i in range(a, b)] == list(range(count))
        assert count == 0 or all(a < b for a, b in slices)
        # Beyond its fair share, a slice has at most one item.
        fair, largest = sizes.sum() / n_slices, sizes.max(initial=0)
        assert all(sizes[a:b].sum() <= fair + largest + 1 for a, b in slices)


def test_parallel_one_slice_runs_in_the_calling_thread() -> None:
    seen: dict[int, set[int]] = {1: set(), 3: set()}
    for count, slices in ((1, [(0, 900)]), (3, [(0, 300), (300, 600), (600, 900)])):
        items: list[int] = []

        def work(number: int, start: int, stop: int) -> None:
            seen[count].add(threading.get_ident())  # noqa: B023
            items.extend(range(start, stop))  # noqa: B023

        fractions = list(run_slices(slices, work))
        assert all(0.0 <= fraction <= 1.0 for fraction in fractions)
        assert sorted(items) == list(range(900))
    assert seen[1] == {threading.get_ident()}
    assert threading.get_ident() not in seen[3]


@pytest.mark.parametrize("slices", [[(0, 9)], [(0, 4), (4, 9)]], ids=len)
def test_parallel_error_in_a_thread_is_raised(slices: list[tuple[int, int]]) -> None:
    def work(number: int, start: int, stop: int) -> None:
        if number == len(slices) - 1:
            raise ZeroDivisionError("in the last slice")

    with pytest.raises(ZeroDivisionError, match="in the last slice"):
        list(run_slices(slices, work))


def test_parallel_threads_end_when_the_caller_has_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_threads, "LOOK_AFTER", 0.001)
    calls = [0, 0]

    def work(number: int, start: int, stop: int) -> None:
        calls[number] += 1
        time.sleep(0.01)

    begun = run_slices([(0, 10**6), (10**6, 2 * 10**6)], work)
    assert isinstance(begun, Iterator)
    next(begun)
    begun.close()  # type: ignore[attr-defined]
    after = list(calls)
    time.sleep(0.05)
    assert calls == after


def test_parallel_ctrl_c_stops_all_threads() -> None:
    calls = [0, 0]
    main = threading.main_thread().ident
    assert main is not None

    def work(number: int, start: int, stop: int) -> None:
        calls[number] += 1
        if calls[number] == 3 and number == 1:
            signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        list(run_slices([(0, 10**9), (10**9, 2 * 10**9)], work))
    after = list(calls)
    time.sleep(0.05)
    assert calls == after


def test_parallel_threads_keep_what_numpy_warns_of() -> None:
    """Warnings are errors in this suite: a division by zero would show."""

    def work(number: int, start: int, stop: int) -> None:
        np.ones(1) / np.zeros(1)

    with np.errstate(all="ignore"):
        list(run_slices([(0, 1), (1, 2)], work))
    with pytest.raises(RuntimeWarning), np.errstate(all="warn"):
        list(run_slices([(0, 1), (1, 2)], work))


# --- crews ---


def test_parallel_small_data_stays_in_the_calling_thread() -> None:
    s = problems.make_small(problems.chain_sparse)
    threads: list[int] = []
    crew = Threads(s, n_jobs=8)
    crew.run(lambda s, start, stop, worker: threads.append(threading.get_ident()))
    assert set(threads) == {threading.get_ident()}


def test_parallel_threads_have_to_pay_for_what_they_add_up() -> None:
    assert worth_threads(10**6, n_sums=0) >= 2
    assert worth_threads(10**6, n_sums=10**7) == 0


@pytest.mark.usefixtures("eager_threads")
def test_parallel_crew_shares_the_parts_fairly() -> None:
    s = problems.chain_sparse(problems.examples(10, [9, *[1] * 9]))
    (a, b), (c, d) = Threads(s, 2).slices
    assert (a, d) == (0, 10)
    assert b == c < 5
    used = np.ones(10)
    used[0] = 0.0  # the long one is no work any more
    assert Threads(s, 2, used).slices[0][1] >= 5


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_parallel_crew_sums_in_the_order_of_slices(n_jobs: int) -> None:
    s = problems.make_small(problems.chain_sparse)
    count = int(n_examples(s))
    crew = Threads(s, n_jobs)
    parts = np.array([n_parts(s, i) for i in range(count)], float)

    def add(s: Any, start: int, stop: int, worker: Worker, own: Any) -> None:
        # The last slice is done first.
        time.sleep(0.005 * (len(crew.slices) - worker.number))
        for i in range(start, stop):
            own += 10.0 ** (-2 * i) * parts[i]

    total = np.full(2, np.nan)
    for _ in range(2):  # the second time the vectors are not empty at first
        crew.run(add, summed(total))
        expected = np.zeros(2)
        for a, b in crew.slices:
            expected += sum((10.0 ** (-2 * i) * parts[i] for i in range(a, b)), 0.0)
        np.testing.assert_array_equal(total, expected)


# --- answers do not depend on the threads ---


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("n_jobs", [2, 50, -1])
def test_parallel_predictions_do_not_depend_on_threads(
    make: Maker, n_jobs: int
) -> None:
    s = problems.make_small(make)
    w = some_weights(s)
    wanted = np.array([n_parts(s, i) for i in range(n_examples(s))], np.int64)
    for ask in (
        lambda n: decode(s, w, n),
        lambda n: decode_kbest(s, w, 3, n),
        lambda n: part_marginals(s, w, wanted, n),
    ):
        for one, many in zip(ask(1), ask(n_jobs), strict=True):
            np.testing.assert_array_equal(one, many)


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
def test_parallel_objective_does_not_depend_on_threads(make: Maker, loss: str) -> None:
    problem = make_problem(problems.make_small(make), get_loss(loss), C=2.0)
    w = some_weights(problem.structure)
    for n_jobs in (2, 3):
        other = replace(problem, n_jobs=n_jobs)
        np.testing.assert_array_equal(other.values(w), problem.values(w))
        assert other.primal(w) == problem.primal(w)


# --- solvers ---

PAIRS = [
    (name, loss)
    for name, cls in all_solvers().items()
    for loss in cls.losses
    if problems.PLAIN_PYTHON or (name, loss) in COMPILED
]


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_parallel_solvers_are_reproducible(name: str, loss: str) -> None:
    s = problems.make_small(problems.chain_sparse)
    l1_ratio = 0.0 if "l2" in make_solver(name).penalties else 1.0
    problem = make_problem(s, get_loss(loss), l1_ratio=l1_ratio)
    one, two, again = (
        solve(replace(problem, n_jobs=n), make_solver(name), tol=1e-3, max_iter=3)
        for n in (1, 2, 2)
    )
    np.testing.assert_array_equal(two.w, again.w)
    assert two.certificate == again.certificate
    assert two.status == again.status
    if one.certificate is not None and two.certificate is not None:
        # The same certificate, whose tolerance bounds how far they can be apart.
        assert two.converged == one.converged
        slack = 2 * max(one.certificate.gap, two.certificate.gap) + 1e-9
        assert two.certificate.primal == pytest.approx(
            one.certificate.primal, abs=slack
        )
        assert two.certificate.primal == pytest.approx(problem.primal(two.w), rel=1e-9)


@pytest.mark.usefixtures("eager_threads")
def test_parallel_inference_of_cpd_is_that_of_one_thread() -> None:
    problem = make_problem(
        problems.make_small(problems.chain_sparse, count=12), get_loss("squared_hinge")
    )
    solver = make_solver("cpd")
    found = []
    for n_jobs in (1, 2):
        state = solver.start(problem, rng := np.random.default_rng(0), None)
        for _ in range(4):
            fractions = list(
                solver.run_pass(replace(problem, n_jobs=n_jobs), state, rng)
            )
            assert fractions == sorted(fractions)
        found.append(state.tensors())
    for key, tensor in found[0].items():
        np.testing.assert_array_equal(tensor, found[1][key], err_msg=key)


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("name", RESUMED)
def test_parallel_resuming_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    solver = make_solver(name)
    problem = make_problem(
        problems.make_small(problems.chain_sparse),
        get_loss(solver.losses[0]),
        n_jobs=2,
    )
    settings: dict[str, Any] = {"tol": 1e-12}
    whole = solve(problem, solver, max_iter=6, **settings)
    settings["checkpoint"] = tmp_path / "run"
    solve(problem, solver, max_iter=3, **settings)
    resumed = solve(problem, solver, max_iter=6, resume=True, **settings)
    np.testing.assert_array_equal(resumed.w, whole.w)


# --- estimators and the command line ---


def fitted_tagger() -> SequenceTagger:
    tagger = SequenceTagger("log_loss", tol=0.3, template=TEMPLATE)
    return tagger.fit(WORDS[:40], CHUNKS[:40])


@pytest.mark.usefixtures("eager_threads")
def test_parallel_estimators_predict_the_same() -> None:
    tagger = fitted_tagger()
    answers = []
    for n_jobs in (None, 2, -1):
        tagger.set_params(n_jobs=n_jobs)
        marginals = tagger.predict_marginals(WORDS[40:])
        answers.append(
            (
                tagger.predict(WORDS[40:]),
                np.concatenate(marginals).tolist(),
                tagger.predict_kbest(WORDS[40:], 3),
                tagger.predict_spans(WORDS[40:]),
            )
        )
    assert answers[0] == answers[1] == answers[2]
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    made = (MulticlassClassifier("log_loss", n_jobs=n, tol=0.1) for n in (1, 2))
    one, two = (model.fit(x, y) for model in made)
    np.testing.assert_array_equal(one.predict(x), two.predict(x))
    np.testing.assert_allclose(one.predict_proba(x), two.predict_proba(x), atol=1e-9)


def test_parallel_command_takes_threads(tmp_path: Path) -> None:
    model, data = tmp_path / "m.partwise", tmp_path / "data.txt"
    fitted_tagger().save(model)
    data.write_text("\n".join(WORDS[0]) + "\n", encoding="utf-8")

    def run(*options: str) -> Any:
        return CliRunner().invoke(app, ["predict", str(model), str(data), *options])

    one, two = run(), run("--jobs", "2")
    assert (one.exit_code, two.exit_code) == (0, 0), two.output
    assert one.output == two.output
    bad = run("--jobs", "0")
    assert bad.exit_code == 2
    assert "n_jobs must be an integer >= 1" in " ".join(bad.output.split())


@pytest.mark.parametrize("hash_bits", [None, 10])
@pytest.mark.parametrize(
    "template", [TEMPLATE, EDGE_TEMPLATE + "\nU9:%x[0,0]"], ids=["nodes", "edges"]
)
def test_parallel_encoding_does_not_depend_on_threads(
    template: str, hash_bits: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = TemplateEncoder(template, hash_bits=hash_bits)
    encoder.fit_encode(ColumnData.from_sentences([[(w,) for w in s] for s in WORDS]))
    # Unknown words leave gaps, and an empty sentence has no rows at all.
    unseen = [[(w,) for w in s] for s in [*TEST_WORDS, [], ["never", "seen"]]]
    data = SimpleNamespace(
        columns=[[token[0] for s in unseen for token in s]],
        ptr=np.cumsum([0, *map(len, unseen)]),
    )
    one = encoder.encode(data)
    monkeypatch.setattr(shared_rows, "CELLS_A_THREAD", 1)
    for n_jobs in (2, 3, -1):
        many = encoder.encode(data, n_jobs)
        for a, b in ((one.nodes, many.nodes), (one.edges, many.edges)):
            np.testing.assert_array_equal(a.ptr, b.ptr)
            np.testing.assert_array_equal(a.idx, b.idx)
            np.testing.assert_array_equal(a.val, b.val)


# --- bad input ---


@pytest.mark.parametrize("n_jobs", BAD_JOBS)
def test_parallel_wrong_number_of_threads_is_refused(n_jobs: Any) -> None:
    message = "n_jobs must be an integer >= 1, or -1 for every core, not "
    with pytest.raises(ValueError, match=message):
        check_jobs(n_jobs)
    s = problems.make_small(problems.chain_sparse)
    with pytest.raises(ValueError, match=message):
        make_problem(s, get_loss("hinge"), n_jobs=n_jobs)


def test_parallel_minus_one_is_every_core() -> None:
    assert 1 <= count_jobs(-1) <= (os.cpu_count() or 1)
    assert count_jobs(3) == 3


def test_parallel_wrong_number_is_refused_when_predicting() -> None:
    tagger = fitted_tagger().set_params(n_jobs=0)
    with pytest.raises(ValueError, match="n_jobs must be an integer >= 1"):
        tagger.predict(WORDS[:1])
