"""What models answer to inputs: outputs as JSON, and what the page draws of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from partwise.constituents import Tree
from partwise.data import Sentence
from partwise.data.document import Document
from partwise.data.lattice import LatticePath
from partwise.pages import View, view_arcs, view_tags
from partwise.pages.document import view_data

Answer = Callable[[Any, list[Any]], list[Any]]
"""Takes a model and inputs; returns something for every input."""

MOST_REASONS = 5
TOKEN_FIELDS = ("forms", "lemmas", "upos", "xpos", "feats", "heads", "labels")


@cache
def asking(
    marginals: bool = False,
    kbest: int | None = None,
    spans: bool = False,
    explain: bool = False,
    risk: float | None = None,
) -> Answer:
    """Return one function for all requests that ask the same: they share batches."""
    return partial(
        _predict,
        marginals=marginals,
        kbest=kbest,
        spans=spans,
        explain=explain,
        risk=risk,
    )


def _predict(
    model: Any,
    X: list[Any],
    *,
    marginals: bool,
    kbest: int | None,
    spans: bool,
    explain: bool,
    risk: float | None,
) -> list[dict[str, Any]]:
    for asked, method, words in (
        (marginals, "predict_marginals", "marginals: this model has no probabilities"),
        (kbest is not None, "predict_kbest", "kbest: this model has one output only"),
        (spans, "predict_spans", "spans are for taggers"),
        (explain, "explain", "explain: this model cannot explain itself"),
        (risk is not None, "predict_sets", "risk: this model cannot abstain"),
    ):
        if asked and not hasattr(model, method):
            raise ValueError(f"{words}; leave them out")
    if hasattr(model, "annotate"):
        return [{"output": written(document)} for document in _annotate(model, X)]
    careful = {} if risk is None else {"risk": risk}
    fields: dict[str, Any] = {"output": model.predict(X, **careful)}
    if marginals:
        shares = model.predict_marginals(X)
        if isinstance(shares, dict):  # networks: by target
            shares = [
                {k: v[i].tolist() for k, v in shares.items()} for i in range(len(X))
            ]
        fields["probabilities"] = shares
    if kbest is not None:
        fields["kbest"] = model.predict_kbest(X, kbest)
    if spans:
        fields["spans"] = [[s._asdict() for s in own] for own in model.predict_spans(X)]
    if explain:
        fields["reasons"] = [_reasons(model.explain(x)) for x in X]
    rows = zip(*fields.values(), strict=True)
    return [
        {name: written(value) for name, value in zip(fields, row, strict=True)}
        for row in rows
    ]


def _annotate(pipeline: Any, X: list[Any]) -> Iterator[Document]:
    """Annotate texts, and sentences that are tokens already."""
    for x in X:
        is_text = isinstance(x, str)
        yield pipeline.annotate(x) if is_text else pipeline.annotate_tokens([x])


def written(output: Any) -> Any:
    """Return a prediction as JSON has it.

    Examples
    --------
    >>> written(["B-NP", "O"]), written(LatticePath((0, 2), ("a", "dog"), 1.5))
    (['B-NP', 'O'], {'edges': [0, 2], 'words': ['a', 'dog'], 'score': 1.5})
    >>> written({("NP", 0, 2): 0.9}), written({"big": float("inf")})
    ([['NP', 0, 2, 0.9]], {'big': None})
    """
    if isinstance(output, str):  # first, since most are labels
        return output
    if isinstance(output, Sentence):
        heads: list[int | None] = list(output.heads or ())
        for word in output.unknown:  # where a parser abstains
            heads[word - 1] = None
        return {"heads": heads, "labels": list(output.labels or ())}
    if isinstance(output, Tree):
        return {"tree": str(output)}
    if isinstance(output, LatticePath):
        edges, words = list(output.edges), list(output.words)
        return {"edges": edges, "words": words, "score": output.score}
    if isinstance(output, Document):
        return {"sentences": [_columns_of(one) for one in output.sentences]}
    if hasattr(output, "tolist"):
        return written(output.tolist())
    if isinstance(output, dict):
        if any(isinstance(key, tuple) for key in output):  # brackets
            return [[*key, share] for key, share in output.items()]
        return {name: written(value) for name, value in output.items()}
    if isinstance(output, list | tuple):
        return [written(one) for one in output]
    if isinstance(output, float) and not abs(output) < float("inf"):
        return None  # JSON has no infinity
    return output


def _columns_of(sentence: Sentence) -> dict[str, Any]:
    """Return the columns of a sentence that are filled."""
    columns = {name: getattr(sentence, name) for name in TOKEN_FIELDS}
    return {
        name: list(column)
        for name, column in columns.items()
        if column is not None and set(column) - {"_"}
    }


def _reasons(found: Any) -> list[Any]:
    choices = found if isinstance(found, list) else [found]
    return [
        one._replace(contributions=one.contributions[:MOST_REASONS])._asdict()
        for one in choices
    ]


# --- what the page draws --------------------------------------------------------------


def look(model: Any, X: list[Any]) -> list[list[dict[str, Any]]]:
    """Return what the page draws of every input: one example, or several sentences."""
    if hasattr(model, "annotate"):
        return [
            [_drawn(_annotated(one), n) for n, one in enumerate(document.sentences, 1)]
            for document in _annotate(model, X)
        ]
    result = []
    for x, view in zip(X, model._views(X), strict=True):
        data = _drawn(view, 1)
        if hasattr(model, "explain"):
            found = model.explain(x)
            choices = found if isinstance(found, list) else [found]
            data["why"] = [_why(t, one, view) for t, one in enumerate(choices)]
        result.append([data])
    return result


def _annotated(sentence: Sentence) -> View:
    """Return the view of what a pipeline found: a tree, or else tags."""
    if sentence.heads is not None:
        return view_arcs(sentence)
    return view_tags(sentence.forms, sentence.upos)


def _drawn(view: View, number: int) -> dict[str, Any]:
    data: dict[str, Any] = view_data(view, number, {}) | {"drawing": view.drawing}
    data.pop("gold", None)
    return data


def _why(t: int, one: Any, view: View) -> list[Any]:
    words = ["the root", *view.words]
    if view.drawing == "arcs":
        chosen = f"below {words[one.head]}"
        other = "" if one.runner_up is None else f"below {words[one.runner_up]}"
    else:
        chosen, other = str(one.label), str(one.runner_up)
    top = [[c.feature, str(c.label), c.value] for c in one.contributions[:MOST_REASONS]]
    margin = one.margin if one.margin < float("inf") else None
    # An example of a classifier has no words of its own to name.
    return [t if view.drawing != "class" else -1, chosen, other, margin, top]
