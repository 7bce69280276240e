"""The trace: a row a pass, as columns, a table and a plot."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import problems
from partwise.losses import Certificate, get_loss
from partwise.solvers import (
    DualCoordinateDescent,
    Problem,
    Trace,
    make_problem,
    solve,
)
from partwise.solvers.trace import COLUMNS, TraceRow

# Does not converge to a gap of TINY within the few passes that tests allow it.
TINY = 1e-12
SLOW = DualCoordinateDescent("light")


@pytest.fixture
def problem() -> Problem:
    s = problems.make_small(problems.classes_dense, count=20)
    return make_problem(s, get_loss("squared_hinge"))


def test_trace_has_one_row_a_pass(problem: Problem) -> None:
    trace = solve(problem, SLOW, tol=TINY, max_iter=4).trace
    assert len(trace) == len(list(trace)) == 4
    assert trace["iteration"].tolist() == [1, 2, 3, 4]
    # The last pass was looked at: one more argmax an example.
    n = problem.n_examples
    assert trace["oracle_calls"].tolist() == [n, 2 * n, 3 * n, 5 * n]
    assert (np.diff(trace["seconds"]) >= 0).all()
    assert (np.diff(trace["dual"]) >= 0).all()
    assert trace["exact"].tolist() == [False, False, False, True]
    assert np.isnan(trace["dev_score"]).all()
    for row in trace:
        expected = Certificate(row.primal, row.dual).relative_gap
        assert row.relative_gap == pytest.approx(expected)


def test_trace_as_text_has_columns_of_the_master_problem() -> None:
    plain = TraceRow(1, 10, 0.5, 4.0, 3.0, 0.25, True, float("nan"))
    rounds = replace(plain, rows=7, master_seconds=0.125, decoding_seconds=0.25)
    assert str(Trace([plain])).split("\n")[0].split()[-1] == "gap"
    head, row = (line.split() for line in str(Trace([rounds])).split("\n"))
    assert head[-4:] == ["gap", "rows", "master", "decoding"]
    assert row[-4:] == ["25.00%", "7", "0.12", "0.25"]


def test_trace_to_dict_and_back(problem: Problem) -> None:
    trace = solve(problem, SLOW, tol=TINY, max_iter=3, evaluate=lambda w: 0.5).trace
    columns = trace.to_dict()
    assert tuple(columns) == COLUMNS
    again = Trace.from_dict(columns)
    assert list(again) == list(trace)
    assert type(again[0].iteration) is int
    assert type(again[0].exact) is bool
    del columns["dual"]
    with pytest.raises(KeyError):
        Trace.from_dict(columns)


def test_trace_columns_of_different_lengths_are_refused(problem: Problem) -> None:
    columns = solve(problem, SLOW, tol=TINY, max_iter=2).trace.to_dict()
    columns["dual"].pop()
    with pytest.raises(ValueError, match="shorter"):
        Trace.from_dict(columns)


def test_trace_without_pandas_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas: pip install pandas"):
        Trace().to_frame()


def test_trace_to_frame_hands_its_rows_to_pandas(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pandas:
        @staticmethod
        def DataFrame(rows: Any, columns: Any) -> Any:
            return rows, columns

    monkeypatch.setitem(sys.modules, "pandas", Pandas)
    trace = solve(problem, SLOW, tol=TINY, max_iter=2).trace
    rows, columns = trace.to_frame()
    assert columns == COLUMNS
    assert [row["primal"] for row in rows] == trace["primal"].tolist()


def test_trace_plot_draws_primal_and_dual(problem: Problem) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    trace = solve(problem, SLOW, tol=TINY, max_iter=3).trace
    ax = trace.plot()
    drawn = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_array_equal(drawn["primal"], trace["primal"])
    np.testing.assert_array_equal(drawn["dual"], trace["dual"])
    assert trace.plot(ax) is ax
    pyplot.close(ax.figure)


def test_trace_without_matplotlib_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'partwise\[plots\]'"):
        Trace().plot()


def test_trace_reads_as_a_table(problem: Problem) -> None:
    lines = str(solve(problem, SLOW, tol=TINY, max_iter=3).trace).splitlines()
    assert lines[0].split() == ["pass", "seconds", "primal", "dual", "gap"]
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3"]
    assert [line.endswith("~") for line in lines[1:]] == [True, True, False]
