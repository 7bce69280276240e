"""What the tagger over characters sees of a piece of text."""

from __future__ import annotations

from typing import Any

Piece = tuple[str, str, str]
"""What stands between white space, and the kinds of text before and after it."""


def kind_of(character: str) -> str:
    """Return what kind of character it is; marks are kinds of their own."""
    if character.isupper():
        return "A"
    if character.isalpha():
        return "a"
    return "0" if character.isdigit() else character


def characters(piece: Piece) -> list[tuple[str, ...]]:
    """Return the characters of a piece, and what the tagger sees of each."""
    word, before, after = piece
    n = len(word)
    low = word.lower() if len(word.lower()) == n else word
    return [
        (
            letter,
            low[i],
            kind_of(letter),
            after or "$",
            f"{min(i, 3)}{before} {min(n - i, 4)}",
        )
        for i, letter in enumerate(word)
    ]


def _run(column: int, first: int, last: int) -> str:
    """Return what stands in a column of neighbouring characters, as one feature."""
    return "/".join(f"%x[{i},{column}]" for i in range(first, last + 1))


TOKEN_TEMPLATE = "\n".join(
    [
        *(f"U1{i + 3}:{_run(0, i, i)}" for i in range(-3, 4)),
        *(f"U2{i + 3}:{_run(0, i, i + 1)}" for i in range(-3, 3)),
        *(f"U3{i + 2}:{_run(2, i, i + 2)}" for i in range(-2, 1)),
        f"U40:{_run(0, -1, 1)}",
        f"U41:{_run(0, 0, 2)}",
        f"U42:{_run(2, -1, 2)}",
        # The rest of the piece, and what comes before: endings such as n't.
        *(f"U5{n}:{_run(1, 1, n)}" for n in range(2, 8)),
        *(f"U6{n}:{_run(1, 1 - n, 0)}" for n in range(2, 8)),
        f"U70:%x[0,4]/%x[0,3]/{_run(2, -2, 2)}",
        f"U71:%x[0,4]/%x[0,3]/{_run(1, 0, 1)}",
        f"U72:%x[0,3]/{_run(1, -3, 1)}",
        f"U73:{_run(1, -2, 3)}",
        "B",
    ]
)
"""What the tagger over characters sees."""


N_COLUMNS = 5


def reads_new_columns(tagger: Any) -> bool:
    """Say whether a tagger reads what `characters` returns; old files hold others."""
    return bool(tagger._input.encoder.template.n_columns <= N_COLUMNS)


def characters_before(piece: Piece) -> list[tuple[str, ...]]:
    """Return what taggers of the first version see of each character."""
    word, before, after = piece
    kinds = "".join(map(kind_of, word))
    n = len(word)
    low = word.lower()
    return [
        (
            character,
            kinds[i],
            # The rest of the piece, and what comes before: endings such as n't.
            low[i + 1 : i + 7] + ("$" + after if n - i <= 7 else ""),
            ("^" + before if i < 6 else "") + low[max(i - 5, 0) : i + 1],
            str(min(i, 3)) + kinds[max(i - 3, 0) : i + 4] + str(min(n - i, 4)) + after,
            f"{low}@{i}" if n <= 15 else "_",
        )
        for i, character in enumerate(word)
    ]
