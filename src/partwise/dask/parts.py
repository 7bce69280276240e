"""The parts of a corpus, from whatever Dask users keep their data in.

A part is what `fit` of the estimator takes, for a shard of the corpus: ``(X, y)`` or
``(X, y, sample_weight)`` for those that are given labels, otherwise ``(sentences,)``.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
from dask.delayed import Delayed
from distributed import Client, Future

from partwise.errors import DataError, PartwiseError

Reader = Callable[[str], Any]


@dataclass(frozen=True)
class Part:
    """A part of the corpus: its name for messages, and where it will be."""

    name: str
    future: Future


def find_parts(
    estimator: Any,
    data: Any,
    client: Client,
    n_shards: int | None = None,
    read: Reader | None = None,
    label: Any = None,
) -> list[Part]:
    """Return the parts of a corpus, which workers read and keep."""
    labelled = estimator.takes_labels
    if n_shards is not None and (type(n_shards) is not int or n_shards < 1):
        raise ValueError(f"shards must be a number from 1 on, not {n_shards!r}")
    shard = shard_of(data)
    if n_shards is not None and shard is not None:
        raise DataError(f"every {shard} is a shard here: leave shards= out")
    if label is not None and not is_frame(data):
        raise DataError("label= names a column of a Dask data frame, but data is none")
    if read is not None and not (shard == "file" and callable(read)):
        raise DataError("read= is a function that reads files: data must name them")
    if is_frame(data):
        if not estimator.takes_tables:
            raise DataError(
                f"{type(estimator).__name__} does not learn from data frames; give "
                "files, a bag, or delayed parts"
            )
        return _of_frame(data, label, client)
    if shard == "file":
        paths = _paths(data)
        return _of_files(paths, client, read or default_reader(estimator), labelled)
    if hasattr(data, "to_delayed"):  # a bag: items are examples, perhaps with labels
        pieces = data.to_delayed()
        return _of_delayed(
            [dask.delayed(_of_items)(p, labelled) for p in pieces], client
        )
    if shard == "part":
        return _of_delayed([dask.delayed(_checked)(p, labelled) for p in data], client)
    return _of_memory(data, labelled, client, n_shards)


def shard_of(data: Any) -> str | None:
    """Return what is a shard of data; None if that is for us to choose."""
    if hasattr(data, "to_delayed"):
        return "partition"
    some = data if isinstance(data, list | tuple) else [data]
    if some and all(isinstance(name, str | Path) for name in some):
        return "file"
    return "part" if some and isinstance(some[0], Delayed) else None


def _paths(data: Any) -> list[str]:
    """Return the files that a pattern or a list names, wherever workers are."""
    names = data
    if isinstance(data, str | Path):
        names = sorted(glob.glob(os.path.expanduser(data)))
        if not names:
            raise DataError(f"no file matches {str(data)!r}")
    for name in names:
        if os.path.isdir(name):
            raise DataError(
                f"{name} is a folder; give the files in it, as {str(name) + '/*'!r}, "
                "or one folder by itself that partwise encode has written"
            )
    return [os.path.abspath(name) for name in names]


def _of_frame(frame: Any, label: Any, client: Client) -> list[Part]:
    """Cut a data frame where it is cut already."""
    if label not in list(frame.columns):
        raise DataError(
            f"the data frame has no column {label!r} with labels: give label=, one of "
            f"{', '.join(map(repr, frame.columns))}"
        )
    numeric = is_numeric(frame, label)
    pieces = [dask.delayed(_of_rows)(p, label, numeric) for p in frame.to_delayed()]
    return _of_delayed(pieces, client)


def is_frame(data: Any) -> bool:
    """Say whether data is a data frame in partitions."""
    return hasattr(data, "to_delayed") and hasattr(data, "columns")


def is_numeric(frame: Any, label: Any = None) -> bool:
    """Say whether all columns, besides that of the labels, are numbers."""
    kinds = {dtype.kind for name, dtype in frame.dtypes.items() if name != label}
    return kinds <= set("biuf")


def _of_rows(rows: Any, label: Any, numeric: bool) -> Any:
    """Turn rows of a table into what `fit` of a classifier takes."""
    y = rows[label]
    if y.isna().any():
        raise DataError(f"row {rows.index[y.isna()][0]} has no label")
    return features_of(rows.drop(columns=label), numeric), y.to_list()


def features_of(rows: Any, numeric: bool) -> Any:
    """Return rows of a table as numbers, or as dicts of what is there."""
    if numeric:
        return numbers_of(rows).to_numpy()
    there = rows.notna().to_dict("records")
    return [
        {name: value for name, value in row.items() if known[name]}
        for row, known in zip(rows.to_dict("records"), there, strict=True)
    ]


def numbers_of(rows: Any) -> Any:
    """Return a table in which every cell is a number."""
    missing = rows.isna()
    if missing.any(axis=None):
        row, column = missing.stack().idxmax()
        raise DataError(
            f"row {row} has no number in column {column!r}; fill it in, or leave "
            "the row out"
        )
    return rows.astype("float64")


def names_of_numbers(frame: Any, label: Any) -> list[str] | None:
    """Return the names of the columns, if all are numbers and all have names."""
    names = [name for name in frame.columns if name != label]
    named = all(isinstance(name, str) for name in names)
    return names if named and is_numeric(frame, label) else None


def _of_delayed(pieces: Sequence[Delayed], client: Client) -> list[Part]:
    futures = client.compute(list(pieces))
    return [Part(f"shard {n}", future) for n, future in enumerate(futures)]


def _of_files(
    paths: Sequence[str], client: Client, read: Reader, labelled: bool
) -> list[Part]:
    """Let workers read files, after asking all of them whether they can."""
    check_readable(paths, client)
    return [
        Part(path, client.submit(_read, read, path, labelled, pure=False))
        for path in paths
    ]


def _read(read: Reader, path: str, labelled: bool) -> Any:
    return _checked(read(path), labelled, "what read= returns")


def check_readable(paths: Sequence[str], client: Client) -> None:
    """Raise `DataError` if some worker cannot read a file."""
    unable = {
        worker: missing
        for worker, missing in ask_all(client, _unreadable, list(paths)).items()
        if missing
    }
    if unable:
        worker, missing = next(iter(unable.items()))
        raise DataError(
            f"workers cannot read all the files: {worker} cannot open {missing[0]}; "
            "put the files where every worker can read them, under the same path"
        )


def _of_memory(
    data: Any, labelled: bool, client: Client, n_shards: int | None
) -> list[Part]:
    """Cut data of this process; the scheduler keeps it, for workers that are lost."""
    columns = list(data) if labelled and hasattr(data, "__iter__") else [data]
    if labelled and len(columns) not in (2, 3):
        raise DataError("data must be (X, y), or a bag, delayed parts, or file names")
    if any(hasattr(column, "to_delayed") for column in columns):
        raise DataError(
            "X and y are cut already, each by itself; give delayed parts that have "
            "both: [dask.delayed((x, y)) for x, y in ...]"
        )
    columns = [
        column if hasattr(column, "__len__") else list(column) for column in columns
    ]
    count = len(columns[0])
    if any(len(column) != count for column in columns):
        raise DataError(f"X has {count} examples, but y has {len(columns[1])} labels")
    wanted = n_shards or max(len(client.ncores()), 1)
    cuts = [count * n // wanted for n in range(wanted + 1)]
    return [
        Part(
            f"shard {n}",
            client.submit(_same, tuple(c[a:b] for c in columns), pure=False),
        )
        for n, (a, b) in enumerate(pairwise(cuts))
        if a < b
    ]


def default_reader(estimator: Any) -> Reader:
    """Return what reads the usual files of an estimator."""
    name = type(estimator).__name__
    readers = {"SequenceTagger": read_tagged, "DependencyParser": read_parsed}
    if name not in readers:
        raise DataError(
            f"there is no usual file for {name}: give read=, a function from a path to "
            "what fit takes"
        )
    return readers[name]


def read_tagged(path: str) -> Any:
    """Read a column file, the label last."""
    from partwise.data import read_columns

    data = read_columns(path)
    if len(data.columns) < 2:
        raise DataError(f"{path}: has no labels, only one column")
    last = len(data.columns) - 1
    return data.without(last), data.column_sequences(last)


def read_parsed(path: str) -> Any:
    """Read a treebank."""
    from partwise.data import read_trees

    return (read_trees(path),)


def ask_all(client: Client, question: Callable[..., Any], *things: Any) -> Any:
    """Ask all workers; return what each says, by its address.

    A worker that is lost meanwhile says nothing, and another takes its work.
    """
    answers = client.run(question, *things, on_error="return")
    if not answers:
        raise PartwiseError(
            "the cluster has no workers: start some (dask worker ADDRESS), or wait for "
            "those that are on their way (client.wait_for_workers(1))"
        )
    there = {}
    for worker, answer in answers.items():
        if isinstance(answer, OSError):  # as Dask's errors of connections are
            continue
        if isinstance(answer, Exception) and "ModuleNotFoundError" in repr(answer):
            raise PartwiseError(
                f"the worker {worker} lacks something that it needs ({answer}): "
                "install the same packages on all machines"
            )
        if isinstance(answer, Exception):
            raise answer
        there[worker] = answer
    if not there:
        raise PartwiseError("all workers were lost before they could be asked")
    return there


def _same(part: Any) -> Any:
    return part


def _of_items(items: Any, labelled: bool) -> Any:
    """Turn examples into what `fit` takes."""
    items = list(items)
    if not labelled:
        return (items,)
    for number, item in enumerate(items):
        if not isinstance(item, tuple) or len(item) != 2:
            raise DataError(
                f"item {number} of the bag is no pair of an example and its labels: "
                "items must be (x, y)"
            )
    return [x for x, _ in items], [y for _, y in items]


def _checked(part: Any, labelled: bool, what: str = "a delayed part") -> Any:
    if not labelled:
        return part if isinstance(part, tuple) else (part,)
    if not isinstance(part, tuple | list) or len(part) not in (2, 3):
        raise DataError(
            f"it has no labels: {what} must be (X, y) or (X, y, sample_weight)"
        )
    return tuple(part)


def _unreadable(paths: list[str]) -> list[str]:
    missing = []
    for path in paths:
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            missing.append(f"{path} ({error.strerror})")
    return missing
