"""Models in files: the same after loading, and harmless whatever the file says."""

import builtins
import json
import os
import pickle
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import problems
from class_data import as_dicts, easy_classes
from corruption import corruptions, join, split
from covering import THOROUGH
from partwise import (
    Constraints,
    DualCoordinateDescent,
    ModelFileError,
    MulticlassClassifier,
    PartwiseError,
    SequenceTagger,
    load,
)
from places import GOLDEN
from tagging_data import (
    ALL_FORMS,
    CHUNKS,
    EDGE_TEMPLATE,
    FORMS,
    TEST_WORDS,
    WORDS,
    dicts,
    strings,
)
from vector_inputs import with_arrays

DATA = GOLDEN
MEGABYTE = 2**20


def quick(**settings: Any) -> SequenceTagger:
    return SequenceTagger(tol=0.3, max_iter=300, **settings)


def answers(model: Any, X: Any) -> Any:
    """Return everything a model says about some inputs."""
    if isinstance(model, MulticlassClassifier):
        return [
            model.predict(X).tolist(),
            model.decision_function(X).tolist(),
            model.predict_proba(X).tolist(),
            model.top_features(30),
        ]
    return [
        model.predict(X),
        model.predict_kbest(X, 3),
        [marginals.tolist() for marginals in model.predict_marginals(X)],
        model.transitions_.tolist(),
        model.top_features(30),
        str(model.explain(X[0])),
    ]


# The same model


@pytest.mark.parametrize("form", ALL_FORMS)
def test_loaded_tagger_is_the_same(form: str, tmp_path: Path) -> None:
    make, settings = FORMS[form]
    tagger = quick(**settings).fit(make(WORDS[:6]), CHUNKS[:6])
    path = tmp_path / "model.partwise"
    tagger.save(path)
    loaded = load(path)
    X = make(TEST_WORDS[:2])
    assert answers(loaded, X) == answers(tagger, X)
    assert loaded.predict_spans(X) == tagger.predict_spans(X)
    assert loaded.classes_.tolist() == tagger.classes_.tolist()
    assert loaded.certificate_ == tagger.certificate_
    assert loaded.status_ == tagger.status_
    assert str(loaded.trace_) == str(tagger.trace_)
    assert loaded.n_iter_ == tagger.n_iter_
    # And it can be trained again as it was, and saved again to the same bytes.
    again = loaded.fit(make(WORDS[:6]), CHUNKS[:6])
    np.testing.assert_array_equal(again.weights_, tagger.weights_)
    load(path).save(tmp_path / "again.partwise")
    assert answers(load(tmp_path / "again.partwise"), X) == answers(tagger, X)


@pytest.mark.parametrize(
    "settings",
    [
        {"constraints": "BIO"},
        {"constraints": Constraints(start=["I-NP"], transitions=[("O", "I-NP")])},
        {"costs": {("O", "B-NP"): 3.0}},
        {"start": False, "end": False},
        {"C": np.float64(0.03), "max_iter": np.int64(77), "random_state": None},
        {"solver": "dcd-light"},
        {"solver": DualCoordinateDescent(sweeps=2)},
    ],
    ids=str,
)
def test_loaded_tagger_keeps_its_settings(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    tagger = SequenceTagger(**{"tol": 0.3, **settings})
    tagger.fit(strings(WORDS[:15]), CHUNKS[:15])
    tagger.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    X = strings(TEST_WORDS[:5])
    assert answers(loaded, X) == answers(tagger, X)
    for name, value in settings.items():
        if name != "costs":
            assert getattr(loaded, name) == value
    if settings.get("random_state", 0) == 0:
        refitted = loaded.fit(strings(WORDS[:15]), CHUNKS[:15])
        np.testing.assert_array_equal(refitted.weights_, tagger.weights_)


@pytest.mark.parametrize("kind", ["matrix", "dicts", "hashed", "two", "strings"])
def test_loaded_classifier_is_the_same(kind: str, tmp_path: Path) -> None:
    X, y = easy_classes(60, n_features=10)
    settings: dict[str, Any] = {}
    inputs: Any = X
    labels: Any = y
    if kind in ("dicts", "hashed"):
        inputs = as_dicts(X)
        settings = {"hash_bits": 7} if kind == "hashed" else {"fit_intercept": False}
    elif kind == "two":
        labels = (y > 1) - 7
    elif kind == "strings":
        labels = np.array(["no", "yes", "é", ""])[y]
        settings = {"costs": {("no", "é"): 2.0}}
    model = MulticlassClassifier(tol=0.1, **settings).fit(inputs, labels)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert answers(loaded, inputs) == answers(model, inputs)
    assert loaded.n_features_in_ == model.n_features_in_


def test_loaded_classifier_keeps_names_of_columns(tmp_path: Path) -> None:
    X, y = easy_classes(30, n_features=4)
    model = MulticlassClassifier(tol=0.1).fit(X, y)
    model.feature_names_in_ = np.array(["a", "b", "ç", "a long name"], object)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "ç", "a long name"]
    assert loaded.top_features() == model.top_features()


def test_integer_labels_survive(tmp_path: Path) -> None:
    tagger = SequenceTagger().fit([[["a"], ["b"], ["c"]]], [[-3, 10, 9]])
    tagger.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.classes_.tolist() == [-3, 9, 10]
    (predicted,) = loaded.predict([[["a"], ["b"], ["c"]]])
    assert all(type(label) is int for label in predicted)


def test_float32_halves_the_weights(tmp_path: Path) -> None:
    tagger = quick().fit(dicts(WORDS[:15]), CHUNKS[:15])
    for dtype in ("float64", "float32"):
        tagger.save(tmp_path / dtype, dtype)
    loaded = load(tmp_path / "float32")
    np.testing.assert_array_equal(
        loaded.weights_, tagger.weights_.astype(np.float32).astype(np.float64)
    )
    sizes = [load_file(tmp_path / d)["w.values"].nbytes for d in ("float64", "float32")]
    assert sizes[0] == 2 * sizes[1]
    assert loaded.predict(dicts(TEST_WORDS)) == tagger.predict(dicts(TEST_WORDS))


def test_zero_weights_are_not_stored(tmp_path: Path) -> None:
    tagger = quick(hash_bits=16).fit(strings(WORDS[:5]), CHUNKS[:5])
    tagger.save(tmp_path / "model")
    stored = load_file(tmp_path / "model")["w.values"]
    assert stored.size == np.count_nonzero(tagger.weights_) < tagger.weights_.size / 10
    assert (tmp_path / "model").stat().st_size < tagger.weights_.nbytes / 10


def test_hashed_models_with_many_empty_buckets_load(tmp_path: Path) -> None:
    X, y = [["a"], ["b"], ["c"]], ["P", "Q", "R"]
    model = MulticlassClassifier(hash_bits=20).fit(X, y)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(X).tolist() == y


class Foreign(DualCoordinateDescent):
    """A solver that Partwise does not know."""


def test_models_of_foreign_solvers_load(tmp_path: Path) -> None:
    tagger = SequenceTagger(solver=Foreign()).fit([[["a"], ["b"]]], [["P", "Q"]])
    tagger.save(tmp_path / "model")
    assert load(tmp_path / "model").solver == "auto"


# For ever


@pytest.mark.parametrize("version", [1])
def test_model_files_of_every_version_still_load(version: int) -> None:
    for name in ("tagger", "classifier"):
        path = DATA / f"{name}-{version}.partwise"
        known = json.loads(path.with_suffix(".json").read_text())
        assert path.stat().st_size < 20_000
        assert list(load(path).predict(known["inputs"])) == known["predictions"]


@problems.plain_only
@pytest.mark.parametrize(
    "name",
    ["segments", "vectors", "pipeline", "hidden", "hidden_brackets", "order_two"],
)
def test_model_files_of_models_with_more_inside_still_load(name: str) -> None:
    model = load(DATA / f"{name}-1.partwise")
    known = json.loads((DATA / f"{name}-1.json").read_text())
    inputs = known["inputs"]
    if name == "pipeline":
        found = [model.annotate(text).to_conllu() for text in inputs]
    elif name == "vectors":
        found = model.predict(with_arrays(inputs))
    elif name == "segments":
        found = [[list(segment) for segment in own] for own in model.predict(inputs)]
    elif name == "hidden_brackets":
        found = [str(tree) for tree in model.predict(inputs)]
    else:
        found = model.predict(inputs)
    assert found == known["predictions"]


# Harmless


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, Any]]:
    """Return small model files of every kind, with inputs to try them on."""
    folder = tmp_path_factory.mktemp("models")
    X, y = easy_classes(30, n_features=6)
    named = as_dicts(X)
    fitted: dict[str, tuple[Any, Any]] = {
        "matrix": (MulticlassClassifier(tol=0.1).fit(X, y), X[:5]),
        "named": (MulticlassClassifier(tol=0.1).fit(named, y), named[:5]),
    }
    kinds: dict[str, dict[str, Any]] = {
        "observed": {"costs": {("O", "B-NP"): 2.0}, "constraints": "BIO"},
        "hashed": {},
        "transition features": {},
        "arrays": {},
        "columns with B": {},
        "resources": {},
    }
    for form, more in kinds.items():
        make, settings = FORMS[form]
        tagger = quick(**settings, **more).fit(make(WORDS[:4]), CHUNKS[:4])
        fitted[form] = tagger, make(TEST_WORDS[:2])
    files = {}
    for name, (model, inputs) in fitted.items():
        model.save(folder / "model")
        files[name] = (folder / "model").read_bytes(), inputs
    return files


def try_file(path: Path, data: bytes, inputs: Any) -> bool:
    """Load and use a file in little time and memory; say whether it was a model."""
    path.write_bytes(data)
    begin = time.process_time()
    tracemalloc.start()
    problem = ""
    try:
        answers(load(path), inputs)
    except ModelFileError as error:
        problem = str(error)
    except PartwiseError:
        pass  # a model, but one whose labels or columns these inputs cannot have
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * MEGABYTE
    assert time.process_time() - begin < 20
    assert not problem or str(path) in problem
    return not problem


def corrupt(models: Any, tmp_path: Path, count: int, seed: int) -> tuple[int, int]:
    tried = survived = 0
    for number, (data, inputs) in enumerate(models.values()):
        for damaged in corruptions(data, count, seed=seed + number):
            survived += try_file(tmp_path / "model", damaged, inputs)
            tried += 1
    return tried, survived


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_damaged_models_fail_cleanly(models: Any, tmp_path: Path) -> None:
    tried, survived = corrupt(models, tmp_path, 30, seed=100)
    assert 0 < survived < tried / 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_many_damaged_models_fail_cleanly(models: Any, tmp_path: Path) -> None:
    times = 290 if THOROUGH else 100
    tried, survived = corrupt(models, tmp_path, times, seed=0)
    assert tried >= 7 * times
    assert 0 < survived < tried / 2


def put(header: Any, body: bytearray, name: str, at: int, value: float) -> None:
    """Overwrite one number of a tensor."""
    start, stop = header[name]["data_offsets"]
    kind = {"F64": "<f8", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "u1"}
    numbers = np.frombuffer(bytes(body[start:stop]), kind[header[name]["dtype"]]).copy()
    numbers[at] = value
    body[start:stop] = numbers.tobytes()


def settings_of(header: Any) -> Any:
    return header["partwise"]["settings"]


def tensor(name: str, at: int, value: float) -> Callable[[Any, bytearray], None]:
    return lambda header, body: put(header, body, name, at, value)


def setting(*keys: str, value: Any) -> Callable[[Any, bytearray], None]:
    def edit(header: Any, body: bytearray) -> None:
        place = settings_of(header)
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return edit


def grow_hash(header: Any, body: bytearray) -> None:
    """Claim 2**30 buckets, consistently."""
    n_labels = header["labels.offsets"]["shape"][0] - 1
    settings_of(header)["input"]["hash_bits"] = 30
    settings_of(header)["params"]["hash_bits"] = 30
    settings_of(header)["n_weights"] += (2**30 - 2**10) * n_labels


def grow_columns(header: Any, body: bytearray) -> None:
    """Claim 2**31 - 1 columns, consistently."""
    n_labels = header["labels.offsets"]["shape"][0] - 1
    columns = settings_of(header)["input"]["n_columns"]
    settings_of(header)["input"]["n_columns"] = 2**31 - 1
    settings_of(header)["n_weights"] += (2**31 - 1 - columns) * n_labels


HOSTILE: list[tuple[str, str, Callable[[Any, bytearray], None]]] = [
    ("observed", "label of a pair", tensor("pairs.label", 0, 1000)),
    ("observed", "negative label of a pair", tensor("pairs.label", -1, -1)),
    ("observed", "pointer past the end", tensor("pairs.ptr", 1, 2**62)),
    ("observed", "negative pointer", tensor("pairs.ptr", 1, -5)),
    ("observed", "last pointer", tensor("pairs.ptr", -1, 0)),
    ("observed", "name of an attribute", tensor("input.nodes.name", 0, 10**6)),
    ("observed", "end of a string", tensor("input.nodes.values.ends", 0, 2**60)),
    ("observed", "NaN weight", tensor("w.values", 0, np.nan)),
    ("observed", "infinite weight", tensor("w.values", -1, np.inf)),
    ("hashed", "position of a weight", tensor("w.positions", -1, 2**31)),
    ("hashed", "positions that decrease", tensor("w.positions", -1, 0)),
    ("hashed", "many buckets", grow_hash),
    ("hashed", "hash_bits", setting("input", "hash_bits", value=10**9)),
    ("hashed", "hash_bits of text", setting("input", "hash_bits", value="10")),
    ("arrays", "many columns", grow_columns),
    ("arrays", "negative columns", setting("input", "n_columns", value=-1)),
    ("columns with B", "template", setting("input", "template", value="%x")),
    ("columns with B", "template of a number", setting("input", "template", value=1)),
    ("columns with B", "key", tensor("input.nodes.keys", 1, 10**6)),
    ("columns with B", "line", tensor("input.nodes.keys", 0, 99)),
    ("resources", "no resources", setting("input", "resources", value=None)),
    ("resources", "type", setting("input", "resources", "gazetteers", value=[
        {"types": ["a", "b]"], "ignore_case": True}])),
    ("resources", "flag of case", setting("input", "resources", "clusters", value={
        "ignore_case": 1})),
    ("resources", "number of phrases", tensor("input.gazetteers.0.sizes", 0, -1)),
    ("resources", "many phrases", tensor("input.gazetteers.0.sizes", 0, 2**62)),
    ("resources", "end of a phrase", tensor("input.gazetteers.0.ends", 0, 2**60)),
    ("resources", "cluster", tensor("input.clusters.ids", 0, 10**6)),
    ("resources", "negative cluster", tensor("input.clusters.ids", 0, -1)),
    ("resources", "end of a word", tensor("input.clusters.words.ends", 0, -1)),
    ("observed", "cost", tensor("costs", 1, np.nan)),
    ("observed", "negative cost", tensor("costs", 1, -1.0)),
    ("observed", "n_weights", setting("n_weights", value=2**62)),
    ("observed", "n_weights of a float", setting("n_weights", value=1e9)),
    ("observed", "estimator", setting("estimator", value="os.system")),
    ("observed", "parameter", setting("params", "C", value="1")),
    ("observed", "missing parameter", setting("params", "start", value=None)),
    ("observed", "unknown parameter", setting("params", "callback", value=1)),
    ("observed", "transient parameter", setting("params", "checkpoint", value="x")),
    ("observed", "solver", setting("solver", value={"name": ["x"], "settings": {}})),
    ("observed", "class as solver", setting("solver", value={"name": "Popen"})),
    ("observed", "solver's settings", setting("solver", value={
        "name": "DualCoordinateDescent", "settings": {"variant": "rm"}})),
    ("observed", "certificate", setting("certificate", value=[10**400, 0, True])),
    ("observed", "certificate's size", setting("certificate", value=[1.0])),
    ("observed", "trace", tensor("trace.iteration", 0, np.inf)),
    ("observed", "labels", setting("integer_labels", value=True)),
    ("observed", "flag", setting("has_pairs", value="yes")),
    ("matrix", "features", setting("n_features", value=2**30)),
    ("matrix", "label", tensor("labels.bytes", 1, ord("0"))),
    ("matrix", "status", setting("status", value=[])),
    ("named", "encoder", setting("encoder", value=[])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "what", "edit"), HOSTILE, ids=lambda x: x if isinstance(x, str) else ""
)
def test_hostile_models_are_refused(
    models: Any, tmp_path: Path, name: str, what: str, edit: Any
) -> None:
    data, inputs = models[name]
    header, body = split(data)
    changed = bytearray(body)
    edit(header, changed)
    assert not try_file(tmp_path / "model", join(header, bytes(changed)), inputs)


def test_hostile_check_accepts_an_honest_file(models: Any, tmp_path: Path) -> None:
    for data, inputs in models.values():
        path = tmp_path / "model"
        path.write_bytes(data)
        answers(load(path), inputs)  # compiles, which is not on the clock
        header, body = split(data)
        assert try_file(path, join(header, body), inputs)


def test_loading_executes_and_imports_nothing(
    models: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    for data, inputs in models.values():
        path.write_bytes(data)
        answers(load(path), inputs)  # imports and compiles what Partwise needs

    def forbidden(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("loading a model must not do this")

    for module, name in [
        (builtins, "eval"),
        (builtins, "exec"),
        (builtins, "compile"),
        (pickle, "load"),
        (pickle, "loads"),
        (os, "system"),
        (subprocess, "Popen"),
    ]:
        monkeypatch.setattr(module, name, forbidden)
    imported = set(sys.modules)
    for data, _ in models.values():
        path.write_bytes(data)
        load(path)
    assert set(sys.modules) == imported


def test_load_explains_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ModelFileError, match="not a Partwise file"):
        load(tmp_path / "text")
    with open(tmp_path / "pickle", "wb") as file:
        pickle.dump(SequenceTagger(), file)
    with pytest.raises(ModelFileError, match="a pickle, which could run any program"):
        load(tmp_path / "pickle")


def test_save_template_with_edges_stores_no_python(tmp_path: Path) -> None:
    tagger = quick(template=EDGE_TEMPLATE).fit(
        FORMS["columns with B"][0](WORDS[:4]), CHUNKS[:4]
    )
    tagger.save(tmp_path / "model")
    assert b"partwise.estimators" not in (tmp_path / "model").read_bytes()
