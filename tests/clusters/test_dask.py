"""Training on a cluster: the model of one machine, whatever happens to the workers."""

import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import partwise
import problems
from partwise import (
    ColumnGeneration,
    DataError,
    DependencyParser,
    LatticeRanker,
    MulticlassClassifier,
    OutOfMemoryError,
    PairingError,
    PartwiseError,
    SequenceTagger,
)
from partwise.data import Sentence
from partwise.losses import get_loss
from partwise.solvers import (
    ParameterMixing,
    StochasticGradientDescent,
    make_problem,
)
from partwise.solvers.loop import Callback

pytest.importorskip("distributed", reason='needs Dask: pip install "partwise[dask]"')

import dask
import dask.bag
from distributed import Client, LocalCluster
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

import partwise.dask
from partwise.dask import parts as of_parts
from partwise.dask import workers as of_workers

WORDS = ["the dog", "a dog barks", "dog the cat", "the cat sleeps", "oh no", "a cat"]
TAGS = ["D N", "D N V", "N D N", "D N V", "X X", "D N"]  # X: in one shard alone
X = [[{"word": word} for word in words.split()] for words in WORDS]
Y = [tags.split() for tags in TAGS]
SAME = {"rtol": 1e-9, "atol": 1e-12}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with make_cluster(2) as cluster, Client(cluster, set_as_default=False) as one:
        yield one


def make_cluster(n_workers: int) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
    )


def tagger(**settings: Any) -> SequenceTagger:
    return SequenceTagger(**{"loss": "log_loss", "C": 1.0, "tol": 1e-2} | settings)


# --- the same model ---


@pytest.mark.filterwarnings("ignore::partwise.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "solver", ["lbfgs", "owlqn", "cg", "eg-primal", "cutting-plane"]
)
def test_dask_finds_the_model_of_one_machine(client: Client, solver: str) -> None:
    loss = "hinge" if solver == "cutting-plane" else "log_loss"
    penalty = "l1" if solver == "owlqn" else "l2"
    settings = {"loss": loss, "solver": solver, "tol": 0.1, "penalty": penalty}
    settings["max_iter"] = 4  # the way there must be the same as well
    here = tagger(**settings).fit(X, Y)
    there = partwise.dask.fit(tagger(**settings), (X, Y), client, shards=3)
    assert list(here.classes_) == list(there.classes_) == ["D", "N", "V", "X"]
    assert here._input.names() == there._input.names()
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    assert there.certificate_.relative_gap == pytest.approx(
        here.certificate_.relative_gap, rel=1e-6, abs=1e-9
    )
    assert there.predict(X) == here.predict(X)


@pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")
@pytest.mark.filterwarnings("ignore::partwise.errors.ConvergenceWarning")
def test_dask_generates_columns(client: Client) -> None:
    settings = {"loss": "hinge", "penalty": "l1", "tol": 1e-6, "C": 0.5}
    for margins in ({}, {"margin": "unit", "positive": True}):
        own = settings | margins
        here = tagger(**own, solver="column-generation-highs").fit(X, Y)
        there = partwise.dask.fit(
            tagger(**own, solver="column-generation-highs"), (X, Y), client, shards=3
        )
        assert there.certificate_.relative_gap <= 1e-6
        assert there.certificate_.primal == pytest.approx(
            here.certificate_.primal, rel=1e-5
        )
        assert (there.bound_ is None) == (not margins)
        if margins:
            assert there.bound_ == pytest.approx(here.bound_, rel=1e-4)
    # Rows, and their order, are those of one machine that does not begin online.
    settings |= {"max_iter": 3, "solver": ColumnGeneration(passes=0)}
    here = tagger(**settings).fit(X, Y)
    there = partwise.dask.fit(tagger(**settings), (X, Y), client, shards=2)
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)


def test_dask_shards_decide_the_bits_not_workers(client: Client) -> None:
    found = {}
    for shards in (1, 4):
        for _ in range(2):
            model = partwise.dask.fit(tagger(), (X, Y), client, shards=shards)
            found.setdefault(shards, []).append(model.weights_)
        np.testing.assert_array_equal(*found[shards])
    with make_cluster(1) as lone, Client(lone, set_as_default=False) as one:
        model = partwise.dask.fit(tagger(), (X, Y), one, shards=4)
    np.testing.assert_array_equal(model.weights_, found[4][0])


def test_dask_takes_bags_delayed_parts_and_files(
    client: Client, tmp_path: Path
) -> None:
    expected = partwise.dask.fit(tagger(), (X, Y), client, shards=2).weights_
    bag = dask.bag.from_sequence(zip(X, Y, strict=True), npartitions=2)
    parts = [dask.delayed((X[a : a + 3], Y[a : a + 3])) for a in (0, 3)]
    for data in (bag, parts):
        model = partwise.dask.fit(tagger(), data, client)
        np.testing.assert_array_equal(model.weights_, expected)
    template = "U:%x[0,0]"
    for number in range(2):
        write(tmp_path / f"{number}.txt", range(3 * number, 3 * number + 3))
    words = [[(word,) for word in text.split()] for text in WORDS]
    here = tagger(template=template, solver="lbfgs").fit(words, Y)
    for data in (tmp_path / "*.txt", [tmp_path / "0.txt", tmp_path / "1.txt"]):
        there = partwise.dask.fit(tagger(template=template), data, client)
        np.testing.assert_allclose(there.weights_, here.weights_, **SAME)


def test_dask_reads_encoded_folders(client: Client, tmp_path: Path) -> None:
    corpus = partwise.encode(tagger(), (X, Y), tmp_path / "folder", shards=3)
    here = tagger(solver="lbfgs").fit(X, Y)
    found = [
        partwise.dask.fit(tagger(), data, client).weights_
        for data in (corpus, tmp_path / "folder")
    ]
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], here.weights_, **SAME)
    with pytest.raises(TypeError, match="cannot learn from a folder"):
        partwise.dask.fit(DependencyParser(), corpus, client)
    with pytest.raises(ValueError, match="order=1"):
        partwise.dask.fit(tagger(order=2), corpus, client)
    labels = np.lib.format.open_memmap(tmp_path / "folder" / "labels.npy", "r+")
    labels[0] = (labels[0] + 1) % corpus.n_classes
    labels.flush()
    with pytest.raises(partwise.ModelFileError, match="checksum"):
        partwise.dask.fit(tagger(), corpus, client)


def write(path: Path, numbers: Any) -> None:
    lines = []
    for number in numbers:
        pairs = zip(WORDS[number].split(), TAGS[number].split(), strict=True)
        lines += [*(f"{word} {tag}" for word, tag in pairs), ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def test_dask_counts_features_and_labels_over_all_shards(client: Client) -> None:
    settings = {"min_count": 3, "solver": "lbfgs"}
    if problems.PLAIN_PYTHON:  # costs in the log loss would have to be compiled
        settings["class_weight"] = "balanced"
    here = tagger(**settings).fit(X, Y)
    there = partwise.dask.fit(tagger(**settings), (X, Y), client, shards=3)
    assert (
        here._input.names()
        == there._input.names()
        == ["word=the", "word=dog", "word=cat"]
    )
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)


def test_dask_weighs_examples(client: Client) -> None:
    weight = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0])
    here = tagger(solver="lbfgs").fit(X, Y, weight)
    there = partwise.dask.fit(tagger(), (X, Y, weight), client, shards=3)
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)


def test_dask_fits_other_estimators(client: Client) -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(12, 2)), np.arange(12) % 3
    settings = {"loss": "log_loss", "solver": "lbfgs", "C": 1.0}
    here = MulticlassClassifier(**settings).fit(rows, labels)
    there = MulticlassClassifier(**settings)
    partwise.dask.fit(there, (rows, labels), client, shards=3)
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    names = [[f"a{i % 2}", f"b{i % 3}"] for i in range(12)]
    here = MulticlassClassifier(**settings).fit(names, labels)
    partwise.dask.fit(there, (names, labels), client, shards=3)
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    trees = [
        Sentence.from_columns(
            forms=["a", "dog", "barks"], upos=["D", "N", "V"], heads=[2, 3, 0]
        ),
        Sentence.from_columns(forms=["dog", "barks"], upos=["N", "V"], heads=[2, 0]),
    ]
    parsers = [
        DependencyParser("log_loss", solver="lbfgs", hash_bits=8, tol=0.1)
        for _ in range(2)
    ]
    parsers[0].fit(trees)
    partwise.dask.fit(parsers[1], trees, client, shards=2)
    np.testing.assert_allclose(parsers[1].weights_, parsers[0].weights_, **SAME)


def test_dask_leaves_out_partitions_that_are_empty(client: Client) -> None:
    pairs = dask.bag.from_sequence(list(zip(X, Y, strict=True)), npartitions=3)
    some = pairs.filter(lambda pair: len(pair[0]) > len(X[0]))
    left = [x for x in X if len(x) > len(X[0])]
    sizes = some.map_partitions(lambda own: [len(list(own))]).compute()
    assert 0 in sizes
    assert sum(sizes) == len(left) > 0
    there = partwise.dask.fit(tagger(solver="lbfgs"), some, client)
    here = tagger(solver="lbfgs").fit(left, [y for y in Y if len(y) > len(X[0])])
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    with pytest.raises(DataError, match="no examples: every part is empty"):
        partwise.dask.fit(tagger(), pairs.filter(lambda pair: False), client)


class Frame:
    """A data frame in partitions, as far as it is asked for anything."""

    def __init__(self, whole: Any, n_partitions: int):
        cuts = np.linspace(0, len(whole), n_partitions + 1).astype(int)
        self.pieces = [whole.iloc[a:b] for a, b in pairwise(cuts)]
        self.columns, self.dtypes = whole.columns, whole.dtypes

    def to_delayed(self) -> list[Any]:
        return [dask.delayed(piece, traverse=False) for piece in self.pieces]


def test_dask_takes_data_frames(client: Client) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 2)), np.array(["a", "b", "c"] * 4)
    settings = {"loss": "log_loss", "solver": "lbfgs", "tol": 0.1}
    table = pandas.DataFrame(x, columns=["u", "v"]).assign(kind=y)
    here = MulticlassClassifier(**settings).fit(x, y)
    there = MulticlassClassifier(**settings)
    partwise.dask.fit(there, Frame(table, 3), client, label="kind")
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    swapped = Frame(table[["v", "kind", "u"]], 2)
    found = partwise.dask.predict(there, swapped, client).compute()
    assert found == here.predict(x).tolist()
    with pytest.raises(DataError, match="has no column 'u', as fit had"):
        partwise.dask.predict(there, Frame(table[["v"]], 2), client)
    words = pandas.DataFrame({"word": list("abcabc"), "n": [1.0, np.nan] * 3})
    named = words.assign(kind=list("xyzxyz"))
    partwise.dask.fit(there, Frame(named, 2), client, label="kind")
    rows = [
        {"word": w, "n": 1.0} if n % 2 == 0 else {"word": w}
        for n, w in enumerate("abcabc")
    ]
    here = MulticlassClassifier(**settings).fit(rows, list("xyzxyz"))
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    # No value, in any of the ways that pandas has for it, is no feature.
    other = pandas.array([1, None] * 3, dtype="Int64")
    partwise.dask.fit(there, Frame(named.assign(n=other), 2), client, label="kind")
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    found = partwise.dask.predict(there, Frame(words, 2), client).compute()
    assert found == list(here.predict(rows))
    assert not hasattr(there, "feature_names_in_")  # of the fit before
    gap = table.assign(u=[0.5, np.nan] * 6)
    with pytest.raises(DataError, match="row 1 has no number in column 'u'; fill it"):
        partwise.dask.fit(there, Frame(gap, 3), client, label="kind")
    with pytest.raises(DataError, match=r"no column 'class' with labels: .* 'kind'"):
        partwise.dask.fit(there, Frame(table, 3), client, label="class")
    bad = named.assign(kind=["x", None, *"zxyz"])
    with pytest.raises(DataError, match="shard 1: row 1 has no label"):
        partwise.dask.fit(there, Frame(bad, 6), client, label="kind")


def test_dask_takes_data_frames_of_dasks_own(client: Client, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 2)), np.array(["a", "b", "c"] * 4)
    table = pandas.DataFrame(x, columns=["u", "v"]).assign(kind=y)
    table.to_parquet(tmp_path / "table.parquet")
    settings = {"loss": "log_loss", "solver": "lbfgs", "tol": 0.1}
    here = MulticlassClassifier(**settings).fit(x, y)
    from_file = frames.read_parquet(tmp_path / "table.parquet")
    for frame in (from_file, frames.from_pandas(table, npartitions=3)):
        there = MulticlassClassifier(**settings)
        partwise.dask.fit(there, frame, client, label="kind")
        np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
        bare = frame.drop(columns="kind")
        found = partwise.dask.predict(there, bare, client).compute()
        assert found == here.predict(x).tolist()
        # Columns have names: their order does not matter, nor what there is besides.
        found = partwise.dask.predict(there, frame[["v", "kind", "u"]], client)
        assert found.compute() == here.predict(x).tolist()


def test_dask_predicts_bags(client: Client) -> None:
    model = partwise.dask.fit(tagger(), (X, Y), client)
    bag = dask.bag.from_sequence(X, npartitions=3)
    assert partwise.dask.predict(model, bag, client).compute() == model.predict(X)
    assert partwise.dask.predict(model, X, client).compute() == model.predict(X)


def test_dask_mixes_the_weights_of_shards_first(client: Client) -> None:
    solver = ParameterMixing("lbfgs", rounds=2)
    models = [tagger(solver=solver) for _ in range(2)]
    for model in models:
        partwise.dask.fit(model, (X, Y), client, shards=3)
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)
    mixed = [row.mixed for row in models[0].trace_]
    assert mixed == [3, 3] + [0] * (len(mixed) - 2)
    assert "the first 2 passes mixed what sgd made" in models[0].status_
    one = tagger(solver="lbfgs").fit(X, Y)
    assert models[0].certificate_.primal == pytest.approx(
        one.certificate_.primal, rel=2e-2
    )


def test_dask_mixing_is_the_average_of_shards() -> None:
    s = problems.make_small(problems.chain_sparse)
    problem = make_problem(s, get_loss("log_loss"), C=2.0)
    local = StochasticGradientDescent(eta_0=0.1)
    solver = ParameterMixing(local=local, rounds=1)
    state = solver.start(problem, np.random.default_rng(3), None)
    list(solver.run_pass(problem, state, np.random.default_rng(3)))
    rng = np.random.Generator(
        np.random.PCG64(int(np.random.default_rng(3).integers(2**31)))
    )
    alone = local.start(problem, rng, None)
    list(local.run_pass(problem, alone, rng))
    np.testing.assert_allclose(state.w, alone.w, **SAME)  # of one shard: its own


def test_dask_arrays_may_arrive_anywhere_in_memory() -> None:
    s = problems.make_small(problems.chain_sparse)
    arrived = _displaced(s)
    assert not arrived.ptr.flags.aligned
    shard = of_workers.Held(arrived, None)
    problem, other = (
        make_problem(x, get_loss("log_loss")) for x in (s, shard.structure)
    )
    w = np.linspace(-1.0, 1.0, problem.n_weights)
    np.testing.assert_array_equal(problem.values(w), other.values(w))


def _displaced(thing: Any) -> Any:
    """Return arrays as they may come out of the buffer of a message."""
    if isinstance(thing, np.ndarray):
        memory = np.zeros(thing.nbytes + 1, np.uint8)
        moved = memory[1:].view(thing.dtype).reshape(thing.shape)
        moved[...] = thing
        moved.flags.writeable = False
        return moved
    if isinstance(thing, tuple):
        return type(thing)(*map(_displaced, thing))
    return thing


# --- workers that are lost ---


class LoseAWorker(Callback):
    """Ends a worker, with all the shards it has, after the second pass."""

    def __init__(self, cluster: Any):
        self.cluster = cluster

    def on_pass(self, row: Any, w: Any) -> None:
        if row.iteration == 2:
            worker = next(iter(self.cluster.workers.values()))
            self.cluster.sync(worker.close, timeout=1, executor_wait=False)


def test_dask_lost_worker_changes_nothing() -> None:
    found = []
    with make_cluster(2) as cluster:
        with Client(cluster, set_as_default=False) as client:
            for callbacks in ((), (LoseAWorker(cluster),)):
                model = tagger(tol=1e-4, callbacks=callbacks)
                partwise.dask.fit(model, (X, Y), client, shards=4)
                found.append(model)
            assert len(client.scheduler_info()["workers"]) == 1
    np.testing.assert_array_equal(found[0].weights_, found[1].weights_)
    assert found[0].n_iter_ == found[1].n_iter_ > 2


def test_dask_resumes_on_another_cluster(client: Client, tmp_path: Path) -> None:
    whole = partwise.dask.fit(tagger(tol=1e-4), (X, Y), client, shards=3)
    settings = {"tol": 1e-4, "checkpoint": tmp_path / "run"}
    with make_cluster(1) as lone, Client(lone, set_as_default=False) as one:
        with pytest.warns(match="stopped after 2 passes"):
            partwise.dask.fit(tagger(max_iter=2, **settings), (X, Y), one, shards=3)
    # Its scheduler is gone.
    resumed = tagger(resume=True, **settings)
    partwise.dask.fit(resumed, (X, Y), client, shards=3)
    np.testing.assert_array_equal(resumed.weights_, whole.weights_)
    assert resumed.n_iter_ == whole.n_iter_


# --- bad input ---


def test_dask_does_not_miss_a_worker_that_is_lost_when_asked(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, own = OSError("closed"), of_workers.versions()
    monkeypatch.setattr(client, "run", lambda *_, **__: {"a": lost, "b": own})
    assert of_parts.ask_all(client, of_workers.versions) == {"b": own}
    monkeypatch.setattr(client, "run", lambda *_, **__: {"a": lost})
    with pytest.raises(PartwiseError, match="all workers were lost"):
        partwise.dask.fit(tagger(), (X, Y), client)
    monkeypatch.setattr(client, "run", lambda *_, **__: {"a": KeyError("x"), "b": own})
    with pytest.raises(KeyError):
        partwise.dask.fit(tagger(), (X, Y), client)
    # What Dask makes of an error when a worker cannot even read the question.
    absent = Exception("ModuleNotFoundError(\"No module named 'partwise'\")")
    monkeypatch.setattr(client, "run", lambda *_, **__: {"a": absent, "b": own})
    with pytest.raises(PartwiseError, match=r"worker a lacks .* named 'partwise'"):
        partwise.dask.fit(tagger(), (X, Y), client)
    monkeypatch.setattr(client, "run", lambda *_, **__: {})
    with pytest.raises(PartwiseError, match="no workers: start some"):
        partwise.dask.fit(tagger(), (X, Y), client)


@pytest.mark.parametrize("shards", [0, -3, 1.5])
def test_dask_refuses_numbers_of_shards(client: Client, shards: Any) -> None:
    with pytest.raises(ValueError, match="shards must be a number from 1 on"):
        partwise.dask.fit(tagger(), (X, Y), client, shards=shards)


def test_dask_checks_what_readers_return(client: Client, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a D\n")
    with pytest.raises(DataError, match=r"a.txt: .* what read= returns must be"):
        partwise.dask.fit(
            tagger(), str(tmp_path / "*.txt"), client, read=lambda path: None
        )


@pytest.mark.parametrize("error", [CancelledError(), CommClosedError("closed")])
def test_dask_says_that_the_cluster_is_gone(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(client, "submit", fail)
    with pytest.raises(PartwiseError, match="resume from the checkpoint"):
        partwise.dask.fit(tagger(), (X, Y), client)


def test_dask_refuses_other_versions(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = of_workers.versions() | {"Partwise": "0.0.1"}
    message = f"has Partwise 0.0.1, but this process has {partwise.__version__}"
    monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://far:1": old})
    with pytest.raises(PartwiseError, match=message):
        partwise.dask.fit(tagger(), (X, Y), client)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ([dask.delayed(X)]), "shard 0: it has no labels"),
        (lambda: dask.bag.from_sequence(X), "is no pair of an example and its labels"),
        (lambda: (X, Y[:2]), "X has 6 examples, but y has 2 labels"),
        (lambda: (X, [["D"] * len(x) for x in X]), "nothing to learn"),
        (lambda: "nowhere/*.txt", "no file matches"),
        (
            lambda: [dask.delayed((X[:1], Y[:1])), dask.delayed((X[1:], Y[:1]))],
            "shard 1",
        ),
        (lambda: None, r"data must be \(X, y\)"),
        (lambda: (dask.bag.from_sequence(X), Y), "are cut already, each by itself"),
        (lambda: (".", Path(".")), "is a folder; give the files in it, as './"),
    ],
    ids=[
        *("part", "bag", "lengths", "one label", "files", "second part"),
        *("nothing", "two bags", "folder"),
    ],
)
def test_dask_says_what_is_wrong(client: Client, make: Any, message: str) -> None:
    model = tagger()
    with pytest.raises(DataError, match=message):
        partwise.dask.fit(model, make(), client)
    assert not hasattr(model, "weights_")


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda: [dask.delayed((X, Y))], {"shards": 2}, "every part is a shard here"),
        (lambda: (X, Y), {"label": "y"}, "label= names a column"),
        (lambda: (X, Y), {"read": print}, "data must name them"),
        (lambda: ["a.txt"], {"read": "columns"}, "read= is a function"),
    ],
    ids=["shards", "label", "read", "no function"],
)
def test_dask_refuses_options_that_mean_nothing(
    client: Client, make: Any, options: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        partwise.dask.fit(tagger(), make(), client, **options)


def test_dask_needs_a_client(client: Client) -> None:
    with pytest.raises(TypeError, match=r"not list \(data is one argument"):
        partwise.dask.fit(tagger(), X, Y)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"give an estimator, .*: SequenceTagger\(\)"):
        partwise.dask.fit(SequenceTagger, (X, Y), client)
    with Client(client.scheduler.address, set_as_default=False) as closed:
        pass
    with pytest.raises(PartwiseError, match="the client is closed: connect"):
        partwise.dask.fit(tagger(), (X, Y), closed)


def test_dask_reads_files_wherever_workers_are(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Names mean what they mean here: workers may be in another folder.
    write(tmp_path / "0.txt", [*range(6)])
    monkeypatch.chdir(tmp_path)
    assert of_parts._paths("*.txt") == of_parts._paths(["0.txt"])
    assert of_parts._paths("*.txt") == [str(tmp_path / "0.txt")]


def test_dask_says_which_shard_something_happened_to(client: Client) -> None:
    weights = [1.0] * len(X)
    parts = [dask.delayed((X, Y, weights)), dask.delayed((X, Y, weights[1:]))]
    with pytest.raises(ValueError, match="5 sample weights for 6") as caught:
        partwise.dask.fit(tagger(), parts, client)
    assert caught.value.__notes__ == ["This happened to shard 1."]


def test_dask_says_that_workers_died_of_a_shard(client: Client) -> None:
    def die() -> None:
        raise KilledWorker("task", SimpleNamespace(address="tcp://a"), 3)

    future = client.submit(die)
    with pytest.raises(OutOfMemoryError, match="make more and smaller shards"):
        of_workers.gathered([future], ["a.txt"], client)


def test_dask_says_that_it_waits_for_workers(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_workers, "LOOK_AFTER", 0.01)
    monkeypatch.setattr(client.scheduler, "ncores", none_of_them, raising=False)
    future = client.submit(time.sleep, 0.5)
    with pytest.warns(RuntimeWarning, match="no workers any more: waiting"):
        of_workers.result_of(future, client)


async def none_of_them() -> dict[str, int]:
    return {}


def test_dask_names_the_worker_that_cannot_read(client: Client, tmp_path: Path) -> None:
    write(tmp_path / "0.txt", [0, 1])
    missing = [tmp_path / "0.txt", tmp_path / "1.txt"]
    with pytest.raises(
        DataError, match=r"cannot read all the files: .* cannot open .*1.txt \(No such"
    ):
        partwise.dask.fit(tagger(template="U:%x[0,0]"), missing, client)


def test_dask_refuses_what_needs_all_examples(client: Client) -> None:
    with pytest.raises(PairingError, match="only visited all at once: use cutting-p"):
        partwise.dask.fit(
            SequenceTagger("squared_hinge", solver="dcd-ssvm"), (X, Y), client
        )
    able = "DependencyParser, MulticlassClassifier, SequenceTagger"
    with pytest.raises(TypeError, match=f"LatticeRanker needs its data in .* {able}"):
        partwise.dask.fit(LatticeRanker(), [[], []], client)
    with pytest.raises(ValueError, match="use 'all'"):
        partwise.dask.fit(tagger(pairs="observed"), (X, Y), client)
