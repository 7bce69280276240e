"""Feature rows: how one position's observed attributes meet the labels.

A structure holds a *rows* NamedTuple and never asks how it is stored. A weight
belongs to a pair of attribute and label; the weights of one attribute lie side
by side, so that scoring all labels of a position reads whole cache lines.

===============  ===========================================================
`SparseRows`     CSR of attributes; a weight for every attribute and label
`PairRows`       CSR of attributes; weights only for pairs seen in training
`DenseRows`      a float matrix; a weight for every column and label
`VectorRows`     the same for vectors of words: the weights of one label lie
                 side by side, and float32 stays float32
`MixedRows`      words and vectors: rows of attributes beside vectors
===============  ===========================================================
"""

from partwise.structures.rows.dense import DenseRows, make_dense_rows
from partwise.structures.rows.interface import (
    LARGEST,
    Rows,
    check_rows,
    n_row_weights,
    n_rows,
    row_add,
    row_diff_add,
    row_diff_dot,
    row_dot,
    row_entries,
    row_shrink,
    row_size,
    rows_add,
    rows_add_elsewhere,
    rows_add_shrunk,
    rows_at_once,
    rows_dot,
    rows_dot_shrunk,
)
from partwise.structures.rows.mixed import MixedRows, make_mixed_rows
from partwise.structures.rows.pairs import (
    PairRows,
    Pairs,
    make_pair_rows,
    make_pairs,
    observed_pairs,
)
from partwise.structures.rows.sparse import (
    SparseRows,
    make_sparse_rows,
    no_rows,
    take_rows,
)
from partwise.structures.rows.vector import VectorRows, make_vector_rows

__all__ = [
    "LARGEST",
    "DenseRows",
    "MixedRows",
    "PairRows",
    "Pairs",
    "Rows",
    "SparseRows",
    "VectorRows",
    "check_rows",
    "make_dense_rows",
    "make_mixed_rows",
    "make_pair_rows",
    "make_pairs",
    "make_sparse_rows",
    "make_vector_rows",
    "n_row_weights",
    "n_rows",
    "no_rows",
    "observed_pairs",
    "row_add",
    "row_diff_add",
    "row_diff_dot",
    "row_dot",
    "row_entries",
    "row_shrink",
    "row_size",
    "rows_add",
    "rows_add_elsewhere",
    "rows_add_shrunk",
    "rows_at_once",
    "rows_dot",
    "rows_dot_shrunk",
    "take_rows",
]
