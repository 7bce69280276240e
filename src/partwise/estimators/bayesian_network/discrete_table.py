"""Tables of discrete variables as users have them, and as small integers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.checks import check_listed
from partwise.estimators.labels import LabelCodes, listed, sorted_classes
from partwise.structures.interface import IntArray

Name = Hashable
"""Of a column: a string or an integer."""

CLASS = "class"
"""What the class is called if it has no name."""

UNSEEN, MISSING = -1, -2
"""Codes of values that training has not seen, and of missing ones."""


def table_error(
    problem: str, argument: str, column: Name | None = None, row: int | None = None
) -> DataError:
    """Return an error about a table, or about a column, a row or a cell of it.

    Examples
    --------
    >>> print(table_error("the value is missing", "X", "sky", 3))
    X, column 'sky', row 3: the value is missing
    """
    where = argument
    if column is not None:
        where += f", column {column!r}"
    if row is not None:
        where += f", row {row}"
    return DataError(
        problem, where=where, argument=argument, column=column, example=row
    )


class Table(NamedTuple):
    """Columns of values, with their names where they have some.

    Examples
    --------
    >>> read_table([{"sky": "grey", "wet": 1}, {"sky": "blue"}]).columns[1].tolist()
    [1, None]
    """

    names: list[Name]
    columns: list[NDArray[Any]]
    is_named: bool
    n_rows: int


def read_table(X: Any, where: str = "X") -> Table:
    """Split a table into columns.

    Parameters
    ----------
    X : data frame, array of shape (n_rows, n_columns), or rows
        A data frame has names of columns; so have rows that are dicts, where a key may
        be left out. The columns of arrays and of other rows are 0, 1, 2, ...
    where : str
        What to call it in error messages.
    """
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        names = [
            name.item() if isinstance(name, np.generic) else name for name in X.columns
        ]
        for name in names:
            if names.count(name) > 1:
                raise table_error(f"two columns are called {name!r}: rename one", where)
        columns = [np.asarray(X[name]) for name in names]
        return Table(names, columns, True, columns[0].size if columns else len(X))
    if hasattr(X, "toarray"):
        raise DataError(f"{where} must not be a sparse matrix; give {where}.toarray()")
    if not isinstance(X, np.ndarray):
        check_listed(X, f"{where} must be a table")
        X = list(X)
        if X and all(isinstance(row, Mapping) for row in X):
            return _from_dicts(X)
        X = _from_rows(X, where)
    if X.ndim != 2:
        raise DataError(
            f"{where} must be a table with rows and columns, not an array of shape "
            f"{X.shape}"
        )
    return Table(list(range(X.shape[1])), list(X.T), False, len(X))


def _from_dicts(rows: Sequence[Mapping[Any, Any]]) -> Table:
    names: dict[Name, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns = [_objects([row.get(name) for row in rows]) for name in names]
    return Table(list(names), columns, True, len(rows))


def _from_rows(rows: list[Any], where: str) -> NDArray[Any]:
    result: list[list[Any]] = []
    for i, row in enumerate(rows):
        if isinstance(row, str | bytes | Mapping) or not isinstance(row, Iterable):
            problem = f"expected a row of values, not {row!r}"
            raise table_error(problem, where, row=i)
        result.append(list(row))
        if len(result[i]) != len(result[0]):
            problem = f"it has {len(result[i])} values, but row 0 has {len(result[0])}"
            raise table_error(problem, where, row=i)
    table = np.empty((len(result), len(result[0]) if result else 0), object)
    for i, values in enumerate(result):
        table[i] = values
    return table


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return an array that holds the values as they are."""
    result = np.empty(len(values), object)
    result[:] = values
    return result


def column_array(y: Any, where: str = "y") -> NDArray[Any]:
    """Return one column of values as an array."""
    check_listed(y, f"{where} must be a column of values")
    array = np.asarray(y) if hasattr(y, "shape") else _objects(list(y))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{where} must be one column, not of shape {array.shape}")
    return array


def read_target(y: Any, names: list[Name] | None) -> Table:
    """Return what is to be predicted as a table, of one column or of several.

    Parameters
    ----------
    y : column or table
        A column keeps its own name, or is called "class".
    names : list, optional
        Other names.

    Examples
    --------
    >>> read_target(["sun", "rain"], None).names
    ['class']
    """
    listed = not hasattr(y, "shape") and isinstance(y, Sequence) and len(y) > 0
    rows = listed and isinstance(y[0], Mapping | list | tuple)
    if rows or len(getattr(y, "shape", ())) == 2:
        table = read_table(y, "y")
    else:
        own = getattr(y, "name", None)
        column = column_array(y)
        table = Table([CLASS if own is None else own], [column], True, column.size)
    if names is None and not table.is_named:
        unnamed: list[Name] = [CLASS]
        if len(table.names) > 1:
            raise ValueError(
                f"y has {len(table.names)} columns without names: give target, a "
                "list of them"
            )
        return table._replace(names=unnamed)
    if names is not None:
        if len(names) != len(table.names):
            raise ValueError(
                f"target names {len(names)} columns, but y has {len(table.names)}"
            )
        return table._replace(names=names)
    return table


def plain_value(value: Any) -> Any:
    """Return a value as a string, an integer, or None where it is missing.

    Whole numbers may be written as floats, which is what data frames with missing
    values make of integers; True and False are 1 and 0.

    Examples
    --------
    >>> plain_value("a"), plain_value(2.0), plain_value(float("nan"))
    ('a', 2, None)
    """
    if isinstance(value, str):
        return str(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, int | np.integer | bool | np.bool_):
        return int(value)
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return None
        if float(value).is_integer():
            return int(value)
        raise DataError(
            f"{float(value)!r} is not a value of a discrete variable (put numbers into "
            "a few bins first)"
        )
    raise DataError(
        f"values are strings or integers, not {value!r} ({type(value).__name__}); turn "
        "them into strings first"
    )


class Column(NamedTuple):
    """The values of a column: the distinct ones, and which of them each row has."""

    distinct: list[Any]
    of: IntArray


def distinct_values(values: NDArray[Any], name: Name, where: str) -> Column:
    """Find the distinct values of a column, as strings, integers or None."""
    if values.dtype.kind in "iub":
        found, of = np.unique(values, return_inverse=True)
        return Column([int(value) for value in found], of.reshape(-1))
    listed = values.tolist()
    try:
        number = {value: j for j, value in enumerate(dict.fromkeys(listed))}
    except TypeError:
        i = next(i for i, value in enumerate(listed) if not isinstance(value, Hashable))
        raise table_error(f"{listed[i]!r} is not a value", where, name, i) from None
    distinct = []
    for value in number:
        try:
            distinct.append(plain_value(value))
        except DataError as error:
            i = listed.index(value)
            raise table_error(error.problem, where, name, i) from None
    return Column(distinct, np.array([number[value] for value in listed], np.int64))


class Variable(NamedTuple):
    """A discrete variable: its name and its values."""

    name: Name
    values: LabelCodes


def learn_variable(
    name: Name, values: NDArray[Any], where: str
) -> tuple[Variable, IntArray]:
    """Return a variable with the values of a column, and their codes.

    Raise `DataError` where a value is missing, or where there is only one.
    """
    column = distinct_values(values, name, where)
    if None in column.distinct:
        i = int(np.argmax(column.of == column.distinct.index(None)))
        raise table_error(
            "the value is missing, but training needs complete rows (leave the row "
            "out, or fill it in)",
            where,
            name,
            i,
        )
    try:
        codes = LabelCodes(sorted_classes(column.distinct))
    except DataError:
        problem = "values must be all strings or all integers, not a mixture"
        raise table_error(problem, where, name) from None
    if len(codes) < 2:
        raise table_error(
            f"all rows have the value {codes.classes[0]!r}, which tells nothing (leave "
            "the column out)",
            where,
            name,
        )
    code = codes.encode(column.distinct, where).astype(np.int64)
    return Variable(name, codes), code[column.of]


def encode_column(
    variable: Variable, values: NDArray[Any], where: str, unseen: str
) -> IntArray:
    """Return the codes of new values: `MISSING` where there are none.

    Parameters
    ----------
    variable : Variable
        What training knows.
    values : array
        The column.
    where : str
        What to call the table in error messages.
    unseen : {"unknown", "missing", "error"}
        What to do with values that training has not seen.
    """
    known = variable.values.classes
    code_of = {value: code for code, value in enumerate(known)}
    column = distinct_values(values, variable.name, where)
    codes = np.full(len(column.distinct), MISSING, np.int64)
    for j, value in enumerate(column.distinct):
        if value is None:
            continue
        codes[j] = code_of.get(value, UNSEEN)
        if codes[j] != UNSEEN:
            continue
        other = isinstance(value, str) != isinstance(known[0], str)
        if other or unseen == "error":
            row = int(np.argmax(column.of == j))
            shown = listed(known, 5)
            what = "is of another kind than" if other else "is not one of"
            advice = "" if other else " (unseen='unknown' or 'missing' takes it)"
            raise table_error(
                f"{value!r} {what} the values of the training data, {shown}{advice}",
                where,
                variable.name,
                row,
            )
        if unseen == "missing":
            codes[j] = MISSING
    return codes[column.of]
