"""Structures around another one, which answers all that they do not.

A wrapping structure holds the other one in its field ``corpus``. What it answers
itself it implements; `delegate` has everything else asked of the corpus.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from partwise._jit import Generic
from partwise.structures import interface as waist

DELEGATED: tuple[Generic, ...] = tuple(
    found
    for name, found in vars(waist).items()
    if hasattr(found, "implement") and name not in ("Generic", "untied")
)
"""All questions of the waist that the corpus can be asked instead of its wrapping.

Not `untied`, which returns a structure: the wrapping of another corpus.
"""

FOLLOWING: dict[Generic, set[Generic]] = {
    waist.diff_entries: {waist.diff_dot},
    waist.shrunk_scores: {waist.part_scores, waist.add_parts},
    waist.add_shrunk: {waist.part_scores, waist.add_parts},
}
"""Faster forms of questions: where a wrapping answers one of these in its own way, the
corpus would answer for itself alone, so their defaults ask the wrapping."""


def delegate(cls: type, defaults: Iterable[Generic] = ()) -> None:
    """Let the class `cls` ask its ``corpus`` whatever it has not implemented so far.

    A wrapping without a `workspace` of its own uses that of the corpus; one that has
    its own keeps the corpus's in the field ``corpus`` of it.

    Parameters
    ----------
    cls : type
        A NamedTuple with a field ``corpus``.
    defaults : questions
        Those to leave to the default of the waist, which asks the wrapping.
    """
    own = {question for question in DELEGATED if question.changed_by(cls)}
    changed = own.union(defaults)
    defaults = (*defaults, *(q for q, of in FOLLOWING.items() if of & changed))
    asked = [q for q in DELEGATED if q not in own and q not in defaults]
    hand_on(cls, "corpus", *asked, has_space=waist.workspace in own)

    def untied(s: Any) -> Any:
        return s._replace(corpus=waist.untied(s.corpus))

    waist.untied.implement(cls)(untied)


def hand_on(
    cls: type, field: str, *questions: Generic, has_space: bool = False
) -> None:
    """Let the class `cls` ask the structure in one of its fields some questions.

    With `has_space` the scratch arrays of that structure are in the same field of those
    of the class.
    """
    for question in questions:
        takes_space = list(inspect.signature(question).parameters)[-1] == "ws"
        ask = _ask_with_own_space if has_space and takes_space else _ask
        question.implement(cls)(ask(question, field))


def _ask(question: Generic, field: str) -> Any:
    def body(s: Any, *rest: Any) -> Any:
        return question(getattr(s, field), *rest)

    return body


def _ask_with_own_space(question: Generic, field: str) -> Any:
    def body(s: Any, *rest: Any) -> Any:
        return question(getattr(s, field), *rest[:-1], getattr(rest[-1], field))

    return body
