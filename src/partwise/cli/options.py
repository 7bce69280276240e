"""Options that several commands or kinds share."""

from __future__ import annotations

import codecs
from enum import StrEnum
from typing import Annotated

import typer


class Decoding(StrEnum):
    """How a model chooses an output: by its score, or by what it is like on average."""

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

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")]


def _known_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(f"unknown encoding {name!r} (try utf-8 or latin-1)") from None
    return name


# --- files ----------------------------------------------------------------------------

FORMAT = typer.Option(
    help="How the data is laid out (default: columns, or what the model or the file "
    "tells).",
    metavar="NAME",
    rich_help_panel=FILES,
    show_default=False,
)
"""What all formats say of themselves; the values that there are differ by kind."""
Separator = Annotated[
    str | None,
    typer.Option(
        help="The one character between columns, such as ',' or '\\t' (default: any "
        "blanks; in tables a tab if the first line has one, or else a comma).",
        rich_help_panel=FILES,
        show_default=False,
    ),
]
Comments = Annotated[
    str | None,
    typer.Option(help="Leave out lines that begin with this.", rich_help_panel=FILES),
]
SkipDocstart = Annotated[
    bool,
    typer.Option(
        "--skip-docstart",
        help="Leave out lines that begin with -DOCSTART-.",
        rich_help_panel=FILES,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        help="How bytes stand for characters.",
        callback=_known_encoding,
        rich_help_panel=FILES,
    ),
]
LabelColumn = Annotated[
    int,
    typer.Option(
        help="The column of the labels, from 0; negative ones count from the end.",
        rich_help_panel=FILES,
    ),
]

# --- prediction -----------------------------------------------------------------------

Marginals = Annotated[
    bool,
    typer.Option(
        "--marginals",
        help="Add the probability of each predicted label, arc, bracket, edge or value "
        "under the model (margin losses do not calibrate it).",
    ),
]
KBest = Annotated[
    int | None,
    typer.Option(min=1, help="The K best outputs with scores.", metavar="K"),
]
JsonLines = Annotated[
    bool, typer.Option("--json", help="Write a JSON object a sentence, or row.")
]
DecodingOption = Annotated[
    Decoding,
    typer.Option(
        help="The output with the highest score, or the one that is best on average, "
        "by the probabilities: with the most arcs right, or the least cost.",
    ),
]
Confusion = Annotated[
    bool, typer.Option("--confusion", help="Show which labels are confused.")
]
Label = Annotated[str | None, typer.Option(help="Only the features of this label.")]

# --- training -------------------------------------------------------------------------

Train = Annotated[
    str,
    typer.Argument(metavar="TRAIN", help="Training data: a file, plain or gzip, or -."),
]
ModelPath = Annotated[
    str, typer.Option("--model", "-m", "-o", help="Where to save the model.")
]
Dev = Annotated[
    str | None,
    typer.Option(
        help="Development data: stop when its score no longer rises.",
        rich_help_panel=FILES,
    ),
]
