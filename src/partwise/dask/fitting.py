"""`fit` and `predict` on a cluster."""

from __future__ import annotations

import copy
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

from partwise.dask.parts import (
    Part,
    Reader,
    ask_all,
    check_readable,
    features_of,
    find_parts,
    is_frame,
    is_numeric,
    names_of_numbers,
    numbers_of,
    shard_of,
)
from partwise.dask.workers import (
    Held,
    Workers,
    check_versions,
    connected,
    gathered,
    look_at,
    needing_a_cluster,
    result_of,
    versions,
)
from partwise.errors import DataError
from partwise.estimators.base import TrainingData
from partwise.estimators.encoded import check_learns_from_folders
from partwise.estimators.encoded_corpus import EncodedCorpus, encoded
from partwise.estimators.shards import check_learns_from_shards
from partwise.estimators.survey import merge
from partwise.model_file.folder import MANIFEST, is_folder
from partwise.structures.shards import Shards, tree_sum
from partwise.structures.sharing import arranged


def fit(
    estimator: Any,
    data: Any,
    client: Client | None = None,
    *,
    shards: int | None = None,
    read: Reader | None = None,
    label: Any = None,
) -> Any:
    """Fit an estimator to data that the workers of a cluster have, or can read.

    Parameters
    ----------
    estimator : SequenceTagger, MulticlassClassifier or DependencyParser
        What to fit; all its settings mean what they mean elsewhere. The solver must be
        one that visits all examples between two steps (``"auto"`` is).
    data : bag, list of delayed parts, data frame, names, folder, or what `fit` takes
        A bag of pairs ``(x, y)``, or of sentences for a parser; delayed parts, each
        ``(X, y)`` or ``(X, y, sample_weight)``; a pattern such as
        ``"/data/train-*.txt"`` or a list of names, of files that every worker can
        read; for a classifier, a data frame with the label in a column; a folder that
        `partwise.encode` has written, where every worker can read it; or a tuple
        ``(X, y)`` of this process. Each part, partition or file is a shard; a folder
        says itself how many it has.
    client : Client, optional
        The cluster; by default the client made last.
    shards : int, optional
        Into how many shards data of this process is cut; by default one per worker.
    read : callable, optional
        Reads a file, on a worker: from a path to what `fit` takes, as a tuple. By
        default column files, the label last, for a tagger, and treebanks for a parser.
    label : object, optional
        The column of a data frame that has the labels. If all the others are numbers,
        these are the features; otherwise a row is a dict of names and values.

    Returns
    -------
    estimator
        Itself, fitted.

    Notes
    -----
    The number of shards decides the bits of the result; on which workers they were, and
    how often one was lost, does not.
    """
    check_learns_from_shards(estimator)
    client = connected(client)
    corpus = as_encoded(data)
    if corpus is not None:
        check_learns_from_folders(estimator)
        if (shards, read, label) != (None, None, None):
            raise DataError(
                f"{corpus.path} was encoded with its shards, features and labels: "
                "leave shards=, read= and label= out"
            )

    def learn(fitted: Any) -> None:
        fitted._check_for_shards()
        with needing_a_cluster():
            check_versions(ask_all(client, versions))
            if corpus is not None:
                training = _open(fitted, corpus, client)
            else:
                parts = find_parts(fitted, data, client, shards, read, label)
                training = _encode(fitted, parts, client)
                if is_frame(data) and (names := names_of_numbers(data, label)):
                    # As scikit-learn has them: the order of columns may change.
                    fitted.feature_names_in_ = np.array(names, object)
            fitted._train(training)

    return estimator._fit_by(learn)


def as_encoded(data: Any) -> EncodedCorpus | None:
    """Return data as an encoded corpus, if it is one, or the path of one."""
    if isinstance(data, str | Path) and is_folder(data):
        return encoded(data)
    return data if isinstance(data, EncodedCorpus) else None


def _open(fitted: Any, corpus: EncodedCorpus, client: Client) -> TrainingData:
    """Let workers map the shards of a folder, each of them its own."""
    fitted._check_settings()
    folder = str(corpus.path.absolute())
    check_readable([f"{folder}/{MANIFEST}"], client)
    corpus.folder.check_integrity()
    fitted._take_encoding(corpus)
    settled = client.submit(_same, _for_workers(fitted), pure=False)
    held = [
        Part(
            f"shard {n}",
            client.submit(_read_shard, settled, folder, a, b, pure=False),
        )
        for n, (a, b) in enumerate(pairwise(corpus.bounds().tolist()))
    ]
    return _in_shards(held, fitted._prepare_part(corpus.part(0, 1)), client)


def _encode(fitted: Any, parts: list[Part], client: Client) -> TrainingData:
    """Survey the parts, settle what follows, and encode them where they are."""
    submit = client.submit
    # Whoever filters a bag, or a data frame, leaves partitions that are empty.
    sizes = [submit(_has_any, part.future, pure=False) for part in parts]
    filled = gathered(sizes, [part.name for part in parts], client)
    parts = [part for part, has_any in zip(parts, filled, strict=True) if has_any]
    if not parts:
        raise DataError("there are no examples: every part is empty")
    names = [part.name for part in parts]
    blank = submit(_same, _for_workers(fitted), pure=False)
    surveys = [submit(_survey, blank, part.future, pure=False) for part in parts]
    counts = [submit(_count, survey, pure=False) for survey in surveys]
    gathered(counts, names, client)
    whole = tree_sum(surveys, lambda a, b: submit(merge, a, b, pure=False))
    assert whole is not None
    fitted._settle(result_of(whole, client))
    settled = submit(_same, _for_workers(fitted), pure=False)
    held = [
        Part(part.name, submit(_prepare, settled, part.future, pure=False))
        for part in parts
    ]
    first = submit(_prepare_first, settled, parts[0].future, pure=False)
    return _in_shards(held, result_of(first, client), client)


def _in_shards(held: list[Part], first: Any, client: Client) -> TrainingData:
    """Return what to train on, shards being encoded where they are.

    `first` is an example of the first.
    """
    looks = gathered(
        [client.submit(look_at, part.future, pure=False) for part in held],
        [part.name for part in held],
        client,
    )
    facts = tuple(facts for facts, _ in looks)
    weights = [
        np.ones(own.n_parts.size) if weight is None else weight for own, weight in looks
    ]
    return TrainingData(
        Shards(first.structure, facts, Workers(client, held)),
        np.concatenate(weights),
    )


def predict(estimator: Any, data: Any, client: Client | None = None) -> Any:
    """Predict on a cluster.

    Parameters
    ----------
    estimator : estimator
        A fitted one.
    data : bag, data frame, or list
        A bag of examples, a data frame with the columns of `fit` besides the labels, or
        examples of this process.
    client : Client, optional
        The cluster; by default the client made last.

    Returns
    -------
    bag
        What was predicted for each example, in order; nothing is computed before it is
        asked for.
    """
    import dask.bag

    client = connected(client)
    estimator._check_fitted()
    if isinstance(data, str | Path) or shard_of(data) == "part":
        raise DataError(
            "predict takes examples: read files first, and make a bag of delayed parts "
            "(dask.bag.from_delayed)"
        )
    check_versions(ask_all(client, versions))
    model = dask.delayed(estimator, traverse=False)
    if is_frame(data):
        look = dask.delayed(_predict_rows)
        numeric, names = is_numeric(data), _columns_to_read(estimator, data)
        pieces = [look(piece, model, numeric, names) for piece in data.to_delayed()]
        return dask.bag.from_delayed(pieces)
    if not hasattr(data, "to_delayed"):
        n_workers = max(len(client.ncores()), 1)
        data = dask.bag.from_sequence(data, npartitions=n_workers)
    return data.map_partitions(_predict, model)


def _for_workers(estimator: Any) -> Any:
    """Return a copy that knows how to encode, without what stays here."""
    traveller = copy.copy(estimator)
    traveller.callbacks, traveller.checkpoint, traveller.resume = (), None, False
    for name in ("solution_", "trace_", "weights_"):  # of an earlier fit
        traveller.__dict__.pop(name, None)
    return traveller


def _arrived(estimator: Any) -> Any:
    """Return a copy whose arrays lie as kernels want them."""
    arrival = copy.copy(estimator)
    arrival.__dict__ = {name: arranged(value) for name, value in vars(arrival).items()}
    return arrival


def _same(thing: Any) -> Any:
    return thing


def _has_any(part: Any) -> bool:
    shape = getattr(part[0], "shape", None)
    if shape is not None:
        return bool(shape[0])
    return not hasattr(part[0], "__len__") or len(part[0]) > 0


def _survey(estimator: Any, part: Any) -> Any:
    return estimator._survey(*part)


def _count(survey: Any) -> int:
    return int(survey.n_examples)


def _prepare(estimator: Any, part: Any) -> Held:
    data = _arrived(estimator)._prepare_shard(*part)
    return Held(data.structure, data.sample_weight)


def _read_shard(estimator: Any, folder: str, start: int, stop: int) -> Held:
    """Map some examples of a folder."""
    part = encoded(folder).part(start, stop)
    data = _arrived(estimator)._prepare_part(part)
    return Held(data.structure, data.sample_weight)


def _prepare_first(estimator: Any, part: Any) -> Any:
    """Encode the first example of a part: what all have in common is small."""
    first = tuple(
        column[:1] if hasattr(column, "__getitem__") else list(islice(column, 1))
        for column in part
    )
    return _prepare(estimator, first)


def _columns_to_read(estimator: Any, frame: Any) -> list[str] | None:
    """Return the columns of numbers that an estimator has learnt from, if it knows."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return None
    missing = [name for name in names if name not in list(frame.columns)]
    if missing:
        raise DataError(f"the data frame has no column {missing[0]!r}, as fit had")
    return list(names)


def _predict_rows(
    rows: Any, estimator: Any, numeric: bool, names: list[str] | None
) -> list[Any]:
    if names is None:
        return _predict(features_of(rows, numeric), estimator)
    found = _arrived(estimator).predict(numbers_of(rows[names])) if len(rows) else []
    return list(found)


def _predict(examples: Any, estimator: Any) -> list[Any]:
    examples = list(examples)
    return list(_arrived(estimator).predict(examples)) if examples else []
