"""Make the model files beside this script; run it once for every format version.

The files of a version are never made again: `test_model_files` shows that they
still load, and still predict what `predictions-<version>.json` says.
"""

import json
import sys
from pathlib import Path

from partwise import MulticlassClassifier, SequenceTagger
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
    for name, model in (("tagger", tagger), ("classifier", classifier)):
        path = HERE / f"{name}-{FORMAT_VERSION}.partwise"
        if path.exists():
            sys.exit(f"{path.name} exists; files of a version are made once")
        model.save(path)
    known = HERE / f"predictions-{FORMAT_VERSION}.json"
    known.write_text(json.dumps({"inputs": [X, rows.tolist()], **predictions}) + "\n")


if __name__ == "__main__":
    main()
