"""``partwise predict``: labels for new data, as fast as it comes in."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partwise.cli.bayesian_network.files import MISSING, NETWORKS, TableLayout
from partwise.cli.constituency.files import BracketLayout
from partwise.cli.dependency.files import TreeLayout
from partwise.cli.files import Layout
from partwise.cli.kinds import (
    bracket_format,
    check_tags_sequences,
    is_constituency_parser,
    is_hidden_markov,
    is_lattice_ranker,
    is_network,
    is_parser,
    load_model,
    refuse_options,
    resolve_format,
    tree_format,
)
from partwise.cli.options import (
    FILES,
    AnyDataFormat,
    Comments,
    Decoding,
    DecodingOption,
    Encoding,
    KeepFunctions,
    LatticeOutputs,
    Separator,
    SkipDocstart,
)


def predict(
    model: Annotated[str, typer.Argument(help="A model saved by `partwise train`.")],
    input: Annotated[str, typer.Argument(help="The data: a file or -.")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write: a file or -.")
    ] = "-",
    marginals: Annotated[
        bool,
        typer.Option(
            "--marginals",
            help="Add the probability of each predicted label, arc or bracket, under "
            "the model (margin losses do not calibrate it).",
        ),
    ] = False,
    kbest: Annotated[
        int | None,
        typer.Option(min=1, help="Write the K best outputs with scores."),
    ] = None,
    spans: Annotated[
        bool,
        typer.Option("--spans", help="Write chunks, a JSON object a sentence."),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object a sentence.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Threads; -1 for one per core; those of training by default.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Other columns to predict than those of training; several times for "
            "several.",
            metavar="COLUMN",
            rich_help_panel=NETWORKS,
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
    outputs: Annotated[
        LatticeOutputs | None,
        typer.Option(
            help="Lattices, with --kbest: whether paths, or the words that they yield, "
            "are all different (default: as in training).",
            show_default=False,
        ),
    ] = None,
    format: AnyDataFormat = None,
    keep_functions: KeepFunctions = False,
    labels: Annotated[
        bool,
        typer.Option(
            "--labels/--no-labels",
            help="crfsuite: whether lines begin with a label, which is ignored.",
            rich_help_panel=FILES,
        ),
    ] = True,
    separator: Separator = None,
    comments: Comments = None,
    skip_docstart: SkipDocstart = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Predict labels, or trees.

    Column files come back with the label as one more column; they need the columns
    that the model reads, in the same order, and may have more (labels, say). For
    other formats the output has one label on each line, and an empty line after each
    sequence. Treebanks come back with new heads and labels, and all else as it was.

    Constituency parsers read sentences, one a line with blanks between words, or those
    of trees in brackets, and write trees in brackets, one a line.

    Lattice rankers read lattices, one a line as JSON, and write the words of the best
    path of each, or the numbers of its edges if it yields none.
    Bayesian networks read tables with a line of names, and write them with what they
    predict as more columns. Columns may be left out, cells may be empty.

    --kbest writes each sentence K times, best first, after a line "# rank R score S";
    in treebanks, after comments "# rank = R" and "# score = S".
    """
    if kbest is not None and (marginals or spans):
        raise ValueError("--kbest goes with neither --marginals nor --spans")
    if spans and marginals:
        raise ValueError("--spans has probabilities of its own; leave --marginals out")
    from partwise.cli.overwriting import refuse_overwriting
    from partwise.data import open_output

    fitted = load_model(model)
    if jobs is not None:
        fitted.set_params(n_jobs=jobs)
    refuse_overwriting({"--output": output}, {"MODEL": model})
    shared: dict[str, Any] = {"marginals": marginals, "kbest": kbest, "json": json}
    for_taggers = {
        **{"--spans": spans, "--no-labels": not labels, "--separator": separator},
        **{"--comments": comments, "--skip-docstart": skip_docstart},
    }
    for_arcs = {"--decoding": decoding}
    for_networks = {"--target": target, "--missing": missing}
    for_brackets = {"--keep-functions": keep_functions}
    if is_lattice_ranker(fitted):
        from partwise.cli.lattice.predict import write_paths

        what = f"{model} ranks lattices, which are JSON lines"
        for_trees = {**for_arcs, **for_brackets, "--format": format}
        unknown = {**for_taggers, **for_trees, **for_networks}
        refuse_options(what, "other models", unknown)
        if outputs is not None and kbest is None:
            raise ValueError("--outputs is about several best ones; give --kbest")
        with open_output(output) as out:
            chosen = None if outputs is None else outputs.value
            write_paths(out, fitted, input, encoding=encoding, outputs=chosen, **shared)
        return
    what = f"{model} predicts no paths"
    refuse_options(what, "lattice rankers", {"--outputs": outputs})
    if is_network(fitted):
        from partwise.cli.bayesian_network.predict import write_table

        del for_taggers["--separator"]
        others = {"--kbest": kbest, "--format": format, **for_arcs, **for_brackets}
        what = f"{model} predicts columns of tables"
        refuse_options(what, "taggers and parsers", {**for_taggers, **others})
        layout_of_table = TableLayout(separator, missing or MISSING, encoding)
        write_table(
            output, fitted, layout_of_table, input, target or [],
            marginals=marginals, json=json,
        )  # fmt: skip
        return
    refuse_options(f"{model} is none", "Bayesian networks", for_networks)
    if is_constituency_parser(fitted):
        from partwise.cli.constituency.predict import write_constituents

        refuse_options(f"{model} is a parser", "taggers", for_taggers)
        refuse_options(f"{model} finds phrases", "dependency parsers", for_arcs)
        brackets = BracketLayout(
            encoding, keep_functions, bracket_format(format, model)
        )
        with open_output(output) as out:
            write_constituents(out, fitted, brackets, input, **shared)
        return
    if is_parser(fitted):
        from partwise.cli.dependency.predict import write_parses

        refuse_options(f"{model} is a parser", "taggers", for_taggers)
        refuse_options(f"{model} finds heads", "trees in brackets", for_brackets)
        trees = TreeLayout(tree_format(format, model), encoding)
        how = decoding or Decoding.best
        with open_output(output) as out:
            write_parses(out, fitted, trees, input, decoding=how, **shared)
        return
    from partwise.cli.sequence.predict import write_tags

    check_tags_sequences(fitted, model)
    if not is_hidden_markov(fitted):
        refuse_options(f"{model} is a tagger", "parsers", for_arcs)
    elif decoding is not None and (kbest is not None or spans):
        raise ValueError("--decoding goes with neither --kbest nor --spans")
    refuse_options(f"{model} is a tagger", "parsers", for_brackets)
    layout = Layout(
        resolve_format(fitted, format, model), separator, comments, skip_docstart,
        encoding,
    )  # fmt: skip
    own: dict[str, Any] = {"has_labels": labels, "spans": spans, "decoding": decoding}
    with open_output(output) as out:
        write_tags(out, fitted, layout, input, **own, **shared)
