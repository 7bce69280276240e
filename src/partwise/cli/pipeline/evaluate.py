"""What ``partwise evaluate`` measures of pipelines: the CoNLL 2018 metrics."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from partwise.cli.options import Encoding
from partwise.cli.output import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwise import Pipeline
    from partwise.metrics import F1, ChunkScores


class Start(StrEnum):
    """What is given, so that the rest is predicted."""

    text = "text"
    tokens = "tokens"
    gold = "gold"


class Spans(StrEnum):
    """What a corpus of labelled spans is about."""

    entities = "entities"
    chunks = "chunks"


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
    of: Annotated[
        Spans | None,
        typer.Option(
            help="Pipelines: measure only named entities, or chunks, on a corpus like "
            "the one they were learnt from.",
        ),
    ] = None,
    encoding: Encoding = "utf-8",
) -> Report:
    """Measure a pipeline on a treebank, from its text on.

    Pipelines are measured by the metrics of the CoNLL 2018 shared task.
    """
    from partwise.cli.pipeline.files import read_treebank
    from partwise.data import text_of
    from partwise.estimators.pipeline.spans import SPAN_STEPS
    from partwise.estimators.pipeline.training import with_words_only
    from partwise.metrics import conll18_scores, text_span_scores

    if of is not None:
        return _of_spans(model, file, of, encoding)
    gold = [one for one in read_treebank(file, encoding) if len(one)]
    if start is Start.text:
        found = model.annotate(text_of(gold)).sentences
    else:
        kept = ("lemma", "upos", "xpos", "feats") if start is Start.gold else ()
        given = gold
        if start is Start.tokens and "tokens" in model.steps_:
            given = with_words_only(gold)  # what no step fills is not to look right
        found = model.annotate_sentences(given, keep=kept)
    scores = dict(conll18_scores(gold, found).by_name)
    for name, step in SPAN_STEPS.items():
        if name in model.steps_ and step.can_be_judged(gold):
            scores[name] = text_span_scores(gold, found, step.entry)
    shares = {name: score.to_dict() for name, score in scores.items()}
    return Report(shares, partial(_show, scores))


def _of_spans(model: Pipeline, file: str, of: Spans, encoding: str) -> Report:
    """Measure one step on words that are given."""
    from partwise.cli.pipeline.files import read_spans
    from partwise.estimators.pipeline.spans import SPAN_STEPS, labelled_sentences
    from partwise.metrics import chunk_scores

    step = SPAN_STEPS[of]
    if of not in model.steps_:
        raise ValueError(
            f"the pipeline has no step for {of}; train one with --{of} FILE"
        )
    gold = labelled_sentences(read_spans(file, encoding), step.entry)
    found = gold
    for name in ("upos", of):  # the others are not needed
        if name in model.steps_:
            found = model.steps_[name].apply(found)
    scores = chunk_scores(step.labels(gold), step.labels(found))
    return Report(scores, partial(_show_spans, scores))


def _show_spans(scores: ChunkScores) -> None:
    from partwise.cli.output import Percent, print_table

    rows = [
        [name, Percent(one.precision), Percent(one.recall), Percent(one.f1)]
        for name, one in [*scores.per_type.items(), ("all", scores.overall)]
    ]
    print_table("result", ["type", "precision", "recall", "F1"], rows)


def _show(scores: Mapping[str, F1]) -> None:
    from partwise.cli.output import Percent, print_table

    names = {"ufeats": "UFeats", "alltags": "AllTags"}
    capitals = {"upos", "xpos", "uas", "las", "clas", "mlas", "blex"}
    rows: list[list[object]] = []
    for name, score in scores.items():
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
