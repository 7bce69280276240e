"""Documents from and to spaCy, where it is installed."""

from __future__ import annotations

from typing import Any, NamedTuple

from partwise.data.conllu_columns import OUTSIDE, ConlluData, LabelPlace
from partwise.data.document import Document, make_sentence
from partwise.data.surface import SurfaceToken, Written, paragraphs
from partwise.data.tree_format import NOT_GIVEN
from partwise.data.treebank import Sentence
from partwise.errors import DataError

ENTITIES = "misc.NER"
ROOT = "ROOT"
"""What spaCy calls the label of roots."""
_IOB = {"S": "B", "U": "B", "W": "B", "E": "I", "L": "I", "M": "I"}
"""What other schemes call the words of a name, and spaCy does not know."""


def to_spacy(document: Document, vocab: Any = None) -> Any:
    """Return a document as a ``spacy.tokens.Doc``.

    Parameters
    ----------
    document : Document
        What is annotated.
    vocab : spacy.vocab.Vocab, optional
        That of a pipeline of spaCy; by default an empty one.

    Returns
    -------
    spacy.tokens.Doc
        With its words as tokens; white space other than a single space is a token,
        too, as in spaCy's own. spaCy knows no multiword tokens: their words follow
        each other without a space.
    """
    try:
        from spacy.lang.lex_attrs import LEX_ATTRS
        from spacy.tokens import Doc
        from spacy.vocab import Vocab
    except ImportError:
        raise ImportError("this needs spaCy (pip install spacy)") from None
    rows = _rows(document)
    named = any(row.entity != OUTSIDE for row in rows)
    has_trees = all(one.labels and one.heads for one in document.sentences)
    columns = {
        "words": [row.word for row in rows],
        "spaces": [row.has_space for row in rows],
        "sent_starts": [row.begins for row in rows],
        "lemmas": [row.lemma for row in rows],
        "pos": [row.pos for row in rows],
        "tags": [row.tag for row in rows],
        "morphs": [row.morph for row in rows],
    }
    if named:
        columns["ents"] = [row.entity for row in rows]
    if has_trees:
        columns |= {
            "heads": [row.head for row in rows],
            "deps": [row.dep for row in rows],
        }
    if vocab is None:  # one that knows what is a number, and lower case
        vocab = Vocab(lex_attr_getters=LEX_ATTRS)
    return Doc(vocab, **columns)


class _Row(NamedTuple):
    """A token as spaCy has it; white space but for single spaces is one, too."""

    word: str
    has_space: bool
    begins: bool
    head: int
    dep: str = ""
    lemma: str = ""
    pos: str = ""
    tag: str = ""
    morph: str = ""
    entity: str = OUTSIDE


def _rows(document: Document) -> list[_Row]:
    rows: list[_Row] = []
    some = document.sentences
    names = LabelPlace(ENTITIES).labels(ConlluData.of(some))
    gaps = _gaps(document)
    for sentence, own, after in zip(some, names, gaps, strict=True):
        # Where the words of the sentence are among all tokens of spaCy.
        places: list[int] = []
        at = len(rows)
        for gap in after:
            places.append(at)
            at += 1 + (gap not in ("", " "))
        for i, gap in enumerate(after):
            head = sentence.heads[i] if sentence.heads else 0
            label = sentence.labels[i] if sentence.labels else ""
            rows.append(
                _Row(
                    sentence.forms[i],
                    gap[:1] == " ",
                    i == 0,
                    places[head - 1] if head else places[i],
                    ROOT if label == "root" else label,
                    _blank(sentence.lemmas[i]),
                    _blank(sentence.upos[i]),
                    _blank(sentence.xpos[i]),
                    _blank(sentence.feats[i]),
                    _IOB.get(own[i][0], own[i][0]) + own[i][1:],
                )
            )
            rest = gap.removeprefix(" ")
            if rest:
                rows.append(_Row(rest, False, False, places[i], "dep", rest, "SPACE"))
    return rows


def _gaps(document: Document) -> list[list[str]]:
    """Return what follows each word; within multiword tokens, nothing."""
    found: list[list[str]] = []
    for paragraph in paragraphs(document.sentences):
        for one in paragraph:
            if found:
                found[-1][-1] += one.before
            found.append(
                [
                    space
                    for token, gap in zip(one.tokens, one.gaps, strict=True)
                    for space in [""] * (token.last - token.first) + [gap]
                ]
            )
    if found and not document.text[-1:].isspace():
        found[-1][-1] = ""
    return found


def from_spacy(doc: Any) -> Document:
    """Return the document that a ``spacy.tokens.Doc`` is.

    Tokens that are white space belong to the spaces between the others.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        With sentences.

    Returns
    -------
    Document
        With what spaCy knows about its tokens.
    """
    text = doc.text
    try:
        # Not `is_space`, which says False where the vocabulary is not of a language.
        spans = [[one for one in span if not one.text.isspace()] for span in doc.sents]
    except ValueError as error:
        raise DataError(f"spaCy's document has no sentences: {error}") from None
    spans = [span for span in spans if span]
    starts = [token.idx for span in spans for token in span]
    next_start = dict(zip(starts, [*starts[1:], len(text)], strict=True))
    sentences: list[Sentence] = []
    for span in spans:
        surface = [SurfaceToken(token.text, 0, 0) for token in span]
        gaps = [text[t.idx + len(t.text) : next_start[t.idx]] for t in span]
        before = text[: span[0].idx] if not sentences else ""
        joined = "".join(
            t.text + (" " if gap else "") for t, gap in zip(span, gaps, strict=True)
        )
        made = make_sentence(
            Written(before, surface, gaps),
            [[token.text] for token in span],
            [f"text = {joined.rstrip(' ')}"],
            span[0].idx,
        )
        sentences.append(_annotated(made, span))
    if doc.ents:
        names = [[_entity(token) for token in span] for span in spans]
        sentences = LabelPlace(ENTITIES).put(sentences, names)
    return Document(sentences, text)


def _entity(token: Any) -> str:
    if token.ent_iob_ not in ("B", "I"):
        return OUTSIDE
    return f"{token.ent_iob_}-{token.ent_type_}"


def _annotated(sentence: Sentence, span: list[Any]) -> Sentence:
    from dataclasses import replace

    number = {token.i: n for n, token in enumerate(span, 1)}
    heads = labels = None
    if all(token.has_dep() for token in span):
        heads = tuple(
            0 if token.head.i == token.i else number.get(token.head.i, 0)
            for token in span
        )
        labels = tuple("root" if t.dep_ == ROOT else t.dep_ or "dep" for t in span)
    return replace(
        sentence,
        lemmas=tuple(token.lemma_ or NOT_GIVEN for token in span),
        upos=tuple(token.pos_ or NOT_GIVEN for token in span),
        xpos=tuple(token.tag_ or NOT_GIVEN for token in span),
        feats=tuple(str(token.morph) or NOT_GIVEN for token in span),
        heads=heads,
        labels=labels,
    )


def _blank(cell: str) -> str:
    return "" if cell == NOT_GIVEN else cell
