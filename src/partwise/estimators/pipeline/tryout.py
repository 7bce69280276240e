"""A pipeline of two sentences, which uses all that others use."""

from __future__ import annotations

import io

from partwise.data.tree_files import read_trees
from partwise.estimators.pipeline.pipeline import Pipeline

ROWS = (
    ("1", "Dogs", "dog", "NOUN", "NNS", "Number=Plur", "2", "nsubj", "_", "NER=B-X"),
    ("2", "bark", "bark", "VERB", "VB", "_", "0", "root", "_", "SpaceAfter=No"),
    ("3", ".", ".", "PUNCT", ".", "_", "2", "punct", "_", "_"),
)


def try_out() -> None:
    """Train a pipeline with all steps, and annotate a text."""
    text = "\n".join("\t".join(row) for row in ROWS) + "\n\n"
    treebank = read_trees(io.StringIO(2 * text), "conllu")
    Pipeline(folds=2).fit(treebank, dev=treebank).annotate("Dogs bark. Cats bark.")
