"""Structures from outside the package."""

from typing import Any

from partwise.structures import Multiclass


def answer_like_multiclass(cls: type, *questions: Any) -> None:
    """Let a class answer some questions; none is ever asked here.

    Bodies of the package, not of this file: those would count as an extension, and
    every kernel compiled from now on would be cached apart.
    """
    for question in questions:
        question.implement(cls)(question.body_for(Multiclass))
