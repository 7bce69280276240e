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
            help="The file to write; .crfsuite is CRFsuite's format, all else ours.",
        ),
    ],
) -> None:
    """Write a model in another format: ours, or CRFsuite's.

    The formats of CRF++ and Wapiti, text models, are only read.
    """
    from partwise.cli.overwriting import refuse_overwriting
    from partwise.estimators.persistence import convert

    refuse_overwriting({"TARGET": target}, {"MODEL": source})
    convert(source, target)
