"""Settings of estimators, each declared once.

From the declaration follow the constructor, the checks, the section `Parameters` of
the documentation, what model files keep, and the help of the command line. Nothing
is imported that would take long.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar, dataclass_transform

from partwise.estimators.allowed_values import Allowed
from partwise.solvers.names import LOSS_NAMES, list_solvers

T = TypeVar("T")
WIDTH = 84
DECLARED = "_declared_settings"


@dataclass(frozen=True)
class Setting:
    """One setting of an estimator.

    Attributes
    ----------
    name : str
        What the parameter is called.
    default : object
        Its value where none is given.
    doc : str
        What it means, in sentences.
    type_text : str
        What documentation says about its type.
    allowed : Allowed or None
        Which values it may have; None where `fit` looks at them itself.
    optional : bool
        Whether None is allowed, too.
    transient : bool
        Whether it is about a run rather than the model: model files leave it out.
    positional : bool
        Whether it may be given without its name.
    by_loss : mapping or None
        Of ``C``: the defaults by loss.
    """

    name: str = ""
    default: Any = None
    doc: str = ""
    type_text: str = ""
    allowed: Allowed | None = None
    optional: bool = False
    transient: bool = False
    positional: bool = False
    by_loss: Mapping[str, float] | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The names that it may be one of; empty where it is something else."""
        return self.allowed.choices if self.allowed else ()

    @property
    def sentence(self) -> str:
        """The first sentence of `doc`."""
        return re.split(r"(?<=[.]) (?=[A-Z])", self.doc)[0]

    def check(self, value: Any) -> None:
        """Raise `ValueError` for a value that is not allowed."""
        if self.allowed is None or (value is None and self.optional):
            return
        if not self.allowed.allows(value):
            raise self.allowed.error(self.name, value)

    def __str__(self) -> str:
        """Return the entry for the section `Parameters`."""
        kind = self.type_text or (self.allowed.type_text if self.allowed else "object")
        if self.default is None:
            kind += "" if kind.endswith("None") else ", optional"
        elif self.default != ():
            quoted = f'"{self.default}"'
            kind += (
                f", default {quoted if isinstance(self.default, str) else self.default}"
            )
        return f"{self.name} : {kind}\n{_wrapped(self.doc)}"


def setting(
    *,
    default: Any,
    allowed: Allowed | None = None,
    optional: bool = False,
    transient: bool = False,
    kw_only: bool = True,
) -> Any:
    """Declare a setting in a class that `declares_settings`.

    Parameters
    ----------
    default, allowed, transient
        As in `Setting`; constraints are inherited where none are given.
    optional : bool
        Whether None is allowed, too, as it is where it is the default.
    kw_only : bool
        Whether it has to be given by its name.
    """
    given = {"allowed": allowed, "optional": optional, "transient": transient}
    known = {name: value for name, value in given.items() if value}
    return field(default=default, kw_only=kw_only, metadata=known)


@dataclass_transform(
    eq_default=False, kw_only_default=True, field_specifiers=(setting,)
)
def declares_settings(cls: type[T]) -> type[T]:
    """Make a constructor from the settings that a class, and its bases, declare.

    The section `Parameters` of its docstring says what they mean; a text that begins
    with ``...`` goes on where that of the base class ends. A plain default, such as
    ``tol: float = 0.1``, changes nothing but the default.

    Examples
    --------
    >>> from partwise.estimators.allowed_values import COUNT
    >>> @declares_settings
    ... class Cook:
    ...     '''The settings of a cook.
    ...
    ...     Parameters
    ...     ----------
    ...     eggs
    ...         How many.
    ...     '''
    ...
    ...     eggs: int = setting(default=2, allowed=COUNT)
    >>> @declares_settings
    ... class HungryCook(Cook):
    ...     eggs: int = 3
    >>> HungryCook().eggs
    3
    >>> print(settings_of(HungryCook)["eggs"])
    eggs : int, default 3
        How many.
    >>> check_settings(HungryCook(eggs=0))
    Traceback (most recent call last):
        ...
    ValueError: eggs must be an integer >= 1, not 0
    >>> HungryCook(legs=3)
    Traceback (most recent call last):
        ...
    TypeError: HungryCook: got an unexpected keyword argument 'legs'
    """
    cls = dataclass(eq=False, repr=False, kw_only=True)(cls)
    own = inspect.get_annotations(cls)
    before: dict[str, Setting] = {}
    texts: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__):
        before |= base.__dict__.get(DECLARED, {})
        texts |= _read_texts(base.__doc__ or "", texts)
    declared = {}
    for one in fields(cls):  # type: ignore[arg-type]
        found = before.get(one.name, Setting(one.name))
        if one.name in own:
            found = replace(
                found,
                default=one.default,
                positional=not one.kw_only,
                optional=one.metadata.get("optional", one.default is None),
                **{k: v for k, v in one.metadata.items() if k != "optional"},
            )
        type_text, doc = texts.get(one.name, ("", ""))
        declared[one.name] = replace(found, type_text=type_text, doc=doc)
    # Those that may be given without names come first, then those of the task.
    cls._introduced = [name for name in declared if name not in before]  # type: ignore[attr-defined]
    order = [n for base in cls.__mro__ for n in base.__dict__.get("_introduced", ())]
    order.sort(key=lambda name: not declared[name].positional)
    setattr(cls, DECLARED, {name: declared[name] for name in order})
    init: Any = cls.__init__
    signature = inspect.signature(init)
    first, *_ = signature.parameters.values()
    signature = signature.replace(
        parameters=[first, *(signature.parameters[name] for name in order)]
    )

    @functools.wraps(init)
    def construct(self: Any, *args: Any, **settings: Any) -> None:
        try:
            signature.bind(self, *args, **settings)
        except TypeError as error:  # Python would name the class of the settings
            raise TypeError(f"{type(self).__name__}: {error}") from None
        init(self, *args, **settings)

    construct.__signature__ = signature  # type: ignore[attr-defined]
    cls.__init__ = construct  # type: ignore[method-assign]
    return cls


def settings_of(cls: type) -> dict[str, Setting]:
    """Return the settings of an estimator, or of a class that declares them, by name.

    Examples
    --------
    >>> from partwise.estimators.dependency.settings import DependencySettings
    >>> C = settings_of(DependencySettings)["C"]
    >>> C.by_loss["squared_hinge"]
    0.01
    >>> C.sentence
    'Weight of the losses against the penalty; larger fits the data closer.'
    """
    declared = getattr(cls, DECLARED, {})
    by_loss = getattr(cls, "default_C", None)
    if by_loss is None or "C" not in declared:
        return dict(declared)
    C, solver = declared["C"], declared["solver"]
    default = default_C_sentence(by_loss)
    if of_numbers := getattr(cls, "default_C_of_numbers", None):
        default += (
            f" Of rows of numbers {default_C_sentence(of_numbers)[11:-1]}, divided by "
            "their mean squared length."
        )
    told = C.doc.replace("{default_C}", default)
    penalties = declared["penalty"].choices if "penalty" in declared else ()
    listed = list_solvers(by_loss, penalties)
    names = solver.doc.replace("{solvers}", f"Names: {listed}.")
    return declared | {
        "C": replace(C, doc=told, by_loss=by_loss),
        "solver": replace(solver, doc=names),
    }


def default_C_sentence(by_loss: Mapping[str, float]) -> str:
    """Say what C is by default.

    Examples
    --------
    >>> default_C_sentence({"squared_hinge": 0.1, "hinge": 1.0, "log_loss": 1.0})
    'By default 0.1 for the squared hinge, 1 for the hinge and the log loss.'
    >>> default_C_sentence({"hinge": 1.0, "log_loss": 1.0})
    'By default 1.'
    """
    losses: dict[float, list[str]] = {}
    for loss, C in by_loss.items():
        losses.setdefault(C, []).append(LOSS_NAMES[loss])
    if len(losses) == 1:
        return f"By default {next(iter(losses)):g}."
    told = [f"{C:g} for {' and '.join(names)}" for C, names in losses.items()]
    return f"By default {', '.join(told)}."


def check_settings(estimator: Any, *names: str) -> None:
    """Raise `ValueError` for the first setting with a value that is not allowed.

    Parameters
    ----------
    estimator : object
        With settings.
    *names : str
        Those to look at; all by default.
    """
    for name, one in settings_of(type(estimator)).items():
        if not names or name in names:
            one.check(getattr(estimator, name))


def transient_settings(cls: type) -> set[str]:
    """Return the names of those that model files leave out."""
    return {name for name, one in settings_of(cls).items() if one.transient}


def document(doc: str, cls: type, shared: str) -> str:
    """Return the docstring of an estimator with its settings and shared attributes.

    Parameters
    ----------
    doc : str
        As it is written, without a section `Parameters`.
    cls : type
        The estimator.
    shared : str
        A docstring whose section `Attributes` is added to that of `doc`.
    """
    sections = dict(_sections(inspect.cleandoc(doc)))
    if "Parameters" in sections:  # it documents its settings itself
        return doc
    first = {"": sections.pop("")}
    first["Parameters"] = "\n".join(map(str, settings_of(cls).values()))
    own = sections["Attributes"]
    for entry in _entries(shared, "Attributes"):
        if not re.search(rf"^{entry.split()[0]} :", own, re.MULTILINE):
            sections["Attributes"] += f"\n{entry.rstrip()}"
    return "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{body}" if title else body
        for title, body in (first | sections).items()
    )


def _entries(doc: str, title: str) -> Iterator[str]:
    """Yield the entries of a section of a docstring: name, type and text."""
    body = dict(_sections(inspect.cleandoc(doc))).get(title, "")
    yield from filter(None, re.split(r"^(?=\w)", body, flags=re.MULTILINE))


def _sections(doc: str) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of every section; the first has no title."""
    pieces = re.split(r"^(\w[\w ]*)\n-{3,}\n", doc, flags=re.MULTILINE)
    yield "", pieces[0].strip()
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        yield title, body.strip("\n").rstrip()


def _wrapped(text: str) -> str:
    """Return a text as indented lines; code between double backquotes stays whole."""
    glued = re.sub(r"``.*?``", lambda code: code[0].replace(" ", "\xa0"), text)
    lines = textwrap.fill(glued, WIDTH - 4, break_on_hyphens=False)
    return textwrap.indent(lines.replace("\xa0", " "), "    ")


def _read_texts(
    doc: str, before: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """Return types and texts of the section `Parameters`, by name."""
    texts = {}
    for entry in _entries(doc, "Parameters"):
        head, _, body = entry.partition("\n")
        name, _, type_text = head.partition(" : ")
        known_type, known = before.get(name, ("", ""))
        text = " ".join(body.split())
        if text.startswith("... "):
            text = f"{known} {text.removeprefix('... ')}"
        texts[name] = (type_text or known_type, text)
    return texts
