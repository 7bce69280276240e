"""How functions declare options: as parameters, annotated for `typer`."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import StrEnum
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer

from partwise.cli.kinds import listed


def as_command(
    run: Callable[..., None],
    command: Callable[..., None],
    parameters: Iterable[inspect.Parameter],
    notes: Sequence[str] = (),
) -> Callable[..., None]:
    """Make a function look like a command with other parameters, all by name.

    Paragraphs of its help become single lines, which the terminal wraps.
    """
    functools.update_wrapper(run, command)
    paragraphs = "\n\n".join([inspect.getdoc(command) or "", *notes]).split("\n\n")
    run.__doc__ = "\n\n".join(" ".join(text.split()) for text in paragraphs)
    keyword = inspect.Parameter.KEYWORD_ONLY
    named = [parameter.replace(kind=keyword) for parameter in parameters]
    # What the program reads off a command to make its options.
    run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in named}
    return run


def parameters_without(
    command: Callable[..., None], name: str
) -> list[inspect.Parameter]:
    """Return the parameters of a function, with evaluated annotations, but for one."""
    found = inspect.signature(command, eval_str=True).parameters.values()
    return [parameter for parameter in found if parameter.name != name]


def flag_of(parameter: inspect.Parameter, value: object = True) -> str:
    """Return what an option is called on the command line.

    Examples
    --------
    >>> import typer
    >>> labels = Annotated[bool, typer.Option("--labels/--no-labels")]
    >>> keyword = inspect.Parameter.KEYWORD_ONLY
    >>> flag_of(inspect.Parameter("has_labels", keyword, annotation=labels), False)
    '--no-labels'
    >>> flag_of(inspect.Parameter("label_column", keyword, annotation=int))
    '--label-column'
    """
    plain, info = parts_of(parameter.annotation)
    name = parameter.name.replace("_", "-")
    made = f"--{name}/--no-{name}" if plain is bool else f"--{name}"
    # In an annotation, typer keeps the first flag as the default until it is used.
    written = [
        getattr(info, "default", None),
        *(getattr(info, "param_decls", None) or ()),
    ]
    flags = [flag for flag in written if isinstance(flag, str) and flag[:1] == "-"]
    on, _, off = (flags or [made])[0].partition("/")
    return off if off and value is False else on


class Declared(NamedTuple):
    """The options that a function declares, and which of them it takes as a group.

    A parameter whose type is a dataclass stands for its fields: each is an option.

    Examples
    --------
    >>> from partwise.cli.files import ColumnFiles
    >>> def predict(model, *, loud: bool = False, files: ColumnFiles): ...
    >>> declared = keyword_options(predict)
    >>> [parameter.name for parameter in declared.parameters]
    ['loud', 'separator', 'comments', 'skip_docstart', 'encoding']
    >>> values = {one.name: one.default for one in declared.parameters}
    >>> declared.grouped({**values, "separator": ","})["files"].separator
    ','
    """

    parameters: list[inspect.Parameter]
    groups: dict[str, Any]

    @classmethod
    def by(cls, parameters: Iterable[inspect.Parameter]) -> Declared:
        """Return the options of some parameters."""
        single: list[inspect.Parameter] = []
        groups = {}
        for one in parameters:
            if is_dataclass(one.annotation):
                groups[one.name] = one.annotation
                single += field_options(one.annotation)
            else:
                single.append(one)
        return cls(single, groups)

    def grouped(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values of options as the function takes them."""
        single = dict(values)
        made = {
            name: group(
                **{field.name: single.pop(field.name) for field in fields(group)}
            )
            for name, group in self.groups.items()
        }
        return {**single, **made}


def field_options(group: Any) -> list[inspect.Parameter]:
    """Return the options that the fields of a dataclass declare."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def keyword_options(function: Callable[..., Any]) -> Declared:
    """Return the keyword-only parameters, with their annotations as objects."""
    found = inspect.signature(function).parameters.values()
    options = [one for one in found if one.kind is inspect.Parameter.KEYWORD_ONLY]
    # The others may be of types that only type checkers import.
    written = SimpleNamespace(__annotations__={o.name: o.annotation for o in options})
    space = inspect.unwrap(function).__globals__
    hints = get_type_hints(written, space, include_extras=True)
    return Declared.by(one.replace(annotation=hints[one.name]) for one in options)


def takes_groups(
    *more: inspect.Parameter,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of its groups, and more that it takes by name."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        found = inspect.signature(command, eval_str=True).parameters.values()
        named = [one for one in found if one.kind is not inspect.Parameter.VAR_KEYWORD]
        declared = Declared.by([*named, *more])

        def run(**given: Any) -> None:
            command(**declared.grouped(given))

        return as_command(run, command, map(with_values, declared.parameters))

    return decorate


CONTEXT = inspect.Parameter(
    "context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context
)
"""The parameter by which a command learns what was typed."""


def is_typed(context: typer.Context | None, option: inspect.Parameter) -> bool:
    """Say whether the user typed an option; False where no command line was read."""
    source = context and context.get_parameter_source(option.name)
    return bool(source) and source.name != "DEFAULT"  # type: ignore[union-attr]


def with_values(parameter: inspect.Parameter, values: str = "") -> inspect.Parameter:
    """Return an option whose help lists its choices, if a metavar hides them."""
    plain, info = parts_of(parameter.annotation)
    choices = choices_of(parameter.annotation)
    if choices is None or not getattr(info, "metavar", None):
        return parameter
    info = copy.copy(info)
    info.help += f" One of {values or listed(list(map(str, choices)), 'or')}."
    return parameter.replace(annotation=Annotated[plain, info])


def parts_of(annotation: Any) -> tuple[Any, Any]:
    """Return the type of an option, and what `typer.Option` says about it."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    return annotation.__origin__, annotation.__metadata__[0]


def choices_of(annotation: Any) -> type[StrEnum] | None:
    """Return the choices of an option, if it has any."""
    plain = parts_of(annotation)[0]
    for one in get_args(plain) or (plain,):
        if isinstance(one, type) and issubclass(one, StrEnum):
            return one
    return None


def joined(first: Any, second: Any) -> Any:
    """Return one annotation for two, or None if they differ in more than choices."""
    if first == second:
        return first
    (_, info), (_, other) = parts_of(first), parts_of(second)
    choices, more = choices_of(first), choices_of(second)
    if info is None or info is not other or choices is None or more is None:
        return None
    values = dict.fromkeys([*map(str, choices), *map(str, more)])
    # As one of the two would be: members of both, in their order.
    both: Any = StrEnum(choices.__name__, [(value, value) for value in values])  # type: ignore[misc]
    return Annotated[both | None, info]
