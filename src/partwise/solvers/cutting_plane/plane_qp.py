"""The quadratic programme of the cutting plane method, solved by HiGHS.

``max  b . a - 1/2 a' G a   subject to  a >= 0,  sum(a) <= 1``, in as many variables
as there are planes: tens or hundreds, whatever the size of the corpus.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.structures.interface import FloatArray

REGULARISATION = 1e-12
"""Added to the diagonal, of elements up to one: the planes may be dependent."""


def solve_plane_qp(gram: FloatArray, costs: FloatArray) -> FloatArray:
    """Return the best multipliers of the planes.

    Parameters
    ----------
    gram : array of shape (n_planes, n_planes)
        The products of the planes' vectors.
    costs : array of shape (n_planes,)
        What the planes say the losses are at ``w = 0``.

    Returns
    -------
    array of shape (n_planes,)
        Feasible to the last bit; as good as the solver's tolerances allow.

    Examples
    --------
    >>> solve_plane_qp(np.array([[4.0]]), np.array([1.0])).round(6).tolist()
    [0.25]
    >>> solve_plane_qp(np.eye(2), np.array([3.0, 3.0])).round(6).tolist()
    [0.5, 0.5]
    """
    import highspy

    n, most = costs.size, float(costs.max())
    if not most > 0.0:
        return np.zeros(n)
    # All the solver's tolerances are absolute, so variables and coefficients are
    # brought to about one. The multipliers are of the size that the top of the
    # parabola of a single plane has.
    size = float(gram.diagonal().max())
    reach = min(most / size, 1.0) if size > 0.0 else 1.0
    unit = max(size * reach**2, most * reach)
    scaled = gram * (reach**2 / unit)
    scaled[np.diag_indices(n)] += REGULARISATION
    lower = [scaled[j:, j] for j in range(n)]  # the columns of the lower triangle

    model = highspy.HighsModel()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, 1
    lp.col_cost_ = -costs * (reach / unit)
    lp.col_lower_, lp.col_upper_ = np.zeros(n), np.full(n, highspy.kHighsInf)
    lp.row_lower_ = np.array([-highspy.kHighsInf])
    lp.row_upper_ = np.array([1.0 / reach])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.array([0, n])
    lp.a_matrix_.index_ = np.arange(n)
    lp.a_matrix_.value_ = np.ones(n)
    model.lp_ = lp
    hessian = highspy.HighsHessian()
    hessian.dim_ = n
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.cumsum([0] + [column.size for column in lower])
    hessian.index_ = np.concatenate([np.arange(j, n) for j in range(n)])
    hessian.value_ = np.concatenate(lower)
    model.hessian_ = hessian

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("qp_regularization_value", 0.0)
    solver.passModel(model)
    solver.run()
    found = reach * np.maximum(np.array(solver.getSolution().col_value), 0.0)
    return found / max(float(found.sum()), 1.0)
