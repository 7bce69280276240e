"""``partwise convert``: models in the formats of other programs."""

from __future__ import annotations

from typing import Annotated

import typer


def convert_model(
    source: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A model of Partwise, CRFsuite, CRF++ or Wapiti."
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="The file to write: .crfsuite is CRFsuite's format, .partwise ours.",
        ),
    ],
) -> None:
    """Write a model in another format: ours, or CRFsuite's.

    The ending of TARGET chooses; other endings than .crfsuite are ours. The formats of
    CRF++ and Wapiti, text models, are only read.
    """
    from partwise.cli.output import say
    from partwise.cli.overwriting import refuse_overwriting
    from partwise.errors import DataError
    from partwise.estimators.persistence import convert, program_of

    if target == "-":
        raise DataError("TARGET: a model is written to a file; give its name")
    refuse_overwriting({"TARGET": target}, {"MODEL": source})
    convert(source, target)
    say(f"{target}: a model in the format of {program_of(target)}")
