"""The options that kinds give a command: declared there, merged and checked here.

A command such as ``partwise predict`` has options of its own, and the keyword-only
parameters of the function ``predict`` of every kind, each listed once.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import typer

from partwise.cli.declared import (
    CONTEXT,
    as_command,
    choices_of,
    flag_of,
    joined,
    keyword_options,
    parameters_without,
    parts_of,
    with_values,
)
from partwise.cli.kinds import (
    Kind,
    built_in_kinds,
    error_in_one_line,
    in_python_only,
    kind_of,
    listed,
    refuse_several,
)
from partwise.errors import PartwiseError

NO_MODEL = {
    "compare": ("evaluate", "partwise evaluate MODEL {file}"),
    "draw": ("show", "partwise show {file} --model MODEL"),
    "contrast": ("labelled", "partwise show {file} --model MODEL -o page.html"),
}
"""Functions that need no model: their counterparts that do, and how to call those."""


class Declaration(NamedTuple):
    """An option as the function of one kind declares it."""

    kind: Kind
    verb: str
    parameter: inspect.Parameter

    def takes(self, value: object) -> bool:
        """Say whether the kind accepts this value of the option."""
        choices = choices_of(self.parameter.annotation)
        return choices is None or value is None or value in list(choices)


class KindOptions:
    """The options that kinds give a command.

    Parameters
    ----------
    verbs : sequence of str
        The functions of kinds that the command calls.
    kinds : sequence of Kind
        All kinds.

    Raises
    ------
    ValueError
        If two kinds declare an option of the same name in different ways.

    Examples
    --------
    >>> from partwise.cli.kinds import built_in_kinds
    >>> options = KindOptions(["predict"], built_in_kinds())
    >>> [kind.many for kind in options.takers("spans")]
    ['taggers', 'segment taggers', 'hidden Markov models']
    """

    def __init__(self, verbs: Sequence[str], kinds: Sequence[Kind]) -> None:
        self.kinds = kinds
        self.verbs = set(verbs)
        self.declared: dict[str, list[Declaration]] = {}
        self.users = [kind for kind in kinds if any(map(kind.has, verbs))]
        self.notes: list[str] = []
        for kind in self.users:
            for verb in filter(kind.has, verbs):
                function = kind.function(verb)
                self.notes += _notes(function)
                for one in keyword_options(function).parameters:
                    made = Declaration(kind, verb, one)
                    self.declared.setdefault(one.name, []).append(made)
        self.parameters = [self._merged(name) for name in self.declared]

    def _merged(self, name: str) -> inspect.Parameter:
        first, *others = self.declared[name]
        merged = first.parameter
        for other in others:
            annotation = joined(merged.annotation, other.parameter.annotation)
            if annotation is None or other.parameter.default != merged.default:
                raise ValueError(
                    f"{flag_of(merged)} is declared differently by {first.kind.many} "
                    f"and {other.kind.many}; they must share annotation and default"
                )
            merged = merged.replace(annotation=annotation)
        return merged.replace(annotation=self._explained(merged))

    def _explained(self, parameter: inspect.Parameter) -> Any:
        """Return the annotation of an option whose help says which kinds take it.

        Options that all kinds take, or nearly all, are listed together; the others go
        into a panel for the kinds that share them.
        """
        takers = self.takers(parameter.name)
        others = [kind.many for kind in self.users if kind not in takers]
        values = self._values_by_kind(parameter.name)
        plain, info = parts_of(with_values(parameter, values).annotation)
        info = typer.Option(help="") if info is None else copy.copy(info)
        info.rich_help_panel = None
        if others and not (len(others) < len(takers) and len(others) < 3):
            names = listed([kind.many for kind in takers])
            info.rich_help_panel = names[0].upper() + names[1:]
        elif others and not values:
            info.help += f" [dim]\\[not for {listed(others, 'or')}][/dim]"
        verbs = {one.verb for one in self.declared[parameter.name]}
        if self.verbs & NO_MODEL.keys() and not verbs & NO_MODEL.keys():
            info.help += " [dim]\\[with a model][/dim]"
        return Annotated[plain, info]

    def _values_by_kind(self, name: str) -> str:
        """Return the values of an option by kind, if kinds differ in them."""
        values_of: dict[Kind, dict[str, None]] = {}
        for one in self.declared[name]:
            choices = choices_of(one.parameter.annotation) or ()
            values_of.setdefault(one.kind, {}).update(dict.fromkeys(map(str, choices)))
        if len({tuple(values) for values in values_of.values()}) < 2:
            return ""
        parts = [f"{listed(list(v), 'or')} for {k.many}" for k, v in values_of.items()]
        return "; ".join(parts)

    def takers(self, name: str) -> list[Kind]:
        """Return the kinds that take an option."""
        return list(dict.fromkeys(one.kind for one in self.declared[name]))

    def command(self, command: Callable[..., None]) -> Callable[..., None]:
        """Return a command with these options, in place of a parameter ``options``."""
        own = parameters_without(command, "options")
        names = list(self.declared)

        def run(context: typer.Context, **values: Any) -> None:
            chosen = {name: values.pop(name) for name in names}
            sources = {name: context.get_parameter_source(name) for name in names}
            given = [n for n, source in sources.items() if source.name != "DEFAULT"]  # type: ignore[union-attr]
            command(**values, options=Options(self, chosen, given))

        return as_command(
            run, command, [*own, *self.parameters, CONTEXT], notes=self.notes
        )


@dataclass(frozen=True)
class Options:
    """The options that a command was given, of those that kinds declare."""

    of: KindOptions
    values: Mapping[str, Any]
    given: Sequence[str]
    """The names of the options that were given explicitly."""

    def load(self, path: str) -> tuple[Any, Kind]:
        """Load a model; return it and its kind."""
        from partwise import load

        model = load(path)
        return model, kind_of(model, path, self.of.kinds)

    def only_one(self, *names: str) -> None:
        """Raise `ValueError` if more than one of some options was given."""
        refuse_several([self._flag(name) for name in names if name in self.given])

    def of_model(self, kind: Kind, verb: str, model: object, path: str) -> Any:
        """Return the function of a kind for its models, with its options filled in.

        Raises
        ------
        PartwiseError
            If the kind has no such function.
        ValueError
            If options were given that it does not take.
        """
        if not kind.has(verb):
            able = [one.many for one in self.of.kinds if one.has(verb)]
            if kind.command is None:
                raise PartwiseError(f"{path}: {in_python_only(model)}")
            command = "report" if verb == "labelled" else verb
            raise PartwiseError(
                f"{path}: is {kind.one}; partwise {command} is for {listed(able)}"
            )
        return self._filled(kind, verb, f"{path} is {kind.one}")

    def of_files(self, verb: str, *files: str) -> Any:
        """Return a function for files without a model, with its options filled in.

        The kind is the one that takes the format that was given, or else the one that
        recognises the files. Kinds of other packages are asked first, and those of
        this package from the last to the first.
        """
        format = self.values.get("format")
        able = [
            kind
            for kind in reversed(self.of.kinds)
            if kind.has(verb) and len(_positional(kind.function(verb))) == len(files)
        ]
        chosen = [
            one.kind
            for one in self.of.declared.get("format", ())
            if one.verb == verb and one.kind in able and one.takes(format)
        ]
        if format is None or not chosen:
            kind = self._kind_of_files(verb, able, files)
        else:
            kind = chosen[0]
        return self._filled(kind, verb, f"{files[0]} is read as {kind.data}")

    def _kind_of_files(
        self, verb: str, able: Sequence[Kind], files: Sequence[str]
    ) -> Kind:
        """Return the one of some kinds that recognises all files.

        Kinds that can do it with a model only are asked as well, to say so.
        """
        with_model, usage = NO_MODEL[verb]
        asked = [
            kind
            for kind in reversed(self.of.kinds)
            if kind in able or (kind.has(with_model) and not kind.has(verb))
        ]
        kinds = [self._recognised(file, asked) for file in files]
        if any(kind is not kinds[0] for kind in kinds):
            read = [
                f"{file} is read as {kind.data}"
                for file, kind in zip(files, kinds, strict=True)
            ]
            raise PartwiseError(
                f"these two files are different kinds of data: {listed(read)}"
            )
        if kinds[0] not in able:
            raise PartwiseError(
                f"{kinds[0].data} need a model: {usage.format(file=files[-1])}"
            )
        return kinds[0]

    def _recognised(self, file: str, kinds: Sequence[Kind]) -> Kind:
        """Return the first kind that recognises a file."""
        encoding = self.values.get("encoding", "utf-8")
        for kind in kinds:
            if not kind.has("recognises"):
                continue
            try:
                if kind.function("recognises")(file, encoding):
                    return kind
            except Exception as error:  # whatever other packages may raise
                from partwise.cli.output import say

                if kind in built_in_kinds():  # then something is wrong with the file
                    raise
                say(
                    f"warning: the kind {kind.name} cannot tell whether {file} is its "
                    f"data: {error_in_one_line(error)}",
                    err=True,
                )
        raise PartwiseError(
            f"{file}: cannot tell what kind of data this is (give --format)"
        )

    def _filled(self, kind: Kind, verb: str, what: str) -> Callable[..., Any]:
        taken = {
            name: one
            for name, declared in self.of.declared.items()
            for one in declared
            if one.kind is kind and one.verb == verb
        }
        others = [name for name in self.given if name not in taken]
        if others:
            takers = self.of.takers(others[0])
            same = [self._flag(n) for n in others if self.of.takers(n) == takers]
            then = f"leave {'it' if len(same) == 1 else 'them'} out"
            raise self._refusal(same, self.of.declared[others[0]], verb, what, then)
        own: dict[str, Any] = {}
        for name, one in taken.items():
            value, choices = self.values[name], choices_of(one.parameter.annotation)
            if choices is None or value is None:
                own[name] = value
            elif one.takes(value):
                own[name] = choices(value)
            else:
                flag = self._flag(name)
                able = [o for o in self.of.declared[name] if o.takes(value)]
                then = f"use {flag} {listed(list(map(str, choices)), 'or')}"
                raise self._refusal([f"{flag} {value}"], able, verb, what, then)
        function = kind.function(verb)
        return functools.partial(function, **keyword_options(function).grouped(own))

    def _refusal(
        self,
        flags: Sequence[str],
        takers: Sequence[Declaration],
        verb: str,
        what: str,
        then: str,
    ) -> ValueError:
        """Return the error for options that only other kinds, or models, take."""
        if verb in NO_MODEL and all(one.verb not in NO_MODEL for one in takers):
            what, then = "no model was given", f"give a model as well, or {then}"
        names = listed(list(dict.fromkeys(one.kind.many for one in takers)))
        return ValueError(
            f"{', '.join(flags)} {'is' if len(flags) == 1 else 'are'} for {names}, but "
            f"{what}; {then}"
        )

    def _flag(self, name: str) -> str:
        declared = self.of.declared.get(name)
        return flag_of(declared[0].parameter, self.values[name]) if declared else name


def _positional(function: Callable[..., Any]) -> list[inspect.Parameter]:
    found = inspect.signature(function).parameters.values()
    return [one for one in found if one.kind is not inspect.Parameter.KEYWORD_ONLY]


def _notes(function: Callable[..., Any]) -> list[str]:
    """Return the documentation of a function after its first line."""
    text = (inspect.getdoc(function) or "").partition("\n\n")[2]
    return [text] if text else []
