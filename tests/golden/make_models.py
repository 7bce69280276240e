"""Make the model files beside this script that are missing, and what they predict.

The files of a version are never made again: tests show that they still load, and still
predict what the file of answers beside each says.
"""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from partwise import (
    BayesianNetworkClassifier,
    ConstituencyParser,
    DependencyParser,
    GraphArrays,
    GraphLabeler,
    HiddenMarkovModel,
    LatticeRanker,
    MulticlassClassifier,
    Pipeline,
    SegmentTagger,
    SequenceTagger,
)
from partwise.constituents import words
from partwise.data import ColumnData, read_trees, write_lattices, write_trees
from partwise.features import Gazetteer, WordVectors
from partwise.model_file import FORMAT_VERSION
from partwise.synthetic import make_classes, make_corpus, make_lattices
from tiny_treebank import tiny_treebank
from vector_inputs import with_arrays

HERE = Path(__file__).parent


def beside(name: str, ending: str) -> Path:
    return HERE / f"{name}-{FORMAT_VERSION}.{ending}"


def save_answers(name: str, inputs: Any, predictions: Any) -> None:
    known = {"inputs": inputs, "predictions": predictions}
    beside(name, "json").write_text(json.dumps(known) + "\n")


def make_tagger() -> SequenceTagger:
    sentences = make_corpus(25, random_state=5).sentences
    X = [
        [{"end": w[-2:], "title": w.istitle(), "size": len(w) / 10} for w in s.words]
        for s in sentences
    ]
    tagger = SequenceTagger(
        pairs="observed",
        constraints="BIO",
        costs={("O", "B-NP"): 2.0},
        transition_features=["title"],
    ).fit(X, [list(s.chunks) for s in sentences])
    save_answers("tagger", X, tagger.predict(X))
    return tagger


def make_classifier() -> MulticlassClassifier:
    rows, labels = make_classes(60, n_classes=3, n_features=8, random_state=5)
    classifier = MulticlassClassifier().fit(rows, labels)
    save_answers("classifier", rows.tolist(), classifier.predict(rows).tolist())
    return classifier


def make_parser() -> DependencyParser:
    trees = read_trees(io.StringIO(make_corpus(12, random_state=5).to_conllu()))
    parser = DependencyParser(hash_bits=12).fit(trees)
    write_trees(beside("parser", "conllu"), parser.predict(trees))
    return parser


def make_labeler() -> GraphLabeler:
    """Label rings of nodes, whose edges and neighbours of three have features too."""
    rng = np.random.default_rng(5)
    graphs, labels = [], []
    for size in (3, 4, 5, 6, 7, 8):
        colours = rng.integers(3, size=size)
        nodes = [{"shade": float(c + rng.normal(0, 0.8))} for c in colours]
        edges = [[i, (i + 1) % size] for i in range(size)]
        same = [{"same": float(colours[a] == colours[b])} for a, b in edges]
        graphs.append([nodes, edges, same])
        labels.append([("red", "green", "blue")[c] for c in colours])
    asked = [GraphArrays(*graph) for graph in graphs]
    labeler = GraphLabeler(loss="squared_hinge").fit(asked, labels)
    save_answers("labeler", graphs, [list(own) for own in labeler.predict(asked)])
    return labeler


def make_constituency() -> ConstituencyParser:
    trees = make_corpus(5, random_state=5).to_constituents()
    parser = ConstituencyParser(hash_bits=6, solver="perceptron", max_iter=5).fit(trees)
    sentences = [words(tree) for tree in trees]
    save_answers("constituency", sentences, [str(t) for t in parser.predict(sentences)])
    return parser


def make_network() -> BayesianNetworkClassifier:
    """Predict two columns of a table, names and numbers, with holes."""
    rng = np.random.default_rng(5)
    rows = []
    for a, b in rng.integers(0, 3, (40, 2)).tolist():
        rows.append(
            {"a": "xyz"[a], "b": b, "c": int(a == b), "d": "no yes".split()[a > b]}
        )
    graph = [("a", "d"), ("b", "d"), ("a", "c"), ("b", "c")]
    model = BayesianNetworkClassifier(graph, target=["d", "b"], C=0.3, tol=0.05)
    model.fit(rows)
    asked = [
        {"a": row["a"], "c": None if i % 3 else row["c"]} for i, row in enumerate(rows)
    ]
    save_answers("network", asked, model.predict(asked).tolist())
    return model


def make_hidden_markov() -> HiddenMarkovModel:
    sentences = make_corpus(8, random_state=5).sentences
    X = [[w[-2:] for w in s.words] for s in sentences]
    chunks = [list(s.chunks) for s in sentences]
    model = HiddenMarkovModel(C=0.1, tol=0.01).fit(X, chunks)
    asked = [*X, ["never", "seen", *X[0]]]
    save_answers("hidden_markov", asked, model.predict(asked))
    return model


def make_ranker() -> LatticeRanker:
    """Rank by few weights; the lattices that it is asked have paths of its own words.

    What it predicts are their good paths.
    """
    ranker = LatticeRanker(
        "hinge", C=10.0, penalty="l1", margin="unit", outputs="words", tol=0.01
    ).fit(make_lattices(12, 5, max_words=3))
    asked = make_lattices(5, 6, max_words=3)
    answers = [
        replace(lattice, good=paths)
        for lattice, paths in zip(asked, ranker.predict_kbest(asked, 3), strict=True)
    ]
    write_lattices(beside("ranker", "jsonl"), answers)
    return ranker


def make_segments() -> SegmentTagger:
    """Find names in dicts, with phrases as features, and sets that keep a promise."""
    sentences = make_corpus(16, random_state=5).sentences
    X = [[{"word": w, "end": w[-2:]} for w in s.words] for s in sentences]
    y = [list(s.chunks) for s in sentences]
    tagger = SegmentTagger(
        max_length={"NP": 4, "VP": 3},
        whole=["word"],
        gazetteers=[Gazetteer({"pet": ["small dog", "cat"]})],
        calibrate="temperature",
        tol=0.05,
    ).fit(X[:10], y[:10], dev=(X[10:], y[10:]))
    save_answers("segments", X, tagger.predict(X))
    return tagger


def make_vectors() -> SequenceTagger:
    """Tag by words, by vectors in dicts and by vectors of a table."""
    rng = np.random.default_rng(5)
    sentences = make_corpus(16, random_state=5).sentences
    X = [
        [{"word": w, "shape": [float(len(w)), float(w.istitle())]} for w in s.words]
        for s in sentences
    ]
    y = [list(s.chunks) for s in sentences]
    known = sorted({token["word"] for own in X for token in own})[::2]
    table = WordVectors(known, rng.normal(size=(len(known), 3)), name="table")
    tagger = SequenceTagger(
        "log_loss",
        vectors=table,
        scale_vectors=True,
        calibrate="isotonic",
        tol=0.05,
    )
    asked = with_arrays(X)
    tagger.fit(asked[:10], y[:10], dev=(asked[10:], y[10:]))
    save_answers("vectors", X, tagger.predict(asked))
    return tagger


def make_pipeline() -> Pipeline:
    """Annotate text with all steps; tags are taken apart, as large sets of them are."""
    with mock.patch("partwise.estimators.pipeline.tags.MOST_LABELS", 5):
        pipeline = Pipeline(folds=1).fit(tiny_treebank(2))
    texts = ["The dogs bark. Cats don't bark!", "A small cat isn't asleep."]
    known = [pipeline.annotate(text).to_conllu() for text in texts]
    save_answers("pipeline", texts, known)
    return pipeline


def make_names() -> Pipeline:
    """Find names as well; equal tensors are stored once, and all are compressed."""
    corpus = ColumnData.from_sentences(
        [[("Cats", "B-ANIMAL"), ("bark", "O")], [("The", "O"), ("cat", "B-ANIMAL")]]
    )
    pipeline = Pipeline(steps="tokens,words,upos,lemmas", folds=1)
    pipeline.fit(tiny_treebank(), entities=corpus)
    text = "The dogs don't bark.  The cat slept!\nA dog isn't a cat .\n\n\nCats bark\n"
    beside("names", "conllu").write_text(pipeline.annotate(text).to_conllu())
    return pipeline


def make_second_order() -> DependencyParser:
    """Parse with parts of siblings and grandparents, over the arcs that are left."""
    trees = read_trees(io.StringIO(make_corpus(12, random_state=5).to_conllu()))
    parser = DependencyParser(order=2, hash_bits=10, max_iter=3).fit(trees)
    write_trees(beside("second_order", "conllu"), parser.predict(trees))
    return parser


def endings() -> tuple[Any, Any]:
    """Return words as their endings, and their chunks."""
    sentences = make_corpus(16, random_state=5).sentences
    X = [[{"end": w[-2:], "title": w.istitle()} for w in s.words] for s in sentences]
    return X, [list(s.chunks) for s in sentences]


def make_hidden() -> SequenceTagger:
    """Tag with two states behind every label."""
    X, y = endings()
    tagger = SequenceTagger("log_loss", states=2, max_iter=10).fit(X, y)
    save_answers("hidden", X, tagger.predict(X))
    return tagger


def make_hidden_brackets() -> ConstituencyParser:
    """Parse with two states behind every symbol of a grammar."""
    trees = make_corpus(5, random_state=5).to_constituents()
    parser = ConstituencyParser(hash_bits=6, states=2, max_iter=3).fit(trees)
    sentences = [words(tree) for tree in trees]
    found = [str(tree) for tree in parser.predict(sentences)]
    save_answers("hidden_brackets", sentences, found)
    return parser


def make_order_two() -> SequenceTagger:
    """Tag with labels that depend on the two before them."""
    X, y = endings()
    tagger = SequenceTagger(order=2, max_iter=10).fit(X, y)
    save_answers("order_two", X, tagger.predict(X))
    return tagger


def main() -> None:
    makers = (
        make_tagger,
        make_classifier,
        make_parser,
        make_labeler,
        make_constituency,
        make_hidden_markov,
        make_network,
        make_ranker,
        make_segments,
        make_vectors,
        make_pipeline,
        make_names,
        make_second_order,
        make_hidden,
        make_hidden_brackets,
        make_order_two,
    )
    for make in makers:
        path = beside(make.__name__.removeprefix("make_"), "partwise")
        if path.exists():
            print(f"{path.name} exists; files of a version are made once")
        else:
            make().save(path)


if __name__ == "__main__":
    main()
