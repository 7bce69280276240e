"""Edit scripts: how one string becomes another, as a label that can be learnt.

``dogs`` becomes ``dog`` by dropping one letter at the end; so do thousands of other
words. A script says which letters to drop and to add at both ends, and whether the
result is written with capitals. Chrupała (2006), "Simple data-driven context-sensitive
lemmatization", has the idea.
"""

from __future__ import annotations

LOWER, KEEP, TITLE, UPPER = "lower", "keep", "title", "upper"
LITERAL = "="
MOST_DIGITS = 9
"""Of a number in a script that can be meant."""


def edit_script(source: str, target: str) -> str:
    """Return the script that turns one string into another.

    Parameters
    ----------
    source, target : str
        The two strings.

    Returns
    -------
    str
        How capitals are written, how many letters to drop at the beginning, what to
        add there, how many to drop at the end, and what to add there.

    Examples
    --------
    >>> edit_script("dogs", "dog"), edit_script("Cats", "cat")
    ('lower 0+ 1+', 'lower 0+ 1+')
    >>> edit_script("najboljši", "dober")
    'lower 3+do 5+er'
    >>> edit_script("went", "go")
    '=go'
    """
    low, goal = _lowered(source), _lowered(target)
    begin, at, size = _longest_common(low, goal)
    if size:
        edits = f"{begin}+{goal[:at]} {len(low) - begin - size}+{goal[at + size :]}"
        for case in (LOWER, KEEP, TITLE, UPPER):
            script = f"{case} {edits}"
            if apply_script(script, source) == target:
                return script
    return LITERAL + target


def apply_script(script: str, source: str) -> str | None:
    """Return what a script makes of a string; None if it does not fit.

    Examples
    --------
    >>> apply_script("lower 0+ 3+y", "Parties")
    'party'
    >>> apply_script("lower 0+ 3+y", "to") is None
    True
    """
    if script.startswith(LITERAL):
        return script.removeprefix(LITERAL)
    try:
        case, front, back = script.split(" ")
        first, _, prefix = front.partition("+")
        last, _, suffix = back.partition("+")
        begin, end = int(first), len(source) - int(last)
    except ValueError:
        return None
    if not 0 <= begin < end <= len(source):
        return None
    kept = source if case == KEEP else _lowered(source)
    made = prefix + kept[begin:end] + suffix
    if case == TITLE:
        return made[:1].upper() + made[1:]
    return made.upper() if case == UPPER else made


def split_script(token: str, words: list[str]) -> str:
    """Return the script that turns a multiword token into its words.

    The longest word is made from the token; the others are written out.

    Examples
    --------
    >>> split_script("dogs'", ["dogs", "'"]), split_script("del", ["de", "el"])
    ("0 lower 0+ 1+ '", '0 lower 0+ 1+ el')
    >>> apply_split("0 lower 0+ 3+ n't", "CAN'T")
    ['CA', "N'T"]
    """
    stem = max(range(len(words)), key=lambda i: len(words[i]))
    others = [_lowered(word) for i, word in enumerate(words) if i != stem]
    script = edit_script(_lowered(token), _lowered(words[stem]))
    return " ".join([str(stem), *(script.split(" ") + others)])


def apply_split(script: str, token: str) -> list[str] | None:
    """Return the words that a script makes of a token; None if it does not fit."""
    number, *cells = script.split(" ")
    length = 1 if cells and cells[0].startswith(LITERAL) else 3
    own, others = " ".join(cells[:length]), cells[length:]
    keep = own.replace(LOWER, KEEP, 1) if own.startswith(LOWER) else own
    stem = apply_script(keep, token)
    if not stem or not number.isdecimal() or len(number) > MOST_DIGITS:
        return None
    if token.isupper() and len(token) > 1:
        others = [word.upper() for word in others]
    at = int(number)
    words = [*others[:at], stem, *others[at:]]
    if at and token[:1].isupper():
        words[0] = words[0][:1].upper() + words[0][1:]
    return words


def _lowered(text: str) -> str:
    """Return a string in lower case, unless that has another length."""
    low = text.lower()
    return low if len(low) == len(text) else text


def _longest_common(a: str, b: str) -> tuple[int, int, int]:
    """Return where the longest common substring begins, and how long it is."""
    best = (0, 0, 0)
    before = [0] * (len(b) + 1)
    for i, letter in enumerate(a):
        row = [0] * (len(b) + 1)
        for j, other in enumerate(b):
            if letter == other:
                size = row[j + 1] = before[j] + 1
                if size > best[2]:
                    best = (i + 1 - size, j + 1 - size, size)
        before = row
    return best
