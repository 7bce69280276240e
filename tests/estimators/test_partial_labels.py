"""Estimators that learn from labels known in part, in Python and from files."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import problems
from command_line import message, run
from partwise import (
    Constraints,
    DataError,
    DependencyParser,
    GraphLabeler,
    MulticlassClassifier,
    SegmentTagger,
    SequenceTagger,
    load,
)
from partwise.data import Sentence, read_trees
from partwise.losses import LocalCertificate

pytestmark = problems.plain_only

LOSSES = ("squared_hinge", "log_loss")
X = [
    [["the"], ["dog"], ["barks"]],
    [["a"], ["cat"], ["sleeps"]],
    [["the"], ["cat"], ["barks"]],
]
Y = [["D", "N", None], [None, "N", "V"], ["D", {"N", "V"}, None]]


def refusal(model: Any, *data: Any, **options: Any) -> str:
    with pytest.raises((DataError, ValueError)) as caught:
        model.fit(*data, **options)
    return str(caught.value)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("pairs", ["all", "observed"])
def test_partial_labels_of_tokens_are_completed(loss: str, pairs: str) -> None:
    tagger = SequenceTagger(loss=loss, C=10.0, pairs=pairs).fit(X, Y)
    assert tagger.predict(X) == [["D", "N", "V"]] * 3
    assert "labels are known in part" in tagger.status_


def test_partial_labels_that_are_complete_change_nothing() -> None:
    complete = [["D", "N", "V"]] * 3
    one = SequenceTagger(C=1.0, tol=1e-6).fit(X, complete)
    sets = [[{label} for label in labels] for labels in complete]
    other = SequenceTagger(C=1.0, tol=1e-6).fit(X, sets)
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-3)


def test_partial_model_keeps_its_word_in_a_file(tmp_path: Path) -> None:
    tagger = SequenceTagger(C=10.0).fit(X, Y)
    tagger.save(tmp_path / "m")
    again = load(tmp_path / "m").certificate_
    assert isinstance(again, LocalCertificate)
    assert str(again) == str(tagger.certificate_)
    assert "a local optimum" in str(again)


def test_partial_costs_are_those_beside_the_nearest_label() -> None:
    costs = {("N", "D"): 5.0, ("V", "D"): 2.0}
    tagger = SequenceTagger(costs=costs, max_iter=1)
    s = tagger._prepare(X, Y).structure
    # The last sentence: "the" is D, "cat" is N or V, for which D is wrong.
    assert s.forbidden.ptr[2] == s.forbidden.ids.size - 3
    last = s.forbidden.numbers[s.forbidden.ptr[2] :]
    assert last.tolist() == [1.0, 1.0, 2.0]


def test_partial_labels_are_refused_where_they_make_no_sense() -> None:
    empty = [["D", "N", set()], *Y[1:]]
    assert "y, sequence 0, token 2: an empty set" in refusal(SequenceTagger(), X, empty)
    said = refusal(MulticlassClassifier(), [[0.0], [1.0]], ["a", set()])
    assert said.startswith("y, example 1: an empty set")
    said = refusal(SequenceTagger(), X, [["D", ["N", "V"], "V"], *Y[1:]])
    assert said.endswith("write a set if it is one of several labels")
    nothing = [[None] * 3] * 3
    assert "no label is known" in refusal(SequenceTagger(), X, nothing)
    said = refusal(SequenceTagger(), X, Y, dev=(X, Y))
    assert said.startswith("dev, sequence 0, token 2: the label is None")
    said = refusal(SequenceTagger(solver="perceptron"), X, Y)
    assert "needs complete labels" in said
    said = refusal(SequenceTagger(rescaling="slack"), X, Y)
    assert "rescaling='slack' needs complete labels" in said
    said = refusal(SequenceTagger(transitions="observed"), X, Y)
    assert "transitions='observed'" in said
    spelled = [["B-X", None, "O"], ["O", {"I-X"}, None], ["O", "B-X", None]]
    said = refusal(SequenceTagger(constraints="BIO"), X, spelled)
    assert "sequence 1: no labels agree" in said
    assert "up to token 1" in said


def test_partial_outputs_have_probabilities_and_no_scores() -> None:
    tagger = SequenceTagger("log_loss", C=10.0).fit(X, Y)
    asked = [{"D", "N"}, None, None]
    shares = tagger.predict_marginals(X[:1])[0][0]
    both = shares[tagger.classes_.tolist().index("D")]
    both += shares[tagger.classes_.tolist().index("N")]
    assert np.exp(tagger.log_probability(X[:1], [asked])) == pytest.approx([both])
    cuts = [[(0, 1, None), (1, 2, {"X", "Y"})], [(1, 2, "X")], [(0, 3, None)]]
    cutter = SegmentTagger("log_loss", C=10.0).fit(X, cuts)
    assert cutter.log_probability(X, cuts)[2] == pytest.approx(0.0)
    for model, y in ((tagger, Y), (cutter, cuts)):
        assert len(model.suspects(X, y).found) == 3
        for method in (model.score, model.report):
            with pytest.raises(DataError, match="must be labelled completely"):
                method(X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_partial_segments_are_completed(loss: str) -> None:
    spelled = [["O", "B-X", None], [None, "B-X", "O"], ["O", None, "O"]]
    tagger = SegmentTagger(loss=loss, C=10.0).fit(X, spelled)
    assert tagger.predict(X) == [[(1, 2, "X")]] * 3
    cuts = [[(0, 1, None), (1, 2, {"X", "Y"})], [(1, 2, "X")], [(0, 3, None)]]
    assert SegmentTagger(loss=loss, C=10.0).fit(X, cuts).predict(X)[1] == [(1, 2, "X")]


def test_partial_segments_that_do_not_fit_are_refused() -> None:
    rules = Constraints(transitions=[("X", "X"), ("X", "O")])
    cuts = [[(1, 2, "X"), (2, 3, None)], [], []]
    said = refusal(SegmentTagger(constraints=rules, max_length=1), X, cuts)
    assert "sequence 0: no segments agree" in said
    assert "at token 2" in said


@pytest.mark.parametrize("loss", LOSSES)
def test_partial_nodes_are_completed(loss: str) -> None:
    one, other = nx.path_graph(3), nx.path_graph(3)
    one.nodes[0]["colour"], other.nodes[2]["colour"] = "blue", "brown"
    labels = [{0: "sea", 1: None, 2: {"sea", "land"}}, ["land", None, "land"]]
    labeler = GraphLabeler(loss=loss, C=5.0).fit([one, other], labels)
    first, second = labeler.predict([one, other])
    assert first[0] == "sea"
    assert second == {0: "land", 1: "land", 2: "land"}


@pytest.mark.parametrize("loss", LOSSES)
def test_partial_classes_are_completed(loss: str) -> None:
    rows = [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}, {"b": 1}]
    model = MulticlassClassifier(loss=loss, C=5.0)
    model.fit(rows, ["x", {"y", "z"}, None, "y"])
    assert model.predict(rows).tolist()[:2] == ["x", "y"]
    numbers = MulticlassClassifier(loss=loss).fit(np.eye(3), ["x", {"x", "y"}, "z"])
    assert numbers.classes_.tolist() == ["x", "y", "z"]


FORMS, TAGS = ["the", "dog", "barks"], ["D", "N", "V"]


def tree(heads: Any, labels: Any) -> Sentence:
    return Sentence.from_columns(forms=FORMS, upos=TAGS, heads=heads, labels=labels)


TREES = [
    tree([2, 3, 0], ["det", "subj", "root"]),
    tree([2, None, None], ["det", None, "_"]),
    tree([None, 3, 0], ["_", "subj", "root"]),
]


def test_partial_nodes_and_classes_have_probabilities_and_no_scores() -> None:
    path, y = nx.path_graph(3), ["a", "b", "a"]
    graphs = GraphLabeler("log_loss", C=5.0).fit([path], [y])
    given = [[None, "b", {"a", "b"}]]
    whole = [[k, "b", m] for k in "ab" for m in "ab"]
    each = graphs.log_probability([path] * 4, whole)
    found = graphs.log_probability([path], given)
    np.testing.assert_allclose(found, np.logaddexp.reduce(each))
    with pytest.raises(DataError, match="node 0: the label is None; what is scored"):
        graphs.score([path], given)

    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    some = np.array(["a", "b", "c", None], object)
    classes = MulticlassClassifier("log_loss").fit(x, some)
    listed = MulticlassClassifier("log_loss").fit(x, some.tolist())
    np.testing.assert_array_equal(classes.weights_, listed.weights_)
    p = classes.predict_proba(x)
    found = classes.log_probability(x, [None, {"a", "c"}, "b", {"c"}])
    right = [1.0, p[1, 0] + p[1, 2], p[2, 1], p[3, 2]]
    np.testing.assert_allclose(np.exp(found), right)


def test_partial_trees_are_completed_and_written(tmp_path: Path) -> None:
    assert TREES[1].unknown == (2, 3)
    assert TREES[0].without_heads([2, 3]) == TREES[1]
    parser = DependencyParser(hash_bits=8).fit(TREES)
    assert {s.heads for s in parser.predict(TREES)} == {(2, 3, 0)}
    text = "".join(s.to_text() for s in TREES)
    (tmp_path / "t.conllu").write_text(text)
    again = read_trees(tmp_path / "t.conllu", partial=True)
    assert [s.unknown for s in again] == [(), (2, 3), (1,)]
    assert "".join(s.to_text() for s in again) == text
    with pytest.raises(DataError, match="partial=True"):
        read_trees(tmp_path / "t.conllu")
    said = refusal(DependencyParser(hash_bits=8), TREES, dev=TREES)
    assert "only training data may be known in part" in said
    run("train", "parse", tmp_path / "t.conllu", "-m", tmp_path / "m", "-q",
        "--partial", "--hash-bits", 8)  # fmt: skip
    assert "known in part" in load(tmp_path / "m").status_


def test_partial_trees_may_know_nothing_of_a_sentence(tmp_path: Path) -> None:
    blank = TREES[0].without_heads([1, 2, 3])
    (tmp_path / "t.conllu").write_text(TREES[0].to_text() + blank.to_text())
    read = read_trees(tmp_path / "t.conllu", partial=True)
    assert [s.unknown for s in read] == [(), (1, 2, 3)]
    assert "known in part" in DependencyParser(hash_bits=8).fit(read).status_
    said = refusal(DependencyParser(hash_bits=8, labelled=False), read[1:])
    assert said.startswith("sentences: no head is known")


def test_sets_of_labels_spell_segments_of_several_types() -> None:
    rest = [["B-LOC", "O", "B-PER"], ["O", "B-PER", "I-PER"]]
    spelled = [[{"B-PER", "B-LOC"}, {"I-PER", "I-LOC"}, {"O"}], *rest]
    one = SegmentTagger(C=10.0, tol=1e-6).fit(X, spelled)
    other = SegmentTagger(C=10.0, tol=1e-6).fit(X, [[(0, 2, {"PER", "LOC"})], *rest])
    np.testing.assert_array_equal(one.weights_, other.weights_)
    assert "known in part" in one.status_
    said = refusal(SegmentTagger(), X, [[set(), "O", "O"], *rest])
    assert said.startswith("y, sequence 0, token 0: an empty set")
    said = refusal(SegmentTagger(), X, [[{"B", "I"}, "O", "O"], *rest])
    assert "do not spell one segment" in said


@pytest.mark.parametrize(
    ("heads", "settings", "why"),
    [
        ([2, 1, None, 0], {}, "words 1, 2 form a circle"),
        ([3, 4, 0, None], {}, "the arcs to words 1 and 2 cross"),
        ([3, 4, 0, None], {"order": 2}, "the arcs to words 1 and 2 cross"),
        ([0, None, 0, None], {}, "words 1, 3 are all roots"),
        ([0, 4, 0, None], {"projective": False}, "words 1, 3 are all roots"),
    ],
)
def test_heads_that_contradict_each_other_are_named(
    heads: Any, settings: Any, why: str
) -> None:
    wrong = Sentence.from_columns(forms=list("abcd"), heads=heads)
    parser = DependencyParser(hash_bits=8, labelled=False, **settings)
    said = refusal(parser, [TREES[0], wrong])
    assert said.startswith("sentence 1: no tree has all the heads that are known: ")
    assert why in said


def test_partial_files_spell_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(
        "the D\ndog N|V\n\na D\ncat N\n\nsees V\n? \\?\nx ?\n\n"
    )
    base = (tmp_path / "t", "-m", tmp_path / "m", "-q", "-C", 5)
    run("train", "tag", *base, "--partial")
    assert load(tmp_path / "m").classes_.tolist() == ["?", "D", "N", "V"]
    run("train", "tag", *base)
    assert "N|V" in load(tmp_path / "m").classes_
    (tmp_path / "t").write_text("the |\ndog N\n")
    assert "an empty set of labels" in message("train", "tag", *base, "--partial")
    (tmp_path / "t").write_text(
        "Ada B-PER|B-LOC\nRome I-PER|I-LOC\nran O\n\nAda B-PER|O\n\nYork B-LOC\n\n"
    )
    said = message("train", "segments", *base, "--partial")
    assert "sequence 1, token 0: the labels ['B-PER', 'O'] do not spell one" in said
    (tmp_path / "t").write_text("Ada B-PER\nsaw ?\nit O\n\nBob ?\nran O\n\n")
    run("train", "segments", *base, "--partial")
    assert load(tmp_path / "m").classes_.tolist() == ["O", "PER"]


def suspects(model: Path, train: Path, *options: Any) -> list[dict[str, Any]]:
    given = ("suspects", model, train, "--partial", "--json", *options)
    found: list[dict[str, Any]] = json.loads(run(*given).stdout)["suspects"]
    return found


def test_suspects_contradict_what_is_known_and_not_what_is_unknown(
    tmp_path: Path,
) -> None:
    right, wrong = "the D\ndog N\nbarks ?\n\n", "the D|V\ndog V\nbarks V\n\n"
    unknown = "the ?\ndog ?\nbarks V\n\n"
    train, model = tmp_path / "t", tmp_path / "m"
    train.write_text(right * 5 + unknown + wrong + right * 5)
    run("train", "tag", train, "-m", model, "-q", "-C", 1, "--partial")
    first, *others = suspects(model, train)
    assert (first["example"], first["differences"]) == (7, ["dog: V, N"])
    assert all(not one["differences"] for one in others)
    assert max(one["score"] for one in others) < 0.5 * first["score"]
    page = tmp_path / "page.html"
    told = (tmp_path / "told", "--partial", "--train", train, "-o", page)
    told[0].write_text("the D\ndog N\nbarks V\n\n")
    run("report", model, *told)
    assert '"suspects":{"by":"by the least probable part' in page.read_text()
    assert "must be labelled completely" in message(
        "report", model, train, "--partial", "-o", page
    )


def test_suspects_of_all_kinds_are_known_in_part(tmp_path: Path) -> None:
    train, model = tmp_path / "t", tmp_path / "m"
    train.write_text("Ada B-PER\nsaw ?\nit O\n\nBob ?\nran O\n\n")
    run("train", "segments", train, "-m", model, "-q", "-C", 5, "--partial")
    assert len(suspects(model, train)) == 2
    train.write_text("".join(s.to_text("conllu") for s in TREES))
    run("train", "parse", train, "-m", model, "-q", "--partial", "--hash-bits", 8)
    found = suspects(model, train)
    assert len(found) == len(TREES)
    assert all(not one["wrong"] for one in found)
    assert all(not one["wrong"] for one in suspects(model, train, "--folds", 3))
    train.write_text("(S (NP (D the) (N dog)) (VP (V barks)))\n" * 2
                     + "(? (? the dog) barks)\n")  # fmt: skip
    run("train", "constituency", train, "-m", model, "-q", "--partial")
    assert len(suspects(model, train)) == 3
