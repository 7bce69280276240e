"""Kinds of models, and the options and formats that go with each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from partwise.cli.options import DataFormat, Format, TreeFormat
from partwise.errors import PartwiseError

if TYPE_CHECKING:
    from partwise import HiddenMarkovModel, SequenceTagger


def load_model(path: str) -> Any:
    """Load any model."""
    from partwise import load

    return load(path)


def is_model_file(path: str) -> bool:
    """Say whether a file looks like a model: eight bytes of size, a JSON object."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        start = file.read(9)
    return start[6:] == b"\0\0{"


def is_parser(model: object) -> bool:
    """Say whether a model predicts dependency trees."""
    from partwise import DependencyParser

    return isinstance(model, DependencyParser)


def is_constituency_parser(model: object) -> bool:
    """Say whether a model predicts constituency trees."""
    from partwise import ConstituencyParser

    return isinstance(model, ConstituencyParser)


def is_hidden_markov(model: object) -> bool:
    """Say whether a model is a hidden Markov model, which tags sequences too."""
    from partwise import HiddenMarkovModel

    return isinstance(model, HiddenMarkovModel)


def is_network(model: object) -> bool:
    """Say whether a model predicts columns of a table."""
    from partwise import BayesianNetworkClassifier

    return isinstance(model, BayesianNetworkClassifier)


def is_lattice_ranker(model: object) -> bool:
    """Say whether a model predicts paths through lattices."""
    from partwise import LatticeRanker

    return isinstance(model, LatticeRanker)


def check_tags_sequences(model: Any, path: str) -> None:
    """Refuse a model that puts no labels on sequences."""
    from partwise import SequenceTagger

    if not isinstance(model, SequenceTagger) and not is_hidden_markov(model):
        raise PartwiseError(
            f"{path}: is a {type(model).__name__}, which tags no sequences; load it in "
            "Python with partwise.load"
        )


def refuse_options(what: str, wanted: str, given: Mapping[str, object]) -> None:
    """Raise `ValueError` if options were given that another kind of input needs.

    Examples
    --------
    >>> refuse_options("m.partwise is a parser", "taggers", {"--spans": True})
    Traceback (most recent call last):
        ...
    ValueError: --spans is for taggers, but m.partwise is a parser; leave it out
    """
    names = [name for name, value in given.items() if value not in (None, False)]
    if names:
        verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
        raise ValueError(
            f"{', '.join(names)} {verb} for {wanted}, but {what}; leave {them} out"
        )


def tree_format(chosen: DataFormat | None, what: str) -> str | None:
    """Return the format of a treebank, or None if it is to be told from the file."""
    if chosen is not None and chosen.value not in list(TreeFormat):
        known = ", ".join(TreeFormat)
        raise ValueError(
            f"{what} reads treebanks, not {chosen.value} files (--format {known})"
        )
    return None if chosen is None else chosen.value


def bracket_format(chosen: DataFormat | None, what: str) -> DataFormat | None:
    """Return the format of sentences to parse, after checking the choice."""
    if chosen not in (None, DataFormat.brackets, DataFormat.sentences):
        raise ValueError(
            f"{what} reads sentences or trees in brackets, not {chosen.value} files "
            "(--format sentences, brackets)"
        )
    return chosen


def resolve_format(
    tagger: SequenceTagger | HiddenMarkovModel, chosen: DataFormat | None, path: str
) -> Format:
    """Return the format of files that a tagger can read, after checking the choice."""
    from partwise import HiddenMarkovModel

    if isinstance(tagger, HiddenMarkovModel):
        if chosen not in (None, DataFormat.columns):
            raise PartwiseError(
                f"{path}: is a hidden Markov model, which reads columns, not "
                f"{chosen.value} files"
            )
        return Format.columns
    kind = tagger._input.kind
    if kind == "dense":
        raise PartwiseError(
            f"{path}: reads dense arrays, which no file format here holds; load it in "
            "Python with partwise.load"
        )
    if kind == "template":
        if chosen not in (None, DataFormat.columns):
            raise PartwiseError(
                f"{path}: was trained on columns with a template and cannot read "
                f"{chosen.value} files"
            )
        return Format.columns
    if chosen not in (DataFormat.crfsuite, DataFormat.svmhmm):
        raise PartwiseError(
            f"{path}: was trained on named features, not on columns; say "
            "--format crfsuite or --format svmhmm"
        )
    return Format(chosen.value)
