"""The pipeline: from raw text to trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from partwise import model_file
from partwise._collecting import without_collecting
from partwise._screen import open_screen
from partwise.data.document import Document, make_sentence
from partwise.data.surface import SurfaceToken, Written
from partwise.data.text_files import Paragraph, cut_paragraphs
from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.estimators.pipeline.asked import (
    check_alike,
    check_trees,
    find_steps,
    kept_columns,
    wanted_steps,
)
from partwise.estimators.pipeline.boundaries import BoundaryStep
from partwise.estimators.pipeline.inner_spaces import Cut
from partwise.estimators.pipeline.multiword import MultiwordStep
from partwise.estimators.pipeline.settings import PipelineSettings
from partwise.estimators.pipeline.spans import (
    SPAN_STEPS,
    labelled_sentences,
)
from partwise.estimators.pipeline.steps import Step
from partwise.estimators.pipeline.tables import is_cell
from partwise.estimators.pipeline.training import (
    STEPS,
    Trainer,
    unfilled,
    without_columns,
)
from partwise.estimators.protocol import Estimator
from partwise.estimators.settings import check_settings, document
from partwise.model_file import Content, prefixed
from partwise.model_file.squeezing import expand, squeeze

BATCH = 200_000
"""About how many characters are annotated together."""


class Pipeline(Estimator, PipelineSettings):
    """Annotate raw text: tokens, sentences, tags, features, lemmas and trees.

    All steps learn from one treebank. Each is an estimator of its own, with its own
    certificate; later ones learn from what earlier ones predict.

    Attributes
    ----------
    steps_ : dict of str to Step
        The steps by name, in their order; ``steps_["upos"].models`` are estimators.
    left_out_ : dict of str to str
        The steps that were not trained, and why.
    scores_ : dict of str to float
        How good each step is on development data, given what earlier steps predict:
        the share of words (of tokens, for "words") that it gets right; the mean F1 of
        tokens and sentences for "tokens", and the F1 of spans for entities and chunks.
    hurried_ : dict of str to str
        The steps that `minutes` were too short for, and what was left undone.
    interrupted_ : bool
        Whether Ctrl-C ended training; the steps that had been trained by then are kept.

    Examples
    --------
    >>> import io
    >>> from partwise import Pipeline
    >>> from partwise.data import read_trees
    >>> from partwise.synthetic import make_corpus
    >>> treebank = read_trees(io.StringIO(make_corpus(40).to_conllu()))
    >>> pipeline = Pipeline(steps="tokens,upos", folds=1).fit(treebank)
    >>> document = pipeline.annotate(" ".join(treebank[0].forms))
    >>> document.sentences[0].forms == treebank[0].forms
    True
    """

    steps_: dict[str, Step]
    left_out_: dict[str, str]
    scores_: dict[str, float]
    hurried_: dict[str, str]
    interrupted_: bool = False

    def fit(
        self,
        sentences: Iterable[Sentence],
        y: Any = None,
        *,
        dev: Iterable[Sentence] | None = None,
        entities: Any = None,
        chunks: Any = None,
    ) -> Pipeline:
        """Learn all steps from a treebank.

        Parameters
        ----------
        sentences : iterable of Sentence
            As `read_trees` reads CoNLL-U.
        y : ignored
            Sentences hold all that is to be learnt.
        dev : iterable of Sentence, optional
            Development data: to stop the parser early, to choose `C` and features, and
            for `scores_`.
        entities, chunks : ColumnData or iterable of Sentence, optional
            A second corpus to learn named entities, or chunks, from: columns, the word
            first and the label (``B-PER``) last, as `read_columns` reads them; or
            sentences with entries ``NER=B-PER``, or ``Chunk=B-NP``, in MISC. If the
            treebank has such entries, none is needed.

        Returns
        -------
        Pipeline
            Itself.
        """
        self._check_settings()
        train = [one for one in sentences if len(one)]
        if not train:
            raise DataError("there are no words to learn from")
        given = {"entities": entities, "chunks": chunks}
        corpora = {
            name: labelled_sentences(corpus, SPAN_STEPS[name].entry)
            for name, corpus in given.items()
            if corpus is not None
        }
        wanted = wanted_steps(self.steps, train, corpora)
        for name in set(wanted).intersection(SPAN_STEPS):
            SPAN_STEPS[name].check(corpora.get(name, train))
        held_out = None if dev is None else [one for one in dev if len(one)]
        if held_out is not None:
            if not held_out:
                raise DataError("dev: there are no words to choose by")
            check_alike(train, held_out)
        if "trees" in wanted:
            check_trees([*train, *(held_out or ())])
        screen = open_screen() if self.verbose else None
        trainer = Trainer(
            None if self.minutes is None else 60.0 * self.minutes,
            self.folds,
            {"random_state": self.random_state, "n_jobs": self.n_jobs},
            (lambda text: screen.show(text, now=True)) if screen else (lambda _: None),
            corpora,
            held_out,
        )
        trainer.train(wanted, train, held_out)
        if screen:
            screen.close()
        if trainer.interrupted and not trainer.steps:
            raise KeyboardInterrupt
        if not trainer.steps:
            raise DataError(
                "there is nothing to learn: "
                + "; ".join(f"{name}: {why}" for name, why in trainer.left_out.items())
            )
        self.steps_ = trainer.steps
        self.left_out_ = trainer.left_out
        self.scores_ = trainer.scores
        self.hurried_ = trainer.hurried
        self.interrupted_ = trainer.interrupted
        return self

    def _check_settings(self) -> None:
        check_settings(self)
        find_steps(self.steps)

    # --- annotating ---------------------------------------------------------------

    def annotate(self, text: str) -> Document:
        """Annotate a text.

        Parameters
        ----------
        text : str
            Paragraphs end with blank lines; line breaks within them are spaces.

        Returns
        -------
        Document
            Its tokens and the spaces between them make up the text again.
        """
        if not isinstance(text, str):
            raise TypeError(f"a text is a string, not {type(text).__name__}")
        return Document(list(self.stream(cut_paragraphs([text]))), text)

    def stream(self, paragraphs: Iterable[Paragraph]) -> Iterator[Sentence]:
        """Annotate paragraphs as they come in; see `partwise.data.read_paragraphs`."""
        number = 0
        for batch in _batches(paragraphs):
            with without_collecting():
                sentences = self._cut(batch, number + 1)
            number += len(sentences)
            yield from self.annotate_sentences(sentences)

    def _cut(self, batch: Sequence[Paragraph], number: int) -> list[Sentence]:
        """Return the sentences of paragraphs, the first of which has this number."""
        cuts = self._boundaries().cut([one.text for one in batch])
        splitter = self.steps_.get("words")
        if isinstance(splitter, MultiwordStep):  # all at once; it remembers them
            splitter.split([x.form for cut in cuts for own in cut for x in own])
        places = [
            (paragraph, cut, i)
            for paragraph, cut in zip(batch, cuts, strict=True)
            for i in range(len(cut))
        ]
        return [
            self._sentence(paragraph, cut, i, number)
            for number, (paragraph, cut, i) in enumerate(places, number)
        ]

    def _boundaries(self) -> BoundaryStep:
        self._check_fitted()
        step = self.steps_.get("tokens")
        if not isinstance(step, BoundaryStep):
            raise DataError(
                "the pipeline has no step for tokens and sentences; give it tokens, or "
                "CoNLL-U"
            )
        return step

    def _sentence(
        self,
        paragraph: Paragraph,
        cut: Sequence[Sequence[Cut]],
        i: int,
        number: int,
    ) -> Sentence:
        """Return sentence `i` of a paragraph, without annotation."""
        text, tokens = paragraph.text, cut[i]
        next_start = cut[i + 1][0].start if i + 1 < len(cut) else len(text)
        ends = [*(one.start for one in tokens[1:]), next_start]
        gaps = [text[one.end : end] for one, end in zip(tokens, ends, strict=True)]
        before = text[: tokens[0].start] if i == 0 else ""
        comments = ["newpar"] * (i == 0 and paragraph.begins)
        return self._made(
            Written(before, [SurfaceToken(one.form, 0, 0) for one in tokens], gaps),
            [*comments, f"sent_id = {number}"],
            paragraph.start + tokens[0].start,
            closes=i + 1 == len(cut),
        )

    def _made(
        self,
        written: Written,
        comments: Sequence[str],
        start: int | None = None,
        closes: bool = False,
    ) -> Sentence:
        forms = [token.form for token in written.tokens]
        splitter = self.steps_.get("words")
        words = [[form] for form in forms]
        if isinstance(splitter, MultiwordStep):
            words = splitter.split(forms)
        pieces = [
            form + (" " if gap else "")
            for form, gap in zip(forms, written.gaps, strict=True)
        ]
        text = "".join(pieces).rstrip(" ")
        comments = [*comments, f"text = {text}"]
        return make_sentence(written, words, comments, start, closes)

    def annotate_tokens(
        self, sentences: Iterable[Sequence[str]], *, first: int = 1
    ) -> Document:
        """Annotate sentences that are tokens already; multiword tokens are split.

        Parameters
        ----------
        sentences : iterable of sequences of str
            The tokens of each.
        first : int
            The number of the first sentence, for the comment ``sent_id``.
        """
        self._check_fitted()
        made = []
        for number, tokens in enumerate(sentences, first):
            if isinstance(tokens, str):
                raise TypeError("a sentence is a list of tokens; for text use annotate")
            if not tokens:
                continue
            for token in tokens:
                if not isinstance(token, str) or not is_cell(token):
                    raise DataError(
                        f"sentence {number}: {token!r} is no token (expected a string "
                        "that is not empty, without tabs and line breaks)"
                    )
            surface = [SurfaceToken(form, 0, 0) for form in tokens]
            written = Written("", surface, [" "] * len(surface))
            made.append(self._made(written, [f"sent_id = {number}"]))
        return Document(self.annotate_sentences(made))

    def annotate_sentences(
        self, sentences: Iterable[Sentence], *, keep: Iterable[str] = ()
    ) -> list[Sentence]:
        """Annotate sentences whose words are given, as in CoNLL-U.

        Parameters
        ----------
        sentences : iterable of Sentence
            With their words; comments, multiword tokens and empty nodes stay.
        keep : iterable of str
            What to keep as it is: "lemma", "upos", "xpos", "feats", or the entries
            "ner" and "chunk" in MISC.

        Returns
        -------
        list of Sentence
            With everything that the steps of the pipeline add.
        """
        self._check_fitted()
        kept = kept_columns(keep)
        found = list(sentences)
        filled = [i for i, one in enumerate(found) if len(one)]
        words = [found[i] for i in filled]
        # Steps that learnt to start from text know nothing of columns they do not fill.
        hidden = unfilled(self.steps_) if "tokens" in self.steps_ else []
        words = without_columns(words, hidden)
        with without_collecting():
            for step in self.steps_.values():
                if step.adds and not kept.intersection(step.adds):
                    words = step.apply(words)
        for i, one in zip(filled, words, strict=True):
            own: Any = {column: getattr(found[i], column) for column in hidden}
            found[i] = replace(one, **own) if own else one
        return found

    def predict(self, X: Any) -> Any:
        """Annotate a text, several texts, or the sentences of a treebank."""
        if isinstance(X, str):
            return self.annotate(X)
        some = list(X)
        if some and all(isinstance(one, str) for one in some):
            return [self.annotate(text) for text in some]
        return self.annotate_sentences(some)

    def report(self, X: Iterable[Sentence], y: Any = None, **options: Any) -> Any:
        """Return a page about the trees that the pipeline predicts for sentences.

        Their words are given; everything else is predicted. The page is that of the
        parser; see `DependencyParser.report`.

        Parameters
        ----------
        X : iterable of Sentence
            With the right trees.
        y : ignored
            Sentences hold their trees.
        **options : object
            As in `DependencyParser.report`.
        """
        self._check_fitted()
        if "trees" not in self.steps_:
            raise DataError("the pipeline predicts no trees, which a report is about")
        return self.models_["trees"].report(self._before_trees(X), **options)

    def _before_trees(self, X: Iterable[Sentence]) -> list[Sentence]:
        """Return sentences as the parser gets them, with the right trees."""
        words = [one for one in X if len(one)]
        for step in self.steps_.values():
            if step.adds and step.name != "trees":
                words = step.apply(words)
        return words

    def set_params(self, **params: Any) -> Pipeline:
        """Change settings; the number of threads is that of all steps."""
        super().set_params(**params)
        if "n_jobs" in params and hasattr(self, "steps_"):
            for model in self.models_.values():
                model.set_params(n_jobs=params["n_jobs"])
        return self

    # --- keeping ------------------------------------------------------------------

    @property
    def models_(self) -> dict[str, Any]:
        """All estimators of all steps, by name."""
        self._check_fitted()
        return {k: v for step in self.steps_.values() for k, v in step.models.items()}

    @property
    def notes_(self) -> dict[str, str]:
        """What training found odd in the data, by the name of the step."""
        self._check_fitted()
        return {name: step.note for name, step in self.steps_.items() if step.note}

    def _check_fitted(self) -> None:
        if not hasattr(self, "steps_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this Pipeline is not fitted yet; call fit first")

    def save(self, path: str | Path, dtype: str = "float32") -> None:
        """Save all steps to one file, which `partwise.load` reads back.

        Parameters
        ----------
        path : path
            Where to; written atomically. The usual ending is ``.partwise``.
        dtype : {"float32", "float64"}
            How exactly weights are kept.
        """
        self._check_fitted()
        tensors: dict[str, Any] = {}
        settings: dict[str, Any] = {
            "estimator": "Pipeline",
            "params": {"folds": self.folds, "minutes": self.minutes},
            "steps": list(self.steps_),
            "left_out": self.left_out_,
            "scores": self.scores_,
        }
        for name, step in self.steps_.items():
            own, settings[f"step {name}"] = step.store(dtype)
            tensors |= prefixed(f"step {name}", own)
        stored, settings["squeezed"] = squeeze(tensors)
        model_file.write(path, stored, settings, kind="model")

    @classmethod
    def _from_content(cls, content: Content) -> Pipeline:
        """Return the pipeline that a file holds."""
        content = expand(content)
        names = content.setting("steps", list)
        if not names or any(not isinstance(x, str) or x not in STEPS for x in names):
            raise content.error("its steps are damaged, or of a newer version")
        params = content.part("params")
        pipeline = cls(folds=params.setting("folds", int, at_least=1))
        pipeline.left_out_ = _strings(content, "left_out", str)
        pipeline.scores_ = _strings(content, "scores", float)
        pipeline.steps_ = {
            name: STEPS[name].from_content(content.part(f"step {name}"))
            for name in names
        }
        pipeline.steps = ",".join(names)
        return pipeline


def _strings(content: Content, name: str, kind: type) -> dict[str, Any]:
    table = content.setting(name, dict)
    if not all(type(value) is kind for value in table.values()):
        raise content.error(f"{name} is damaged")
    return dict(table)


def _batches(paragraphs: Iterable[Paragraph]) -> Iterator[list[Paragraph]]:
    """Yield paragraphs together, as many as have come in or fit into a batch."""
    batch: list[Paragraph] = []
    size = 0
    for one in paragraphs:
        batch.append(one)
        size += len(one.text)
        if size >= BATCH or one.last:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


Pipeline.__doc__ = document(Pipeline.__doc__ or "", Pipeline, "")
