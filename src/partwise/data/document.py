"""A document: an annotated text, as sentences and tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from partwise.data.conllu_columns import entry_of, word_rows
from partwise.data.surface import Written, escape_spaces, surface_tokens, text_of
from partwise.data.tree_format import NOT_GIVEN
from partwise.data.treebank import Sentence, Verbatim

RANGE = "TokenRange"
"""The entry in MISC that says which characters of the text a token is."""


class Token(NamedTuple):
    """A word of a document, with all that is known about it.

    Attributes
    ----------
    number : int
        Its number in the sentence, from 1.
    form, lemma, upos, xpos, feats : str
        The columns of CoNLL-U; ``"_"`` where nothing is given.
    head : int or None
        The number of its head; 0 is the root, None if there is no tree.
    label : str or None
        Its relation to the head.
    start, end : int or None
        Which characters of the text it is; all words of a multiword token have its
        own. None where that is not known.
    multiword : str or None
        The multiword token that it is a part of.
    misc : str
        The last column.
    """

    number: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    label: str | None
    start: int | None
    end: int | None
    multiword: str | None
    misc: str


@dataclass(frozen=True)
class Document:
    """An annotated text.

    Parameters
    ----------
    sentences : list of Sentence
        Its sentences, as CoNLL-U has them.
    text : str
        The text itself; "" if the document began as sentences.

    Examples
    --------
    >>> from partwise.data import Sentence
    >>> document = Document([Sentence.from_columns(forms=["Hush"], upos=["INTJ"])])
    >>> [token.upos for token in document.tokens[0]]
    ['INTJ']
    >>> print(document.to_conllu().expandtabs(2))
    1 Hush  _ INTJ  _ _ _ _ _ _
    <BLANKLINE>
    <BLANKLINE>
    """

    sentences: list[Sentence] = field(default_factory=list)
    text: str = ""

    @property
    def tokens(self) -> list[list[Token]]:
        """The words of every sentence."""
        return list(map(tokens_of, self.sentences))

    def to_conllu(self) -> str:
        """Return the document as CoNLL-U."""
        return "".join(sentence.to_text("conllu") for sentence in self.sentences)

    def to_text(self) -> str:
        """Return the text that the tokens and the spaces between them make up."""
        return text_of(self.sentences)

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        """Yield the sentences."""
        return iter(self.sentences)


def tokens_of(sentence: Sentence) -> list[Token]:
    """Return the words of a sentence, with all that is known about each.

    Examples
    --------
    >>> [token] = tokens_of(Sentence.from_columns(forms=["Hush"], heads=[0]))
    >>> token.head, token.start
    (0, None)
    """
    miscs = [row[-1] for row in word_rows(sentence)]
    found: list[Token] = []
    for token in surface_tokens(sentence):
        start, end = _range(token.misc)
        whole = token.form if token.is_multiword else None
        for number in range(token.first, token.last + 1):
            i = number - 1
            found.append(
                Token(
                    number,
                    sentence.forms[i],
                    sentence.lemmas[i],
                    sentence.upos[i],
                    sentence.xpos[i],
                    sentence.feats[i],
                    None if sentence.heads is None else sentence.heads[i],
                    None if sentence.labels is None else sentence.labels[i],
                    start,
                    end,
                    whole,
                    miscs[i],
                )
            )
    return found


def _range(misc: str) -> tuple[int | None, int | None]:
    start, colon, end = (entry_of(misc, RANGE) or "").partition(":")
    if colon and start.isdecimal() and end.isdecimal():
        return int(start), int(end)
    return None, None


def make_sentence(
    written: Written,
    words: Sequence[Sequence[str]],
    comments: Sequence[str],
    start: int | None = None,
    closes: bool = False,
) -> Sentence:
    """Return a sentence of tokens, their words and the spaces after them.

    Parameters
    ----------
    written : Written
        Its tokens and spaces; the numbers of words are those of `words`.
    words : sequence of sequences of str
        The words of every token.
    comments : sequence of str
        Comments, without the ``#``.
    start : int, optional
        Where its first token begins in the text.
    closes : bool
        Whether nothing follows in its paragraph: a space at the end is then written,
        which between sentences goes without saying.

    Returns
    -------
    Sentence
        Without annotation.
    """
    text = [f"# {one}" for one in comments]
    bare = "\t".join([NOT_GIVEN] * 7)
    n_words, at = 0, start
    for i, (token, gap) in enumerate(zip(written.tokens, written.gaps, strict=True)):
        entries = []
        if i == 0 and written.before:
            entries.append(f"SpacesBefore={escape_spaces(written.before)}")
        if gap == "":
            entries.append("SpaceAfter=No")
        elif gap != " " or (closes and i + 1 == len(written.gaps)):
            entries.append(f"SpacesAfter={escape_spaces(gap)}")
        if at is not None:
            entries.append(f"{RANGE}={at}:{at + len(token.form)}")
            at += len(token.form) + len(gap)
        misc = "|".join(entries) or NOT_GIVEN
        own = words[i]
        if len(own) > 1:
            span = f"{n_words + 1}-{n_words + len(own)}"
            text.append(f"{span}\t{token.form}\t{bare}\t{misc}")
            misc = NOT_GIVEN
        for word in own:
            n_words += 1
            text.append(f"{n_words}\t{word}\t{bare}\t{misc}")
    forms = tuple(word for own in words for word in own)
    empty = (NOT_GIVEN,) * n_words
    columns = (forms, empty, empty, empty, empty, None, None)
    verbatim = Verbatim("\n".join([*text, "", ""]), "conllu", columns, "<text>", 1)
    return Sentence(forms, *columns[1:5], None, None, verbatim=verbatim)
