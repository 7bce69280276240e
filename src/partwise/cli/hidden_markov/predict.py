"""Hidden Markov models predict and are measured as taggers are, on columns alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from partwise.cli.options import (
    LABEL_COLUMN,
    Confusion,
    Decoding,
    DecodingOption,
    JsonLines,
    KBest,
    LabelColumn,
    Marginals,
)
from partwise.cli.output import Report
from partwise.cli.sequence.evaluate import Scheme, report, tagged
from partwise.cli.sequence.files import ColumnsOnly
from partwise.cli.sequence.predict import Spans
from partwise.cli.sequence.tagging import Tagging

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
    files: ColumnsOnly,
) -> None:
    """Find the states of symbols.

    Hidden Markov models write columns, as taggers do.
    """
    if decoding is not Decoding.best and (kbest is not None or spans):
        raise ValueError("--decoding goes with neither --kbest nor --spans")
    states_of = partial(model.predict, decoding=decoding.setting)
    Tagging(model, states_of, [int(model.column)]).write(
        *(output, files.stream(input), input),
        marginals=marginals, kbest=kbest, spans=spans, json=json,
    )  # fmt: skip


def evaluate(
    model: HiddenMarkovModel,
    file: str,
    *,
    confusion: Confusion = False,
    scheme: Scheme = None,
    decoding: DecodingOption = Decoding.best,
    label_column: LabelColumn = LABEL_COLUMN,
    files: ColumnsOnly,
) -> Report:
    """Measure a model on symbols with their states."""
    states_of = partial(model.predict, decoding=decoding.setting)
    columns = [int(model.column)]
    gold, found = tagged(model, states_of, files, file, label_column, columns)
    return report(gold, found, scheme, confusion)
