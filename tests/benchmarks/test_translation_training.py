"""Training sets of lattices keep their promises, and all methods learn from them."""

import ast
import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks import translation
from benchmarks import translation_table2 as table2
from benchmarks.harness.bench import Bench
from benchmarks.harness.files import write_report
from benchmarks.translation.beam_search import Limits
from benchmarks.translation.costs import edit_costs
from benchmarks.translation.dense_features import FIRST_GUESS, N_DENSE
from benchmarks.translation.inputs import lattice_input
from benchmarks.translation.invented import invent_bitext
from benchmarks.translation.lattices import (
    best_paths,
    join_lattices,
    kbest_paths,
    restrict_features,
)
from benchmarks.translation.storage import load_corpus, save_corpus
from benchmarks.translation.training import METHODS, Judge, held_bytes, run_method
from benchmarks.translation.training_sets import (
    WHOLE,
    documented_mib,
    load_training_set,
    number_features,
    prepare,
)
from benchmarks.translation.translation_model import learn_translation
from benchmarks.translation.tuning import Baseline, tune_dense
from numpy.testing import assert_allclose

import problems

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)
LIMITS = Limits(6, 3.0, 4)
PUBLIC = (
    "partwise",
    "partwise.data",
    "partwise.losses",
    "partwise.solvers",
    "partwise.structures",
)


@pytest.fixture(scope="module")
def model():
    return learn_translation(invent_bitext(30), longest=2)


@pytest.fixture(scope="module")
def corpus(model):
    sentences = invent_bitext(8, random_state=1).source
    return join_lattices(model.lattices(sentences, FIRST_GUESS, LIMITS), model.space)


@pytest.fixture(scope="module")
def weights(model):
    w = np.random.default_rng(0).normal(size=model.space.size)
    w[:N_DENSE] = FIRST_GUESS
    return w


def test_translation_costs_are_of_words_not_of_paths(corpus, weights):
    lists = kbest_paths(corpus.structure(), weights, 30)
    costs = edit_costs(corpus, [paths[0] for paths in lists])
    assert (costs >= 0).all()
    n_same = 0
    for i, paths in enumerate(lists):
        right = corpus.words_of(i, paths[0])
        for path in paths:
            words = corpus.words_of(i, path)
            edges = corpus.ptr[i] + np.array(path)
            cost = costs[edges].sum()
            # The words too many or too few, and those that are others.
            others = np.setdiff1d(words, right).size
            assert cost >= 0.5 * others - 1e-9
            if words.tolist() == right.tolist() and path != paths[0]:
                n_same += 1
                # Only that a phrase is longer than the sentence is on average counts.
                assert cost <= 0.5 * words.size
        assert costs[corpus.ptr[i] + np.array(paths[0])].sum() == 0.0
    assert n_same > 0


def test_translation_corpus_survives_files(corpus, weights, tmp_path):
    references = [np.array([3, 4]), np.array([5])] * 4
    save_corpus(tmp_path / "some", corpus, references)
    loaded, same = load_corpus(tmp_path / "some")
    assert [r.tolist() for r in same] == [r.tolist() for r in references]
    paths = best_paths(corpus.structure(), weights)
    assert best_paths(loaded.structure(), weights) == paths
    assert Judge(loaded, same).bleu(weights) == 0.0


def test_translation_corpus_can_be_cut_down(corpus, weights):
    paths = best_paths(corpus.structure(), weights)
    kept = np.array([5, 2])
    few = corpus.select(kept)
    assert len(few) == 2
    assert best_paths(few.structure(), weights) == [paths[5], paths[2]]
    assert few.words_of(1, paths[2]).tolist() == corpus.words_of(2, paths[2]).tolist()
    number, n_kept = number_features(corpus)
    assert N_DENSE < n_kept < corpus.rows.n_columns
    small = restrict_features(corpus, number, n_kept)
    own = weights[number >= 0]
    assert own.size == n_kept
    assert best_paths(small.structure(), own) == paths


def test_translation_inputs_have_the_same_features_by_name(model):
    options = model.options("un chien rouge .".split())
    (made,) = [one for one, _ in model.lattices(["un chien rouge .".split()],
                                                FIRST_GUESS, LIMITS)]  # fmt: skip
    corpus = join_lattices([(made, options)], model.space)
    lattice = lattice_input(made, options, model)
    names = {name for edge in lattice.edges for name in edge.features}
    assert len(names) == np.unique(corpus.rows.idx).size
    for e, edge in enumerate(lattice.edges):
        own = slice(corpus.rows.ptr[e], corpus.rows.ptr[e + 1])
        assert_allclose(sum(edge.features.values()), corpus.rows.val[own].sum())
        words = model.text(corpus.words_of(0, [e]))
        assert " ".join(edge.words) == words
    assert any(name.startswith("phrase chien") for name in names)


def test_translation_needs_nothing_private_of_the_library():
    """What is missing there is to be mended there."""
    folder = Path(translation.__file__).parent
    files = [*folder.glob("*.py"), folder.parent / "translation_table2.py"]
    found = [
        (node.module, alias.name)
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("partwise")
        for alias in node.names
    ]
    assert len(found) > 20
    for module, name in found:
        assert module in PUBLIC, f"{module} is not a public module"
        assert name in importlib.import_module(module).__all__, f"{module}.{name}"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with training sets, what is known of them, and the model."""
    folder = tmp_path_factory.mktemp("prepared")
    bitext, dev = invent_bitext(20), invent_bitext(5, random_state=1)
    model = learn_translation(bitext, longest=2)
    for some in (bitext, dev):  # nothing to translate, or nothing known of it
        some.source.extend([[], ["xyz", "zèbre"], ["xyz"]])
        some.target.extend([[], ["xyz", "zebra"], []])
    for part, some in (("train", bitext), ("dev", dev)):
        references = [model.target_words.number_all(e) for e in some.target]
        lattices = model.lattices(some.source, FIRST_GUESS, LIMITS)
        save_corpus(folder / part, join_lattices(lattices, model.space), references)
    np.save(folder / "dense.npy", FIRST_GUESS)
    return folder, prepare(str(folder), [4, 2, 5.0]), model


@pytest.mark.parametrize("name", METHODS)
def test_translation_methods_learn_from_lattices(name, prepared):
    folder, _, model = prepared
    found = run_method(str(folder), name, [0.1, 1.0], 2)
    w = np.load(folder / f"{name}.npy")
    assert w.shape == (model.space.size,)
    assert np.count_nonzero(w) == found["n_features"] > 0
    judge = Judge(*load_corpus(folder / "dev"))
    # The weights are those that were best on development data.
    assert_allclose(judge.bleu(w), found["dev"])
    assert_allclose(max(bleu for _, bleu in found["curve"]), found["dev"])
    search = {float(C): bleu for C, bleu in found["search"].items()}
    assert search.keys() == {0.1, 1.0}
    assert search[found["C"]] == max(search.values())
    *_, empty, through, only = judge.translations(w)
    assert empty.size == 0
    assert model.text(through) in ("xyz zèbre", "zèbre xyz")
    assert model.text(only) == "xyz"


def test_translation_report_has_all_that_was_found(prepared, tmp_path):
    pytest.importorskip("sacrebleu")
    pytest.importorskip("matplotlib")
    folder, made, model = prepared
    judge = Judge(*load_corpus(folder / "dev"))
    dense = np.zeros(model.space.size)
    dense[:N_DENSE] = FIRST_GUESS
    found = {"MERT": table2._measure(model, judge, dense)}
    learned = {}
    for name in ("k-best MIRA", "LP (7)"):
        learned[name] = {**run_method(str(folder), name, [0.1], 1), "peak_mib": 1.0}
        w = np.load(folder / f"{name}.npy")
        found[name] = table2._measure(model, judge, w)
    sizes = [table2.Sizes("test", 8, 90.0, 80.0, 20.0, 9.0, 30.0, 40.0, 60.0)]
    baseline = Baseline(FIRST_GUESS, [30.0, 31.0])
    seconds = {"MERT": 2.0, "translating all": 3.0}
    run = table2.Run(model, baseline, 9.0, made, learned, found, seconds, sizes)
    bench = Bench("translation_table2", False, tmp_path, tmp_path)
    page = write_report(bench, table2._report(table2.QUICK, run), 1.0).read_text()
    assert f"| MERT | {found['MERT'].bleu:.4g} |" in page
    result = json.loads((tmp_path / "translation_table2.json").read_text())
    goals = {f["name"]: f["goal"] for f in result["figures"]}
    assert goals["LP (7): BLEU above MERT"] == ">= 0"
    assert goals["LP (7): p of that"] == "<= 0.05"
    curves = {curve["label"]: curve["y"] for curve in result["curves"]["rounds"]}
    assert curves.keys() == {"MERT", "k-best MIRA", "LP (7)"}
    assert (tmp_path / "translation_table2-rounds.png").exists()


def test_translation_training_set_takes_the_memory_documented(prepared):
    folder, made, _ = prepared
    loaded = load_training_set(folder / WHOLE)
    assert 0 < made["n_lattices"] == len(loaded.good) <= 20
    structure = loaded.structure()
    assert made["documented_mib"] == documented_mib(loaded.corpus)
    # What is kept for every lattice, its good paths above all, comes on top.
    held = held_bytes(structure) - held_bytes(structure.good)
    held -= held_bytes(structure.paths)
    assert_allclose(held / 2**20, made["documented_mib"], rtol=0.01)


def test_translation_tuning_takes_any_line(model):
    bitext = invent_bitext(3, random_state=1)
    source = [*bitext.source, [], ["xyz"], ["a"]]
    target = [*bitext.target, [], ["xyz"], []]
    references = [model.target_words.number_all(e) for e in target]
    tuned = tune_dense(model, source, references, LIMITS, n_rounds=1, k=5)
    assert np.isfinite(tuned.w).all()
    assert len(tuned.history) == 2
    assert max(tuned.history) > 0
    for few in ([], references[:2]):
        with pytest.raises(ValueError, match="reference for each"):
            tune_dense(model, source[: len(few) + bool(few)], few, LIMITS)
