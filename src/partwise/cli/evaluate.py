"""``partwise evaluate``: how good predictions are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partwise.cli.bayesian_network.files import MISSING, NETWORKS, TableLayout
from partwise.cli.constituency.files import BracketLayout, is_bracketed
from partwise.cli.dependency.files import TreeLayout
from partwise.cli.files import Layout
from partwise.cli.kinds import (
    check_tags_sequences,
    is_constituency_parser,
    is_hidden_markov,
    is_lattice_ranker,
    is_model_file,
    is_network,
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
    KeepFunctions,
    LabelColumn,
    Separator,
    SkipDocstart,
)
from partwise.errors import DataError

CUTOFF = 40


def evaluate(
    first: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]",
            help="A model saved by `partwise train`, or a file with right trees.",
        ),
    ],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Labelled data: a file or -; or a file with predicted trees.",
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
    missing: Annotated[
        str | None,
        typer.Option(
            help=f"Cells that hold no value, beside empty ones (default: {MISSING}).",
            metavar="TEXT",
            rich_help_panel=NETWORKS,
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
    cutoff: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Constituency trees: score sentences of at most N words apart, too "
            f"(default: {CUTOFF}).",
            metavar="N",
            rich_help_panel=PARSERS,
            show_default=False,
        ),
    ] = None,
    format: AnyDataFormat = None,
    keep_functions: KeepFunctions = False,
    label_column: LabelColumn = LABEL_COLUMN,
    separator: Separator = None,
    comments: Comments = None,
    skip_docstart: SkipDocstart = False,
    encoding: Encoding = "utf-8",
    json: AsJson = False,
) -> None:
    """Measure a model on labelled data, or predictions.

    MODEL FILE predicts and compares. FILE alone has the right and the predicted labels
    in its last two columns, as for conlleval. Two files of trees, GOLD PREDICTED, have
    the right and the predicted ones: dependency trees, or trees in brackets, which are
    scored as by EVALB.
    """
    model: Any = (
        load_model(first) if second is not None and is_model_file(first) else None
    )
    for_taggers = {
        **{"--confusion": confusion, "--scheme": scheme, "--separator": separator},
        **{"--comments": comments, "--skip-docstart": skip_docstart},
        "--label-column": label_column != LABEL_COLUMN,
    }
    for_brackets = {"--cutoff": cutoff, "--keep-functions": keep_functions}
    for_arcs = {"--decoding": decoding, "--no-subtypes": no_subtypes}
    if is_lattice_ranker(model) and second is not None:
        from partwise.cli.lattice.evaluate import evaluate_lattices

        what = f"{first} ranks lattices, which are JSON lines"
        for_trees = {**for_arcs, **for_brackets, "--format": format}
        unknown = {**for_taggers, **for_trees, "--missing": missing}
        refuse_options(what, "other models", unknown)
        evaluate_lattices(model, second, encoding, json)
        return
    if is_network(model):
        assert second is not None
        own = {"--confusion", "--separator"}
        rest = {name: value for name, value in for_taggers.items() if name not in own}
        others = {"--format": format, **rest, **for_arcs, **for_brackets}
        refuse_options(f"{first} predicts columns", "taggers and parsers", others)
        tables = TableLayout(separator, missing or MISSING, encoding)
        _evaluate_table(model, second, tables, confusion, json)
        return
    for_networks = {"--missing": missing}
    refuse_options("none was given", "Bayesian networks", for_networks)
    what = f"{first} is a parser" if model else "two files of trees were given"
    if second is not None and _are_in_brackets(first, model, format, encoding):
        refuse_options(what, "taggers", for_taggers)
        refuse_options(what, "dependency trees", for_arcs)
        brackets = BracketLayout(encoding, keep_functions, format)
        _evaluate_brackets(first, second, model, brackets, cutoff or CUTOFF, json)
        return
    if second is not None and (model is None or is_parser(model)):
        refuse_options(what, "taggers", for_taggers)
        refuse_options(what, "trees in brackets", for_brackets)
        reader = first if model else "a comparison of two files"
        trees = TreeLayout(tree_format(format, reader), encoding)
        _evaluate_trees(first, second, model, trees, decoding, no_subtypes, json)
        return
    for_parsers = {**for_arcs, **for_brackets}
    options = (separator, comments, skip_docstart, encoding)
    from partwise.cli.sequence.evaluate import (
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
        if is_hidden_markov(model):
            del for_parsers["--decoding"]
        refuse_options(f"{first} is a tagger", "parsers", for_parsers)
        layout = Layout(resolve_format(model, format, first), *options)
        gold, predicted = from_tagger(model, second, layout, label_column, decoding)
    scores = measure(gold, predicted, scheme, confusion)
    if json:
        from partwise.cli.output import print_json

        print_json(as_dict(scores))
    else:
        show(scores)


def _evaluate_table(
    model: Any, path: str, layout: TableLayout, confusion: bool, json: bool
) -> None:
    from partwise.cli.bayesian_network.evaluate import as_dict, measure, show

    scores = measure(model, path, layout, confusion)
    if json:
        from partwise.cli.output import print_json

        print_json(as_dict(scores))
    else:
        show(scores)


def _are_in_brackets(
    first: str, model: Any, format: DataFormat | None, encoding: str
) -> bool:
    """Say whether constituency trees are compared."""
    if model is not None:
        return is_constituency_parser(model)
    if format is not None:
        return format is DataFormat.brackets
    return is_bracketed(first, encoding)


def _evaluate_brackets(
    first: str,
    second: str,
    model: Any,
    layout: BracketLayout,
    cutoff: int,
    json: bool,
) -> None:
    from partwise.cli.constituency.evaluate import measure, show

    if layout.format not in (None, DataFormat.brackets):
        raise ValueError(
            f"constituency trees are read from brackets, not from {layout.format} files"
        )
    if model is None:
        _check_two_files(first, second)
        gold = layout.read(first)
        found: list[Any] = layout.parses(second)
    else:
        from partwise.cli.constituency.predict import parse

        gold = layout.read(second)
        found, failed = parse(model, [placed.tree for placed in gold])
        if failed:
            typer.echo(
                f"warning: {len(failed)} of {len(gold)} sentences have no tree under "
                f"the grammar (the first is {gold[failed[0]].place}): theirs are flat",
                err=True,
            )
    scores = measure(gold, found, cutoff)
    if json:
        from partwise.cli.output import print_json

        print_json(scores.to_dict())
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
    from partwise.cli.dependency.evaluate import as_dict, measure, show
    from partwise.cli.dependency.predict import predicted

    if model is None:
        refuse_options("two treebanks were given", "parsers", {"--decoding": decoding})
        _check_two_files(first, second)
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


def _check_two_files(first: str, second: str) -> None:
    if first == second == "-":
        raise ValueError("GOLD and PREDICTED cannot both be standard input")
    if is_model_file(second):
        raise DataError(
            f"{second}: is a model (give it first: partwise evaluate {second} {first})"
        )


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
