"""``partwise evaluate``: how good predictions are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partwise.cli.files import Layout
from partwise.cli.kinds import (
    check_tags_sequences,
    is_model_file,
    is_parser,
    load_model,
    refuse_options,
    resolve_format,
    tree_format,
)
from partwise.cli.options import (
    LABEL_COLUMN,
    PARSERS,
    AnyDataFormat,
    AsJson,
    Comments,
    DataFormat,
    Decoding,
    DecodingOption,
    Encoding,
    Format,
    LabelColumn,
    Separator,
    SkipDocstart,
)
from partwise.cli.treebanks import TreeLayout
from partwise.errors import DataError


def evaluate(
    first: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]",
            help="A model saved by `partwise train`, or a treebank with right trees.",
        ),
    ],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Labelled data: a file or -; or a treebank with predicted trees.",
        ),
    ] = None,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Show which labels are confused.")
    ] = False,
    scheme: Annotated[
        str | None,
        typer.Option(
            help="Count only chunks well formed in this scheme: IOB1, IOB2, IOBES, "
            "BILOU or BMEWO (default: lenient, as conlleval).",
            show_default=False,
        ),
    ] = None,
    decoding: DecodingOption = None,
    no_subtypes: Annotated[
        bool,
        typer.Option(
            "--no-subtypes",
            help="Compare labels up to the colon: acl for acl:relcl.",
            rich_help_panel=PARSERS,
        ),
    ] = False,
    format: AnyDataFormat = None,
    label_column: LabelColumn = LABEL_COLUMN,
    separator: Separator = None,
    comments: Comments = None,
    skip_docstart: SkipDocstart = False,
    encoding: Encoding = "utf-8",
    json: AsJson = False,
) -> None:
    """Measure a model on labelled data, or predictions.

    MODEL FILE predicts and compares. FILE alone has the right and the predicted labels
    in its last two columns, as for conlleval. Two treebanks, GOLD PREDICTED, have the
    right and the predicted trees.
    """
    model: Any = (
        load_model(first) if second is not None and is_model_file(first) else None
    )
    if second is not None and (model is None or is_parser(model)):
        for_taggers = {
            **{"--confusion": confusion, "--scheme": scheme, "--separator": separator},
            **{"--comments": comments, "--skip-docstart": skip_docstart},
            "--label-column": label_column != LABEL_COLUMN,
        }
        what = f"{first} is a parser" if model else "two treebanks were given"
        refuse_options(what, "taggers", for_taggers)
        reader = first if model else "a comparison of two files"
        trees = TreeLayout(tree_format(format, reader), encoding)
        _evaluate_trees(first, second, model, trees, decoding, no_subtypes, json)
        return
    for_parsers = {"--decoding": decoding, "--no-subtypes": no_subtypes}
    options = (separator, comments, skip_docstart, encoding)
    from partwise.cli.evaluate_tags import (
        as_dict,
        from_columns,
        from_tagger,
        measure,
        show,
    )

    if second is None:
        refuse_options("one file was given", "parsers and treebanks", for_parsers)
        _check_columns_alone(first, format)
        layout = Layout(Format.columns, *options)
        gold, predicted = from_columns(layout, first)
    else:
        check_tags_sequences(model, first)
        refuse_options(f"{first} is a tagger", "parsers", for_parsers)
        layout = Layout(resolve_format(model, format, first), *options)
        gold, predicted = from_tagger(model, second, layout, label_column)
    scores = measure(gold, predicted, scheme, confusion)
    if json:
        from partwise.cli.output import print_json

        print_json(as_dict(scores))
    else:
        show(scores)


def _evaluate_trees(
    first: str,
    second: str,
    model: Any,
    layout: TreeLayout,
    decoding: Decoding | None,
    no_subtypes: bool,
    json: bool,
) -> None:
    from partwise.cli.evaluate_trees import as_dict, measure, show
    from partwise.cli.predict_trees import predicted

    if model is None:
        refuse_options("two treebanks were given", "parsers", {"--decoding": decoding})
        if first == second == "-":
            raise ValueError("GOLD and PREDICTED cannot both be standard input")
        if is_model_file(second):
            raise DataError(
                f"{second}: is a model (give it first: partwise evaluate {second} "
                f"{first})"
            )
        gold, found = layout.read(first), layout.read(second)
    else:
        gold = layout.read(second)
        found = predicted(model, gold, decoding or Decoding.best)
    scores = measure(gold, found, subtypes=not no_subtypes)
    if json:
        from partwise.cli.output import print_json

        print_json(as_dict(scores))
    else:
        show(scores)


def _check_columns_alone(path: str, format: DataFormat | None) -> None:
    if format not in (None, DataFormat.columns):
        raise ValueError(
            "only column files hold predictions beside the right labels; give a MODEL, "
            "or two treebanks"
        )
    if is_model_file(path):
        raise DataError(
            f"{path}: is a model (give the labelled data as well: partwise evaluate "
            f"{path} FILE)"
        )
