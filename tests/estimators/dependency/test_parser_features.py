"""Which features a parser has: groups that are on or off, and those a user gives."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from typer.testing import CliRunner

import problems
from corruption import join, split
from partwise import C_path, DependencyParser, ModelFileError, load
from partwise.cli.app import app
from partwise.data import Sentence, write_trees
from partwise.errors import DataError
from partwise.estimators.dependency.corpus import TreeSettings
from partwise.estimators.dependency.explanation import ArcChoice
from partwise.estimators.dependency.features import as_matrices, list_arcs, most_listed
from partwise.estimators.labels import LabelCodes
from partwise.features import arc_codes
from partwise.features.arc_groups import GROUPS, choose_templates, find_groups
from partwise.metrics.attachment import attachment_scores
from partwise.structures import interface as waist
from partwise.structures.interface import make_diff, workspace
from partwise.structures.scratch import make_scratch
from small_treebank import short_sentences

pytestmark = [
    pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="run by test_plain_python"),
    pytest.mark.filterwarnings("ignore:stopped after"),
]

TRAIN, TEST = short_sentences(4), short_sentences(3, seed=7)
FEW = ("words", "tags")
N_FEATURES = 6


def quick(**changed: Any) -> DependencyParser:
    return DependencyParser(
        **{"solver": "perceptron", "max_iter": 2, "hash_bits": 12} | changed
    )


def with_any_weights(parser: DependencyParser, seed: int = 0) -> DependencyParser:
    parser.weights_ = np.random.default_rng(seed).normal(size=parser.weights_.size)
    return parser


def answers(parser: DependencyParser, **given: Any) -> Any:
    """Return everything a parser says about some sentences."""
    own = {name: matrices[0] for name, matrices in given.items()}
    return [
        parser.predict(TEST, **given),
        parser.predict(TEST, decoding="minimum_risk", **given),
        parser.predict_kbest(TEST, 3, **given),
        [mu.tolist() for mu in parser.predict_marginals(TEST, **given)],
        parser.score(TEST, metric="las", **given),
        str(parser.explain(TEST[0], 1, **own)),
    ]


# --- groups ---------------------------------------------------------------------------


def test_feature_groups_all_is_every_template() -> None:
    assert find_groups("all") == GROUPS
    assert choose_templates(GROUPS) == (
        arc_codes.ARC_TEMPLATES,
        arc_codes.BETWEEN_TEMPLATE,
        arc_codes.AGREEMENT_TEMPLATE,
        arc_codes.MODIFIER_TEMPLATES,
        arc_codes.HEAD_TEMPLATES,
        arc_codes.PAIR_TEMPLATES,
        arc_codes.SIBLING_TEMPLATES,
        arc_codes.GRANDPARENT_TEMPLATES,
    )


def test_feature_groups_are_named_in_any_way() -> None:
    for named in ("tags,words", " words , tags", ["tags", "words"], {"tags", "words"}):
        assert find_groups(named) == FEW
    assert find_groups(["all"]) == GROUPS


WORDS = Sentence.from_columns(
    forms=["Young", "horses", "gallop", "away"],
    lemmas=["young", "horse", "gallop", "away"],
    upos=["ADJ", "NOUN", "VERB", "ADV"],
    xpos=["JJ", "NNS", "VBP", "RB"],
    feats=["_", "Case=Nom|Number=Plur", "Mood=Ind|Number=Plur", "_"],
)

CHANGES: dict[str, tuple[dict[str, int | str], set[str]]] = {
    # What the second word is changed to, and who looks at that.
    "form": ({"forms": "xxhorses"}, {"words"}),
    "end of the form": ({"forms": "horseZZZ"}, {"words", "suffixes"}),
    "lemma": ({"lemmas": "mare"}, {"lemmas"}),
    "tags": ({"upos": "PROPN", "xpos": "NNP"}, {"tags"}),
    "morphology": ({"feats": "Case=Nom|Number=Plur|Animacy=Anim"}, {"morphology"}),
    "agreement": ({"feats": "Case=Nom|Number=Sing"}, {"morphology", "agreement"}),
}


def changed(columns: dict[str, Any]) -> Sentence:
    cells = {name: list(getattr(WORDS, name)) for name in ("forms", "lemmas", "upos")}
    cells |= {name: list(getattr(WORDS, name)) for name in ("xpos", "feats")}
    for name, cell in columns.items():
        cells[name][1] = cell
    return Sentence.from_columns(**cells)


def without(groups: set[str]) -> list[str]:
    """Return all groups but these, and those that can do nothing without them."""
    if "tags" in groups:
        groups = groups | {"neighbours", "between", "agreement"}
    return [group for group in GROUPS if group not in groups]


@pytest.mark.parametrize("what", CHANGES)
def test_feature_groups_that_are_off_see_nothing(what: str) -> None:
    columns, seen_by = CHANGES[what]

    def scores(features: Any, sentence: Sentence) -> list[float]:
        parser = with_any_weights(quick(features=features, max_iter=1).fit(TRAIN[:1]))
        return [score for _, score in parser.predict_kbest([sentence], 4)[0]]

    other = changed(columns)
    assert scores(without(seen_by), WORDS) == scores(without(seen_by), other)
    # And any of them alone makes a difference.
    for group in seen_by:
        features = [*without(seen_by), group]
        assert scores(features, WORDS) != scores(features, other)


def arc_scores(features: Any, sentence: Sentence) -> Any:
    settings = TreeSettings(True, True, 12, 3, find_groups(features))
    s = settings.structure([sentence], LabelCodes([]))
    ws, n = workspace(s, 1), len(sentence)
    theta = np.zeros(waist.n_parts(s, 0))
    waist.visit(s, 0, ws)
    w = np.random.default_rng(0).normal(size=waist.n_weights(s))
    waist.part_scores(s, 0, w, theta, ws)
    return theta.reshape(n + 1, n + 1)


@pytest.mark.parametrize(
    ("group", "arcs"),
    [
        ("between", {(0, 3), (0, 4), (1, 3), (1, 4), (3, 1), (4, 1)}),
        # Those of the first and of the third word.
        (
            "neighbours",
            {(h, m) for h in (0, 1, 3, 4) for m in (1, 3) if h != m} | {(1, 4), (3, 4)},
        ),
    ],
)
def test_feature_groups_around_an_arc_are_on_or_off(
    group: str, arcs: set[tuple[int, int]]
) -> None:
    other = changed({"upos": "PROPN", "xpos": "NNP"})
    for features, expected in ((["tags"], set()), (["tags", group], arcs)):
        differ = np.argwhere(arc_scores(features, WORDS) != arc_scores(features, other))
        found = {(h, m) for h, m in differ.tolist() if 2 not in (h, m)}
        assert found == expected


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["words", "colours"], "no group 'colours' (there are: words, lemmas, tags, "),
        ("words;tags", "no group 'words;tags'"),
        ("", "no group ''"),
        ([], "no group alone gives arcs no features (add words or tags)"),
        (["neighbours"], "neighbours alone gives arcs no features"),
        (["between", "agreement"], "between, agreement alone gives"),
        (["words", "between"], "'between' gives arcs no features without tags"),
        (["lemmas", "agreement"], "'agreement' gives arcs no features without tags"),
        ([3], "no group 3"),
        (None, "must be 'all' or names of groups, not None"),
        (7, "must be 'all' or names of groups, not 7"),
    ],
)
def test_feature_groups_of_no_use_are_refused(features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        quick(features=features).fit(TRAIN)


@pytest.mark.parametrize("features", [["words"], FEW, without({"between"})], ids=str)
@pytest.mark.parametrize("labelled", [True, False])
def test_feature_groups_explanations_add_up(features: Any, labelled: bool) -> None:
    parser = quick(features=features, labelled=labelled).fit(TRAIN)
    with_any_weights(parser)
    for sentence in TEST:
        for choice in parser.explain(sentence):  # type: ignore[union-attr]
            assert isinstance(choice, ArcChoice)
            total = sum(found.value for found in choice.contributions)
            assert total == pytest.approx(choice.margin, abs=1e-9)
            names = " ".join(found.feature for found in choice.contributions)
            assert "between: " not in names
            assert ("agreement" in names) == ("agreement" in features)
            assert ("l=" in names) == ("lemmas" in features)


@pytest.mark.parametrize("features", ["tags,words", FEW, list(GROUPS), "all"], ids=str)
def test_feature_groups_are_saved(features: Any, tmp_path: Path) -> None:
    parser = quick(features=features).fit(TRAIN)
    assert clone(parser).features == features
    parser.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert find_groups(loaded.features) == find_groups(features)
    assert answers(loaded) == answers(parser)
    np.testing.assert_array_equal(loaded.fit(TRAIN).weights_, parser.weights_)
    # It stays what it was trained with, whatever is set later.
    before = answers(parser)
    assert answers(parser.set_params(features="lemmas")) == before


def edited(path: Path, edit: Callable[[Any], None]) -> Path:
    """Change the settings of a model file."""
    header, body = split(path.read_bytes())
    edit(header["partwise"]["settings"])
    path.write_bytes(join(header, body))
    return path


def test_feature_groups_that_a_file_does_not_name_are_all(tmp_path: Path) -> None:
    def forget(settings: Any) -> None:
        del settings["trees"]["features"], settings["trees"]["n_arc_features"]
        del settings["params"]["features"]

    parser = quick().fit(TRAIN)
    parser.save(tmp_path / "m")
    loaded = load(edited(tmp_path / "m", forget))
    assert loaded.features == "all"
    assert answers(loaded) == answers(parser)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("trees", "features", "all"),
        ("trees", "features", []),
        ("trees", "features", ["tags", "words"]),
        ("trees", "features", ["words", "words"]),
        ("trees", "features", ["words", "colours"]),
        ("trees", "features", ["words", {}]),
        ("trees", "features", ["between"]),
        ("trees", "n_arc_features", -1),
        ("trees", "n_arc_features", 1),
        ("trees", "n_arc_features", 2**40),
        ("trees", "n_arc_features", True),
        ("trees", "n_arc_features", None),
        ("params", "features", ["words"]),
        ("params", "features", "colours"),
        ("params", "features", 3),
    ],
)
def test_feature_settings_of_a_damaged_file_are_refused(
    part: str, name: str, value: Any, tmp_path: Path
) -> None:
    quick().fit(TRAIN[:1]).save(tmp_path / "m")

    def damage(settings: Any) -> None:
        settings[part][name] = value

    with pytest.raises(ModelFileError, match=re.escape(str(tmp_path / "m"))):
        load(edited(tmp_path / "m", damage))


def run(*arguments: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result


def test_feature_groups_on_the_command_line(tmp_path: Path) -> None:
    train, path = tmp_path / "train.conllu", tmp_path / "m"
    write_trees(train, TRAIN)
    command = ["train", "parse", train, "-m", path, "--max-iter", 2, "--hash-bits", 10]
    said = run(*command, "--features", "words,colours", code=2).stderr
    assert "no group 'colours'" in said
    assert not path.exists()
    run(*command, "--features", "tags,words", "--quiet")
    assert load(path)._trees.features == FEW
    assert json.loads(run("inspect", path, "--json").stdout)["trees"]["features"] == [
        *FEW
    ]
    assert "words, tags" in run("inspect", path).stdout
    run(*command, "--quiet")
    assert re.search(r"arc features +all\n", run("inspect", path).stdout)


# --- features that the user gives -----------------------------------------------------


def matrices(sentences: list[Sentence], n_features: int = N_FEATURES) -> list[Any]:
    """Return features of arcs without a meaning, the same for the same sentence."""
    random = np.random.default_rng(sum(map(len, sentences)))
    result = []
    for sentence in sentences:
        values = random.normal(size=((len(sentence) + 1) ** 2, n_features))
        values[random.random(values.shape) < 0.5] = 0.0
        result.append(sparse.csr_array(values))
    return result


GIVEN, ASKED = matrices(TRAIN), matrices(TEST)


def total(sentence: Sentence, matrix: Any, w: Any) -> float:
    """Return what a user's features add to the score of a tree."""
    n = len(sentence)
    rows = [h * (n + 1) + m for m, h in enumerate(sentence.heads or (), 1)]
    return float((matrix.tocsr()[rows] @ w).sum())


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("labels", [["root"], ["dep", "root"], None])
def test_arc_features_add_to_the_score(projective: bool, labels: Any) -> None:
    train = Sentence.from_columns(
        forms=["birds", "sing", "loud"],
        upos=["NOUN", "VERB", "ADV"],
        heads=[2, 0, 2],
        labels=labels and [labels[0], labels[-1], labels[0]],
    )
    [matrix] = given = matrices([train])
    parser = quick(projective=projective).fit([train], arc_features=given)
    with_any_weights(parser)
    at = slice(2**12, 2**12 + N_FEATURES)
    alone = copy.copy(parser)
    alone._trees = replace(parser._trees, n_arc_features=0)
    alone.weights_ = np.delete(parser.weights_, at)
    n_trees = (7 if projective else 9) * len(labels or [""]) ** 3
    [found] = parser.predict_kbest([train], n_trees + 1, arc_features=given)
    scores = dict(alone.predict_kbest([train], n_trees + 1)[0])
    assert len(found) == len(scores) == n_trees
    for tree, score in found:
        expected = scores[tree] + total(tree, matrix, parser.weights_[at])
        assert score == pytest.approx(expected, abs=1e-9)


def test_arc_features_are_learnt_from() -> None:
    """Two trees of the same words: nothing but these features tells them apart."""
    forms, tags = ["a", "b", "c"], ["X", "X", "X"]
    sentences = [
        Sentence.from_columns(forms=forms, upos=tags, heads=heads)
        for heads in ([2, 0, 2], [0, 3, 1], [3, 1, 0], [0, 1, 2])
    ]
    hints = []
    for sentence in sentences:
        hint = sparse.lil_array((16, 2))
        for m, h in enumerate(sentence.heads or (), 1):
            hint[h * 4 + m, 1] = 1
        hints.append(hint)
    for loss, solver in (("squared_hinge", "auto"), ("log_loss", "lbfgs")):
        parser = quick(loss=loss, solver=solver, C=10.0, max_iter=15)
        parser.fit(sentences, arc_features=hints)
        assert parser.score(sentences, arc_features=hints) == 1.0
        blind = parser.fit(sentences)
        assert blind.score(sentences) < 1.0


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_matrix,
        sparse.coo_array,
        sparse.csc_array,
        sparse.lil_array,
        lambda matrix: matrix.astype(np.int8),
        lambda matrix: matrix.astype(bool),
    ],
)
def test_arc_features_may_be_of_any_kind(convert: Any) -> None:
    ones = [sparse.csr_array((abs(m) > 0).astype(float)) for m in GIVEN]
    right = quick().fit(TRAIN, arc_features=ones).weights_
    found = quick().fit(TRAIN, arc_features=map(convert, ones)).weights_
    np.testing.assert_array_equal(found, right)


def of_last(matrix: Any) -> list[Any]:
    return [*GIVEN[:-1], matrix]


def spoilt(value: float) -> Any:
    matrix = GIVEN[-1].copy()
    matrix.data[0] = value
    return matrix


LAST = re.escape(TRAIN[-1].place or "")
ROWS = (len(TRAIN[-1]) + 1) ** 2
BAD: dict[str, tuple[Any, str]] = {
    "one matrix": (GIVEN[0], "must be a list of sparse matrices.*not csr_array"),
    "a number": (3, "must be a list of sparse matrices.*not int"),
    "too few": (GIVEN[:-1], "3 matrices for 4 sentences"),
    "too many": ([*GIVEN, GIVEN[0]], "5 matrices for 4 sentences"),
    "dense": (
        of_last(GIVEN[-1].toarray()),
        f"{LAST}: ndarray is not a sparse .*csr_array",
    ),
    "a text": (of_last("abc"), f"{LAST}: str is not a sparse"),
    "rows": (
        of_last(sparse.csr_array((ROWS - 1, N_FEATURES))),
        rf"{LAST}: the shape is",
    ),
    "columns": (of_last(sparse.csr_array((ROWS, 7))), f"{LAST}: there are 7 columns"),
    "no columns": (
        [sparse.csr_array((m.shape[0], 0)) for m in GIVEN],
        r"must be between 1 and 2\^31 - 1 columns",
    ),
    "NaN": (of_last(spoilt(np.nan)), f"{LAST}: values must be finite"),
    "infinity": (of_last(spoilt(-np.inf)), f"{LAST}: values must be finite"),
    "huge": (of_last(spoilt(1e200)), f"{LAST}: values must be finite .*1e\\+100"),
    "complex": (of_last(GIVEN[-1] * 1j), f"{LAST}: values of type complex128"),
}


@pytest.mark.parametrize("what", BAD)
def test_arc_features_of_no_use_are_refused(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: Any) -> None:
        raise AssertionError("training began")

    given, message = BAD[what]
    parser = quick().fit(TRAIN, arc_features=GIVEN)
    monkeypatch.setattr(DependencyParser, "_train", start)
    with pytest.raises(DataError, match=message):
        quick().fit(TRAIN, arc_features=given)
    if what == "no columns":
        message = f"there are 0 columns, but {N_FEATURES}"
    with pytest.raises(DataError, match=message):
        parser.predict(TRAIN, arc_features=given)
    with pytest.raises(DataError, match=message.replace("arc_f", "dev_arc_f")):
        quick().fit(TRAIN, arc_features=GIVEN, dev=TRAIN, dev_arc_features=given)


ASK: dict[str, Callable[..., Any]] = {
    "predict": lambda parser, given: parser.predict(TEST, arc_features=given),
    "score": lambda parser, given: parser.score(TEST, arc_features=given),
    "marginals": lambda p, given: p.predict_marginals(TEST, arc_features=given),
    "kbest": lambda parser, given: parser.predict_kbest(TEST, arc_features=given),
    "explain": lambda parser, given: parser.explain(
        TEST[0], 1, arc_features=given and given[0]
    ),
    "dev": lambda parser, given: parser.fit(
        TRAIN,
        arc_features=GIVEN if given is None else None,
        dev=TEST,
        dev_arc_features=given,
    ),
}


@pytest.mark.parametrize("what", ASK)
def test_arc_features_belong_to_both_training_and_predicting(what: str) -> None:
    parser = quick().fit(TRAIN, arc_features=GIVEN)
    with pytest.raises(
        DataError, match=r"trained with arc_features, 6 columns.*as well"
    ):
        ASK[what](parser, None)
    with pytest.raises(DataError, match=r"without arc_features: leave .*arc_features"):
        ASK[what](quick().fit(TRAIN), ASKED)


def test_arc_features_without_dev_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="no dev sentences"):
        quick().fit(TRAIN, arc_features=GIVEN, dev_arc_features=ASKED)


def test_arc_features_of_no_sentences() -> None:
    parser = quick().fit(TRAIN, arc_features=GIVEN)
    assert parser.predict([], arc_features=[]) == []
    empty = Sentence.from_columns(forms=[])
    [found] = parser.predict([empty], arc_features=[sparse.csr_array((1, N_FEATURES))])
    assert len(found) == 0


def test_arc_features_decide_on_development_data() -> None:
    metric: list[float] = []

    def uas(gold: Any, found: Any) -> float:
        metric.append(attachment_scores(gold, found).uas)
        return metric[-1]

    parser = quick(dev_metric=uas, max_iter=1).fit(
        TRAIN, arc_features=GIVEN, dev=TEST, dev_arc_features=ASKED
    )
    assert parser.score(TEST, arc_features=ASKED) == pytest.approx(metric[-1])


def test_arc_features_of_skipped_sentences_are_skipped() -> None:
    crossed = Sentence.from_columns(
        forms=list("abcd"), heads=[3, 4, 0, 3], labels=["root"] * 4
    )
    given = matrices([crossed])
    right = quick().fit(TRAIN, arc_features=GIVEN)
    with pytest.warns(UserWarning, match="left out"):
        found = quick(crossing="skip").fit(
            [crossed, *TRAIN], arc_features=[*given, *GIVEN]
        )
    np.testing.assert_array_equal(found.weights_, right.weights_)


def test_arc_features_explanations_add_up() -> None:
    parser = with_any_weights(quick().fit(TRAIN, arc_features=GIVEN))
    seen = set()
    for sentence, matrix in zip(TEST, ASKED, strict=True):
        n = len(sentence)
        for choice in parser.explain(sentence, arc_features=matrix):  # type: ignore[union-attr]
            added = sum(found.value for found in choice.contributions)
            assert added == pytest.approx(choice.margin, abs=1e-9)
            if choice.runner_up is None:
                continue
            own = {
                int(found.feature.removeprefix("arc feature ")): found.value
                for found in choice.contributions
                if found.feature.startswith("arc feature ")
                and found.label.endswith(f" → {sentence.forms[choice.word - 1]}")
                and found.label.startswith(
                    f"{sentence.forms[choice.head - 1]} " if choice.head else "root "
                )
            }
            if len(set(sentence.forms)) < n:
                continue  # words of the same name cannot be told apart here
            row = matrix[[choice.head * (n + 1) + choice.word]].toarray()[0]
            expected = row * parser.weights_[2**12 : 2**12 + N_FEATURES]
            assert own == pytest.approx(
                {int(j): expected[j] for j in np.flatnonzero(expected)}
            )
            seen |= set(own)
    assert seen == set(range(N_FEATURES))


def test_arc_features_are_counted_in_a_model_file(tmp_path: Path) -> None:
    parser = quick(features=FEW).fit(TRAIN, arc_features=GIVEN)
    assert parser.weights_.size == parser._trees.n_weights(len(parser.classes_))
    parser.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert answers(loaded, arc_features=ASKED) == answers(parser, arc_features=ASKED)
    with pytest.raises(DataError, match="there are 5 columns, but 6 features"):
        loaded.predict(TEST, arc_features=matrices(TEST, 5))
    assert "6 given for every arc" in run("inspect", tmp_path / "m").stdout
    write_trees(tmp_path / "test.conllu", TEST)
    said = run("predict", tmp_path / "m", tmp_path / "test.conllu", code=2).stderr
    assert "trained with arc_features" in said

    def damage(settings: Any) -> None:
        settings["trees"]["n_arc_features"] = 5

    with pytest.raises(ModelFileError, match="number of weights"):
        load(edited(tmp_path / "m", damage))


@pytest.mark.filterwarnings("ignore:C=.* stopped after")
def test_arc_features_have_a_path() -> None:
    path = C_path(
        quick(solver="auto"), TRAIN, None, [0.01, 0.1],
        arc_features=GIVEN, dev=TEST, dev_arc_features=ASKED,
    )  # fmt: skip
    model = path.best_estimator
    score = model.score(TEST, metric="las", arc_features=ASKED)
    assert score == path.best.dev_score


def test_arc_features_fit_into_the_memory_estimate() -> None:
    n, per_arc = 60, 200
    sentence = Sentence.from_columns(forms=["word"] * n)
    settings = replace(TreeSettings(True, True, 8, 3), n_arc_features=1000)
    side = (n + 1) ** 2
    matrix = sparse.csr_array(
        (
            np.ones(side * per_arc),
            np.tile(np.arange(per_arc), side),
            np.arange(side + 1) * per_arc,
        ),
        shape=(side, 1000),
    )
    listed = list_arcs(as_matrices([matrix], [sentence]), [sentence], 1000)
    s = settings.structure([sentence], LabelCodes([]), listed=listed)
    parts = (workspace(s, 1), make_scratch(s), make_diff(s))
    estimate = settings.memory(sentence, 0, 1, True, most_listed(listed))
    assert 0.95 * n_bytes(parts) <= estimate <= 2.5 * n_bytes(parts)


def n_bytes(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        return sum(map(n_bytes, arrays))
    return int(getattr(arrays, "nbytes", 0))
