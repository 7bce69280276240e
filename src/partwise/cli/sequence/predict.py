"""What ``partwise predict`` writes for taggers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import (
    JsonLines,
    KBest,
    Marginals,
    Risk,
    Sample,
    Seed,
    check_risk_alone,
)
from partwise.cli.sequence.conllu import ConlluTagging
from partwise.cli.sequence.files import Format, SequenceFiles
from partwise.cli.sequence.tagging import Tagging
from partwise.cli.vectors import Vectors, attach, refuse_matrices
from partwise.errors import PartwiseError

if TYPE_CHECKING:
    from partwise import SequenceTagger

Spans = Annotated[
    bool, typer.Option("--spans", help="Write chunks, one JSON object per sentence.")
]


def predict(
    model: SequenceTagger,
    input: str,
    output: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    spans: Spans = False,
    sample: Sample = None,
    seed: Seed = 0,
    json: JsonLines = False,
    risk: Risk = None,
    labels: Annotated[
        bool,
        typer.Option(
            "--labels/--no-labels",
            help="crfsuite: whether lines begin with a label, which is ignored.",
        ),
    ] = True,
    vectors: Vectors = None,
    files: SequenceFiles,
) -> None:
    """Tag sequences.

    Taggers add a column with the label to column files. These need the columns that the
    model reads, in the same order, and may have more, such as labels. Taggers trained
    on CoNLL-U write it, with labels in the column they belong to and everything else
    unchanged. For other formats the output has one label per line, and an empty line
    after each sequence.

    With --kbest, each sentence is written K times, best first, after a line
    "# rank R score S"; with --sample N times, after a line "# sample R".
    """
    check_format(model, files.format)
    others = marginals or spans or kbest is not None or sample is not None
    check_risk_alone(risk, others)
    attach(model, vectors)
    tagging, pieces = Tagging, files.pieces(input, labels)
    if writes_conllu(model, files.format):
        tagging, pieces = ConlluTagging, files.conllu_pieces(input)
    labels_of = model.predict if risk is None else partial(_abstaining, model, risk)
    writer = tagging(model, labels_of, columns_read(model))
    if sample is not None:
        writer.write_samples(output, pieces, input, sample, seed, json)
        return
    writer.write(
        *(output, pieces, input),
        marginals=marginals, kbest=kbest, spans=spans, json=json,
    )  # fmt: skip


def _abstaining(model: SequenceTagger, risk: float, X: Any) -> list[list[Any]]:
    """Return labels, and ? where a model abstains."""
    return [
        ["?" if label is None else label for label in labels]
        for labels in model.predict(X, risk=risk)
    ]


def check_format(model: SequenceTagger, chosen: Format | None) -> None:
    """Refuse a format that a tagger cannot read."""
    kind = model._input.kind
    refuse_matrices(model)
    if kind == "dense":
        raise PartwiseError(
            "the model reads dense arrays, for which there is no file format; load it "
            "in Python with partwise.load"
        )
    if kind == "template":
        if chosen is Format.conllu and model.conllu_column is None:
            raise PartwiseError(
                "the model was not trained with --predict, which says where its labels "
                "belong in CoNLL-U; use --format columns"
            )
        if chosen not in (None, Format.columns, Format.conllu):
            raise PartwiseError(
                "the model was trained on columns with a template and cannot read "
                f"{chosen} files"
            )
    elif chosen in (None, Format.columns, Format.conllu):
        raise PartwiseError(
            "the model was trained on named features, not on columns; use "
            "--format crfsuite or --format svmhmm"
        )


def writes_conllu(model: SequenceTagger, chosen: Format | None) -> bool:
    """Say whether a tagger reads and writes CoNLL-U: if it was trained on it."""
    return model.conllu_column is not None and chosen is not Format.columns


def columns_read(model: SequenceTagger) -> list[int]:
    """Return the columns that a tagger reads, the one with the words first."""
    template = getattr(getattr(model._input, "encoder", None), "template", None)
    if template is None:
        return []
    lines = template.node_lines + template.edge_lines
    return [macro.column for line in lines for macro in line.macros] or [0]
