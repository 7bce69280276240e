"""Options that several commands or kinds share."""

from __future__ import annotations

import codecs
from enum import StrEnum
from typing import Annotated, Any

import typer


class WeightSign(StrEnum):
    """Which weights to show."""

    any = "any"
    positive = "positive"
    negative = "negative"


Sign = Annotated[
    WeightSign,
    typer.Option(help="Show weights of this sign: for a label, or against it."),
]


class Decoding(StrEnum):
    """How a model chooses an output: by its score, or by its expected cost."""

    best = "best"
    minimum_risk = "minimum-risk"

    @property
    def setting(self) -> str:
        """What estimators call it."""
        return self.value.replace("-", "_")


LABEL_COLUMN = -1

FILES = "Files"
FEATURES = "Features"
LEARNING = "Learning"
RUN = "The run"

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def in_panel(panel: str, help: str, *flags: str, **more: Any) -> Any:
    """Declare an option that the help of a command shows in one of its panels."""
    return typer.Option(*flags, help=help, rich_help_panel=panel, **more)


def _known_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(f"unknown encoding {name!r} (try utf-8 or latin-1)") from None
    return name


# --- files ----------------------------------------------------------------------------

FORMAT = in_panel(
    FILES,
    "The format of the data (default: the usual one, or detected from the file).",
    metavar="NAME",
)
"""What all formats have in common; each kind has its own values."""
Separator = Annotated[
    str | None,
    in_panel(
        FILES,
        "The character between columns, such as ',' or '\\t' (default: any whitespace; "
        "in tables a tab if the first line has one, otherwise a comma).",
    ),
]
Comments = Annotated[str | None, in_panel(FILES, "Skip lines that begin with this.")]
SkipDocstart = Annotated[
    bool,
    in_panel(FILES, "Skip lines that begin with -DOCSTART-.", "--skip-docstart"),
]
Encoding = Annotated[
    str, in_panel(FILES, "The character encoding of files.", callback=_known_encoding)
]
LabelColumn = Annotated[
    int,
    in_panel(
        FILES,
        "The column with the labels, counted from 0; negative numbers count from the "
        "end.",
    ),
]

Partial = Annotated[
    bool,
    in_panel(
        FILES,
        "Labels of TRAIN may be known in part: ? is any label, A|B one of two; a "
        "backslash before ?, | or itself makes it plain.",
        "--partial",
    ),
]

PartialData = Annotated[
    bool,
    typer.Option(
        "--partial",
        help="Labels, heads or brackets may be known in part, as in training with "
        "--partial.",
    ),
]
"""The same, for all kinds of models together."""

# --- prediction -----------------------------------------------------------------------

Marginals = Annotated[
    bool,
    typer.Option(
        "--marginals",
        help="Add the probability that the model gives to each predicted label, arc, "
        "bracket, edge or value (not calibrated with margin losses).",
    ),
]
KBest = Annotated[
    int | None,
    typer.Option(min=1, help="Write the K best outputs, with scores.", metavar="K"),
]
KBestDrawn = Annotated[
    int | None,
    typer.Option(min=1, help="Draw the K best outputs, with scores.", metavar="K"),
]
JsonLines = Annotated[
    bool, typer.Option("--json", help="Write one JSON object per sentence or row.")
]
DecodingOption = Annotated[
    Decoding,
    typer.Option(
        help="Choose the output with the highest score, or the one with the lowest "
        "expected cost: with the most arcs expected to be right, for example.",
    ),
]
Risk = Annotated[
    float | None,
    typer.Option(
        help="Abstain where a set of answers that lacks the right one no more often "
        "than this has several: a label is then ?, as it is of tokens that segments "
        "may have, and a head _ (models trained with --calibrate).",
        metavar="SHARE",
    ),
]


def check_risk_alone(risk: float | None, others: bool) -> None:
    """Refuse --risk with options whose answers do not abstain."""
    if risk is not None and others:
        raise ValueError(
            "--risk goes with none of --marginals, --kbest, --spans and --sample"
        )


Confusion = Annotated[
    bool, typer.Option("--confusion", help="Show which labels are confused with which.")
]
LogProbability = Annotated[
    bool,
    typer.Option(
        "--log-probability",
        help="Show the mean log-probability of the right labels of a sentence.",
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(min=1, help="Draw N outputs from the model instead of the best."),
]
Seed = Annotated[int, typer.Option(help="With --sample: the seed of the draws.")]
Label = Annotated[
    str | None, typer.Option(help="Show only the features of this label.")
]

# --- training -------------------------------------------------------------------------

Train = Annotated[
    str,
    typer.Argument(
        metavar="TRAIN",
        help="Training data: a file, plain or gzip, or - for standard input.",
    ),
]
ModelPath = Annotated[
    str, typer.Option("--model", "-m", "-o", help="Where to save the model.")
]
Continue = Annotated[
    str | None,
    in_panel(
        FILES,
        "A model to learn on from: its weights are kept as far as TRAIN, new examples, "
        "allows. Settings are its own, but for those you give.",
        "--continue",
        metavar="MODEL",
    ),
]
Dev = Annotated[
    str | None,
    in_panel(FILES, "Development data: stop when the score on it no longer improves."),
]
