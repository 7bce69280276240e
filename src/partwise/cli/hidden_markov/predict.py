"""Hidden Markov models predict and are measured as taggers are, on columns alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from partwise.cli.options import (
    FORMAT,
    LABEL_COLUMN,
    Comments,
    Confusion,
    Decoding,
    DecodingOption,
    Encoding,
    JsonLines,
    KBest,
    LabelColumn,
    Marginals,
    Separator,
    SkipDocstart,
)
from partwise.cli.output import Report
from partwise.cli.sequence.evaluate import Scheme, report, tagged
from partwise.cli.sequence.files import ColumnFormat, SequenceFiles
from partwise.cli.sequence.predict import Spans, Tagging

if TYPE_CHECKING:
    from partwise import HiddenMarkovModel


def predict(
    model: HiddenMarkovModel,
    input: str,
    output: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    spans: Spans = False,
    json: JsonLines = False,
    decoding: DecodingOption = Decoding.best,
    format: Annotated[ColumnFormat | None, FORMAT] = None,
    separator: Separator = None,
    comments: Comments = None,
    skip_docstart: SkipDocstart = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Find the states of symbols."""
    if decoding is not Decoding.best and (kbest is not None or spans):
        raise ValueError("--decoding goes with neither --kbest nor --spans")
    files = SequenceFiles(separator, comments, skip_docstart, encoding)
    states_of = partial(model.predict, decoding=decoding.setting)
    Tagging(model, states_of, [int(model.column)]).write(
        output, files, input, marginals=marginals, kbest=kbest, spans=spans, json=json
    )


def evaluate(
    model: HiddenMarkovModel,
    file: str,
    *,
    confusion: Confusion = False,
    scheme: Scheme = None,
    decoding: DecodingOption = Decoding.best,
    format: Annotated[ColumnFormat | None, FORMAT] = None,
    label_column: LabelColumn = LABEL_COLUMN,
    separator: Separator = None,
    comments: Comments = None,
    skip_docstart: SkipDocstart = False,
    encoding: Encoding = "utf-8",
) -> Report:
    """Measure a model on symbols with their states."""
    files = SequenceFiles(separator, comments, skip_docstart, encoding)
    states_of = partial(model.predict, decoding=decoding.setting)
    columns = [int(model.column)]
    gold, found = tagged(model, states_of, files, file, label_column, columns)
    return report(gold, found, scheme, confusion)
