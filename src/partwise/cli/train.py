"""``partwise train``: from a data file to a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.files import Layout, make_template, read_features
from partwise.cli.options import (
    FILES,
    LABEL_COLUMN,
    AsJson,
    Comments,
    Encoding,
    Format,
    LabelColumn,
    Separator,
    SkipDocstart,
)

if TYPE_CHECKING:
    from partwise.solvers.loop import Solution

FEATURES = "Features"
LEARNING = "Learning"
RUN = "The run"

train_app = typer.Typer(no_args_is_help=True, help="Train a model on labelled data.")


@train_app.callback()
def _train() -> None:
    """Train a model on labelled data."""


@train_app.command()
def tag(
    train: Annotated[
        str,
        typer.Argument(
            metavar="TRAIN", help="Training data: a file, plain or gzip, or -."
        ),
    ],
    model: Annotated[
        str, typer.Option("--model", "-m", help="Where to save the model.")
    ],
    dev: Annotated[
        str | None,
        typer.Option(
            help="Development data: stop when its score no longer rises.",
            rich_help_panel=FILES,
        ),
    ] = None,
    format: Annotated[
        Format, typer.Option(help="How the files are laid out.", rich_help_panel=FILES)
    ] = Format.columns,
    label_column: LabelColumn = LABEL_COLUMN,
    separator: Separator = None,
    comments: Comments = None,
    skip_docstart: SkipDocstart = False,
    encoding: Encoding = "utf-8",
    template: Annotated[
        str | None,
        typer.Option(
            help="A CRF++ template file (default: a good template for tagging).",
            rich_help_panel=FEATURES,
            show_default=False,
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="Instead of a template file: ner, pos, or named blocks such as "
            "words,lower,affixes:4,shape,neighbours:2,tags.",
            rich_help_panel=FEATURES,
            show_default=False,
        ),
    ] = None,
    gazetteer: Annotated[
        list[str] | None,
        typer.Option(
            help="A file of phrases: a type, a tab and a phrase on each line, or "
            "phrases alone (the type is the file's name). May be given several times.",
            rich_help_panel=FEATURES,
            show_default=False,
        ),
    ] = None,
    clusters: Annotated[
        str | None,
        typer.Option(
            help="A file of word clusters: a word and its cluster on each line, or "
            "bits, word and count, as Brown clustering writes them.",
            rich_help_panel=FEATURES,
            show_default=False,
        ),
    ] = None,
    ignore_case: Annotated[
        bool,
        typer.Option(
            "--ignore-case",
            help="Find what --gazetteer and --clusters list in any case.",
            rich_help_panel=FEATURES,
        ),
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(
            help="The columns to read where no template file names them, such as 0,1; "
            "the first is the word (default: all but the labels).",
            rich_help_panel=FEATURES,
            show_default=False,
        ),
    ] = None,
    boundaries: Annotated[
        str,
        typer.Option(
            help="What templates read outside a sentence: numbered (_B-1, _B+1, ...), "
            "single (_B) or none.",
            rich_help_panel=FEATURES,
        ),
    ] = "numbered",
    min_count: Annotated[
        int,
        typer.Option(
            help="Drop features of fewer tokens than this.", rich_help_panel=FEATURES
        ),
    ] = 1,
    hash_bits: Annotated[
        int | None,
        typer.Option(
            help="Keep no vocabulary; hash features to this many bits.",
            rich_help_panel=FEATURES,
        ),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            help="Weights for 'all' pairs of feature and label, or those 'observed' "
            "in training (default: as SequenceTagger).",
            rich_help_panel=FEATURES,
            show_default=False,
        ),
    ] = None,
    constraints: Annotated[
        str | None,
        typer.Option(
            help="Allow only label sequences of this scheme: BIO, IOB1, IOBES, "
            "BILOU or BMEWO.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    loss: Annotated[
        str,
        typer.Option(
            help="What is minimised: squared_hinge, hinge or log_loss (a CRF).",
            rich_help_panel=LEARNING,
        ),
    ] = "squared_hinge",
    penalty: Annotated[
        str,
        typer.Option(
            help="What keeps weights small: l2; with log_loss also l1, which leaves "
            "many of them zero, or elasticnet.",
            rich_help_panel=LEARNING,
        ),
    ] = "l2",
    l1_ratio: Annotated[
        float,
        typer.Option(
            help="The share of the L1 norm in elasticnet, 0 to 1.",
            rich_help_panel=LEARNING,
        ),
    ] = 0.5,
    solver: Annotated[
        str,
        typer.Option(
            help="How: auto; dcd-ssvm, dcd-light or cpd for squared_hinge; eg, sdca, "
            "lbfgs, cg or owlqn for log_loss; smo, frank-wolfe, cutting-plane or eg "
            "for hinge; sgd for any; perceptron, mira or mira-kbest, without a proof.",
            rich_help_panel=LEARNING,
        ),
    ] = "auto",
    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            "-C",
            help="Weight of the losses; larger fits the data closer (default: 0.1 for "
            "squared_hinge, 1 for hinge and log_loss).",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None,
    C_path: Annotated[
        str | None,
        typer.Option(
            "--C-path",
            help="Train with each of these, such as 0.01,0.1,1, one after the other, "
            "and keep the model that is best on --dev.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            help="What a wrong label costs: 'balanced' (rare labels more), or factors "
            "such as B-PER=2,O=0.5.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    tol: Annotated[
        float,
        typer.Option(
            help="Stop when proved to be within this fraction of the best.",
            rich_help_panel=LEARNING,
        ),
    ] = 1e-2,
    max_iter: Annotated[
        int,
        typer.Option(help="The most passes over the data.", rich_help_panel=LEARNING),
    ] = 100,
    dev_metric: Annotated[
        str,
        typer.Option(
            help="What is measured on --dev: accuracy, sequence_accuracy, "
            "label_f1_macro, chunk_f1, chunk_f1_macro; auto is chunk_f1 for chunk "
            "labels, else accuracy.",
            rich_help_panel=LEARNING,
        ),
    ] = "auto",
    patience: Annotated[
        int,
        typer.Option(
            help="With --dev: stop after this many passes without a new best.",
            rich_help_panel=LEARNING,
        ),
    ] = 5,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of everything random.", rich_help_panel=LEARNING
        ),
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Threads; -1 for one per core.",
            rich_help_panel=RUN,
            show_default=False,
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            help="Save the state of training there after every pass.",
            rich_help_panel=RUN,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from --checkpoint if it exists.",
            rich_help_panel=RUN,
        ),
    ] = False,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, help="Stop after this many seconds.", rich_help_panel=RUN),
    ] = None,
    float32: Annotated[
        bool,
        typer.Option(
            "--float32", help="Save weights in half the space.", rich_help_panel=RUN
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose/--quiet",
            "-v/-q",
            help="Show progress and results, or only errors.",
            rich_help_panel=RUN,
        ),
    ] = True,
    json: AsJson = False,
) -> None:
    """Train a tagger: one label for every token of a sequence.

    TRAIN holds a token a line and a blank line after each sentence. Ctrl-C ends
    training early: the model so far is saved, and the exit code is 130.
    """
    from partwise import SequenceTagger, model_file

    layout = Layout(format, separator, comments, skip_docstart, encoding)
    if resume and checkpoint is None:
        raise ValueError("--resume needs --checkpoint, the file to go on from")
    Cs = None if C_path is None else _numbers(C_path)
    if Cs is not None:
        _check_path(C, dev, checkpoint)
    if train == dev == "-":
        raise ValueError("TRAIN and --dev cannot both be standard input")
    from partwise.cli.overwriting import refuse_overwriting

    refuse_overwriting(
        {"--model": model, "--checkpoint": checkpoint},
        {
            **{"TRAIN": train, "--dev": dev, "--template": template},
            **{"--clusters": clusters},
            **{f"--gazetteer {path}": path for path in gazetteer or []},
        },
    )
    model_file.check_writable(model)
    if format is not Format.columns and (
        template or columns or features or gazetteer or clusters
    ):
        raise ValueError(
            f"{format.value} files name their features themselves; leave --template, "
            "--columns, --features, --gazetteer and --clusters out"
        )
    if template and columns:
        raise ValueError(
            "--columns is for the default template and --features; a template file "
            "names the columns it reads itself"
        )
    if template and features:
        raise ValueError("give --template or --features, not both")
    token_features = read_features(features, gazetteer or [], clusters, ignore_case)
    chosen: dict[str, Any] = {} if pairs is None else {"pairs": pairs}
    tagger = SequenceTagger(
        loss,
        C,
        solver,
        tol=tol,
        max_iter=max_iter,
        penalty=penalty,
        l1_ratio=l1_ratio,
        n_jobs=jobs,
        boundaries=boundaries,
        min_count=min_count,
        hash_bits=hash_bits,
        constraints=constraints,
        class_weight=_class_weight(class_weight),
        random_state=seed,
        patience=patience,
        dev_metric=dev_metric,
        checkpoint=checkpoint,
        resume=resume,
        time_limit=time_limit,
        verbose=int(verbose),
        **chosen,
    )
    # Settings are checked by fit, too, but a large file takes its time to read.
    tagger._check_settings()
    X, y = layout.labelled(train, label_column)
    if format is Format.columns:
        chosen_template = make_template(
            template, token_features, X, label_column, columns
        )
        tagger.set_params(template=chosen_template)
    held_out = None if dev is None else layout.labelled(dev, label_column)
    _fit_and_save(tagger, X, y, held_out, Cs, model, float32, verbose, json)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--C-path must be numbers with commas, such as 0.01,0.1,1, not {text!r}"
        ) from None


def _check_path(C: float | None, dev: str | None, checkpoint: str | None) -> None:
    if dev is None:
        raise ValueError("--C-path needs --dev, to choose the best C by")
    if C is not None:
        raise ValueError("give --C or --C-path, not both")
    if checkpoint is not None:
        raise ValueError("--C-path keeps no checkpoints; leave --checkpoint out")


def _class_weight(text: str | None) -> Any:
    """Read ``balanced`` or ``B-PER=2,O=0.5``; a label may hold commas and equals."""
    if text is None or text == "balanced":
        return text
    weights: dict[str, float] = {}
    for part in text.split(","):
        label, found, weight = part.rpartition("=")
        try:
            weights[label] = float(weight)
        except ValueError:
            found = ""
        if not found:
            raise ValueError(
                "--class-weight must be 'balanced' or factors such as B-PER=2,O=0.5, "
                f"not {text!r}"
            )
    return weights


def _fit_and_save(
    tagger: Any,
    X: Any,
    y: list[list[str]],
    dev: Any,
    Cs: list[float] | None,
    path: str,
    float32: bool,
    verbose: bool,
    json: bool,
) -> None:
    from partwise.cli.output import print_json
    from partwise.cli.training import fit, fit_path, path_numbers, summary

    found = None
    if Cs is None:
        outcome = fit(tagger, X, y, dev)
    else:
        found, outcome = fit_path(tagger, X, y, Cs, dev)
        tagger = found.best_estimator
    tagger.save(path, dtype="float32" if float32 else "float64")
    numbers = {
        "model": path,
        "sentences": len(y),
        "tokens": sum(map(len, y)),
        **summary(tagger, outcome),
    }
    if found is not None:
        numbers["C_path"] = path_numbers(found)
    if json:
        print_json(numbers)
    elif verbose:
        if found is not None:
            _show_path(numbers["C_path"])
        _show(numbers, outcome.solution)
    if outcome.interrupted:
        typer.echo(f"{outcome.solution.status}; saved to {path}", err=True)
        raise typer.Exit(130)


def _show_path(rows: list[dict[str, Any]]) -> None:
    from partwise.cli.output import Percent, print_table

    cells: list[list[object]] = [
        [
            row["C"],
            row["passes"],
            round(row["seconds"], 2),
            "" if row["gap"] is None else Percent(row["gap"]),
            Percent(row["dev_score"]),
        ]
        for row in rows
    ]
    print_table("tried", ["C", "passes", "seconds", "gap", "dev score"], cells)


def _show(numbers: dict[str, Any], solution: Solution) -> None:
    from partwise.cli import certificates
    from partwise.cli.output import console, print_pairs

    certificate = solution.certificate
    counts = ("sentences", "tokens", "labels", "features", "weights", "passes")
    pairs = [(name, numbers[name]) for name in counts]
    why = numbers["solver_reason"]
    pairs += [
        ("C", numbers["C"]),
        ("solver", numbers["solver"] + (f" ({why})" if why else "")),
        ("seconds", round(numbers["seconds"], 2)),
        ("objective", None if certificate is None else certificate.primal),
        ("gap", None if certificate is None else f"{certificate.relative_gap:.2%}"),
        ("best dev score", numbers["best_dev_score"]),
        ("model", numbers["model"]),
    ]
    print_pairs("trained", pairs)
    out = console()
    out.print(f"\n{solution.status}.", soft_wrap=True)
    out.print(certificates.in_words(certificate, solution.trace), soft_wrap=True)
