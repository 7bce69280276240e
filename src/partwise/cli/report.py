"""``partwise report`` and ``partwise suspects``: what a model does, and with what."""

from __future__ import annotations

from typing import Annotated

import typer

from partwise.cli.kind_options import Options
from partwise.cli.options import AsJson

ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model saved by `partwise train`.")
]
Output = Annotated[
    str,
    typer.Option("--output", "-o", help="Where to write the page: a file or -."),
]


def report(
    model: ModelFile,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Labelled data: a file or -.")
    ],
    output: Output = "report.html",
    train: Annotated[
        str | None,
        typer.Option(help="The data it was trained on: list suspects in it as well."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="What the page is called.", metavar="TEXT")
    ] = None,
    *,
    options: Options,
) -> None:
    """Write a page about a model and what it does with labelled data.

    One HTML file that needs no network: certificate, training, scores with intervals,
    confusions, calibration, weights, and every example with what is wrong in it.
    """
    from partwise.cli.output import say
    from partwise.cli.overwriting import refuse_overwriting

    refuse_overwriting(
        {"--output": output}, {"MODEL": model, "DATA": data, "--train": train}
    )
    fitted, kind = options.load(model)
    read = options.of_model(kind, "labelled", fitted, model)
    X, y = read(fitted, data)
    page = fitted.report(
        X,
        y,
        title=title or _title(kind.one, model, data),
        train=None if train is None else read(fitted, train),
    )
    page.save(output)
    if output != "-":
        say(f"{output}: open it in a browser", err=True)


def _title(one: str, model: str, data: str) -> str:
    """Return what a page is called: paths are long, and of this machine only."""
    names = [path.replace("\\", "/").rpartition("/")[2] for path in (model, data)]
    return f"{one[0].upper()}{one[1:]}: {names[0]} on {names[1]}"


def suspects(
    model: ModelFile,
    data: Annotated[
        str,
        typer.Argument(metavar="TRAIN", help="The data that the model was trained on."),
    ],
    top: Annotated[
        int, typer.Option(min=1, help="How many to show.", metavar="N")
    ] = 20,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Train so many models without a part of the data, to judge that part.",
            metavar="K",
        ),
    ] = None,
    json: AsJson = False,
    *,
    options: Options,
) -> None:
    """List training examples that the model cannot reconcile with the others.

    They may be annotation mistakes. The measure is how improbable the model finds the
    least probable part of what the data says, where it has probabilities; the title
    says what is measured.
    """
    from partwise.cli.output import print_json, print_table
    from partwise.estimators.suspicion import differences

    fitted, kind = options.load(model)
    X, y = options.of_model(kind, "labelled", fitted, model)(fitted, data)
    found = fitted.suspects(X, y, n=top, folds=folds)
    if json:
        print_json(found)
        return
    rows: list[list[object]] = [
        [
            one.example + 1,
            one.score,
            "; ".join(differences(one.view)[:3]) or "no difference",
            " ".join(one.view.words)[:60],
        ]
        for one in found
    ]
    columns = ["example", "score", "the data says, the model says", "words"]
    print_table(f"suspects, {found.by}", columns, rows)
