"""What a step of a pipeline has found before: text repeats itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

MOST = 200_000
"""How many answers are remembered."""

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


class Memory(Generic[Question, Answer]):
    """Remembers answers, and forgets all of them when they are too many.

    Threads may share it: the answers that one of them has been given stay.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.answers("abba", lambda new: [*map(ord, new)])["b"]
    98
    >>> memory.answers("ba", lambda new: 1 / 0)["a"]  # nothing is new
    97
    """

    def __init__(self) -> None:
        self._known: dict[Question, Answer] = {}

    def answers(
        self,
        questions: Iterable[Question],
        find: Callable[[list[Question]], Iterable[Answer]],
    ) -> dict[Question, Answer]:
        """Return the answers to questions, and to others.

        Parameters
        ----------
        questions : iterable
            What is asked.
        find : callable
            Returns the answers to a list of questions that have not been asked before.
        """
        known = self._known if len(self._known) <= MOST else {}
        new = [one for one in dict.fromkeys(questions) if one not in known]
        if new:
            known.update(zip(new, find(new), strict=True))
        self._known = known
        return known
