"""python-crfsuite's module with ours inside: the same rules, objective and log."""

import ctypes
import math
import pickle
import platform
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partwise.pycrfsuite as ours
from partwise.foreign import read_crfsuite_model
from partwise.pycrfsuite._dumpparser import CRFsuiteDumpParser
from partwise.pycrfsuite._logparser import TrainLogParser
from partwise.pycrfsuite.orthant_steps import OrthantSteps
from partwise.pycrfsuite.parameters import Parameters
from partwise.pycrfsuite.training import Plan, make_plan
from partwise.structures.chain import make_chain
from partwise.structures.rows import make_dense_rows

theirs = pytest.importorskip("pycrfsuite")

Sequences = list[tuple[list[Any], list[str]]]
ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")
glibc_only = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="rand of other C libraries differs"
)


def draw_sequences(seed: int, n: int = 30, n_labels: int = 3) -> Sequences:
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        length = draw.randint(1, 6)
        items = [
            {f"a{draw.randrange(15)}": draw.choice([1.0, 1.0, 2.0, -0.5]) for _ in "ab"}
            for _ in range(length)
        ]
        found.append((items, [f"L{draw.randrange(n_labels)}" for _ in range(length)]))
    return found


def train(module: Any, data: Sequences, path: Path, *args: Any) -> Any:
    trainer = module.Trainer(*args, verbose=False)
    for items, labels in data:
        trainer.append(items, labels)
    trainer.train(str(path))
    return trainer


def objective(path: Path, data: Sequences, c1: float, c2: float) -> float:
    """Return CRFsuite's objective, from probabilities that CRFsuite computes."""
    model = read_crfsuite_model(path.read_bytes())
    w = np.concatenate([model.weight, model.transitions.ravel()])
    tagger = theirs.Tagger()
    tagger.open(str(path))
    likelihood = 0.0
    for items, labels in data:
        tagger.set(items)
        likelihood += math.log(tagger.probability(labels))
    return float(c1 * np.abs(w).sum() + c2 * w @ w - likelihood)


@pytest.mark.parametrize(
    "params",
    [
        {"c2": 1.0},
        {"c2": 0.1, "feature.possible_transitions": 1},
        {"c2": 0.3, "feature.possible_states": 1},
        {"c2": 0.3, "feature.minfreq": 2},
        {"c1": 0.2, "c2": 0.2},
        {"c1": 1.0, "c2": 0.0},
    ],
)
def test_lbfgs_reaches_the_optimum_of_crfsuites_objective(
    tmp_path: Path, params: dict[str, float]
) -> None:
    data = draw_sequences(0)
    exact = {"epsilon": 1e-9, "delta": 1e-13}
    found, n_features = [], []
    # With c1, whoever wants more than what OWL-QN leaves by default has to say so.
    closer = {"epsilon": 1e-8, "delta": 1e-8} if params.get("c1") else {}
    for module, more in ((theirs, exact), (ours, closer)):
        path = tmp_path / "m.crfsuite"
        log = train(module, data, path, "lbfgs", params | more).logparser
        found.append(objective(path, data, params.get("c1", 0.0), params["c2"]))
        n_features.append(log.featgen_num_features)
        assert log.last_iteration["loss"] == pytest.approx(found[-1], rel=2e-6)
    assert n_features[0] == n_features[1]
    assert found[1] <= found[0] * (1 + 1e-6)


def test_l2sgd_reaches_the_optimum_of_crfsuites_objective(tmp_path: Path) -> None:
    data, path = draw_sequences(1), tmp_path / "m.crfsuite"
    train(theirs, data, path, "lbfgs", {"c2": 0.5, "epsilon": 1e-9, "delta": 1e-13})
    best = objective(path, data, 0.0, 0.5)
    train(ours, data, path, "l2sgd", {"c2": 0.5})
    assert objective(path, data, 0.0, 0.5) <= best * (1 + 1e-6)


@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        ("ap", {}),
        ("ap", {"epsilon": 0.3}),
        ("pa", {}),
        ("pa", {"type": 0, "error_sensitive": 0}),
        ("pa", {"type": 2, "c": 0.1, "averaging": 0}),
        ("arow", {}),
        ("arow", {"variance": 0.5, "gamma": 3.0}),
    ],
)
@pytest.mark.parametrize("n", [1, pytest.param(12, marks=glibc_only)])
def test_rules_give_crfsuites_weights(
    tmp_path: Path, algorithm: str, params: dict[str, float], n: int
) -> None:
    """In the order of a process that has drawn no numbers yet."""
    data = draw_sequences(n, n=n)
    models = []
    for module in (ours, theirs):
        path = tmp_path / "m.crfsuite"
        if n > 1:
            ctypes.CDLL(None).srand(1)
        train(module, data, path, algorithm, {"max_iterations": 7} | params)
        models.append(read_crfsuite_model(path.read_bytes()))
    mine, peer = models
    assert mine.attributes == peer.attributes
    np.testing.assert_array_equal(mine.label, peer.label)
    np.testing.assert_allclose(mine.weight, peer.weight, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        mine.transitions, peer.transitions, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_parameters_are_crfsuites(algorithm: str) -> None:
    mine, peer = ours.Trainer(algorithm), theirs.Trainer(algorithm)
    assert mine.params() == peer.params()
    assert mine.get_params() == peer.get_params()
    for name in peer.params():
        assert mine.help(name) == peer.help(name)
        for value in (3, 0.25, "2.7", "abc", "-1e-3", True, 10**12):
            for trainer in (mine, peer):
                trainer.set(name, value)
            assert mine.get(name) == peer.get(name), (name, value)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_log_says_what_crfsuites_says(tmp_path: Path, algorithm: str) -> None:
    """The same lines and events in the same order, numbers and iterations apart."""
    logs = []
    for module in (ours, theirs):
        trainer = module.Trainer(algorithm, {"max_iterations": 2}, verbose=False)
        for i, (items, labels) in enumerate(draw_sequences(2)):
            trainer.append(items, labels, i % 3)
        trainer.train(str(tmp_path / "m.crfsuite"), holdout=2)
        logs.append(trainer.logparser)
    mine, peer = logs
    assert mine.featgen_num_features == peer.featgen_num_features
    named = [[e for e, *_ in log.events if e != "iteration"] for log in logs]
    assert named[0] == named[1]
    one, other = mine.iterations[0], peer.iterations[0]
    assert {**one}.keys() == {**other}.keys()
    assert one["scores"].keys() == other["scores"].keys()
    head, tail = (
        [[line.partition(":")[0] for line in part] for part in parts]
        for parts in zip(*(_outside_iterations(log.log) for log in logs), strict=True)
    )
    if algorithm != "l2sgd":  # it has no learning rate to calibrate
        assert head[0] == head[1]
    assert tail[0] == tail[1]


def _outside_iterations(lines: list[str]) -> tuple[list[str], list[str]]:
    first = next(i for i, line in enumerate(lines) if line.startswith("*****"))
    return lines[:first], lines[lines.index("Storing the model\n") :]


def test_holdout_is_not_trained_on_but_named(tmp_path: Path) -> None:
    path = tmp_path / "m.crfsuite"
    trainer = ours.Trainer("lbfgs", verbose=False)
    trainer.append([["a"], ["b"]], ["A", "B"])
    trainer.append([["c"]], ["C"], 1)
    trainer.train(str(path), holdout=1)
    with ours.Tagger().open(str(path)) as tagger:
        assert tagger.labels() == ["A", "B", "C"]
        assert set(tagger.info().attributes) == {"a", "b"}
    assert trainer.logparser.last_iteration["item_accuracy"] == 0


def test_dump_is_crfsuites_and_reads_back_as_info(tmp_path: Path) -> None:
    path, texts = tmp_path / "m.crfsuite", []
    train(theirs, draw_sequences(3), path, "ap", {"max_iterations": 3})
    for module in (ours, theirs):
        with module.Tagger().open(str(path)) as tagger:
            tagger.dump(str(tmp_path / module.__name__))
            info = vars(tagger.info())
        texts.append((tmp_path / module.__name__).read_text())
    assert texts[0] == texts[1]
    parser = CRFsuiteDumpParser()
    for line in texts[0].splitlines():
        parser.feed(line)
    assert vars(parser.result) == info


@pytest.mark.parametrize(
    "item",
    [
        {"a": 1, "b": True, "c": False, "d": "x", "e": b"y", "f": np.float32(2)},
        {"n": {"m": ["p", b"q"], "o": {"r": 0.5}}, "s": {"t"}, b"k": np.str_("v")},
        ["a", "a", b"c"],
        "text",
        {"a\0b": 1, "": "", "nan": float("nan")},
        {"a": {}},
    ],
)
def test_items_mean_the_same(item: Any) -> None:
    mine, peer = (m.ItemSequence([item]).items() for m in (ours, theirs))
    assert repr(mine) == repr(peer)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda m: m.Trainer().append([{"a": 1}], ["A", "B"]),
        lambda m: m.Trainer().append([{"a": None}], ["A"]),
        lambda m: m.Trainer().append([{"a": ("x",)}], ["A"]),
        lambda m: m.Trainer().append([{1: 1}], ["A"]),
        lambda m: m.Trainer().append([1], ["A"]),
        lambda m: m.Trainer().append(None, ["A"]),
        lambda m: m.Trainer().append([(c for c in "ab")], ["A"]),
        lambda m: m.Trainer().append([{"a": 1}], [1]),
        lambda m: m.Trainer().append([{"a": 1}], ["A"], "x"),
        lambda m: m.Trainer("foo"),
        lambda m: m.Trainer().select("lbfgs", "crf2d"),
        lambda m: m.Trainer().set("foo", 5),
        lambda m: m.Trainer().get("foo"),
        lambda m: m.Trainer().help("foo"),
        lambda m: m.Trainer().train(None),
        lambda m: m.Tagger().open("no such file"),
        lambda m: m.Tagger().labels(),
        lambda m: m.Tagger().tag([["a"]]),
        lambda m: m.Tagger().probability(["A"]),
        lambda m: m.Tagger().marginal("A", 0),
        lambda m: m.Tagger().info(),
        lambda m: m.Tagger().open_inmemory("lCRF"),
        lambda m: m.Tagger().open_inmemory(b"xxxx" * 30),
        lambda m: m.Tagger().open_inmemory(b"lCRF" + bytes(20)),
    ],
)
def test_errors_are_crfsuites(wrong: Any) -> None:
    caught = []
    for module in (ours, theirs):
        with pytest.raises(Exception) as error:  # noqa: PT011 - which one is compared
            wrong(module)
        caught.append((type(error.value), str(error.value)))
    assert caught[0] == caught[1]


def test_tagger_errors_are_crfsuites_when_a_model_is_open(tmp_path: Path) -> None:
    path = tmp_path / "m.crfsuite"
    train(theirs, [([["a"], ["b"]], ["A", "B"])], path, "ap")
    wrong = [
        lambda t: t.probability(["A"]),
        lambda t: t.probability(["A", "Z"]),
        lambda t: t.marginal("Z", 1),
        lambda t: t.marginal("A", 7),
        lambda t: t.marginal("A", -1),
    ]
    for cause in wrong:
        caught = []
        for module in (ours, theirs):
            tagger = module.Tagger()
            tagger.open(str(path))
            assert (tagger.tag(), tagger.probability(["A"])) == ([], 0.0)
            tagger.tag([["a"], ["b"]])
            with pytest.raises((ValueError, RuntimeError)) as error:
                cause(tagger)
            caught.append((type(error.value), str(error.value)))
        assert caught[0] == caught[1]


def test_trainer_without_data_or_labels_still_writes_a_model(tmp_path: Path) -> None:
    for data in ([], [([[]], ["A"])], [([], [])]):
        path = tmp_path / "m.crfsuite"
        train(ours, data, path, "lbfgs")
        with theirs.Tagger().open(str(path)) as tagger:
            assert tagger.labels() == sorted({y for _, ys in data for y in ys})


def test_trainer_passes_exceptions_of_its_messages_on(tmp_path: Path) -> None:
    class Impatient(ours.Trainer):
        def on_iteration(self, log: str, info: Any) -> None:
            raise KeyError("enough")

    trainer = Impatient("ap")
    trainer.append([["a"], ["b"]], ["A", "B"])
    with pytest.raises(KeyError, match="enough"):
        trainer.train(str(tmp_path / "m.crfsuite"))
    assert not list(tmp_path.iterdir())


def test_tagger_in_a_pickle_is_the_bytes_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "m.crfsuite"
    train(ours, draw_sequences(4), path, "ap", {"max_iterations": 2})
    tagger = ours.Tagger()
    tagger.open(str(path))
    assert tagger.__getstate__() == {"model": path.read_bytes()}
    again = pickle.loads(pickle.dumps(tagger))
    items = draw_sequences(5, n=1)[0][0]
    assert again.tag(items) == tagger.tag(items)


def test_logparser_reads_a_log_of_crfsuite(tmp_path: Path) -> None:
    data = draw_sequences(6)
    peer = train(theirs, data, tmp_path / "m.crfsuite", "lbfgs").logparser
    mine = TrainLogParser()
    for line in peer.log:
        mine.feed(line)
    for name in ("events", "iterations", "featgen_percent", "training_seconds"):
        assert getattr(mine, name) == getattr(peer, name)
    assert mine.last_log == peer.last_log


def test_tagger_finds_the_same_attributes_at_once_as_one_by_one(tmp_path: Path) -> None:
    """Shapes of tokens that come early and late, numbers, and values of other kinds."""
    pytest.importorskip("numba")
    draw, data = random.Random(0), []
    for _ in range(60):
        items: list[Any] = []
        for _ in range(draw.randint(1, 5)):
            word = draw.choice("abcdefg") * draw.randint(1, 9)
            item: dict[Any, Any] = {
                "word": word,
                "bias": 1.0,
                "up": draw.random() < 0.5,
            }
            if draw.random() < 0.3:
                item["-1:word"] = draw.choice(["x", "é", ""])
            if draw.random() < 0.2:
                item["n"] = draw.choice([2.5, 3, "text", True])
            if draw.random() < 0.2:
                before = {"word": draw.choice("ab"), "up": False, "n": {"n": True}}
                item["-1"] = draw.choice([before, before, "none", ["word:a"]])
            items.append(draw.choice([item] * 9 + [list(item)]))
        if draw.random() < 0.2:
            items = [[str(name) for name in item] for item in items]
        data.append((items, [draw.choice("AB") for _ in items]))
    path = tmp_path / "m.crfsuite"
    train(theirs, data, path, "ap", {"max_iterations": 5})
    mine, peer = ours.Tagger(), theirs.Tagger()
    mine.open(str(path))
    peer.open(str(path))
    for _ in range(3):  # from the second time on there is a table
        for items, labels in data:
            assert mine.tag(items) == peer.tag(items)
            found = mine.probability(labels)
            assert found == pytest.approx(peer.probability(labels), rel=1e-9)


def test_tagger_sorts_texts_flags_and_numbers_as_the_original_does(
    tmp_path: Path,
) -> None:
    """The same names in all tokens, as in tutorials; then a kind that is new there."""
    pytest.importorskip("numba")
    draw = random.Random(1)

    def token(**other: Any) -> dict[str, Any]:
        usual = {"bias": 1.0, "word": draw.choice("abcd"), "up": draw.random() < 0.5}
        return (
            usual | {"end": draw.choice("xy"), "n": draw.choice([0.5, 2, 3.25])} | other
        )

    data = [
        (items, [draw.choice("AB") for _ in items])
        for items in ([token() for _ in range(1 + i % 4)] for i in range(40))
    ]
    odd: list[dict[str, Any]] = [
        {"up": 2.5}, {"up": -1}, {"up": 300}, {"up": "a"}, {"up": b"a"},
        {"up": {"deep": 1.0}}, {"n": "0.5"}, {"n": True}, {"n": np.float32(0.5)},
        {"word": 1.5}, {"word": False}, {"word": b"a"}, {"word": "a\0b"},
        {"bias": "bias"},
    ]  # fmt: skip
    path = tmp_path / "m.crfsuite"
    strange = [([token(**one), token()], ["A", "B"]) for one in odd]
    train(theirs, data + strange, path, "ap", {"max_iterations": 5})
    mine, peer = ours.Tagger(), theirs.Tagger()
    mine.open(str(path))
    peer.open(str(path))
    later = [([token(), token(**one), token()], ["A", "B", "A"]) for one in odd]
    for items, labels in [*data * 3, *later * 2, *data]:
        assert mine.tag(items) == peer.tag(items)
        found, expected = mine.probability(labels), peer.probability(labels)
        if not math.isnan(expected):  # large scores overflow in the original
            assert found == pytest.approx(expected, rel=1e-9)
    for wrong in (None, ("a",)):
        for tagger in (mine, peer):
            with pytest.raises((TypeError, SystemError)):
                tagger.tag([token(), token(up=wrong), token()])


@pytest.mark.parametrize(
    "params",
    [
        {"c1": 0.1, "c2": 0.1, "max_iterations": 3},
        {"c1": 0.1, "c2": 0.1, "max_iterations": 12},
        {"c1": 0.3, "c2": 0.001, "max_iterations": 100},
        {"c1": 0.3, "c2": 0.001, "max_iterations": 999, "delta": 1e-3, "period": 5},
        {"c1": 0.3, "c2": 0.0, "max_iterations": 30, "num_memories": 3},
    ],
)
def test_few_iterations_with_c1_are_crfsuites_own(
    tmp_path: Path, params: dict[str, float]
) -> None:
    data, path = draw_sequences(4, n=60), tmp_path / "m.crfsuite"
    logs, found = [], []
    for module in (theirs, ours):
        logs.append(train(module, data, path, "lbfgs", params).logparser.iterations)
        found.append(objective(path, data, params["c1"], params["c2"]))
    assert found[1] == pytest.approx(found[0], rel=1e-6)
    assert len(logs[1]) == len(logs[0])
    for mine, original in zip(logs[1], logs[0], strict=True):
        assert mine["loss"] == pytest.approx(original["loss"], rel=1e-6)
        assert mine["active_features"] == original["active_features"]


def test_dual_solver_with_c1_goes_lower_in_a_hundred_iterations(tmp_path: Path) -> None:
    data, path = draw_sequences(5, n=400), tmp_path / "m.crfsuite"
    params = {"c1": 0.1, "c2": 0.1, "max_iterations": 100}
    found = []
    for module in (theirs, ours):
        train(module, data, path, "lbfgs", params)
        found.append(objective(path, data, 0.1, 0.1))
    assert found[1] <= found[0]


def test_dual_solver_with_c1_ends_at_a_larger_gap_with_a_hundred_iterations() -> None:
    chain = make_chain(make_dense_rows(np.eye(4)), [0, 4], [0, 1, 0, 1], 2)

    def plan(most: int, c2: float) -> Plan:
        parameters = Parameters("lbfgs")
        for name, value in (("c1", 0.1), ("c2", c2), ("max_iterations", most)):
            parameters.set(name, str(value))
        return make_plan(chain, parameters)

    tolerances = [plan(most, 0.01).tol for most in (100, 1000, 10**9)]
    assert tolerances == pytest.approx([1e-3, 1e-4, 1e-4])
    own = [(most, c2) for most in (99, 100, 999, 1000) for c2 in (0.01, 0.001)
           if isinstance(plan(most, c2).solver, OrthantSteps)]  # fmt: skip
    assert own == [(99, 0.01), (99, 0.001), (100, 0.001), (999, 0.001)]
