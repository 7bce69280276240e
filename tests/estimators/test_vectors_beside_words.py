"""Vectors beside words: every way to give them means the same, on every estimator."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from corruption import corruptions, join, split
from partwise import (
    DataError,
    DependencyParser,
    GraphArrays,
    GraphLabeler,
    ModelFileError,
    MulticlassClassifier,
    PartwiseError,
    SequenceTagger,
    WithVectors,
    WordVectors,
    load,
)
from partwise.data import Sentence
from problems import plain_only

WORDS = ["the", "a", "dog", "cat", "runs", "sits"]
TABLE = WordVectors(
    WORDS, np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
)
SENTENCES = [["the", "dog", "runs"], ["a", "cat", "sits"], ["a", "dog"], ["The", "emu"]]
LABELS = [["D", "N", "V"], ["D", "N", "V"], ["D", "N"], ["D", "N"]]
DICTS = [[{"word": word} for word in words] for words in SENTENCES]
MATRICES = [TABLE.look_up(words).values for words in SENTENCES]


def with_arrays(dtype: Any = np.float32) -> Any:
    return [
        [
            {**token, "vector": vector.astype(dtype)} if vector.any() else {**token}
            for token, vector in zip(tokens, matrix, strict=True)
        ]
        for tokens, matrix in zip(DICTS, MATRICES, strict=True)
    ]


JOINED = [WithVectors(*pair) for pair in zip(DICTS, MATRICES, strict=True)]
WAYS: dict[str, tuple[dict[str, Any], Any]] = {
    "arrays": ({}, with_arrays()),
    "pair": ({}, (DICTS, MATRICES)),
    "joined": ({}, JOINED),
    "table": ({"vectors": TABLE}, DICTS),
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"pairs": "observed", "scale_vectors": True},
    {"loss": "log_loss"},
    {"hash_bits": 6, "solver": "perceptron"},
]


def first(X: Any) -> Any:
    return (X[0][0], X[1][0]) if isinstance(X, tuple) else X[0]


def answers(model: Any, X: Any) -> Any:
    return [
        model.predict(X),
        [mu.tolist() for mu in model.predict_marginals(X)],
        model.transitions_.tolist(),
        model.top_features(30),
        str(model.explain(first(X))),
    ]


def test_vectors_in_compiled_taggers_are_those_of_plain_columns() -> None:
    """Mixed rows are what dense columns spread over dicts are."""
    spread = [
        [
            {**token, **{f"v{c}": float(x) for c, x in enumerate(vector)}}
            for token, vector in zip(tokens, matrix, strict=True)
        ]
        for tokens, matrix in zip(DICTS, MATRICES, strict=True)
    ]
    settings: dict[str, Any] = {"tol": 1e-6, "max_iter": 2000}
    mixed = SequenceTagger("log_loss", **settings).fit((DICTS, MATRICES), LABELS)
    named = SequenceTagger("log_loss", **settings).fit(spread, LABELS)
    assert mixed.certificate_.primal == pytest.approx(named.certificate_.primal, 1e-5)
    for ours, theirs in zip(
        mixed.predict_marginals((DICTS, MATRICES)),
        named.predict_marginals(spread),
        strict=True,
    ):
        assert_allclose(ours, theirs, atol=1e-3)


@plain_only
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_vectors_survive_the_model_file(
    way: str, settings: Any, tmp_path: Path
) -> None:
    more, X = WAYS[way]
    tagger = SequenceTagger(**settings, **more).fit(X, LABELS, dev=(X, LABELS))
    tagger.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert answers(loaded, X) == answers(tagger, X)
    assert loaded.fit(X, LABELS).predict(X) == tagger.fit(X, LABELS).predict(X)


@plain_only
@pytest.mark.parametrize("settings", SETTINGS[:3], ids=str)
def test_vectors_mean_the_same_however_given(settings: Any) -> None:
    # A word without a vector is a row of zeros in a matrix: known only if not scaled.
    ways = dict(WAYS)
    if "scale_vectors" in settings:
        del ways["pair"], ways["joined"]
    weights = [
        SequenceTagger(**settings, **more).fit(X, LABELS).weights_
        for more, X in ways.values()
    ]
    for other in weights[1:]:
        assert_allclose(other, weights[0], atol=1e-12)


@plain_only
def test_vectors_go_with_templates_and_columns() -> None:
    pair = (SENTENCES, MATRICES)
    one = SequenceTagger(template="ner").fit(pair, LABELS)
    other = SequenceTagger(template="ner", vectors=TABLE).fit(SENTENCES, LABELS)
    assert_allclose(one.weights_, other.weights_, atol=1e-12)
    assert one.predict(pair) == other.predict(SENTENCES) == LABELS


@plain_only
def test_vectors_keep_their_precision() -> None:
    for dtype, expected in ((np.float16, np.float32), (np.float64, np.float64)):
        tagger = SequenceTagger().fit(with_arrays(dtype), LABELS)
        assert tagger._encode(with_arrays(dtype)).nodes.vectors.values.dtype == expected


@plain_only
def test_vectors_explanations_add_up_to_the_margin() -> None:
    for more, X in WAYS.values():
        tagger = SequenceTagger(**more).fit(X, LABELS)
        for choice in tagger.explain(first(X)):
            total = sum(c.value for c in choice.contributions)
            assert total == pytest.approx(choice.margin)
            assert any("[" in c.feature for c in choice.contributions)


@plain_only
def test_vectors_scaled_do_not_depend_on_scale_or_place() -> None:
    far = [1000.0 * matrix.astype(np.float64) + 77.0 for matrix in MATRICES]
    near = [matrix.astype(np.float64) for matrix in MATRICES]
    one, other = (
        SequenceTagger(scale_vectors=True, tol=1e-4).fit((DICTS, m), LABELS)
        for m in (near, far)
    )
    assert_allclose(one.weights_, other.weights_, atol=1e-9)
    rows = one._encode((DICTS, near)).nodes.vectors.values
    assert_allclose(rows.mean(0), 0.0, atol=1e-12)
    assert (rows**2).sum(1).mean() == pytest.approx(10.0)


@plain_only
def test_vectors_scaled_of_a_still_column_are_zero() -> None:
    still = [np.hstack([m, np.full((len(m), 1), 0.1, np.float32)]) for m in MATRICES]
    tagger = SequenceTagger(scale_vectors=True).fit((DICTS, still), LABELS)
    assert not tagger._encode((DICTS, still)).nodes.vectors.values[:, 3].any()


@plain_only
@pytest.mark.parametrize("settings", [{}, {"scale_vectors": True}, {"hash_bits": 5}])
def test_vectors_of_examples_survive_the_model_file(
    settings: Any, tmp_path: Path
) -> None:
    y = [0, 1, 2, 0, 1, 2]
    matrix = np.eye(3, dtype=np.float32)[y]
    plain = [{"word": word} for word in WORDS]
    arrays = [{**x, "v": row} for x, row in zip(plain, matrix, strict=True)]
    for X, one in ((arrays, arrays[0]), ((plain, matrix), (plain[0], matrix[0]))):
        model = MulticlassClassifier(**settings).fit(X, y)
        model.save(tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert loaded.predict(X).tolist() == model.predict(X).tolist() == y
        assert loaded.top_features(20) == model.top_features(20)
        choice = loaded.explain(one)
        total = sum(c.value for c in choice.contributions)
        assert total == pytest.approx(choice.margin)


@plain_only
def test_vectors_of_nodes_survive_the_model_file(tmp_path: Path) -> None:
    labels = [[0, 1, 1], [1, 0, 0], [0, 0, 1]]
    graphs = [
        GraphArrays(
            [{"word": "x", "v": np.eye(2, dtype=np.float32)[k]} for k in own],
            [(0, 1), (1, 2)],
        )
        for own in labels
    ]
    for scale in (False, True):
        model = GraphLabeler(C=5.0, scale_vectors=scale).fit(graphs, labels)
        model.save(tmp_path / "model")
        predicted = [list(own) for own in load(tmp_path / "model").predict(graphs)]
        assert predicted == labels
    with pytest.raises(DataError, match="node 0: feature 'v' is a vector of length 3"):
        model.predict([GraphArrays([{"v": np.zeros(3)}], [])])


@plain_only
def test_vectors_outside_the_file_are_known_by_their_checksum(tmp_path: Path) -> None:
    absent = WordVectors(WORDS, TABLE.matrix, "emb", keep=False)
    tagger = SequenceTagger(vectors=absent).fit(DICTS, LABELS)
    tagger.save(tmp_path / "without")
    kept = SequenceTagger(vectors=TABLE).fit(DICTS, LABELS)
    kept.save(tmp_path / "with")
    loaded = load(tmp_path / "without")
    with pytest.raises(PartwiseError, match=r"'emb'.*attach_vectors"):
        loaded.predict(DICTS)
    with pytest.raises(DataError, match="not the vectors the model was trained with"):
        loaded.attach_vectors(WordVectors(WORDS, TABLE.matrix + 1))
    assert loaded.attach_vectors(TABLE).predict(DICTS) == tagger.predict(DICTS)
    with pytest.raises(DataError, match="nothing to attach"):
        loaded.attach_vectors(TABLE)


# What cannot be used

BAD: list[tuple[str, Any, str]] = [
    ("too few matrices", (DICTS, MATRICES[:3]), "3 matrices of vectors for 4 seq"),
    ("too few rows", (DICTS, [MATRICES[0][:2], *MATRICES[1:]]), "0: 2 vectors for 3"),
    (
        "other columns",
        (DICTS, [*MATRICES[:3], MATRICES[3][:, :2]]),
        "sequence 3: its vectors have 2 columns, expected 3",
    ),
    (
        "NaN",
        (DICTS, [MATRICES[0], MATRICES[1] * np.nan, *MATRICES[2:]]),
        "sequence 1, token 0: column 0 of its vector is nan",
    ),
    ("some without", [JOINED[0], *DICTS[1:]], "sequence 1: it has no vectors"),
    (
        "arrays of different lengths",
        [[{"v": np.ones(2)}, {"v": np.ones(3)}]],
        "token 1: feature 'v' is a vector of length 3, expected 2",
    ),
    ("NaN in an array", [[{"v": np.array([1, np.nan])}]], "vector with nan in it"),
    ("matrix in a dict", [[{"v": np.ones((2, 2))}]], r"shape \(2, 2\)"),
    ("array of strings", [[{"v": np.array(["a"])}]], "array of <U1"),
]


@pytest.mark.parametrize(
    ("X", "message"), [b[1:] for b in BAD], ids=[b[0] for b in BAD]
)
def test_vectors_refuse_what_does_not_fit(X: Any, message: str) -> None:
    labels = LABELS if len(X) != 1 else [["D"] * len(X[0])]
    with pytest.raises(DataError, match=message):
        SequenceTagger().fit(X, labels)


@plain_only
def test_vectors_at_predict_must_be_those_of_training() -> None:
    tagger = SequenceTagger().fit((DICTS, MATRICES), LABELS)
    with pytest.raises(DataError, match=r"3 columns of them: give \(X, matrices\)"):
        tagger.predict(DICTS)
    with pytest.raises(DataError, match="2 columns, expected 3"):
        tagger.predict((DICTS, [matrix[:, :2] for matrix in MATRICES]))
    plain = SequenceTagger().fit(DICTS, LABELS)
    with pytest.raises(DataError, match="trained without"):
        plain.predict((DICTS, MATRICES))
    with pytest.raises(DataError, match="in the training data it was not"):
        plain.predict(with_arrays())
    with pytest.raises(DataError, match="no token has a feature 'form'"):
        SequenceTagger(vectors=WordVectors(WORDS, TABLE.matrix, word="form")).fit(
            DICTS, LABELS
        )
    with pytest.raises(DataError, match="called 'vectors'"):
        SequenceTagger(vectors=TABLE).fit((DICTS, MATRICES), LABELS)


# Harmless


def damaged(model: Any, X: Any, path: Path, seed: int) -> tuple[int, int]:
    """Load and use damaged copies of a model; count those that are refused."""
    model.save(path)
    data, refused, tried = path.read_bytes(), 0, 0
    for copy in corruptions(data, 60, seed=seed, forged=0.8):
        path.write_bytes(copy)
        tried += 1
        problem = ""
        try:
            load(path).predict(X)
        except ModelFileError as error:
            problem = str(error)
        except PartwiseError:
            pass  # a model of other vectors
        assert not problem or str(path) in problem
        refused += bool(problem)
    return refused, tried


@plain_only
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("way", ["arrays", "pair", "table"])
def test_vectors_damaged_fail_cleanly(way: str, tmp_path: Path) -> None:
    more, X = WAYS[way]
    tagger = SequenceTagger(scale_vectors=True, **more).fit(X, LABELS)
    refused, tried = damaged(tagger, X, tmp_path / "model", seed=5)
    assert tried / 2 < refused < tried


def put(name: str, at: int, value: float) -> Any:
    def edit(header: Any, body: bytearray) -> None:
        start, stop = header[name]["data_offsets"]
        kind = {"F64": "<f8", "F32": "<f4", "I64": "<i8"}[header[name]["dtype"]]
        numbers = np.frombuffer(bytes(body[start:stop]), kind).copy()
        numbers[at] = value
        body[start:stop] = numbers.tobytes()

    return edit


def setting(*keys: Any, value: Any) -> Any:
    def edit(header: Any, body: bytearray) -> None:
        place = header["partwise"]["settings"]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return edit


HOSTILE: dict[str, tuple[str, Any]] = {
    "NaN mean": ("table", put("vectors.mean", 0, np.nan)),
    "infinite factor": ("arrays", put("vectors.factor", 1, np.inf)),
    "NaN in a table": ("table", put("vectors.tables.0.matrix", 4, np.nan)),
    "end of a word": ("table", put("vectors.tables.0.words.ends", 0, 2**60)),
    "width": ("table", setting("vectors", "blocks", 0, 1, value=2**30)),
    "negative width": ("pair", setting("vectors", "blocks", 0, 1, value=-3)),
    "width of another table": (
        "table",
        setting("vectors", "tables", 0, "width", value=2),
    ),
    "source": ("pair", setting("vectors", "blocks", 0, 2, value="url")),
    "no blocks": ("pair", setting("vectors", "blocks", value=[])),
    "twice": ("pair", setting("vectors", "blocks", value=[["a", 1, "matrix"]] * 2)),
    "precision": ("pair", setting("vectors", "precision", value="object")),
    "scaled": ("pair", setting("vectors", "scaled", value=1)),
    "tables": ("table", setting("vectors", "tables", value=[])),
    "settings of a table": ("table", setting("vectors", "tables", 0, value=None)),
    "checksum": ("table", setting("vectors", "tables", 0, "checksum", value="")),
    "no vectors": ("arrays", setting("vectors", value=[])),
    "arrays of the vocabulary": ("arrays", setting("input", "arrays", value={"v": 3})),
    "length of an array": ("arrays", setting("input", "arrays", value={"vector": -1})),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("vectors") / "model"
    result = {}
    for way, (more, X) in WAYS.items():
        SequenceTagger(scale_vectors=True, **more).fit(X, LABELS).save(path)
        result[way] = path.read_bytes()
    return result


@plain_only
@pytest.mark.parametrize("what", HOSTILE)
def test_vectors_hostile_models_are_refused(
    what: str, files: dict[str, bytes], tmp_path: Path
) -> None:
    way, edit = HOSTILE[what]
    header, body = split(files[way])
    changed = bytearray(body)
    (tmp_path / "honest").write_bytes(join(header, body))
    load(tmp_path / "honest")
    edit(header, changed)
    (tmp_path / "model").write_bytes(join(header, bytes(changed)))
    with pytest.raises(ModelFileError, match="model"):
        load(tmp_path / "model")


# Parsing


def sentences() -> list[Sentence]:
    """Return sentences whose trees only the vectors tell."""
    trees = [(2, 0), (0, 1), (2, 0), (0, 1)]
    labels = {2: "a", 1: "b", 0: "root"}
    return [
        Sentence.from_columns(
            forms=["x", "x"], heads=list(heads), labels=[labels[h] for h in heads]
        )
        for heads in trees
    ]


SIDES = [np.full((2, 1), k, np.float32) for k in (1.0, -1.0, 1.0, -1.0)]


@plain_only
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_vectors_of_words_tell_heads(scale: bool, loss: str, tmp_path: Path) -> None:
    given = (sentences(), SIDES)
    parser = DependencyParser(
        loss, C=10.0, hash_bits=8, tol=1e-3, scale_vectors=scale, labelled=False
    ).fit(given, dev=given)
    parser.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    heads = [tree.heads for tree in sentences()]
    assert [tree.heads for tree in parser.predict(given)] == heads
    assert [tree.heads for tree in loaded.predict(given)] == heads
    assert loaded.score(given) == 1.0
    choice = loaded.explain(WithVectors(sentences()[0], SIDES[0]), 1)
    total = sum(c.value for c in choice.contributions)
    assert total == pytest.approx(choice.margin)
    assert {"word vectors[0], left 1", "head vectors[0], left 1"} <= {
        c.feature for c in choice.contributions
    }
    assert len(loaded.predict_kbest(given, 2)[0]) == 2


@plain_only
def test_vectors_of_words_are_looked_up_by_form(tmp_path: Path) -> None:
    trees = [
        Sentence.from_columns(forms=["up", "x"], heads=[2, 0]),
        Sentence.from_columns(forms=["down", "x"], heads=[0, 1]),
    ]
    table = WordVectors(["up", "down", "x"], [[1.0], [-1.0], [0.0]], keep=False)
    parser = DependencyParser(hash_bits=8, vectors=table, C=1.0).fit(trees)
    parser.save(tmp_path / "model")
    loaded = load(tmp_path / "model").attach_vectors(table)
    assert loaded.predict(trees) == parser.predict(trees)
    with pytest.raises(DataError, match="trained without"):
        parser.predict((trees, SIDES[:2]))
    with pytest.raises(DataError, match="1 matrices of vectors for 2"):
        DependencyParser().fit((trees, SIDES[:1]))
    with pytest.raises(DataError, match="sentence 1: 1 vectors for 2 tokens"):
        DependencyParser().fit((trees, [SIDES[0], SIDES[1][:1]]))
