"""Documents from and to spaCy, where it is installed."""

from __future__ import annotations

from typing import Any

from partwise.data.document import Document, make_sentence
from partwise.data.surface import SurfaceToken, Written, spaces_after, surface_tokens
from partwise.data.tree_format import NOT_GIVEN
from partwise.data.treebank import Sentence
from partwise.errors import DataError

ROOT = "ROOT"
"""What spaCy calls the label of roots."""


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
        With its words as tokens. spaCy knows no multiword tokens: their words follow
        each other without a space.
    """
    try:
        from spacy.tokens import Doc
        from spacy.vocab import Vocab
    except ImportError:
        raise ImportError("this needs spaCy (pip install spacy)") from None
    words: list[str] = []
    spaces: list[bool] = []
    starts: list[bool] = []
    heads: list[int] = []
    columns: dict[str, list[str]] = {"lemmas": [], "pos": [], "tags": [], "morphs": []}
    labels: list[str] = []
    for sentence in document.sentences:
        first = len(words)
        tokens = surface_tokens(sentence)
        for token, gap in zip(tokens, spaces_after(sentence, tokens), strict=True):
            spaces += [False] * (token.last - token.first) + [gap != ""]
        words += sentence.forms
        starts += [i == 0 for i in range(len(sentence))]
        columns["lemmas"] += map(_blank, sentence.lemmas)
        columns["pos"] += map(_blank, sentence.upos)
        columns["tags"] += map(_blank, sentence.xpos)
        columns["morphs"] += map(_blank, sentence.feats)
        for i, head in enumerate(sentence.heads or ()):
            heads.append(first + (head - 1 if head else i))
        for label in sentence.labels or ():
            labels.append(ROOT if label == "root" else label)
    trees = {}
    if len(heads) == len(words) == len(labels):
        trees = {"heads": heads, "deps": labels}
    return Doc(
        vocab or Vocab(), words=words, spaces=spaces, sent_starts=starts,
        **columns, **trees,
    )  # fmt: skip


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
        spans = [[token for token in span if not token.is_space] for span in doc.sents]
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
    return Document(sentences, text)


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
