"""Make the model files beside this script; run it once for every format version.

The files of a version are never made again: `test_model_files` and `test_parser_files`
show that they still load, and still predict what `predictions-<version>.json` and
`trees-<version>.conllu` say.
"""

import io
import json
import sys
from pathlib import Path

from partwise import DependencyParser, MulticlassClassifier, SequenceTagger
from partwise.data import read_trees, write_trees
from partwise.model_file import FORMAT_VERSION
from partwise.synthetic import make_classes, make_corpus

HERE = Path(__file__).parent


def tagging_data() -> tuple[list[list[dict[str, object]]], list[list[str]]]:
    sentences = make_corpus(25, random_state=5).sentences
    X = [
        [{"end": w[-2:], "title": w.istitle(), "size": len(w) / 10} for w in s.words]
        for s in sentences
    ]
    return X, [list(s.chunks) for s in sentences]


def main() -> None:
    predictions = {}
    X, chunks = tagging_data()
    tagger = SequenceTagger(
        pairs="observed",
        constraints="BIO",
        costs={("O", "B-NP"): 2.0},
        transition_features=["title"],
    ).fit(X, chunks)
    predictions["tagger"] = tagger.predict(X)
    rows, labels = make_classes(60, n_classes=3, n_features=8, random_state=5)
    classifier = MulticlassClassifier().fit(rows, labels)
    predictions["classifier"] = classifier.predict(rows).tolist()
    trees = read_trees(io.StringIO(make_corpus(12, random_state=5).to_conllu()))
    parser = DependencyParser(hash_bits=12).fit(trees)
    write_trees(HERE / f"trees-{FORMAT_VERSION}.conllu", parser.predict(trees))
    models = {"tagger": tagger, "classifier": classifier, "parser": parser}
    for name, model in models.items():
        path = HERE / f"{name}-{FORMAT_VERSION}.partwise"
        if path.exists():
            sys.exit(f"{path.name} exists; files of a version are made once")
        model.save(path)
    known = HERE / f"predictions-{FORMAT_VERSION}.json"
    known.write_text(json.dumps({"inputs": [X, rows.tolist()], **predictions}) + "\n")


if __name__ == "__main__":
    main()
