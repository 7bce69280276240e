"""Kinds of models: what a task brings to the commands, and where kinds come from.

A kind names its estimator, what messages call it, and the functions that do the work
of each command, all in one place. Functions are named by strings. Those with options
are imported when the program starts, so they import what is heavy themselves.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from partwise.errors import PartwiseError

# One line per task. The order is that of `partwise train --help`.
ROOMS = (
    "partwise.cli.sequence.kind:KIND",
    "partwise.cli.segments.kind:KIND",
    "partwise.cli.dependency.kind:KIND",
    "partwise.cli.pipeline.kind:KIND",
    "partwise.cli.constituency.kind:KIND",
    "partwise.cli.lattice.kind:KIND",
    "partwise.cli.hidden_markov.kind:KIND",
    "partwise.cli.bayesian_network.kind:KIND",
    "partwise.cli.classifier.kind:KIND",
    "partwise.cli.graph.kind:KIND",
)
ENTRY_POINTS = "partwise.kinds"
"""The entry points by which other packages add kinds."""

Reference: TypeAlias = str | Callable[..., Any]
"""An object, or where it is: ``"package.module:name"``."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of models, and what the commands do with it.

    All functions are optional; a command refuses models of kinds without one. Their
    keyword-only parameters, annotated as `typer` wants them, are options of the
    command; kinds that share an option share its annotation.

    Parameters
    ----------
    estimator : str or type
        The class of its models.
    one, many : str
        What messages call a model, and several: ``"a tagger"``, ``"taggers"``.
    data : str
        What messages call its data: ``"columns"``.
    command : str, optional
        What its command below ``partwise train`` is called.
    train : str or callable, optional
        That command: a function with all its arguments and options.
    encode : str or callable, optional
        The command ``partwise encode``, which one kind has: a function with all its
        arguments and options.
    predict : str or callable, optional
        ``predict(model, input, output, *, ...)`` writes a file.
    evaluate : str or callable, optional
        ``evaluate(model, file, *, ...)`` returns a `partwise.cli.output.Report`.
    compare : str or callable, optional
        The same without a model: ``compare(file, *, ...)``, where one file holds right
        and predicted outputs, or ``compare(gold, predicted, *, ...)``.
    labelled : str or callable, optional
        ``labelled(model, file, *, ...)`` returns examples and their outputs, as `fit`
        takes them: what ``partwise report`` and ``partwise suspects`` read.
    inspect : str or callable, optional
        ``inspect(model, top, *, ...)`` returns `partwise.cli.inspect.Findings`, or a
        `partwise.cli.output.Report` with all that there is to show.
    show : str or callable, optional
        ``show(model, file, *, ...)`` returns `partwise.cli.drawings.Drawings`.
    draw : str or callable, optional
        The same without a model: ``draw(file, *, ...)``.
    contrast : str or callable, optional
        ``contrast(gold, predicted, *, ...)`` returns a list of `partwise.pages.View`:
        what two files say about the same examples.
    recognises : str or callable, optional
        ``recognises(file, encoding)`` says whether a file looks like data of this kind,
        for commands without a model.
    demo : str or object, optional
        A `partwise.cli.demo.Demo`.
    try_out : str or callable, optional
        ``try_out(**settings)`` trains and uses a tiny model, so that all that models of
        this kind run is compiled: what ``partwise warm`` calls.

    Examples
    --------
    >>> taggers, segment_taggers, *_ = built_in_kinds()
    >>> taggers.one, taggers.command, taggers.has("demo"), segment_taggers.has("demo")
    ('a tagger', 'tag', True, False)
    >>> taggers.function("predict").__module__
    'partwise.cli.sequence.predict'
    """

    estimator: str | type
    one: str
    many: str
    data: str = "files of its own"
    command: str | None = None
    train: Reference | None = None
    encode: Reference | None = None
    predict: Reference | None = None
    evaluate: Reference | None = None
    compare: Reference | None = None
    labelled: Reference | None = None
    inspect: Reference | None = None
    show: Reference | None = None
    draw: Reference | None = None
    contrast: Reference | None = None
    recognises: Reference | None = None
    demo: Any = None
    try_out: Reference | None = None

    def __post_init__(self) -> None:
        """Refuse what no command could use."""
        if self.train is not None and self.command is None:
            raise ValueError(
                f"{self.many} have train but no command, the name of that command "
                "below partwise train"
            )

    @property
    def name(self) -> str:
        """What users call it: its command, or else its estimator."""
        if self.command is not None:
            return self.command
        if isinstance(self.estimator, str):
            return self.estimator.rpartition(":")[2]
        return self.estimator.__name__

    def has(self, verb: str) -> bool:
        """Say whether there is a function of this name."""
        return getattr(self, verb) is not None

    def function(self, verb: str) -> Any:
        """Return the function of this name, imported now."""
        return resolve(getattr(self, verb))

    def is_of(self, cls: type) -> bool:
        """Say whether models of a class are of this kind."""
        if isinstance(self.estimator, str):
            # Only a class of the same name is worth an import.
            name = self.estimator.rpartition(":")[2]
            return name == cls.__name__ and resolve(self.estimator) is cls
        return self.estimator is cls


def resolve(reference: Any) -> Any:
    """Return what a reference names; anything but a string is returned as it is.

    Examples
    --------
    >>> resolve("partwise.errors:DataError").__name__
    'DataError'
    """
    if not isinstance(reference, str):
        return reference
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def built_in_kinds() -> list[Kind]:
    """Return the kinds of this package."""
    return [resolve(room) for room in ROOMS]


def added_kinds() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the kinds of other packages: what each is called, and how to load it."""
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS):
        package = f" of {point.dist.name}" if point.dist is not None else ""
        yield f"{point.name}{package}", point.load


def kind_of(model: object, path: str, kinds: Sequence[Kind]) -> Kind:
    """Return the kind of a model: that of its class, or of the nearest base class."""
    for cls in type(model).__mro__:
        for kind in kinds:
            if kind.is_of(cls):
                return kind
    raise PartwiseError(f"{path}: {in_python_only(model)}")


def in_python_only(model: object) -> str:
    """Say that the command line cannot use a model."""
    return (
        f"is a {type(model).__name__}, which this command cannot use; load it in "
        "Python with partwise.load"
    )


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> listed(["taggers"]), listed(["a", "b", "c"], "or")
    ('taggers', 'a, b or c')
    """
    *others, final = names
    return f"{', '.join(others)} {last} {final}" if others else final


def refuse_several(flags: Sequence[str]) -> None:
    """Raise `ValueError` if there is more than one of some options.

    Examples
    --------
    >>> refuse_several(["--kbest"])
    >>> refuse_several(["--kbest", "--marginals", "--spans"])
    Traceback (most recent call last):
        ...
    ValueError: give only one of --kbest, --marginals and --spans
    """
    if len(flags) == 2:
        raise ValueError(f"give {listed(flags, 'or')}, not both")
    if len(flags) > 2:
        raise ValueError(f"give only one of {listed(flags)}")


def error_in_one_line(error: BaseException) -> str:
    """Return the type of an error that other packages raised, and its message.

    Examples
    --------
    >>> error_in_one_line(KeyError("x")), error_in_one_line(SystemExit())
    ("KeyError: 'x'", 'SystemExit')
    """
    message = " ".join(str(error).split())
    return type(error).__name__ + (f": {message}" if message else "")
