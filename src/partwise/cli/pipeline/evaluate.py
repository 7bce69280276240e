"""What ``partwise evaluate`` measures of pipelines: the CoNLL 2018 metrics."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from partwise.cli.options import Encoding
from partwise.cli.output import Report

if TYPE_CHECKING:
    from partwise import Pipeline
    from partwise.metrics import Conll18Scores


class Start(StrEnum):
    """What is given, so that the rest is predicted."""

    text = "text"
    tokens = "tokens"
    gold = "gold"


def evaluate(
    model: Pipeline,
    file: str,
    *,
    start: Annotated[
        Start,
        typer.Option(
            "--from",
            help="What is given: the raw text; or sentences and words; or (gold) tags "
            "and lemmas as well, so that only trees are predicted.",
        ),
    ] = Start.text,
    encoding: Encoding = "utf-8",
) -> Report:
    """Measure a pipeline on a treebank, from its text on.

    Pipelines are measured by the metrics of the CoNLL 2018 shared task.
    """
    from partwise.data import read_trees, text_of
    from partwise.estimators.pipeline.pipeline import KEPT
    from partwise.metrics import conll18_scores

    gold = [one for one in read_trees(file, "conllu", encoding=encoding) if len(one)]
    if start is Start.text:
        found = model.annotate(text_of(gold)).sentences
    else:
        kept = KEPT if start is Start.gold else ()
        found = model.annotate_sentences(gold, keep=kept)
    scores = conll18_scores(gold, found)
    return Report(scores, partial(_show, scores))


def _show(scores: Conll18Scores) -> None:
    from partwise.cli.output import Percent, print_table

    names = {"ufeats": "UFeats", "alltags": "AllTags"}
    capitals = {"upos", "xpos", "uas", "las", "clas", "mlas", "blex"}
    rows: list[list[object]] = []
    for name, score in scores.by_name.items():
        shown = name.upper() if name in capitals else names.get(name, name)
        aligned = score.aligned_accuracy
        rows.append(
            [
                shown,
                Percent(score.precision),
                Percent(score.recall),
                Percent(score.f1),
                "" if aligned is None or name == "words" else Percent(aligned),
            ]
        )
    columns = ["metric", "precision", "recall", "F1", "of aligned words"]
    print_table("result", columns, rows)
