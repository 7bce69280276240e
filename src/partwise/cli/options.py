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


class TreeFormat(StrEnum):
    """How a treebank is laid out."""

    conllu = "conllu"
    conllx = "conllx"
    heads = "heads"


class ShownFormat(StrEnum):
    """How a file of trees of any kind is laid out."""

    conllu = "conllu"
    conllx = "conllx"
    heads = "heads"
    brackets = "brackets"
    sentences = "sentences"
    lattices = "lattices"


class DataFormat(StrEnum):
    """How a data file of any model is laid out."""

    columns = "columns"
    crfsuite = "crfsuite"
    svmhmm = "svmhmm"
    conllu = "conllu"
    conllx = "conllx"
    heads = "heads"
    brackets = "brackets"
    sentences = "sentences"


class Decoding(StrEnum):
    """How a parser chooses a tree, or a hidden Markov model its states."""

    best = "best"
    minimum_risk = "minimum-risk"


class LatticeOutputs(StrEnum):
    """What tells the outputs of a lattice apart."""

    paths = "paths"
    words = "words"


LABEL_COLUMN = -1

FILES = "Files"
FEATURES = "Features"
LEARNING = "Learning"
RUN = "The run"
PARSERS = "Parsers"

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
CellSeparator = Annotated[
    str | None,
    typer.Option(
        help="The one character between cells, such as ';' (default: a tab if the "
        "first line has one, or else a comma).",
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
AnyDataFormat = Annotated[
    DataFormat | None,
    typer.Option(
        help="How the data is laid out. Models of feature files need it; that of a "
        "treebank is told from its name or its first word.",
        rich_help_panel=FILES,
    ),
]
DecodingOption = Annotated[
    Decoding | None,
    typer.Option(
        help="The tree with the highest score, or the one with the most arcs right on "
        "average, by their probabilities; of hidden Markov models, the most probable "
        "path, or the states that cost least on average (default: best).",
        rich_help_panel=PARSERS,
        show_default=False,
    ),
]

KeepFunctions = Annotated[
    bool,
    typer.Option(
        "--keep-functions",
        help="Trees in brackets: keep function tags (NP-SBJ) and empty elements.",
        rich_help_panel=FILES,
    ),
]

# --- training -----------------------------------------------------------------------

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
Loss = Annotated[
    str,
    typer.Option(
        help="What is minimised: squared_hinge, hinge or log_loss (a CRF).",
        rich_help_panel=LEARNING,
    ),
]
MarginLoss = Annotated[
    str,
    typer.Option(
        help="What is minimised: hinge or squared_hinge.",
        rich_help_panel=LEARNING,
    ),
]
Penalty = Annotated[
    str,
    typer.Option(
        help="What keeps weights small: l2; with log_loss or hinge also l1, which "
        "leaves many of them zero; with log_loss also elasticnet.",
        rich_help_panel=LEARNING,
    ),
]
L1Ratio = Annotated[
    float,
    typer.Option(
        help="The share of the L1 norm in elasticnet, 0 to 1.",
        rich_help_panel=LEARNING,
    ),
]
Margin = Annotated[
    str,
    typer.Option(
        help="By how much the right output must beat a wrong one: cost, or, for the "
        "hinge with penalty l1, unit.",
        rich_help_panel=LEARNING,
    ),
]
Positive = Annotated[
    bool,
    typer.Option(
        "--positive",
        help="No weight may be negative, for the hinge with penalty l1.",
        rich_help_panel=LEARNING,
    ),
]
SolverName = Annotated[
    str,
    typer.Option(
        help="How: auto; dcd-ssvm, dcd-light or cpd for squared_hinge; eg, sdca, "
        "lbfgs, cg or owlqn for log_loss; smo, frank-wolfe, cutting-plane or eg "
        "for hinge; sgd for any; perceptron, mira or mira-kbest, without a proof.",
        rich_help_panel=LEARNING,
    ),
]
SimplicialName = Annotated[
    str,
    typer.Option(
        help="How: auto or simplicial; simplicial-coordinate, one part of the data "
        "after the other; simplicial-online, for a stream of parts.",
        rich_help_panel=LEARNING,
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        help="Stop when proved to be within this fraction of the best.",
        rich_help_panel=LEARNING,
    ),
]
MaxIter = Annotated[
    int,
    typer.Option(help="The most passes over the data.", rich_help_panel=LEARNING),
]
Patience = Annotated[
    int,
    typer.Option(
        help="With --dev: stop after this many passes without a new best.",
        rich_help_panel=LEARNING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, help="Seed of everything random.", rich_help_panel=LEARNING),
]
CPath = Annotated[
    str | None,
    typer.Option(
        "--C-path",
        help="Train with each of these, such as 0.01,0.1,1, one after the other, "
        "and keep the model that is best on --dev.",
        rich_help_panel=LEARNING,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        help="Threads; -1 for one per core.",
        rich_help_panel=RUN,
        show_default=False,
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        help="Save the state of training there after every pass.",
        rich_help_panel=RUN,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on from --checkpoint if it exists.",
        rich_help_panel=RUN,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0, help="Stop after this many seconds.", rich_help_panel=RUN),
]
Float32 = Annotated[
    bool,
    typer.Option(
        "--float32", help="Save weights in half the space.", rich_help_panel=RUN
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose/--quiet",
        "-v/-q",
        help="Show progress and results, or only errors.",
        rich_help_panel=RUN,
    ),
]
