"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How a data file is laid out."""

    columns = "columns"
    crfsuite = "crfsuite"
    svmhmm = "svmhmm"


LABEL_COLUMN = -1

FILES = "Files"

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")]
Separator = Annotated[
    str | None,
    typer.Option(
        help="The one character between columns, such as ',' or '\\t' "
        "(default: any spaces and tabs).",
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
    str, typer.Option(help="How bytes stand for characters.", rich_help_panel=FILES)
]
LabelColumn = Annotated[
    int,
    typer.Option(
        help="The column of the labels, from 0; negative ones count from the end.",
        rich_help_panel=FILES,
    ),
]
